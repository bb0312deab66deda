import { describeAnswerers, isForOthers } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import type { Json, JsonSchema } from '../../graph/json.js';
import { jsonText } from '../../graph/printable-text.js';
import type { AskMode, RunState } from '../engine/contract.js';
import type { Action } from '../engine/events.js';
import { commandsOf } from '../engine/read.js';
import type { HandOff } from './hand-off.js';
import { isoTime } from './leaf-logs.js';
import type { OpenAction } from './messages.js';
import type { HandOffContext } from './planned-run.js';
import { constructTexts } from './texts.js';

/** A run that outlasts the conversation about it. */
export interface KeptRun {
  /** By what `submit_result` and `get_workflow_status` know it. */
  readonly workflowId: string;
}

/** Whether the reader can continue a run that nothing keeps: it waits for nothing but values of a model. */
export function isHandedOver(state: RunState): boolean {
  const commands = commandsOf(state).filter(({ kind }) => kind !== 'startTimer');
  return (
    commands.length > 0 &&
    commands.every((command) => command.kind === 'requestAction' && command.action.mode === 'model')
  );
}

/** What closes a trace of a run that is not over: what it waits for, and how to answer or where to look. */
export function waitingEnd(context: HandOffContext, run: KeptRun | undefined): HandOff {
  const status = run === undefined ? undefined : { workflow_id: run.workflowId };
  const actions = openActions(context, status);
  const { name } = context.graph;
  const parts = actions.map((action) => shown(action, run));
  const isWaiting = actions.length > 0;
  const lines = [
    isWaiting ? waitingTexts.waits(name, actions.length) : waitingTexts.goesOn(name),
    ...(parts.length > 1 ? parts.map((part, index) => waitingTexts.numbered(index + 1, part)) : parts),
    ...(status === undefined ? [waitingTexts.notKept()] : []),
    ...(status !== undefined && actions.every(({ type }) => type === 'wait')
      ? [waitingTexts.status(status)]
      : []),
  ];
  const waitingSteps = actions.map(({ step_id }) => step_id);
  return {
    text: lines.join('\n\n'),
    pause_reason: isWaiting
      ? { type: 'waiting', waitingSteps, code: 'E_WAITING' }
      : { type: 'running', code: 'E_RUNNING' },
    errors: [],
    calls: [],
    actions,
    ...(status ?? {}),
  };
}

/** What is open, oldest first. */
function openActions(
  { state, ledger, secrets }: HandOffContext,
  workflow: { readonly workflow_id: string } | undefined,
): OpenAction[] {
  const actions: OpenAction[] = [];
  for (const command of commandsOf(state)) {
    const node = 'node' in command ? ledger.find(command.node) : undefined;
    if (node === undefined) continue;
    const head = { action_id: command.id, ...workflow, step_id: node.key };
    const { node: model } = node.planned;
    if (command.kind === 'requestAction' && model.kind === 'ask') {
      const { mode, message, options, schema, answerBy } = secrets.action(node.key, command.action);
      actions.push({
        ...head,
        type: 'prompt',
        parameters: { message, type: mode, ...defined({ options }) },
        schema,
        ...defined({ answer_by: answerBy }),
        ...expiry(command.dueAt),
      });
    } else if (command.kind === 'startTimer' && model.kind === 'wait' && !command.id.includes(':')) {
      actions.push({ ...head, type: 'wait', resume_at: isoTime(command.dueAt) });
    }
  }
  return actions;
}

function expiry(dueAt: number | undefined): { expires_at?: string } {
  return dueAt === undefined ? {} : { expires_at: isoTime(dueAt) };
}

function shown(action: OpenAction, run: KeptRun | undefined): string {
  if (action.type === 'wait') return waitingTexts.wait(action.step_id, action.resume_at);
  const { step_id: step, parameters, schema, expires_at, action_id, answer_by } = action;
  const { message, type: mode, options = [] } = parameters;
  const question = waitingTexts.question({ step, mode, message, options, schema, until: expires_at });
  if (run === undefined) return question;
  if (isForOthers(answer_by)) {
    const who = describeAnswerers(answer_by);
    return `${question}\n${waitingTexts.others(who, { workflow_id: run.workflowId })}`;
  }
  const result = answerFor(mode);
  return `${question}\n${waitingTexts.answer({ workflow_id: run.workflowId, action_id, result }, mode)}`;
}

/** The shape of an answer, with a placeholder for what is to be filled in. */
function answerFor(mode: Action['mode']): Json {
  switch (mode) {
    case 'info':
      return { acknowledged: true };
    case 'confirm':
      return { confirmed: true };
    case 'text':
      return { input: waitingTexts.placeholder.text };
    case 'choice':
      return { selected: waitingTexts.placeholder.choice };
    case 'yield':
    case 'model':
      return waitingTexts.placeholder.yield;
    default:
      return mode satisfies never;
  }
}

/** What a trace says at the end of a run that is not over. */
const waitingTexts = {
  waits: (workflow: string, open: number) =>
    `Workflow '${workflow}' is not over: it waits for ${open === 1 ? 'this' : `these ${open} things, in any order`}:`,
  goesOn: (workflow: string) => `Workflow '${workflow}' is not over: it continues by itself.`,
  question: ({
    step,
    mode,
    message,
    options,
    schema,
    until,
  }: {
    readonly step: string;
    readonly mode: AskMode;
    readonly message: string;
    readonly options: readonly string[];
    readonly schema: JsonSchema;
    readonly until: string | undefined;
  }) =>
    [
      constructTexts.question(step, mode, jsonText(message), options),
      `The answer is JSON that fits this schema: ${jsonText(schema)}`,
      ...(until === undefined ? [] : [`It must come before ${until}.`]),
    ].join('\n'),
  answer: (input: Json, mode: AskMode) =>
    `To answer, call tool 'submit_result' with ${jsonText(input)}${mode === 'confirm' ? ', or with false' : ''}`,
  others: (who: string, input: Json) =>
    `Somebody else answers: only ${who} may, and finds it with tool 'list_workflows'. Do not ask the user. To see whether the workflow has gone on, call tool 'get_workflow_status' with ${jsonText(input)}`,
  wait: (step: string, until: string) => `${constructTexts.waits(step, until)} It then continues by itself.`,
  status: (input: Json) => `To see its status, call tool 'get_workflow_status' with ${jsonText(input)}`,
  notKept: () => 'The run ends here: the server does not keep it until an answer comes.',
  numbered: (place: number, text: string) => `${place}. ${text.replaceAll('\n', '\n   ')}`,
  placeholder: {
    text: '<the text>',
    choice: '<one of the options>',
    yield: '<what fits the schema>',
  },
} as const;

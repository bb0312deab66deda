import { describeAnswerers, isForOthers, needsPage } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import type { Json } from '../../graph/json.js';
import { jsonText } from '../../graph/printable-text.js';
import { type ActionDetails, asksModel, limitOf, requestOf } from '../engine/actions.js';
import { agentItemOf } from '../engine/agent-loops.js';
import type { AskMode, RunState } from '../engine/contract.js';
import { commandsOf } from '../engine/read.js';
import { isoTime } from './leaf-logs.js';
import type { HandOff, OpenAction } from './messages.js';
import type { HandOffContext } from './planned-run.js';
import { requestText, waitsUntil } from './sentences.js';

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
    commands.every((command) => command.kind === 'requestAction' && asksModel(command.action))
  );
}

/** What closes a trace of a run that is not over: what it waits for, and how to answer or where to look. */
export function waitingEnd(context: HandOffContext, run: KeptRun | undefined): HandOff {
  const status = run === undefined ? undefined : { workflow_id: run.workflowId };
  const actions = openActions(context, status);
  const { name } = context.graph;
  const parts = actions.map((action) => shown(action, run));
  const isWaiting = actions.length > 0;
  const hasAgents = status !== undefined && commandsOf(context.state).some(isOfAgent(context.state));
  const otherwise = hasAgents ? 'has work for sub-agents.' : 'continues by itself.';
  const what = parts.length === 1 ? 'this' : `these ${parts.length} things, in any order`;
  const lines = [
    `Workflow '${name}' is not over: it ${isWaiting ? `waits for ${what}:` : otherwise}`,
    ...(parts.length > 1
      ? parts.map((part, index) => `${index + 1}. ${part.replaceAll('\n', '\n   ')}`)
      : parts),
    ...(status === undefined
      ? ['The run ends here: the server does not keep it until an answer comes.']
      : []),
    ...(status !== undefined && actions.every(({ type }) => type === 'wait')
      ? [
          `To see its status${hasAgents ? ', and the prompts of its sub-agents' : ''}, call tool 'get_workflow_status' with ${jsonText(status)}`,
        ]
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

/** Whether an agent of an item sees a command, and the caller of the run does not. */
function isOfAgent(state: RunState): (command: ReturnType<typeof commandsOf>[number]) => boolean {
  return ({ node }) => agentItemOf(state, node) !== undefined;
}

/** What a paused run waits for beside the steps that are to be made; undefined without more. */
export function alsoWaiting(
  context: HandOffContext,
  run: KeptRun,
): { readonly text: string; readonly actions: readonly OpenAction[] } | undefined {
  const all = openActions(context, { workflow_id: run.workflowId });
  const actions = all.filter(({ type }) => type !== 'step');
  const texts = actions.map((action) => shown(action, run));
  return actions.length === 0
    ? undefined
    : { text: ['The workflow also waits for this:', ...texts].join('\n\n'), actions };
}

/** What is open, oldest first. */
function openActions(
  { state, ledger, secrets }: HandOffContext,
  workflow: { readonly workflow_id: string } | undefined,
): OpenAction[] {
  const actions: OpenAction[] = [];
  for (const command of commandsOf(state)) {
    const node = 'node' in command ? ledger.find(command.node) : undefined;
    if (node === undefined || (workflow !== undefined && isOfAgent(state)(command))) continue;
    const head = { action_id: command.id, ...workflow, step_id: node.key };
    const { node: model } = node.planned;
    if (command.kind === 'requestAction') {
      const action = secrets.action(node.key, command.action);
      actions.push({
        ...head,
        ...requestOf(action),
        schema: action.schema,
        ...defined({ answer_by: action.answerBy }),
        ...expiry(limitOf(command)),
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
  if (action.type === 'wait')
    return `${waitsUntil(action.step_id, action.resume_at)} It then continues by itself.`;
  const { step_id: step, schema, expires_at, action_id, answer_by } = action;
  const lines = [
    requestText(step, action),
    `The answer is JSON that fits this schema: ${jsonText(schema)}`,
    ...(expires_at === undefined ? [] : [`It must come before ${expires_at}.`]),
  ];
  if (run === undefined) return lines.join('\n');
  const { workflowId: workflow_id } = run;
  if (needsPage(answer_by)) {
    lines.push(
      `Only ${describeAnswerers(answer_by ?? [])} may answer. Call tool 'get_workflow_status' with ${jsonText({ workflow_id })}: it returns the address of the page, for the user.`,
    );
  } else if (isForOthers(answer_by)) {
    lines.push(
      `Somebody else answers: only ${describeAnswerers(answer_by)} may, and finds it with tool 'list_workflows'. Do not ask the user. To see whether the workflow has gone on, call tool 'get_workflow_status' with ${jsonText({ workflow_id })}`,
    );
  } else {
    const input = jsonText({ workflow_id, action_id, result: answerFor(action) });
    lines.push(
      `To answer, call tool 'submit_result' with ${input}${action.type === 'prompt' && action.parameters.type === 'confirm' ? ', or with false' : ''}`,
    );
  }
  return lines.join('\n');
}

/** The shape of an answer, with a placeholder for what is to be filled in. */
function answerFor(request: ActionDetails): Json {
  switch (request.type) {
    case 'shell':
      return { stdout: '<the output>', stderr: '<its errors>', exit_code: 0 };
    case 'mcp_call':
      return '<the result of the tool>';
    case 'step':
      return '<the result of the step>';
    case 'delegate':
      return { response: '<the response>' };
    case 'prompt':
      return answerIn(request.parameters.type);
    default:
      return request satisfies never;
  }
}

function answerIn(mode: AskMode): Json {
  switch (mode) {
    case 'info':
      return { acknowledged: true };
    case 'confirm':
      return { confirmed: true };
    case 'text':
      return { input: '<the text>' };
    case 'choice':
      return { selected: '<one of the options>' };
    case 'yield':
    case 'model':
      return '<what fits the schema>';
    default:
      return mode satisfies never;
  }
}

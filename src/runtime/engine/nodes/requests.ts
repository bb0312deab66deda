import { defined } from '../../../graph/defined.js';
import { describeKind } from '../../../graph/expression/value.js';
import type { Json } from '../../../graph/json.js';
import { COMMAND_RESULT, delegateResult } from '../../../graph/kinds/waits.js';
import { DEFAULT_CLIENT_TIMEOUT_MS } from '../../../graph/limits.js';
import type { AskNode, CallNode, DelegateNode, ShellNode } from '../../../graph/model.js';
import { answerSchema } from '../actions.js';
import type { Request } from '../answers.js';
import { fail, hasTime, issueWait, nextAttemptId, waitDueAt } from '../attempt.js';
import type { Evaluated, Evaluation } from '../evaluation.js';
import type { Action, AskAction } from '../events.js';
import { failures } from '../failures.js';
import { NOTHING_REFUSED, type NodeRecord } from '../records.js';
import { readerOf, type Transition } from '../transition.js';
import { approvalOf } from './approval.js';

/** Asks a question and waits for the answer. [N7] */
export function beginAsk(transition: Transition, node: NodeRecord, model: AskNode): void {
  const times = reminderOf(model, transition.at, waitDueAt(transition, node));
  const read = (reader: Evaluation): Evaluated<AskAction> => {
    const question = questionOf(reader, model);
    const approves = question.ok ? approvalOf(transition, node, model) : question;
    if (!question.ok || !approves.ok) return approves as Evaluated<never>;
    return { ok: true, value: { ...question.value, ...defined({ approves: approves.value }) } };
  };
  request(transition, node, read, times);
}

type Times = Pick<Request, 'dueAt' | 'reminder'>;

/** The reminder of a question comes first, unless the run ends before it. [N14] */
function reminderOf({ remindAfterMs, escalateTo }: AskNode, at: number, limitAt: number | undefined): Times {
  const remindAt = at + (remindAfterMs ?? Number.POSITIVE_INFINITY);
  if (remindAt >= (limitAt ?? Number.POSITIVE_INFINITY)) return defined({ dueAt: limitAt });
  return { dueAt: remindAt, reminder: defined({ escalateTo, limitAt }) };
}

/** Has the client run a command. [N12] */
export function beginShell(transition: Transition, node: NodeRecord, model: ShellNode): void {
  requestWork(transition, node, (reader) => {
    const command = reader.text(model.command, 'command');
    if (!command.ok) return command;
    const argv = model.argv === undefined ? NOT_WRITTEN : reader.list(model.argv, 'arguments of the command');
    if (!argv.ok) return argv;
    const env =
      model.env === undefined ? NOT_WRITTEN : reader.object(model.env, 'environment of the command');
    if (!env.ok) return env;
    const faulty = [...(argv.value ?? []), ...Object.values(env.value ?? {})].find(isNotText);
    if (faulty !== undefined)
      return { ok: false, failure: failures.notText('parts of the command', describeKind(faulty)) };
    const parts = {
      argv: argv.value as readonly string[],
      env: env.value as Readonly<Record<string, string>>,
    };
    const { timeoutMs = DEFAULT_CLIENT_TIMEOUT_MS.shell } = model;
    return {
      ok: true,
      value: { type: 'shell', command: command.value, ...defined(parts), schema: COMMAND_RESULT, timeoutMs },
    };
  });
}

const NOT_WRITTEN = { ok: true, value: undefined } as const;

function isNotText(value: Json): boolean {
  return typeof value !== 'string';
}

/** Gives an agent a task. [N12] */
export function beginDelegate(transition: Transition, node: NodeRecord, model: DelegateNode): void {
  requestWork(transition, node, (reader) => {
    const prompt = reader.text(model.prompt, 'prompt');
    if (!prompt.ok) return prompt;
    const { agent, tools, responseSchema, timeoutMs = DEFAULT_CLIENT_TIMEOUT_MS.delegate } = model;
    const json = responseSchema === undefined ? undefined : (true as const);
    const schema = delegateResult(responseSchema);
    const task = { type: 'delegate', instructions: prompt.value, agent } as const;
    return { ok: true, value: { ...task, ...defined({ tools, json }), schema, timeoutMs } };
  });
}

/** Has the client call one of its tools. [N12] */
export function beginClientCall(transition: Transition, node: NodeRecord, model: CallNode): void {
  requestWork(transition, node, (reader) => {
    const args = reader.object(model.input, 'input');
    if (!args.ok) return args;
    const { tool, timeoutMs = DEFAULT_CLIENT_TIMEOUT_MS.call } = model;
    return { ok: true, value: { type: 'mcp_call', tool, args: args.value, schema: ANYTHING, timeoutMs } };
  });
}

const ANYTHING = Object.freeze({});

type Read = (reader: Evaluation) => Evaluated<Action>;

/** The limit of work begins when it is delivered; until then only the deadline of the run holds. */
function requestWork(transition: Transition, node: NodeRecord, read: Read): void {
  request(transition, node, read, defined({ dueAt: transition.state.run.deadlineAt }));
}

/** Requests an action and waits for its result. */
function request(transition: Transition, node: NodeRecord, read: Read, times: Times): void {
  if (!hasTime(transition, node)) return;
  const id = nextAttemptId(transition, node);
  const { key, planned } = node;
  const action = read(readerOf(transition, node));
  if (!action.ok) {
    fail(transition, node, { failure: action.failure, reached: node.attempt, isPermanent: true });
    return;
  }
  node.set('refused', NOTHING_REFUSED);
  const command = { kind: 'requestAction', id, node: key, action: action.value, seq: 0 } as const;
  issueWait(transition, node, { ...command, ...times });
  const { kind: nodeKind } = planned.node;
  transition.report({ kind: 'waiting', node: key, nodeKind, command: id, action: action.value });
}

function questionOf(reader: Evaluation, model: AskNode): Evaluated<AskAction> {
  const message = reader.text(model.message, 'message');
  if (!message.ok) return message;
  const { mode, answerBy } = model;
  const who = defined({ answerBy });
  const base = { type: 'ask', mode, message: message.value, ...who } as const;
  if (mode !== 'choice') return { ok: true, value: { ...base, schema: answerSchema(model) } };
  const evaluated: Evaluated<unknown> =
    model.options === undefined ? { ok: true, value: undefined } : reader.value(model.options);
  if (!evaluated.ok) return evaluated;
  const options = optionsIn(evaluated.value as Json);
  if (!options.ok) return options;
  const schema = answerSchema(model, options.value);
  return { ok: true, value: { ...base, options: options.value, schema } };
}

function optionsIn(value: Json | undefined): Evaluated<readonly string[]> {
  const wrong = (problem: string) => ({ ok: false, failure: failures.askOptions(problem) }) as const;
  if (!Array.isArray(value)) return wrong(`there is ${describeKind(value)} in place of a list`);
  const options: string[] = [];
  for (const option of value as readonly Json[]) {
    if (typeof option !== 'string') return wrong(`one is ${describeKind(option)}`);
    if (options.includes(option)) return wrong(`'${option}' is given twice`);
    options.push(option);
  }
  return options.length === 0 ? wrong('there is none') : { ok: true, value: options };
}

import { canonicalJson } from '../../../graph/canonical.js';
import { defined } from '../../../graph/defined.js';
import { describeKind } from '../../../graph/expression/value.js';
import { type Json, type JsonObject, ownProperty, type Value } from '../../../graph/json.js';
import type { Node, NodeKind } from '../../../graph/kinds/node.js';
import { COMMAND_RESULT, delegateResult, parseTime } from '../../../graph/kinds/waits.js';
import { DEFAULT_CLIENT_TIMEOUT_MS, MAX_DURATION_MS } from '../../../graph/limits.js';
import type {
  AskNode,
  CallNode,
  ComputeNode,
  DelegateNode,
  ErrorNode,
  ResourceNode,
  ReturnNode,
  SetNode,
  ShellNode,
  WaitNode,
} from '../../../graph/model.js';
import { failureCodeOf } from '../../../graph/names.js';
import { ownResources } from '../../../graph/nodes.js';
import { sha256Hex } from '../../../graph/sha256.js';
import { answerSchema } from '../actions.js';
import { isYes, type Request } from '../answers.js';
import {
  attemptDueAt,
  attemptFailed,
  complete,
  endWithError,
  endWithReturn,
  fail,
  failWithoutFallback,
  hasTime,
  inputOf,
  issue,
  issueWait,
  nextAttemptId,
  reachedBefore,
  scheduleNextAttempt,
  waitDueAt,
} from '../attempt.js';
import { type Evaluated, type Evaluation, readerOf } from '../evaluation.js';
import type { Action, Approval, AskAction, Failure, OwedCommand } from '../events.js';
import { failures } from '../failures.js';
import { writeFields } from '../fields.js';
import { callKeyText, generationFor, ownReadId, restartsInside } from '../identity.js';
import { NOTHING_REFUSED, type NodeRecord } from '../records.js';
import { reportShown, sibling, succeed } from '../settle.js';
import type { Transition } from '../transition.js';
import { beginBranch, beginGoto, beginWorkflow, startOver } from './control-flow.js';
import { beginForeach } from './loops.js';
import { beginCompensate, beginParallel } from './parallel.js';

type Begin<N> = (transition: Transition, node: NodeRecord, model: N) => void;

const BEGIN: { readonly [K in NodeKind]: Begin<Extract<Node, { kind: K }>> } = {
  call: beginCall,
  resource: beginResource,
  compute: beginCompute,
  branch: beginBranch,
  parallel: beginParallel,
  foreach: beginForeach,
  workflow: beginWorkflow,
  ask: beginAsk,
  shell: beginShell,
  delegate: beginDelegate,
  wait: beginWait,
  set: beginSet,
  return: beginReturn,
  goto: beginGoto,
  error: beginError,
  compensate: beginCompensate,
};

export function beginNode(transition: Transition, node: NodeRecord): void {
  const model = node.planned.node;
  const begin = BEGIN[model.kind] as Begin<Node>;
  begin(transition, node, model);
}

/** Writes fields of the run's state. All values are evaluated before any field is written. */
function beginSet(transition: Transition, node: NodeRecord, { updates }: SetNode): void {
  const reader = readerOf(transition, node);
  const values = new Map<string, Value>();
  for (const { field, value } of updates) {
    const evaluated = reader.value(value);
    if (!evaluated.ok) {
      fail(transition, node, { failure: evaluated.failure, reached: 0, isPermanent: true });
      return;
    }
    values.set(field, evaluated.value);
  }
  const present = [...values].flatMap(([field, value]) =>
    value === undefined ? [] : [[field, value] as const],
  );
  const tooLarge = writeFields(transition, node, values);
  if (tooLarge !== undefined) {
    fail(transition, node, { failure: tooLarge, reached: 0, isPermanent: true });
    return;
  }
  complete(transition, node, Object.fromEntries(present));
}

/** Ends the node's workflow with a value. */
function beginReturn(transition: Transition, node: NodeRecord, { value }: ReturnNode): void {
  const evaluated = readerOf(transition, node).value(value);
  if (evaluated.ok) endWithReturn(transition, node, evaluated.value);
  else failWithoutFallback(transition, node, { failure: evaluated.failure, reached: 0, isPermanent: true });
}

/** Fails the node's scope, even if the message cannot be evaluated. [E8] */
function beginError(transition: Transition, node: NodeRecord, error: ErrorNode): void {
  const message = readerOf(transition, node).text(error.message, 'message');
  endWithError(
    transition,
    node,
    message.ok ? { code: failureCodeOf(error), message: message.value } : message.failure,
  );
}

/** Calls a tool with the node's evaluated input. Later attempts send the same input. */
function beginCall(transition: Transition, node: NodeRecord, model: CallNode): void {
  if (model.executor === 'client') {
    beginClientCall(transition, node, model);
    return;
  }
  const { tool } = model;
  const { key: nodeKey } = node;
  if (!hasTime(transition, node)) return;
  const evaluated = inputOf(transition, node, model);
  if (!evaluated.ok) {
    const reached = reachedBefore(node, node.attempt);
    fail(transition, node, { failure: evaluated.failure, reached, isPermanent: true });
    return;
  }
  const { value } = evaluated;
  const { state } = transition;
  const generation = generationFor(state, node, value);
  if (node.planned.retry !== undefined || transition.plan.graph.task === true) node.set('input', value);
  const id = nextAttemptId(transition, node);
  const attempt = node.attempt + 1;
  const key = callKeyText(state.run.id, nodeKey, generation);
  const dueAt = attemptDueAt(transition, node);
  // Written out, without spread: this is the most frequent command.
  issue(transition, node, {
    kind: 'callTool',
    id,
    node: nodeKey,
    tool,
    input: value,
    attempt,
    generation,
    key,
    dueAt,
    seq: 0,
  });
  transition.report({ kind: 'callIssued', node: nodeKey, command: id, tool, input: value, attempt });
}

/** Reads a resource from the node's evaluated URI. */
function beginResource(transition: Transition, node: NodeRecord, model: ResourceNode): void {
  if (!hasTime(transition, node)) return;
  const id = nextAttemptId(transition, node);
  const uri = readerOf(transition, node).text(model.uri, 'URI');
  if (!uri.ok) {
    fail(transition, node, { failure: uri.failure, reached: node.attempt, isPermanent: true });
    return;
  }
  const target = { node: node.key, resource: model.resource, uri: uri.value };
  issue(transition, node, { kind: 'readResource', id, ...target, dueAt: attemptDueAt(transition, node) });
  transition.report({ kind: 'resourceRequested', command: id, ...target });
}

/** Evaluates the node's value, or calls its function with the arguments that the value lists. */
function beginCompute(transition: Transition, node: NodeRecord, model: ComputeNode): void {
  if (model.function === undefined) {
    const evaluated = readerOf(transition, node).value(model.value);
    if (evaluated.ok) complete(transition, node, evaluated.value);
    else fail(transition, node, { failure: evaluated.failure, reached: 0, isPermanent: true });
    return;
  }
  if (!hasTime(transition, node)) return;
  const args = readerOf(transition, node).list(model.value, 'arguments of the function');
  if (!args.ok) {
    fail(transition, node, { failure: args.failure, reached: node.attempt, isPermanent: true });
    return;
  }
  const { name, hash } = model.function;
  issue(transition, node, {
    kind: 'evaluate',
    id: nextAttemptId(transition, node),
    node: node.key,
    function: { name, hash },
    args: args.value,
    dueAt: attemptDueAt(transition, node),
  });
}

/** The read of one of a node's own resources. */
type ResourceCommand = Extract<OwedCommand, { kind: 'readResource' }>;

/**
 * Reads the next of a node's own resources. The node waits meanwhile, without a slot. Each is read once, whatever
 * becomes of the attempts after it. [N9]
 *
 * @returns false if the node may act: all were read.
 */
export function readsNext(transition: Transition, node: NodeRecord): boolean {
  const { shown } = node.details;
  const next = ownResources(node.planned.node)[shown];
  if (next === undefined) return false;
  if (!hasTime(transition, node)) return true;
  const { resource, uri } = next;
  transition.change(node).status = 'waiting';
  transition.issueCommand(node, {
    kind: 'readResource',
    id: ownReadId(nextAttemptId(transition, node), shown),
    node: node.key,
    resource,
    uri,
    dueAt: attemptDueAt(transition, node),
    isOwn: true,
  });
  return true;
}

/** Continues a node after one of its resources was read. */
export function onOwnResource(
  transition: Transition,
  node: NodeRecord,
  command: ResourceCommand,
  value: JsonObject,
): true {
  transition.settleCommand(command.id);
  reportShown(transition, command, { ok: true, value });
  transition.change(node).set('shown', node.details.shown + 1);
  if (!readsNext(transition, node)) scheduleNextAttempt(transition, node);
  return true;
}

/** Fails the attempt that a read was for. Another attempt reads again. */
export function ownReadFailed(transition: Transition, node: NodeRecord, failure: Failure): void {
  const { outcomeUnknown: _unknown, ...rest } = failure;
  transition.change(node).attempt += 1;
  attemptFailed(transition, node, { failure: rest, attempted: false, isPermanent: false });
}

/** Waits for a time. Succeeds at once if it has passed. */
function beginWait(transition: Transition, node: NodeRecord, model: WaitNode): void {
  if (!hasTime(transition, node)) return;
  const id = nextAttemptId(transition, node);
  const until = waitEnd(transition.at, readerOf(transition, node), model);
  if (typeof until !== 'number') {
    fail(transition, node, { failure: until, reached: node.attempt, isPermanent: true });
    return;
  }
  if (until <= transition.at) {
    succeed(transition, node, undefined);
    return;
  }
  const limit = waitDueAt(transition, node) ?? Number.POSITIVE_INFINITY;
  const late = limit === transition.state.run.deadlineAt ? 'deadline' : 'timeout';
  const timer =
    limit < until ? ({ purpose: late, dueAt: limit } as const) : ({ purpose: 'wait', dueAt: until } as const);
  issueWait(transition, node, { kind: 'startTimer', id, node: node.key, ...timer });
  transition.report({ kind: 'waiting', node: node.key, nodeKind: 'wait', command: id, until });
}

/** The end of the wait, in whole ms since the epoch. */
function waitEnd(at: number, reader: Evaluation, { durationMs, until }: WaitNode): number | Failure {
  const expr = durationMs ?? until;
  if (expr === undefined) return failures.wait('it does not say how long');
  const evaluated = reader.value(expr);
  if (!evaluated.ok) return evaluated.failure;
  const { value } = evaluated;
  const isDuration = durationMs !== undefined;
  const time = isDuration || typeof value !== 'string' ? value : parseTime(value);
  if (typeof time !== 'number' || !Number.isFinite(time)) {
    return failures.wait(`${JSON.stringify(value ?? null)} is not a ${isDuration ? 'number' : 'time'}`);
  }
  if (isDuration && time < 0) return failures.wait(`${time} ms is negative`);
  const end = Math.ceil(isDuration ? at + time : time);
  return end - at > MAX_DURATION_MS ? failures.wait('that is more than ten years') : end;
}

/** Asks a question and waits for the answer. [N7] */
function beginAsk(transition: Transition, node: NodeRecord, model: AskNode): void {
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
function beginShell(transition: Transition, node: NodeRecord, model: ShellNode): void {
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
function beginDelegate(transition: Transition, node: NodeRecord, model: DelegateNode): void {
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
function beginClientCall(transition: Transition, node: NodeRecord, model: CallNode): void {
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

// A question approves one call: its tool, and the input that it has when the question is asked. [N15]

/** The call that a question approves, as it is shown; undefined without one. */
function approvalOf(
  transition: Transition,
  node: NodeRecord,
  { approves }: AskNode,
): Evaluated<Approval | undefined> {
  if (approves === undefined) return { ok: true, value: undefined };
  const approved = callBy(transition, sibling(node, approves));
  if (!approved.ok) return approved;
  const { askedAgain } = node.details;
  return { ok: true, value: { ...approved.value, ...defined({ askedAgain }) } };
}

function callBy(transition: Transition, call: NodeRecord): Evaluated<Approval> {
  const { tool } = call.planned.node as CallNode;
  const input = inputOf(transition, call, call.planned.node as CallNode);
  if (!input.ok) return input;
  const digest = sha256Hex(canonicalJson({ tool, input: input.value }));
  const restarts = restartsInside(transition.state, call);
  return { ok: true, value: { tool, input: input.value, digest, restarts } };
}

/**
 * Whether a call may begin: no question approves it, or its answer was a yes to exactly what would be sent. Else the
 * question is asked again, or the call fails where there was no yes.
 */
export function isApproved(transition: Transition, call: NodeRecord): boolean {
  const { approvedBy } = call.planned;
  if (approvedBy === undefined) return true;
  const question = call.scope.node(approvedBy);
  const { approved, askedAgain } = question.details;
  // A yes that no caller gave, such as the value of a fallback, approves no input however often it is asked for.
  if (approved === undefined && (!isYes(question.output) || askedAgain !== undefined)) {
    const failure = failures.notApproved(approvedBy.node.id);
    failWithoutFallback(transition, call, { failure, reached: 0, isPermanent: true });
    return false;
  }
  const next = callBy(transition, call);
  // A call fails by itself if its input has no value.
  if (!next.ok || isSame(approved, next.value)) return true;
  startOver(transition, call.scope, [question, call]);
  question.set('askedAgain', changeBetween(approved, next.value));
  return false;
}

function isSame(approved: Approval | undefined, { digest, restarts }: Approval): boolean {
  return approved?.digest === digest && approved.restarts === restarts;
}

/** Why an approval does not hold for a call. */
function changeBetween(before: Approval | undefined, { tool, input, digest }: Approval): string {
  if (before === undefined) return 'it was approved without its input';
  if (before.digest === digest) return 'the call it was for was made, and is to be made again';
  if (before.tool !== tool) return `its tool was '${before.tool}'`;
  const names = [...new Set([...Object.keys(before.input), ...Object.keys(input)])].filter(
    (name) => canonicalJson(pick(before.input, name)) !== canonicalJson(pick(input, name)),
  );
  return `its input changed: ${names.map((name) => `'${name}'`).join(', ')}`;
}

function pick(input: JsonObject, name: string): JsonObject {
  return defined({ [name]: ownProperty(input, name) }) as JsonObject;
}

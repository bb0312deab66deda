import { isForOthers, needsPage } from '../../../graph/answerers.js';
import { defined } from '../../../graph/defined.js';
import { type JsonObject, ownProperty } from '../../../graph/json.js';
import { getOrInsert } from '../../../graph/maps.js';
import type { Graph } from '../../../graph/model.js';
import { clip, jsonText, oneLine } from '../../../graph/printable-text.js';
import type { Failure } from '../../engine/contract.js';
import type { IdentifiedRequest, RequestContext } from '../../runs/request.js';
import type { Envelope, RunAnswer } from '../../runs/run/envelope.js';
import type { RunReading, RunStatus, RunStore, Waiter } from '../../runs/run-store.js';
import type { TaskOrigin } from '../../runs/store/host-rows.js';
import type { Log } from '../../tools/log.js';
import type { Peer } from '../../tools/port.js';
import type { ToolEntry } from '../../tools/registry.js';
import { toJson } from '../../tools/to-json.js';
import type { PauseReason, TraceMeta } from '../../trace/messages.js';
import { names, stop } from '../../trace/sentences.js';
import { textOf } from '../composite/results.js';
import { withoutUser } from '../composite/workflow-calls.js';
import type { WorkflowTools } from '../composite/workflow-tools.js';
import { openQuestions, submissionOf } from '../question-rounds.js';
import { storeFault, taskNotFound } from '../store-failure.js';
import { failureResult, faultCodes, ProtocolFault, successResult, type ToolResult } from '../wire.js';
import type { TaskCalls } from './task-calls.js';
import {
  type StoredTask,
  type TaskCall,
  type TaskContinuation,
  TaskRouter,
  type TaskState,
} from './task-router.js';

interface TaskParts {
  readonly runs: RunStore;
  readonly workflowTools: WorkflowTools;
  /** A tool of the registry that clients may call. */
  readonly toolOf: (name: string) => CallableTool | undefined;
  readonly identified: (context: RequestContext) => IdentifiedRequest;
  /** Why a caller may not call a tool now. */
  readonly refusalOf: (tool: string, request: IdentifiedRequest) => Promise<Failure | undefined>;
  /** The most tasks of one answer. */
  readonly pageSize: number;
  readonly pageOf: NonNullable<Waiter['pageOf']>;
  /** How long a request waits for a run that it changes, in ms. */
  readonly answerMs: number;
  readonly calls: TaskCalls;
  /** The name of the tool of a workflow, if it has one. */
  readonly workflowTool: (workflow: string) => string | undefined;
  readonly log: Log;
}

/**
 * The runs of a server as tasks, for any version of the protocol. It has no state of its own: a task is a run under the
 * same id.
 */
export class RunTasks extends TaskRouter {
  readonly #parts: TaskParts;

  constructor(parts: TaskParts) {
    super();
    this.#parts = parts;
  }

  override async start({ tool, input, ttlMs }: TaskCall, context: RequestContext): Promise<TaskState> {
    const { workflowTools, toolOf, identified, refusalOf } = this.#parts;
    const request = identified(context);
    const refusal = await refusalOf(tool, request);
    if (refusal !== undefined) throw refused(tool, refusal);
    const task = { tool, ...defined({ ttlMs }) };
    const callable = toolOf(tool);
    const answer =
      callable === undefined
        ? await workflowTools.startTask(input, task, request)
        : await this.#stored(`'${tool}'`, this.#startTool(callable, input, task, request));
    if (!answer.ok) throw refused(tool, answer.failure);
    // It may be over by now, but begins as a task that works.
    const { message: _, ...state } = await this.status(answer.envelope.workflow_id, context);
    return { ...state, status: 'working' };
  }

  /** Starts the run of a tool's call. The tool checks its input, as in a plain call. */
  #startTool(
    tool: CallableTool,
    input: TaskCall['input'],
    task: TaskOrigin,
    request: IdentifiedRequest,
  ): Promise<RunAnswer> {
    const json = toJson({ [INPUT]: input });
    if (!json.ok) return Promise.resolve({ ok: false, failure: notJson(json.problem) });
    const run = { owner: request.principal, graph: toolGraph(tool), input: json.value as JsonObject, task };
    const progress: Waiter['progress'] = (value, total, message) => request.progress(value, total, message);
    return this.#parts.runs.start(run, { request: withoutUser(request), answerMs: 0, progress });
  }

  override async status(id: string, context: RequestContext): Promise<TaskState> {
    const request = this.#parts.identified(context);
    return this.#stateOf(await this.#read(id, request), request);
  }

  override async list(cursor: string | undefined, context: RequestContext) {
    const { runs, pageSize, identified } = this.#parts;
    const request = identified(context);
    const before = cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString('utf8');
    if (before !== undefined) await this.#read(before, request).catch(unknownCursor);
    const query = { ...defined({ before }), limit: pageSize + 1 };
    const listed = await this.#stored('tasks/list', runs.list(request.principal, query));
    const page = listed.slice(0, pageSize);
    const readable = page.filter((run) => !('unreadable' in run));
    const states = await Promise.all(
      readable.map(({ workflow_id }) =>
        this.#read(workflow_id, request).then(
          (run) => this.#stateOf(run, request),
          () => undefined,
        ),
      ),
    );
    const last = page.at(-1)?.workflow_id;
    return {
      tasks: states.filter((state) => state !== undefined),
      ...(listed.length > pageSize && last !== undefined
        ? { nextCursor: Buffer.from(last).toString('base64url') }
        : {}),
    };
  }

  override async cancel(id: string, context: RequestContext): Promise<TaskState> {
    const { runs, answerMs, identified } = this.#parts;
    const request = identified(context);
    const before = await this.#stateOf(await this.#read(id, request), request);
    if (before.status !== 'working' && before.status !== 'input_required') throw overAlready(before);
    const how = { reason: 'the client cancelled the task' };
    await this.#stored('tasks/cancel', runs.cancel(request.principal, id, how, { request, answerMs }));
    const after = await this.#stateOf(await this.#read(id, request), request);
    // It ended by itself meanwhile.
    if (after.status !== 'cancelled') throw overAlready(after);
    return after;
  }

  override async result(id: string, context: RequestContext): Promise<ToolResult> {
    const { workflowTools, toolOf, identified } = this.#parts;
    const request = asking(identified(context), id);
    const { envelope, task } = await this.#read(id, request, { waiter: untilOver(request) });
    if (!isOpen(envelope)) {
      const isTool = task !== undefined && toolOf(task.tool) !== undefined;
      return isTool ? toolRunResult(envelope) : workflowTools.taskResult(task?.tool, envelope);
    }
    throw new ProtocolFault(
      faultCodes.shuttingDown,
      `Task '${clip(id)}' is not over, and the request ended before it: ask for its result again`,
    );
  }

  override async questions(id: string, context: RequestContext) {
    const open = await this.#openQuestions(id, this.#parts.identified(context));
    return open.map(({ isEmpty: _, ...question }) => question);
  }

  override async update(...[id, answers, context]: Parameters<TaskRouter['update']>): Promise<void> {
    const { runs, identified } = this.#parts;
    const { peer: _, ...request } = identified(context);
    const open = await this.#openQuestions(id, request);
    const submissions = open.flatMap(({ id: actionId, isEmpty, schema }) => {
      // That a user has opened a page is not the answer.
      if (!Object.hasOwn(answers, actionId) || schema === undefined) return [];
      return [{ actionId, ...submissionOf(actionId, answers[actionId], isEmpty) }];
    });
    const problems: string[] = [];
    for (const submission of submissions) {
      const submitted = runs.submit(request.principal, id, submission, { request, answerMs: 0 });
      const answer = await this.#stored(`the answer of task '${clip(id)}'`, submitted);
      // Of other failures another answer, or the end of the run, is the reason.
      if (!answer.ok && answer.failure.code === 'E_RESULT_SHAPE')
        problems.push(`'${submission.actionId}': ${answer.failure.message}`);
    }
    if (problems.length === 0) return;
    const text = `Invalid inputResponses of task '${clip(id)}': ${oneLine(problems.join('; '), Number.POSITIVE_INFINITY)}`;
    throw new ProtocolFault(faultCodes.invalidParams, text);
  }

  async #openQuestions(id: string, request: IdentifiedRequest) {
    await this.#read(id, request);
    const { runs, pageOf } = this.#parts;
    return this.#stored(`task '${clip(id)}'`, openQuestions(runs, request.principal, id, pageOf));
  }

  override async follow(
    id: string,
    context: RequestContext,
    report: (task: TaskState) => void,
  ): Promise<void> {
    const { peer: _, ...request } = this.#parts.identified(context);
    let last: TaskState | undefined;
    // In the order of the changes, although each is described by itself.
    let reported = Promise.resolve();
    const onChange = (run: RunStatus): void => {
      const described = this.#stateOf(run, request);
      reported = reported.then(async () => {
        const task = await described;
        if (task.status === last?.status && task.message === last.message) return;
        last = task;
        report(task);
      });
    };
    const end = await this.#read(id, request, { waiter: untilOver(request), onChange });
    if (!isOpen(end.envelope)) onChange(end);
    await reported;
  }

  override async get(id: string, context: RequestContext): Promise<StoredTask> {
    const { calls, identified } = this.#parts;
    const { principal } = identified(context);
    const state = await this.status(id, context);
    const stored = await this.#stored(`task '${clip(id)}'`, calls.variablesOf(id, principal));
    if (stored === undefined) throw taskNotFound(id);
    return { ...state, ...stored };
  }

  override createWorkflowTask(
    workflow: string,
    inputs: JsonObject,
    context: RequestContext,
    ttlMs?: number,
  ): Promise<TaskState> {
    const tool = this.#parts.workflowTool(workflow);
    const call =
      tool === undefined
        ? { tool: 'start_workflow', input: { name: workflow, inputs } }
        : { tool, input: inputs };
    return this.start({ ...call, ...defined({ ttlMs }) }, context);
  }

  override async setTaskVariables(
    id: string,
    changes: JsonObject,
    context: RequestContext,
    expectedVersion?: number,
  ): Promise<StoredTask> {
    const { runs, identified, answerMs } = this.#parts;
    const { principal } = identified(context);
    const change = { set: changes, ...defined({ expectedVersion }) };
    // A caller that does not own the task learns of no rule.
    await this.status(id, context);
    const setting = runs.setVariables(principal, id, change, answerMs);
    const answer = await this.#stored(`the change of task '${clip(id)}'`, setting);
    if (!answer.ok) throw refusedChange(answer.failure);
    return this.get(id, context);
  }

  override async handleWorkflowContinuation(
    id: string,
    { tool, args, result: value, step }: TaskContinuation,
    context: RequestContext,
  ): Promise<JsonObject> {
    const { calls, identified } = this.#parts;
    await this.status(id, context);
    const request = { ...identified(context), continues: { task: id, ...defined({ step }) } };
    const { _meta = {} } = await calls.record({ tool, args, value }, request, { content: [] });
    const { task_error: error, ...meta } = _meta as JsonObject;
    if (error !== undefined) throw refusedChange(error as unknown as Failure);
    return meta;
  }

  async #stateOf(run: RunStatus, { principal }: IdentifiedRequest): Promise<TaskState> {
    const { envelope, startedAt, updatedAt, task } = run;
    const id = envelope.workflow_id;
    const isPaused = isOpen(envelope) && envelope.actions.some(({ type }) => type === 'step');
    // A store that fails now has returned the run before: then the failure of the step is the reason.
    const inspected = isPaused
      ? await this.#parts.calls.inspect(id, principal).catch(() => undefined)
      : undefined;
    const message = isPaused ? pausedMessage(envelope, inspected?.meta) : messageOf(envelope, task);
    return {
      id,
      status: statusOf(envelope),
      createdAt: startedAt,
      updatedAt,
      ...defined({ message, ttlMs: task?.ttlMs }),
    };
  }

  async #read(id: string, request: IdentifiedRequest, how: RunReading = {}): Promise<RunStatus> {
    const { runs } = this.#parts;
    const now = Date.now();
    const answer = await this.#stored(`task '${clip(id)}'`, runs.get(request.principal, id, how));
    if (answer.ok && !hasExpired(answer, now)) return answer;
    throw taskNotFound(id);
  }

  /** A fault of the store as one of the protocol. */
  async #stored<T>(what: string, work: Promise<T>): Promise<T> {
    return work.catch((fault: unknown) => {
      throw storeFault(fault, what, this.#parts.log);
    });
  }
}

/** A request that waits for the end of a run. */
function untilOver(request: IdentifiedRequest): Waiter {
  return { request, answerMs: Number.POSITIVE_INFINITY, untilOver: true };
}

/** A request by which the user is asked as a part of a task. */
function asking(request: IdentifiedRequest, task: string): IdentifiedRequest {
  const { peer } = request;
  if (peer === undefined) return request;
  const { elicit, elicitUrl } = peer;
  const asked: Pick<Peer, 'elicit' | 'elicitUrl'> = {
    ...(elicit && { elicit: (question, signal) => elicit({ ...question, task }, signal) }),
    ...(elicitUrl && { elicitUrl: (question, signal) => elicitUrl({ ...question, task }, signal) }),
  };
  return { ...request, peer: { ...peer, ...asked } };
}

/** Why a task is paused, and the calls that continue it. */
type Paused = Pick<TraceMeta, 'pause_reason' | 'next'>;

/** The longest text of a failure in a message, in UTF-16 code units. */
const REASON_LENGTH = 120;

/** Why a task is paused, and the call that continues it. What it asks beside that follows. */
function pausedMessage(envelope: Envelope, meta: Paused | undefined): string | undefined {
  const { workflow_id: id, actions } = envelope;
  const steps = actions.flatMap((action) => (action.type === 'step' ? [action] : []));
  const pause = meta?.pause_reason;
  const pausedStep = pause === undefined ? undefined : stepOf(pause);
  const action = steps.find(({ step_id }) => step_id === pausedStep) ?? steps[0];
  if (action === undefined) return undefined;
  const { step_id: step, parameters } = action;
  const listed = meta?.next?.find((call) => call.step === step);
  const tool = listed !== undefined && 'tool' in listed ? listed.tool : parameters.tool;
  const byServer = tool === undefined || tool === RESUME;
  const how = byServer ? { workflow_id: id } : { _task_id: id, _step: step };
  const reason =
    (step === pausedStep ? missingIn(pause) : undefined) ??
    oneLine(parameters.failure.message, REASON_LENGTH);
  const isUnsafe =
    parameters.tool !== undefined && pause?.type === 'toolError' && !pause.retryable && step === pausedStep;
  const others = actions.filter(({ type }) => type !== 'step');
  return [
    `Step '${clip(step)}' is paused: ${stop(reason)}`,
    `${isUnsafe ? 'Check that it had no effect, then' : 'To continue,'} call '${byServer ? RESUME : clip(tool)}' with ${byServer ? '' : '_meta '}${jsonText(how)}.`,
    ...(steps.length === 1 ? [] : [`Other paused steps: ${steps.length - 1}.`]),
    ...(others.length === 0 ? [] : [textOf({ ...envelope, actions: others })]),
  ].join(' ');
}

const RESUME = 'resume_workflow';

function stepOf(pause: PauseReason): string | undefined {
  return 'blockedStep' in pause ? pause.blockedStep : 'failedStep' in pause ? pause.failedStep : undefined;
}

/** What a call lacks. */
function missingIn(pause: PauseReason | undefined): string | undefined {
  switch (pause?.type) {
    case 'unresolvableParams':
      return `parameter '${clip(pause.missingParam)}' has no value`;
    case 'unresolvedDependency':
      return `step '${clip(pause.producingStep)}', which it depends on, did not complete`;
    case 'schemaMismatch': {
      const { missingFields: fields } = pause;
      if (fields.length === 0) return undefined;
      return `required ${fields.length === 1 ? 'field' : 'fields'} ${names(fields.map(clip))} ${fields.length === 1 ? 'is' : 'are'} missing`;
    }
    default:
      return undefined;
  }
}

function messageOf(envelope: Envelope, task: RunStatus['task']): string | undefined {
  if (envelope.status === 'completed') return undefined;
  // The run of a tool has its name. What it is at says no more than the status, unless it is paused.
  const isToolRun = task?.tool === envelope.definition.name && envelope.paused_steps === undefined;
  return isToolRun ? envelope.error?.message : textOf(envelope);
}

function statusOf({ status, cancelling, actions }: Envelope): TaskState['status'] {
  if (status !== 'running' && status !== 'waiting') return status;
  // Its effects are undone first, and then it ends as cancelled.
  if (cancelling === true) return 'cancelled';
  const asks = actions.some(
    ({ type, answer_by }) => !isUnasked(type) && (!isForOthers(answer_by) || needsPage(answer_by)),
  );
  return asks ? 'input_required' : 'working';
}

/** Whether an action asks for no answer of the caller: a time, or a step that any call or another attempt completes. */
function isUnasked(type: Envelope['actions'][number]['type']): boolean {
  return type === 'wait' || type === 'step';
}

function isOpen({ status }: Envelope): boolean {
  return status === 'running' || status === 'waiting';
}

/** How long a task is kept after its end at the least, in ms, unless its time to live is shorter. */
const LEAST_KEPT_MS = 60_000;

/** Whether a task was over at a time, and no longer kept. A client that polls finds it after its end in any case. */
function hasExpired({ startedAt, endedAt, task }: RunStatus, now: number): boolean {
  const { ttlMs = Number.POSITIVE_INFINITY } = task ?? {};
  if (endedAt === undefined || endedAt > now) return false;
  return Math.max(startedAt + ttlMs, endedAt + Math.min(ttlMs, LEAST_KEPT_MS)) <= now;
}

function overAlready({ id, status }: TaskState): ProtocolFault {
  return new ProtocolFault(
    faultCodes.invalidParams,
    `Task '${clip(id)}' cannot be cancelled: it is ${status} already`,
  );
}

function unknownCursor(): never {
  throw new ProtocolFault(
    faultCodes.invalidParams,
    'Invalid cursor: this list did not return it. Leave it out to get the first page',
  );
}

/** The codes of calls that start no run, by what is wrong with them. Others are refused. */
const FAULTS: Readonly<Record<string, number>> = {
  E_INPUT_INVALID: faultCodes.invalidParams,
  RESOURCE_EXHAUSTED: faultCodes.exhausted,
  E_STORE: faultCodes.internal,
  E_STORE_REPLACED: faultCodes.internal,
};

function notJson(problem: string): Failure {
  return { code: 'E_INPUT_INVALID', message: `the arguments are not JSON, but hold ${problem}` };
}

function refused(tool: string, { code, message, details }: Failure): ProtocolFault {
  return new ProtocolFault(
    ownProperty(FAULTS, code) ?? faultCodes.refused,
    `Tool '${clip(tool)}' was not called as a task: ${oneLine(message, Number.POSITIVE_INFINITY)}`,
    { code, ...defined({ details }) },
  );
}

/** A tool that clients may call, and how long a call of it may take, in ms. */
export interface CallableTool {
  readonly name: string;
  readonly entry: ToolEntry;
  readonly timeoutMs: number;
}

const INPUT = 'input';
const STEP = 'call';

/** By entry: runs of one tool have one graph. */
const graphs = new WeakMap<ToolEntry, Graph>();

/** The workflow of one step that a call of a tool is, when it is made as a task: then it survives a restart. */
function toolGraph(tool: CallableTool): Graph {
  return getOrInsert(graphs, tool.entry, () => makeGraph(tool));
}

function makeGraph({ name, entry, timeoutMs }: CallableTool): Graph {
  const { title, description, inputSchema, secret = [] } = entry;
  const isSecret = secret.length > 0;
  return {
    graphVersion: 1,
    name,
    ...defined({ title }),
    description,
    inputs: [
      {
        name: INPUT,
        description: `What '${name}' is called with`,
        schema: inputSchema,
        required: true,
        ...(isSecret ? { secret: true } : {}),
      },
    ],
    instructions: [],
    nodes: [
      {
        kind: 'call',
        id: STEP,
        after: [],
        join: 'none_failed',
        executor: 'server',
        tool: name,
        timeoutMs,
        input: { kind: 'dict', entries: [{ spread: { kind: 'ref', root: 'inputs', path: [INPUT] } }] },
      },
    ],
    returns: { kind: 'ref', root: 'steps', path: [STEP] },
    expose: [],
  };
}

function toolRunResult({ result = null, error }: Envelope): ToolResult {
  if (error === undefined) return successResult(result, undefined);
  const { code, message, outcome_unknown: outcomeUnknown, details } = error;
  return failureResult({ code, message, ...defined({ outcomeUnknown, details }) });
}

function refusedChange({ code, message, details }: Failure): ProtocolFault {
  const isInternal = code === 'E_TASK_VERSION' || code === 'E_JOURNAL';
  const fault = isInternal ? faultCodes.internal : faultCodes.invalidParams;
  return new ProtocolFault(fault, message, { code, ...defined({ details }) });
}

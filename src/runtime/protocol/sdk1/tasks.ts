import type { CreateTaskResult, Task } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { defined } from '../../../graph/defined.js';
import { isJsonObject } from '../../../graph/json.js';
import { clip } from '../../../graph/printable-text.js';
import { noProgress, type RequestContext } from '../../runs/request.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import type { TaskRouter, TaskState } from '../../server/tasks/task-router.js';
import { faultCodes, ProtocolFault } from '../../server/wire.js';
import { call, checkedParams, page, text } from '../../transports/answer-request.js';
import { progressOf, TASK_POLL_MS, taskFields } from '../../transports/messages.js';
import { type ConnectedClient, relatedTask } from './peer.js';

// Tasks as version 2025-11-25 of the protocol has them, where they are experimental.

/** What a server can do with tasks. */
export const TASK_CAPABILITY = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

export const TASK_METHODS = ['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel'] as const;

type TaskMethod = (typeof TASK_METHODS)[number];

export function isTaskMethod(method: string): method is TaskMethod {
  return TASK_METHODS.some((each) => each === method);
}

// Made on first use, so that a server starts without them.

const named = () => z.looseObject({ taskId: text() });

const taskCall = () =>
  call().extend({
    task: z.looseObject(
      { ttl: z.number('must be a number of ms').nonnegative('must not be negative').optional() },
      'expected an object',
    ),
  });

/** A request, its params unchecked. */
interface RawRequest {
  readonly method: string;
  readonly params?: unknown;
}

/**
 * Answers a request about a task, or a call that is made as one.
 *
 * @returns `undefined` for any other request.
 * @throws ProtocolFault for a request that is malformed, or a tool that cannot be called in this way.
 */
export function answerTask(
  server: StepwrightServer,
  client: ConnectedClient,
  { method, params }: RawRequest,
  context: RequestContext,
): Promise<object> | undefined {
  if (isTaskMethod(method)) return answerMethod(server.tasks, { method, params }, context);
  if (method !== 'tools/call' || !isJsonObject(params) || typeof params.name !== 'string') return undefined;
  const support = server.taskSupportOf(params.name);
  if (params.task === undefined && support === 'required') throw onlyAsTask(params.name);
  if (params.task === undefined || support === undefined) return undefined;
  if (support === 'forbidden') throw notAsTask(params.name);
  return startTask(server.tasks, client, params, context);
}

async function answerMethod(
  tasks: TaskRouter,
  { method, params }: RawRequest & { readonly method: TaskMethod },
  context: RequestContext,
): Promise<object> {
  if (method === 'tasks/list') {
    const { tasks: listed, nextCursor } = await tasks.list(
      checkedParams(method, page(), params).cursor,
      context,
    );
    return { tasks: listed.map(taskOf), ...defined({ nextCursor }) };
  }
  const { taskId } = checkedParams(method, named(), params);
  switch (method) {
    case 'tasks/get':
      return taskOf(await tasks.status(taskId, context));
    case 'tasks/cancel':
      return taskOf(await tasks.cancel(taskId, context));
    case 'tasks/result': {
      const result = await tasks.result(taskId, context);
      return { ...result, _meta: { ...result._meta, ...relatedTask(taskId) } };
    }
    default:
      return method satisfies never;
  }
}

/** Starts a task, of which the client is notified until it is over or the connection has ended. */
async function startTask(
  tasks: TaskRouter,
  client: ConnectedClient,
  params: unknown,
  context: RequestContext,
): Promise<CreateTaskResult> {
  const { name: tool, arguments: input = {}, task } = checkedParams('tools/call', taskCall(), params);
  const progress = new TaskProgress(client, params);
  const { report } = progress;
  const reporting = progress.isWanted
    ? { progress: report, progressUntil: client.closed }
    : { progress: noProgress };
  const state = await tasks.start(
    { tool, input, ...defined({ ttlMs: task.ttl }) },
    { ...context, ...reporting },
  );
  progress.begin(state.id);
  // A notification that is lost is made up for by the next request of the client.
  tasks
    .follow(state.id, { ...context, signal: client.closed }, (each) => client.notifyTask(taskOf(each)))
    .catch(() => {});
  return { task: taskOf(state) };
}

type Report = Parameters<RequestContext['progress']>;

/** Sends the progress of a task to the client that started it: the token of its call outlasts the response. */
class TaskProgress {
  readonly #client: ConnectedClient;
  readonly #token: string | number | undefined;
  /** Reports before the id of the task is there. */
  readonly #early: Report[] = [];
  #task: string | undefined;
  #last = Number.NEGATIVE_INFINITY;

  constructor(client: ConnectedClient, params: unknown) {
    this.#client = client;
    const meta = isJsonObject(params) && isJsonObject(params._meta) ? params._meta : {};
    const { progressToken: token } = meta;
    this.#token = typeof token === 'string' || typeof token === 'number' ? token : undefined;
  }

  /** Without a token no progress is computed. */
  get isWanted(): boolean {
    return this.#token !== undefined;
  }

  readonly report: RequestContext['progress'] = (...report) => this.#take(report);

  begin(task: string): void {
    this.#task = task;
    for (const report of this.#early) this.#take(report);
  }

  /** A report that does not rise is left out, as the protocol demands. */
  #take(report: Report): void {
    if (this.#task === undefined) this.#early.push(report);
    else if (this.#token !== undefined && Number.isFinite(report[0]) && report[0] > this.#last) {
      this.#last = report[0];
      this.#client.notifyProgress({ ...progressOf(this.#token, report), _meta: relatedTask(this.#task) });
    }
  }
}

function taskOf(state: TaskState): Task {
  return { ...taskFields(state), ttl: state.ttlMs ?? null, pollInterval: TASK_POLL_MS };
}

function notAsTask(tool: string): ProtocolFault {
  return new ProtocolFault(
    faultCodes.methodNotFound,
    `Tool '${clip(tool)}' cannot be called as a task: call it without \`task\``,
  );
}

function onlyAsTask(tool: string): ProtocolFault {
  return new ProtocolFault(
    faultCodes.methodNotFound,
    `Tool '${clip(tool)}' can only be called as a task: call it with \`task\`, which needs a client with tasks`,
  );
}

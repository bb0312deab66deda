import { inputRequired, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../../graph/json.js';
import type { RequestContext } from '../../runs/request.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import type { TaskRouter, TaskState } from '../../server/tasks/task-router.js';
import { ProtocolFault, putBy, type UserQuestion } from '../../server/wire.js';
import { checkedParams, dictionary, parseParams, text } from '../../transports/answer-request.js';
import { type Message, TASK_POLL_MS, taskFields } from '../../transports/messages.js';

// Tasks as the extension of revision 2026-07-28 has them: the server decides which calls are tasks.

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

export const TASK_METHODS = ['tasks/get', 'tasks/update', 'tasks/cancel'] as const;

type TaskMethod = (typeof TASK_METHODS)[number];

export function isTaskMethod(method: string): method is TaskMethod {
  return TASK_METHODS.some((each) => each === method);
}

/** Params that are checked where a request is answered: the SDK would refuse them with the issues of its schemas. */
export const UNCHECKED: { readonly params: StandardSchemaV1<unknown> } = {
  params: { '~standard': { version: 1, vendor: 'stepwright', validate: (value) => ({ value }) } },
};

const named = z.looseObject({ taskId: text() });

const answers = dictionary('expected an object with the answers by the keys of the input requests');
const retry = z.looseObject({ inputResponses: answers.optional() });
const update = z.looseObject({ inputResponses: answers });

/**
 * Checks the answers of a request.
 *
 * @throws ProtocolFault -32602 for those that are not an object, and for an update of a task without them.
 */
export function checkAnswers(method: string, params: Message['params']): void {
  if (method === 'tasks/update') checkedParams(method, update, params);
  else if (params?.inputResponses !== undefined) checkedParams(method, retry, params);
}

/** What a client can do, by its request. */
export interface TaskClient {
  readonly hasTasks: boolean;
  /** Whether it asks its user with forms. */
  readonly canAsk: boolean;
  /** Whether it has its user open pages. */
  readonly canOpen: boolean;
}

export function taskClientOf(capabilities: JsonObject = {}, mayHaveTasks = true): TaskClient {
  const { extensions, elicitation } = capabilities;
  return {
    hasTasks: mayHaveTasks && isJsonObject(extensions) && isJsonObject(extensions[TASKS_EXTENSION]),
    // Without a mode it is one that had forms before modes were there.
    canAsk: isJsonObject(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined),
    canOpen: isJsonObject(elicitation) && isJsonObject(elicitation.url),
  };
}

/**
 * Answers a request about a task.
 *
 * @throws ProtocolFault for a task that the caller does not have.
 */
export async function answerTask(
  tasks: TaskRouter,
  { method, params }: { readonly method: TaskMethod; readonly params?: unknown },
  client: TaskClient,
  { inputResponses = {} }: Pick<ServerContext['mcpReq'], 'inputResponses'>,
  context: RequestContext,
): Promise<object> {
  if (!client.hasTasks) throw withoutTasks(method);
  const { taskId } = checkedParams(method, named, params);
  switch (method) {
    case 'tasks/get':
      return detailedTask(tasks, await tasks.status(taskId, context), client, context);
    case 'tasks/update':
      await tasks.update(taskId, inputResponses, context);
      return {};
    case 'tasks/cancel':
      await cancel(tasks, taskId, context);
      return {};
  }
}

/**
 * Starts the task of a call, where the tool may be one and the client has tasks.
 *
 * @returns `undefined` for any other call, and for one with input that does not fit.
 * @throws ProtocolFault at a limit, and from a client without tasks for a tool that can only be called as a task.
 */
export async function startTask(
  server: StepwrightServer,
  params: unknown,
  { hasTasks }: TaskClient,
  context: RequestContext,
): Promise<object | undefined> {
  const { name: tool, arguments: input = {} } = parseParams('tools/call', params);
  const support = server.taskSupportOf(tool) ?? 'forbidden';
  if (support === 'required' && !hasTasks) throw withoutTasks(`Tool '${tool}'`);
  if (support === 'forbidden' || !hasTasks) return undefined;
  try {
    const task = await server.tasks.start({ tool, input }, context);
    return { resultType: 'task', ...taskOf(task) };
  } catch (fault) {
    // The plain call is refused too, with a result that a model reads.
    if (fault instanceof ProtocolFault && hasCode(fault, 'E_INPUT_INVALID')) return undefined;
    throw fault;
  }
}

function hasCode({ data }: ProtocolFault, code: string): boolean {
  return isJsonObject(data) && data.code === code;
}

/** Requests for the answers to questions, as {@link putBy} has them, by the ids of those. */
export function inputRequestsOf(questions: readonly UserQuestion[]) {
  const requests = questions.map(({ id, message, schema, url }) => {
    const request =
      url === undefined
        ? inputRequired.elicit({ message, requestedSchema: schema as never })
        : inputRequired.elicitUrl({ message, url });
    return [id, request] as const;
  });
  return Object.fromEntries(requests);
}

/** Cancels a task. One that is over stays as it is. */
async function cancel(tasks: TaskRouter, id: string, context: RequestContext): Promise<void> {
  if (isOver(await tasks.status(id, context))) return;
  await tasks.cancel(id, context).catch(async (fault: unknown) => {
    if (!isOver(await tasks.status(id, context))) throw fault;
  });
}

function isOver({ status }: TaskState): boolean {
  return status !== 'working' && status !== 'input_required';
}

/** A task with its questions or its result. A tool that failed has a result: no task fails as the extension means it. */
export async function detailedTask(
  tasks: TaskRouter,
  state: TaskState,
  client: TaskClient,
  context: RequestContext,
): Promise<object> {
  const { id, status } = state;
  switch (status) {
    case 'input_required': {
      const questions = putBy(client, await tasks.questions(id, context));
      // It waits for something that this client cannot give: its message says how it continues.
      if (questions.length === 0) return { ...taskOf(state), status: 'working' };
      return { ...taskOf(state), inputRequests: inputRequestsOf(questions) };
    }
    case 'completed':
    case 'failed':
      return { ...taskOf(state), status: 'completed', result: await tasks.result(id, context) };
    default:
      return taskOf(state);
  }
}

function taskOf(state: TaskState) {
  return { ...taskFields(state), ttlMs: state.ttlMs ?? null, pollIntervalMs: TASK_POLL_MS };
}

export function withoutTasks(what: string): ProtocolFault {
  const message = `${what} needs a client with tasks: declare the extension '${TASKS_EXTENSION}' in the capabilities of the request`;
  return new ProtocolFault(ProtocolErrorCode.MissingRequiredClientCapability, message, {
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}

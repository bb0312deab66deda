import { CLIENT_CAPABILITIES_META_KEY, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../../../graph/json.js';
import { noProgress, type RequestContext } from '../../runs/request.js';
import type { TaskRouter, TaskState } from '../../server/tasks/task-router.js';
import type { Message } from '../../transports/messages.js';
import { detailedTask, taskClientOf, withoutTasks } from './tasks.js';

/** Keeps a stream open that is for tasks alone: the SDK ends one without a subject that it knows. */
const PLACEHOLDER = 'task:';

/** How many tasks a subscription has at most. */
const MOST_TASKS = 100;

/** The tasks that a message subscribes to. */
export function taskIdsIn({ method, params }: Message): readonly string[] {
  const { notifications } = params ?? {};
  if (method !== 'subscriptions/listen' || !isJsonObject(notifications)) return [];
  const { taskIds } = notifications;
  return Array.isArray(taskIds) ? taskIds.filter((id) => typeof id === 'string').slice(0, MOST_TASKS) : [];
}

/**
 * Answers a subscription to tasks and other subjects with a stream of both.
 *
 * @param answer answers a message as the SDK does.
 */
export async function listenToTasks(
  tasks: TaskRouter,
  message: Message,
  caller: Pick<RequestContext, 'auth' | 'remoteAddress'>,
  answer: (message: Message) => Promise<Response>,
): Promise<Response> {
  const { id, params } = message as { readonly id: string; readonly params: JsonObject };
  const { notifications, _meta: meta } = params as Readonly<Record<string, JsonObject | undefined>>;
  const client = taskClientOf(meta?.[CLIENT_CAPABILITIES_META_KEY] as JsonObject | undefined);
  if (!client.hasTasks) {
    const { code, message: text, data } = withoutTasks('A subscription to tasks');
    return Response.json({ jsonrpc: '2.0', id, error: { code, message: text, data } }, { status: 400 });
  }
  const ended = new AbortController();
  const context: RequestContext = {
    ...caller,
    ...{ requestId: String(id), signal: ended.signal, progress: noProgress },
  };
  const readable = await Promise.all(
    taskIdsIn(message).map((task) =>
      tasks.status(task, context).then(
        () => task,
        () => undefined,
      ),
    ),
  );
  const taskIds = readable.filter((task) => task !== undefined);
  const { resourceSubscriptions: own = [], ...others } = notifications ?? {};
  const resources = [...(Array.isArray(own) ? own : []), PLACEHOLDER];
  const asked = { ...others, resourceSubscriptions: resources };
  const response = await answer({ ...message, params: { ...params, notifications: asked } });
  const source = response.body?.getReader();
  if (!response.ok || source === undefined) return response;
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const { value } = await source.read();
      controller.enqueue(value && acknowledging(value, taskIds));
      const send = (state: TaskState) => async () => {
        const task = await detailedTask(tasks, state, client, context);
        const message = { ...task, _meta: { [SUBSCRIPTION_ID_META_KEY]: id } };
        if (!ended.signal.aborted) controller.enqueue(frameOf('notifications/tasks', message));
      };
      for (const task of taskIds) {
        let sending = Promise.resolve();
        // A client that misses a change asks for the task.
        const report = (state: TaskState): void => {
          sending = sending.then(send(state)).catch(() => {});
        };
        tasks.follow(task, context, report).catch(() => {});
      }
    },
    async pull(controller) {
      const { done, value } = await source.read();
      if (!done) controller.enqueue(value);
      else {
        ended.abort();
        controller.close();
      }
    },
    cancel(reason) {
      ended.abort();
      return source.cancel(reason);
    },
  });
  return new Response(body, response);
}

/** The acknowledgement of the SDK with the tasks that are followed. */
function acknowledging(frame: Uint8Array, taskIds: readonly string[]): Uint8Array {
  const text = new TextDecoder().decode(frame);
  const { method, params } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '');
  const { resourceSubscriptions: all, ...others } = params.notifications;
  const own = (all as readonly string[]).filter((uri) => uri !== PLACEHOLDER);
  const resources = own.length === 0 ? {} : { resourceSubscriptions: own };
  return frameOf(method, { ...params, notifications: { ...others, ...resources, taskIds } });
}

function frameOf(method: string, params: object): Uint8Array {
  const data = JSON.stringify({ jsonrpc: '2.0', method, params });
  return new TextEncoder().encode(`event: message\ndata: ${data}\n\n`);
}

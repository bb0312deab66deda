import { CLIENT_CAPABILITIES_META_KEY, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { defined } from '../../../graph/defined.js';
import { isJsonObject, type JsonObject } from '../../../graph/json.js';
import { noProgress, type RequestContext } from '../../runs/request.js';
import type { TaskRouter, TaskState } from '../../server/tasks/task-router.js';
import { faultCodes, ProtocolFault } from '../../server/wire.js';
import { checkedParams, text } from '../../transports/answer-request.js';
import type { Message } from '../../transports/messages.js';
import type { MessageTransport } from '../../transports/protocol-adapter.js';
import { detailedTask, type TaskClient, taskClientOf, withoutTasks } from './tasks.js';

/** Keeps a stream open that is for tasks alone: the SDK ends one without a subject that it knows. */
const PLACEHOLDER = 'task:';

/** How many tasks a subscription has at most. */
const MOST_TASKS = 100;

/** Who follows tasks. */
type Follower = Pick<RequestContext, 'auth' | 'local' | 'remoteAddress'>;

/** Whether a message subscribes to tasks. Their ids may be any JSON. */
export function subscribesToTasks({ method, params }: Message): boolean {
  const { notifications } = params ?? {};
  if (method !== 'subscriptions/listen' || !isJsonObject(notifications)) return false;
  const { taskIds = [] } = notifications;
  return !Array.isArray(taskIds) || taskIds.length > 0;
}

const taskFilter = z.looseObject({
  notifications: z.looseObject({ taskIds: z.array(text(), 'expected a list of the ids of tasks') }),
});

/** The tasks of one subscription. */
class TaskSubscription {
  /** Those that the caller may read, once it is open. */
  taskIds: readonly string[];
  readonly #tasks: TaskRouter;
  readonly #id: Message['id'];
  readonly #client: TaskClient;
  readonly #ended = new AbortController();
  readonly #context: RequestContext;

  constructor(tasks: TaskRouter, { id, params }: Message, client: TaskClient, follower: Follower) {
    const { notifications } = checkedParams('subscriptions/listen', taskFilter, params);
    this.taskIds = notifications.taskIds.slice(0, MOST_TASKS);
    this.#tasks = tasks;
    this.#id = id;
    this.#client = client;
    const { signal } = this.#ended;
    this.#context = { ...follower, requestId: String(id), signal, progress: noProgress };
  }

  /** Finds the tasks that the caller may read. */
  async open(): Promise<void> {
    const readable = await Promise.all(
      this.taskIds.map((task) =>
        this.#tasks.status(task, this.#context).then(
          () => [task],
          () => [],
        ),
      ),
    );
    this.taskIds = readable.flat();
  }

  /** The acknowledgement of the SDK with the tasks. */
  acknowledging({ notifications, ...params }: JsonObject): JsonObject {
    const { resourceSubscriptions: all = [], ...others } = notifications as JsonObject;
    const own = (all as readonly string[]).filter((uri) => uri !== PLACEHOLDER);
    const resources = own.length === 0 ? {} : { resourceSubscriptions: own };
    return { ...params, notifications: { ...others, ...resources, taskIds: this.taskIds } };
  }

  /** Sends the params of a notification for each change, until the subscription ends. */
  follow(send: (params: JsonObject) => void): void {
    const meta = { _meta: { [SUBSCRIPTION_ID_META_KEY]: this.#id } };
    if (this.#ended.signal.aborted) return;
    for (const task of this.taskIds) {
      let sending = Promise.resolve();
      const report = async (state: TaskState): Promise<void> => {
        const detailed = await detailedTask(this.#tasks, state, this.#client, this.#context);
        if (!this.#ended.signal.aborted) send({ ...detailed, ...meta } as JsonObject);
      };
      // A client that misses a change asks for the task.
      const inTurn = (state: TaskState): void => {
        sending = sending.then(() => report(state)).catch(() => {});
      };
      this.#tasks.follow(task, this.#context, inTurn).catch(() => {});
    }
  }

  end(): void {
    this.#ended.abort();
  }
}

/** The subscription that a message asks for, or the refusal: to a client without tasks, or of malformed ids. */
function subscriptionOf(tasks: TaskRouter, message: Message, follower: Follower) {
  const { id, params } = message;
  const meta = params?._meta as JsonObject | undefined;
  const client = taskClientOf(meta?.[CLIENT_CAPABILITIES_META_KEY] as JsonObject | undefined);
  try {
    if (!client.hasTasks) throw withoutTasks('A subscription to tasks');
    return new TaskSubscription(tasks, message, client, follower);
  } catch (fault) {
    if (!(fault instanceof ProtocolFault)) throw fault;
    const { code, message: text, data } = fault;
    return { jsonrpc: '2.0', id, error: { code, message: text, ...defined({ data }) } };
  }
}

/**
 * Answers a subscription to tasks and other subjects with a stream of both.
 *
 * @param answer answers a message as the SDK does.
 */
export async function listenToTasks(
  tasks: TaskRouter,
  message: Message,
  follower: Follower,
  answer: (message: Message) => Promise<Response>,
): Promise<Response> {
  const subscription = subscriptionOf(tasks, message, follower);
  if ('error' in subscription) {
    // The SDK refuses malformed filters in this way.
    const isMalformed = subscription.error.code === faultCodes.invalidParams;
    return Response.json(subscription, { status: isMalformed ? 200 : 400 });
  }
  await subscription.open();
  const { notifications } = message.params as Readonly<Record<string, JsonObject | undefined>>;
  const { resourceSubscriptions: own = [], ...others } = notifications ?? {};
  const resources = Array.isArray(own) ? [...own, PLACEHOLDER] : own;
  const asked = { ...others, resourceSubscriptions: resources };
  const response = await answer({ ...message, params: { ...message.params, notifications: asked } });
  // The SDK refuses a filter with one message.
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const source = isStream ? response.body?.getReader() : undefined;
  if (source === undefined) return response;
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const { value } = await source.read();
      controller.enqueue(value && acknowledgementFrame(value, subscription));
      subscription.follow((params) => controller.enqueue(frameOf('notifications/tasks', params)));
    },
    async pull(controller) {
      const { done, value } = await source.read();
      if (!done) controller.enqueue(value);
      else {
        subscription.end();
        controller.close();
      }
    },
    cancel(reason) {
      subscription.end();
      return source.cancel(reason);
    },
  });
  return new Response(body, response);
}

function acknowledgementFrame(frame: Uint8Array, subscription: TaskSubscription): Uint8Array {
  const text = new TextDecoder().decode(frame);
  const { method, params } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '');
  return frameOf(method, subscription.acknowledging(params));
}

function frameOf(method: string, params: object): Uint8Array {
  const data = JSON.stringify({ jsonrpc: '2.0', method, params });
  return new TextEncoder().encode(`event: message\ndata: ${data}\n\n`);
}

/** A transport to the server of the SDK that adds tasks to the subscriptions of its client. */
export class TaskTransport implements MessageTransport {
  onmessage: MessageTransport['onmessage'];
  onclose: MessageTransport['onclose'];
  onerror: MessageTransport['onerror'];
  readonly #wire: MessageTransport;
  readonly #tasks: TaskRouter;
  readonly #follower: Follower;
  readonly #subscriptions = new Map<Message['id'], TaskSubscription>();

  constructor(wire: MessageTransport, tasks: TaskRouter, follower: Follower) {
    this.#wire = wire;
    this.#tasks = tasks;
    this.#follower = follower;
    const onMessage: typeof wire.onmessage = (message, ...extra) => void this.#receive(message, extra);
    const onError: typeof wire.onerror = (error) => this.onerror?.(error);
    const onClosed = (): void => {
      for (const id of [...this.#subscriptions.keys()]) this.#end(id);
      this.onclose?.();
    };
    wire.onmessage = onMessage;
    wire.onerror = onError;
    wire.onclose = onClosed;
  }

  start(): Promise<void> {
    return this.#wire.start();
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  async send(message: object): Promise<void> {
    const { id, method, params } = message as Message;
    if (method === 'notifications/subscriptions/acknowledged') {
      const meta = params?._meta as JsonObject | undefined;
      const subscription = this.#subscriptions.get(meta?.[SUBSCRIPTION_ID_META_KEY] as Message['id']);
      if (subscription !== undefined) return this.#acknowledge(message, subscription);
    }
    // The response to a subscription ends it.
    if (method === undefined) this.#end(id);
    await this.#wire.send(message);
  }

  async #receive(message: Message, extra: unknown[]): Promise<void> {
    const { id, method, params } = message;
    if (method === 'notifications/cancelled') this.#end(params?.requestId as Message['id']);
    if (subscribesToTasks(message)) {
      const subscription = subscriptionOf(this.#tasks, message, this.#follower);
      if ('error' in subscription) return this.#send(subscription);
      this.#subscriptions.set(id, subscription);
      await subscription.open();
      // Cancelled meanwhile.
      if (!this.#subscriptions.has(id)) return;
    }
    this.onmessage?.(message, ...extra);
  }

  async #acknowledge(message: object, subscription: TaskSubscription): Promise<void> {
    const { params = {} } = message as Message;
    await this.#wire.send({ ...message, params: subscription.acknowledging(params as JsonObject) });
    subscription.follow(
      (task) => void this.#send({ jsonrpc: '2.0', method: 'notifications/tasks', params: task }),
    );
  }

  /** A client that has left reads no message. */
  #send(message: object): Promise<void> {
    return this.#wire.send(message).catch(() => {});
  }

  #end(id: Message['id']): void {
    this.#subscriptions.get(id)?.end();
    this.#subscriptions.delete(id);
  }
}

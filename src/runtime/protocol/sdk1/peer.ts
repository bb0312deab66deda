import { randomUUID } from 'node:crypto';
import { Protocol, type RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type ClientCapabilities,
  CreateMessageResultSchema,
  type ElicitRequestFormParams,
  ElicitResultSchema,
  type Implementation,
  InitializedNotificationSchema,
  type InitializeRequest,
  InitializeRequestParamsSchema,
  InitializeRequestSchema,
  type InitializeResult,
  LATEST_PROTOCOL_VERSION,
  ListRootsResultSchema,
  type Notification,
  type ProgressNotification,
  RELATED_TASK_META_KEY,
  type Request,
  type Result,
  type ServerCapabilities,
  type ServerNotification,
  type ServerRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Task,
} from '@modelcontextprotocol/sdk/types.js';
import { LOG_LEVELS, type LogLevel, type SamplingResult } from '../../../decorators/client.js';
import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import { oneLine } from '../../../graph/printable-text.js';
import { RequestSignal } from '../../server/requests/limits.js';
import type { ServerChange } from '../../server/stepwright-server.js';
import { faultCodes, ProtocolFault } from '../../server/wire.js';
import type { Elicit, Peer } from '../../tools/port.js';
import { changeNotification, withHeaders } from '../../transports/messages.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** The SDK has its own timeout otherwise: how long a question is open is the server's decision. */
const NO_LIMIT_MS = 0x7fffffff;

/** How many resources a client may subscribe to on one connection. */
const SUBSCRIPTION_LIMIT = 1_000;

/** What a connection asks the protocol about its client. The `Server` of the SDK fits, too. */
type ClientSide = Pick<ProtocolServer, 'getClientCapabilities' | 'getClientVersion' | 'notification'> &
  Partial<Pick<ProtocolServer, 'agreedVersion'>>;

/** What one connection knows about its client, apart from its requests. */
export class ConnectedClient {
  /** The least serious level that the client wants. */
  #logLevel: LogLevel = 'debug';

  readonly #subscriptions = new Set<string>();
  /** Aborted when the connection has ended. */
  readonly closed = new RequestSignal();

  constructor(readonly protocol: ClientSide) {}

  /** @throws ProtocolFault -32005 for more than {@link SUBSCRIPTION_LIMIT} resources. */
  subscribe(uri: string): void {
    if (this.#subscriptions.size >= SUBSCRIPTION_LIMIT && !this.#subscriptions.has(uri))
      throw new ProtocolFault(
        faultCodes.exhausted,
        `A connection subscribes to ${SUBSCRIPTION_LIMIT} resources at most: unsubscribe from some first`,
      );
    this.#subscriptions.add(uri);
  }

  unsubscribe(uri: string): void {
    this.#subscriptions.delete(uri);
  }

  /** Notifies the client of a change. A client that does not listen misses it. */
  notify(change: ServerChange): void {
    if (change.kind === 'resource' && !this.#subscriptions.has(change.uri)) return;
    this.protocol.notification(changeNotification(change)).catch(() => {});
  }

  /** Notifies the client of a task that has changed. */
  notifyTask(params: Task): void {
    this.protocol.notification({ method: 'notifications/tasks/status', params }).catch(() => {});
  }

  /** Notifies the client of the progress of a task. */
  notifyProgress(params: ProgressNotification['params']): void {
    this.protocol.notification({ method: 'notifications/progress', params }).catch(() => {});
  }

  setLogLevel(level: LogLevel): void {
    this.#logLevel = level;
  }

  /** The version of the protocol of a request: over HTTP without a session each one says it. */
  protocolVersion(headers: Readonly<Record<string, unknown>> = {}): string | undefined {
    const said = headers['mcp-protocol-version'];
    return this.protocol.agreedVersion ?? (typeof said === 'string' ? said : undefined);
  }

  /** The client, as one of its requests sees it. */
  of(extra: Extra): Peer {
    const { protocol } = this;
    const capabilities = protocol.getClientCapabilities() ?? {};
    const info = protocol.getClientVersion();
    const { requestInfo, sessionId, closeSSEStream } = extra;
    const peer: { -readonly [Name in keyof Peer]: Peer[Name] } = {
      connection: this,
      log: (level, data, logger) => this.#log(extra, level, { data, ...defined({ logger }) }),
    };
    if (sessionId !== undefined) peer.session = sessionId;
    if (info !== undefined) {
      const { name, version, title } = info;
      peer.client = { name, version, ...defined({ title }), capabilities: capabilities as JsonObject };
    }
    if (capabilities.elicitation?.form !== undefined) peer.elicit = elicitWith(extra);
    if (capabilities.elicitation?.url !== undefined) peer.elicitUrl = elicitUrlWith(extra, protocol);
    if (capabilities.sampling !== undefined) peer.sample = sampleWith(extra);
    if (capabilities.roots !== undefined) peer.roots = rootsWith(extra);
    if (closeSSEStream !== undefined) peer.closeStream = closeSSEStream;
    return requestInfo === undefined ? peer : withHeaders(peer, () => Object.entries(requestInfo.headers));
  }

  #log(extra: Extra, level: LogLevel, message: { readonly data: unknown; readonly logger?: string }): void {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(this.#logLevel)) return;
    // A client that has left reads no log.
    extra
      .sendNotification({ method: 'notifications/message', params: { level, ...message } })
      .catch(() => {});
  }
}

/** The `_meta` of a message that is a part of a task. */
export function relatedTask(taskId: string) {
  return { [RELATED_TASK_META_KEY]: { taskId } };
}

/** Puts questions to the user of the client that sent a request, as a part of that request. */
function elicitWith({ sendRequest }: Extra): Elicit {
  return async ({ message, schema, task }, signal) => {
    const requestedSchema = schema as unknown as ElicitRequestFormParams['requestedSchema'];
    const related = task === undefined ? {} : { _meta: relatedTask(task) };
    const { action, content } = await sendRequest(
      { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema, ...related } },
      ElicitResultSchema,
      { signal, timeout: NO_LIMIT_MS },
    );
    return action === 'accept' ? { action, content: content ?? {} } : { action };
  };
}

/** The same for pages that a user opens. The client learns when such a question is over. */
function elicitUrlWith(
  { sendRequest, sendNotification }: Extra,
  protocol: ClientSide,
): NonNullable<Peer['elicitUrl']> {
  return async ({ message, url, task }, signal) => {
    const elicitationId = randomUUID();
    const related = task === undefined ? {} : { _meta: relatedTask(task) };
    const params = { mode: 'url', message, url, elicitationId, ...related } as const;
    const how = { signal, timeout: NO_LIMIT_MS };
    const { action } = await sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema, how);
    if (action !== 'accept') return undefined;
    return () => {
      const over = { method: 'notifications/elicitation/complete', params: { elicitationId } } as const;
      // Once the request is answered, its stream is closed. A client that has left needs no notification.
      sendNotification(over)
        .catch(() => protocol.notification(over))
        .catch(() => {});
    };
  };
}

function sampleWith({ sendRequest }: Extra): NonNullable<Peer['sample']> {
  return async (request, signal) => {
    const asked = { method: 'sampling/createMessage', params: request } as unknown as ServerRequest;
    const result = await sendRequest(asked, CreateMessageResultSchema, { signal, timeout: NO_LIMIT_MS });
    return result as unknown as SamplingResult;
  };
}

function rootsWith({ sendRequest }: Extra): NonNullable<Peer['roots']> {
  return async (signal) => {
    const { roots } = await sendRequest({ method: 'roots/list' }, ListRootsResultSchema, {
      signal,
      timeout: NO_LIMIT_MS,
    });
    return roots.map(({ uri, name }) => ({ uri, ...defined({ name }) }));
  };
}

/** What a server says about itself in its answer to `initialize`. */
interface Introduction {
  readonly info: Implementation;
  readonly capabilities: ServerCapabilities;
  readonly instructions?: string;
}

/** What is wrong with the params of `initialize`. The SDK would answer with its raw list of issues. */
export function initializeFault(params: unknown): string | undefined {
  const { error } = InitializeRequestParamsSchema.safeParse(params ?? {});
  if (error === undefined) return undefined;
  const problems = error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  return `Invalid params of initialize: ${oneLine(problems.join('; '))}`;
}

/** Its params are checked by {@link initializeFault}. */
const AnyInitializeRequestSchema = InitializeRequestSchema.omit({ params: true }).loose();

/**
 * The server's side of the protocol: it answers `initialize` and remembers the client. The `Server` of the SDK would do
 * so as well, but it loads and makes a compiler of JSON Schemas when the server starts, and has handlers that answer
 * malformed params with raw lists of issues.
 */
export class ProtocolServer extends Protocol<
  ServerRequest | Request,
  ServerNotification | Notification,
  Result
> {
  readonly #introduction: Introduction;
  #client: InitializeRequest['params'] | undefined;
  /** The version of the protocol that was agreed on. */
  agreedVersion: string | undefined;

  constructor(introduction: Introduction) {
    super();
    this.#introduction = introduction;
    this.setRequestHandler(AnyInitializeRequestSchema, ({ params }) => this.#initialize(params));
    this.setNotificationHandler(InitializedNotificationSchema, () => {});
  }

  /** Undefined before the client has initialized the connection. */
  getClientCapabilities(): ClientCapabilities | undefined {
    return this.#client?.capabilities;
  }

  /** As {@link getClientCapabilities}. */
  getClientVersion(): Implementation | undefined {
    return this.#client?.clientInfo;
  }

  /** @throws ProtocolFault -32602 for params that are not those of a client. */
  #initialize(given: unknown): InitializeResult {
    const fault = initializeFault(given);
    if (fault !== undefined) throw new ProtocolFault(faultCodes.invalidParams, fault);
    const params = InitializeRequestParamsSchema.parse(given);
    this.#client = params;
    const { info, capabilities, instructions } = this.#introduction;
    const isSupported = SUPPORTED_PROTOCOL_VERSIONS.includes(params.protocolVersion);
    const protocolVersion = isSupported ? params.protocolVersion : LATEST_PROTOCOL_VERSION;
    this.agreedVersion = protocolVersion;
    return {
      protocolVersion,
      capabilities,
      serverInfo: info,
      ...(instructions === undefined || instructions === '' ? {} : { instructions }),
    };
  }

  protected override assertNotificationCapability(method: string): void {
    if (method === 'notifications/message' && this.#introduction.capabilities.logging === undefined)
      throw new Error('the server did not offer to log');
  }

  // Requests to the client are made where it has the capability, and every handler is of a capability of the server.
  protected override assertCapabilityForMethod(): void {}
  protected override assertRequestHandlerCapability(): void {}
  protected override assertTaskCapability(): void {}
  /**
   * A request that asks for a task is answered at once: servers without tasks have to ignore the wish, not refuse it.
   */
  protected override assertTaskHandlerCapability(): void {}
}

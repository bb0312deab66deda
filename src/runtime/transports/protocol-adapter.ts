import type { AuthInfo } from '../../decorators/context.js';
import type { StepwrightServer } from '../server/stepwright-server.js';
import type { Log, LogFunction } from '../tools/log.js';
import type { CancelSignal } from '../tools/port.js';
import type { Message, ReadMessage } from './messages.js';

/**
 * Carries messages between a server and one client: any transport of `@modelcontextprotocol/sdk`
 * (in memory, streamable HTTP, stdio).
 */
export interface ServerTransport {
  start(): Promise<void>;
  send(message: object): Promise<void>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Log of internal errors, with stacks; clients never receive it. Default: writes to stderr. */
  readonly log?: LogFunction;
  /** The client is the user who started this process, as over stdio: it may list its runs. Default: false. */
  readonly local?: boolean;
  /**
   * The network address of the client. Runs without authentication are limited by it; clients without one
   * count as one.
   */
  readonly remoteAddress?: string;
}

/** A server that talks to one client. */
export interface Connection {
  /** Settles when either side has ended the connection. */
  readonly closed: Promise<void>;
  /**
   * Ends the connection once the requests in flight are answered, within `graceMs`; what is left then is
   * aborted, and logged. Without a grace (the default), everything is aborted at once.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** A transport of this folder. The adapter sets the handlers before it starts the transport. */
export interface MessageTransport extends ServerTransport {
  onmessage?: ((message: Message, ...extra: unknown[]) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** What a transport decides about the requests of a connection. */
export interface ConnectionSettings extends ConnectOptions {
  /** Resolves when a request may be worked on, with what ends its turn; see `FairTurns`. Default: at once. */
  readonly turn?: (method: string, signal: CancelSignal) => Promise<(() => void) | undefined>;
}

/** Messages of one session, for a client that reconnects. */
export interface EventLog {
  storeEvent(stream: string, message: object): Promise<string>;
  getStreamIdForEventId(id: string): Promise<string | undefined>;
  replayEventsAfter(
    lastId: string,
    to: { readonly send: (id: string, message: never) => Promise<void> },
  ): Promise<string>;
}

/** How the requests of one client are answered over HTTP. */
export type HttpConversation =
  /** Many requests. `retryMs`: the delay before a client reconnects after its stream has ended. */
  | { readonly session: string; readonly events: EventLog; readonly retryMs: number }
  /** One request. `isJson`: only its answer is sent, as JSON. Otherwise a stream of events. */
  | { readonly isJson: boolean };

/** A connection over HTTP: it answers requests of the web platform. */
export interface HttpConnection extends Connection {
  /** @param message of the body, read already; missing for a request without one. */
  answer(
    request: Request,
    message: Message | undefined,
    auth: Omit<AuthInfo, 'token'> | undefined,
  ): Promise<Response>;
}

/** Who sends a request that is complete in itself. */
export interface StatelessCaller extends Omit<ConnectionSettings, 'log'> {
  readonly auth?: Omit<AuthInfo, 'token'>;
}

/** Answers requests over HTTP that are complete in themselves. */
export interface StatelessHandler {
  /** @param message of the body, read already. */
  answer(request: Request, message: Message, caller: StatelessCaller): Promise<Response>;
  close(): Promise<void>;
}

/** An era of the protocol without connections: each request is complete in itself. */
export interface StatelessEra {
  /** Whether a request is of this era, and only this era answers it, errors included. */
  claims(message: Message, headers?: Headers): boolean;
  open(server: StepwrightServer, log: Log): Promise<StatelessHandler>;
  /** Answers one client over a transport until either side closes it. */
  connect(
    server: StepwrightServer,
    transport: MessageTransport,
    settings: ConnectionSettings,
  ): Promise<Connection>;
}

/**
 * What the transports need of an adapter of the protocol: it alone knows the form of messages. An adapter is a folder of
 * `src/runtime/protocol`.
 */
export interface ProtocolAdapter {
  /** Checks a message of a client before it is passed on. */
  check(value: unknown): ReadMessage;
  /**
   * Answers one client over a transport until either side closes it.
   *
   * @throws ServerStartError when `onStart` of the server throws.
   */
  connect(
    server: StepwrightServer,
    transport: MessageTransport,
    settings: ConnectionSettings,
  ): Promise<Connection>;
  /** As {@link connect}, over HTTP. */
  connectHttp(
    server: StepwrightServer,
    conversation: HttpConversation,
    settings: ConnectionSettings,
  ): Promise<HttpConnection>;
  /** The later era, if there is one: its messages are answered by it alone. */
  readonly stateless?: StatelessEra;
}

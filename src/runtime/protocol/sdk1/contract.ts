import type { LogFunction } from '../../tools/log.js';

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
  /** Receives what clients must not see: stacks of unexpected errors. Default: writes to stderr. */
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

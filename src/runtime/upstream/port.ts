import type { JsonObject, JsonSchema } from '../../graph/json.js';
import type { RunTimeCode } from '../../graph/run-time-codes.js';

/** A tool of an upstream server: the server by its name in the configuration, the tool by the server's own name. */
export interface UpstreamReference {
  readonly server: string;
  readonly tool: string;
}

/** The annotations of an upstream tool, as MCP defines them. */
export interface UpstreamAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** A tool as an upstream server lists it. */
export interface UpstreamTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: UpstreamAnnotations;
  /** Its hints for planning, which servers of Stepwright list. No snapshot has them. */
  readonly hints?: JsonObject;
}

/** What an upstream server says about itself, and all of its tools. */
export interface UpstreamListing {
  readonly server: { readonly name: string; readonly version: string };
  readonly tools: readonly UpstreamTool[];
}

/** The result of an upstream call in MCP's own form. */
export interface UpstreamResult {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: JsonObject;
  readonly isError: boolean;
  readonly _meta?: JsonObject;
}

/** What a call is given beside its input. */
export interface UpstreamCall {
  /** Aborting it tells the server that the call is cancelled. */
  readonly signal: AbortSignal;
  /** Sent as `_meta['stepwright/idempotencyKey']`. */
  readonly idempotencyKey?: string | undefined;
  /** Sent in `_meta`, too: the trace that the call belongs to. */
  readonly meta?: Readonly<Record<string, string>>;
  progress(progress: number, total?: number, message?: string): void;
}

/** How tools of other MCP servers are reached. */
export interface UpstreamPort {
  /**
   * Calls a tool. A result with `isError` is a result.
   *
   * @throws UpstreamError
   */
  call(reference: UpstreamReference, input: JsonObject, call: UpstreamCall): Promise<UpstreamResult>;
  /**
   * Lists all tools of a server. Missing: its tools are taken to be as recorded.
   *
   * @throws UpstreamError
   */
  readonly list?: (server: string, signal: AbortSignal) => Promise<UpstreamListing>;
  /**
   * Receives the name of a server that says that its list of tools has changed. The listener must not throw. Missing: no
   * server says so.
   */
  readonly onToolsChanged?: (listener: (server: string) => void) => void;
  /** Ends all connections. A later call opens a new one. */
  close(): Promise<void>;
}

/** Why a call of an upstream server has no result. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  declare readonly retryAfterMs?: number;
  declare readonly outcomeUnknown?: true;

  constructor(
    readonly code: RunTimeCode,
    message: string,
    about: { readonly retryAfterMs?: number; readonly outcomeUnknown?: true } = {},
  ) {
    super(message);
    // The cause is in another process: where it was noticed here says nothing.
    this.stack = `UpstreamError: ${message}`;
    if (about.retryAfterMs !== undefined) this.retryAfterMs = about.retryAfterMs;
    if (about.outcomeUnknown === true) this.outcomeUnknown = true;
  }
}

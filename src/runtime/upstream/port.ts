import type { AuthInfo } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import type { JsonObject, JsonSchema } from '../../graph/json.js';
import { didYouMean } from '../../graph/names.js';
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
  /** What of its list could not be used, and why, a sentence each without its subject. No snapshot has them. */
  readonly notes?: readonly string[];
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
  /** The caller of the run. Only servers of this process get it. */
  readonly auth?: AuthInfo | undefined;
  /** Sent as `_meta['stepwright/idempotencyKey']`. */
  readonly idempotencyKey?: string | undefined;
  /** Sent in `_meta`, too: the trace that the call belongs to. */
  readonly meta?: Readonly<Record<string, string>>;
  progress(progress: number, total?: number, message?: string): void;
}

/** What is sent in `_meta` of a call. */
export function metaOf({ idempotencyKey, meta }: UpstreamCall): Record<string, string> {
  return { ...meta, ...defined({ 'stepwright/idempotencyKey': idempotencyKey }) };
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

/** Sentences about upstream servers that are used more than once. */
export const upstreamTexts = {
  unknownServer: (server: string, near: string | undefined) =>
    `No upstream server '${server}' is configured: name it under 'upstream' in stepwright.config.json, and pass the servers to the program as 'upstream'${near === undefined ? '' : ` (${didYouMean(near)})`}`,
  unavailable: (server: string, why: string) => `The upstream server '${server}' cannot be reached: ${why}`,
  lost: (server: string, tool: string, how?: string) =>
    `The connection to the upstream server '${server}' ended during the call of '${tool}'${how === undefined ? '' : `: ${how}`}`,
  exited: (
    command: string,
    { code, signal }: { readonly code: number | null; readonly signal: string | null },
    lines: readonly string[],
  ) => {
    const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
    const said = lines.length === 0 ? 'it wrote nothing to stderr' : 'the end of its stderr:';
    const [, folder] = /([^\s'"]*[\\/]_npx[\\/][0-9a-f]{8,})[\\/]/.exec(lines.join('\n')) ?? [];
    const repair =
      folder === undefined
        ? []
        : [
            `The package is installed in part, if npx was ended before: remove '${folder}', and start it again`,
          ];
    return [`\`${command}\` ${how}; ${said}`, ...lines.map((line) => `  ${line}`), ...repair].join('\n');
  },
  starting: 'it is starting; a package that npx or another program installs first may take minutes, once',
  refused: (server: string, tool: string, why: string) =>
    `The upstream server '${server}' refused the call of '${tool}': ${why}`,
  unavailableWorkflow: (workflow: string, first: string, others: number, server: string) =>
    `Workflow '${workflow}' is unavailable: ${first}${others === 0 ? '' : ` (and ${others} more)`}; run \`npx stepwright pull ${server}\`, and correct the workflow`,
  noAnswer: (server: string, tool: string, hasSchema: boolean) =>
    `The double of '${tool}' of the upstream server '${server}' has no answer, and ${hasSchema ? 'no value can be made up from the output schema' : 'the tool has no output schema'}: give it one`,
  noTool: (name: string, near: string | undefined) =>
    `There is no tool '${name}' to double${near === undefined ? '' : ` (${didYouMean(near)})`}`,
} as const;

/** How long a process may take to introduce itself, in ms: it may install its package first. */
export const START_TIMEOUT_MS = 300_000;

/** What went wrong, with its cause: `fetch` says only in the cause why it failed. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
}

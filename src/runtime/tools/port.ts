import type { ElicitAnswer, Root, SamplingRequest, SamplingResult } from '../../decorators/client.js';
import type { ToolContext } from '../../decorators/context.js';
import type { Json, JsonObject, JsonSchema } from '../../graph/json.js';
import { sha256Hex } from '../../graph/sha256.js';
import type { Failure } from '../engine/contract.js';
import type { CallMask } from '../secrets/call-mask.js';
import type { CallResult } from './call-result.js';
import { quoted } from './tool-texts.js';

/**
 * How a host reaches tools and resources: the toolset implements it, hosts depend on it alone.
 *
 * Implementations answer with an outcome. A rejected promise is a fault of the implementation; a host turns it into
 * a failure with the code `E_INTERNAL`.
 */
export interface CallPort {
  /**
   * Whether the port keeps what it is given and what it gives apart from its callers: it changes no input, and gives
   * JSON that nothing changes afterwards. Of any other port a host copies both, and refuses what is not JSON. Default:
   * false.
   */
  readonly isolates?: boolean;
  /**
   * Whether the port limits calls: it answers with `isTimedOut` when a call has been worked on for as long as was left until
   * `dueAt` when it was made. Default: a host aborts a call at that time.
   */
  readonly limits?: boolean;
  /** Checks the input against the tool's whole schema, calls the tool, and normalises its result. */
  callTool(name: string, input: JsonObject, context: CallContext): Promise<ToolOutcome>;
  /** Reads the registered resource `name` at `uri`, which may differ from the registered one where it has variables. */
  readResource(name: string, uri: string, context: CallContext): Promise<ResourceOutcome>;
  /**
   * Evaluates the pure function a graph names, with these arguments. Failure codes: `E_FUNCTION_UNKNOWN`,
   * `E_FUNCTION_STALE` where the function is not the one the graph was made with, `E_FUNCTION` (or the code of the
   * error it threw), `E_RESULT_NOT_JSON`, `E_RESULT_TOO_LARGE`, `E_CANCELLED`.
   */
  evaluate(
    reference: FunctionReference,
    args: readonly Json[],
    context: CallContext,
  ): Promise<EvaluationOutcome>;
}

/** A function by its name in the registry and the hash of its source. */
export interface FunctionReference {
  readonly name: string;
  readonly hash: string;
}

/** The client at the other end of a request. Members are absent where it, or the connection, cannot do that. */
export interface Peer extends Pick<ToolContext, 'headers' | 'session' | 'client'> {
  /** The connection: the same object for all of its requests. `closed` is aborted when it has ended. */
  readonly connection?: { readonly closed: CancelSignal };
  readonly elicit?: Elicit;
  /**
   * Asks a user to open a page, on which the question is answered. Returns what to call when the question is over; undefined
   * if the user does not agree. Otherwise as `elicit`.
   */
  readonly elicitUrl?: (
    question: Pick<Parameters<Elicit>[0], 'message' | 'task'> & { readonly url: string },
    signal: AbortSignal,
  ) => Promise<(() => void) | undefined>;
  readonly sample?: (request: SamplingRequest, signal: AbortSignal) => Promise<SamplingResult>;
  readonly roots?: (signal: AbortSignal) => Promise<readonly Root[]>;
  readonly log?: ToolContext['log'];
  readonly closeStream?: () => void;
  /** Whether the questions of runs are put between its requests, and `elicit` is for tools alone. Default: false. */
  readonly asksBetween?: boolean;
  /** Called for a tool that needs a capability which the client does not have. */
  readonly lacks?: (capability: 'elicitation' | 'sampling' | 'roots') => void;
}

/**
 * Puts a question to a user. `schema` is that of a flat form: an object of texts, numbers, booleans and choices.
 * Aborting the signal takes the question back.
 *
 * @throws whatever went wrong: the client could not ask.
 */
export type Elicit = (
  question: {
    readonly message: string;
    readonly schema: JsonSchema;
    /** Names the question where the protocol has names for them. */
    readonly key?: string;
    /** The task that it is a part of. */
    readonly task?: string;
  },
  signal: AbortSignal,
) => Promise<Elicited>;

/** What a user did with a question. */
export type Elicited = ElicitAnswer<Readonly<Record<string, unknown>>>;

/** What a call is given beside its input: what the tool will see, and what only the toolset does. */
export interface CallContext
  extends Pick<ToolContext, 'signal' | 'requestId' | 'auth' | 'principal' | 'progress'> {
  /** The client that asked; absent where no request is open. */
  readonly peer?: Peer | undefined;
  /** See `ToolContext`. Undefined where the caller has none; made when it is asked for. */
  readonly idempotencyKey?: string | undefined;
  /** Who asked for the call. Default: the client. */
  readonly origin?: CallOrigin;
  /** When the signal is aborted at the latest, in ms since the epoch. Default: it is not known. */
  readonly dueAt?: number | undefined;
  /** Whether the signal is aborted, for whom that is all there is to know. Default: what the signal says. */
  readonly isAborted?: boolean;
  /**
   * What must not be shown of the call: what it is given for secret inputs of its tool is added. Default: nothing yet.
   */
  readonly mask?: CallMask;
}

/** Who asked for a call. */
export type CallOrigin =
  | { readonly source: 'client' }
  | {
      readonly source: 'workflow';
      readonly workflow: string;
      /** Names the run in logs; see `runRef`. It is not the id, which reaches the run. */
      readonly run: string;
      /** Id of the node that calls. */
      readonly node: string;
    };

/** How a tool call ended. */
export type ToolOutcome =
  | {
      readonly ok: true;
      /** The normalised result, null where the tool returned nothing. It never changes afterwards. */
      readonly value: Json;
      /** The tool's own MCP result, where it returned one: a direct call answers with it, images and all. */
      readonly callResult?: CallResult;
    }
  | {
      readonly ok: false;
      /** False when the tool's code never ran: an unknown tool, or an input its schema refuses. */
      readonly attempted: boolean;
      /** The tool returned, so that it took effect, and its result cannot be used. */
      readonly acted?: true;
      readonly failure: Failure;
      /**
       * The process that made the call is gone, and another call may have a further effect: the run waits until an operator
       * decides. Default: the call has failed.
       */
      readonly isLost?: true;
      /** See `CallPort.limits`. */
      readonly isTimedOut?: true;
      /** The tool's own MCP result with `isError: true`, where that is the failure. */
      readonly callResult?: CallResult;
    };

export type ResourceOutcome =
  | {
      readonly ok: true;
      /** `{ uri, mimeType?, text }`, or `blob` (base64) in place of `text`: all contents as one. */
      readonly value: JsonObject;
      /** All contents, where the resource has a list of them. Only `resources/read` sends them apart. */
      readonly contents?: readonly JsonObject[];
    }
  | { readonly ok: false; readonly failure: Failure; readonly isTimedOut?: true };

/** How the evaluation of a function ended. */
export type EvaluationOutcome =
  | {
      readonly ok: true;
      /** Missing where the function returned nothing: the value is absent. */
      readonly value?: Json;
    }
  | { readonly ok: false; readonly failure: Failure; readonly isTimedOut?: true };

/**
 * What names a run in logs, middleware and other output of an operator: 12 hexadecimal digits. The id itself is not
 * shown there, since it is all it takes to reach a run that was started without authentication.
 */
export function runRef(id: string): string {
  return sha256Hex(id).slice(0, 12);
}

/** Who asked for a call, as a log names it. */
export function callerOf(origin: CallOrigin | undefined): string {
  return origin?.source === 'workflow'
    ? `run ${origin.run} of workflow ${quoted(origin.workflow)}, step ${quoted(origin.node)}`
    : 'called by a client';
}

/** What a server needs of an `AbortSignal`. A signal of its own for each request costs as much as a step of a run. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

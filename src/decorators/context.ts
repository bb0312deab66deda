import type { Json } from '../graph/json.js';
import type { ClientInfo, ElicitForm, LogLevel, Root, SamplingRequest, SamplingResult } from './client.js';

/** The context of a request, for tools, resources, prompts and completions: its caller, and a signal for its end. */
export interface RequestContext {
  /** Aborted when the caller cancels, when an attempt times out, and when the run is over. */
  readonly signal: AbortSignal;
  /** The id of the request in the protocol. */
  readonly requestId: string;
  /**
   * The caller that the transport authenticated; in a step of a workflow, the caller that started the run. After the
   * run has waited for something, `extra` is absent.
   */
  readonly auth?: AuthInfo;
  /**
   * The owner that the call acts for: the caller, or in a step of a workflow the owner of the run, no matter whose
   * request continues it. A server always sets it; a test may leave it out.
   */
  readonly principal?: Owner;
  /**
   * The headers of the request over HTTP, by lower-case names; without `authorization` and `cookie`. In a step of a
   * workflow they are absent once the run has waited for something, as are `session` and `client`.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** The id of the session over HTTP. */
  readonly session?: string;
  /** The client, if it has introduced itself on this connection: over HTTP, in a session. */
  readonly client?: ClientInfo;
}

/**
 * The owner of a run: the user of this machine over stdio (`local`), a caller without authentication (`anonymous`), or
 * an authenticated caller.
 */
export type Owner = (LocalOwner | { readonly kind: 'anonymous' } | Principal) & {
  /** It answers on the page of a question. It does not distinguish owners. Missing: it is a client. */
  readonly person?: true;
};

/** The user of this machine. */
export interface LocalOwner {
  readonly kind: 'local';
  /** Those of `localRoles`. Missing: none. */
  readonly roles?: readonly string[];
}

/** An authenticated owner: a subject of an issuer, or a client if there is no subject. */
export interface Principal {
  readonly kind: 'principal';
  /** Who authenticated it, if known. */
  readonly issuer?: string;
  /** `1` and `'1'` are different subjects. */
  readonly subject?: string | number;
  /** Set for a principal without a subject, and if the clients of a user have separate runs. */
  readonly clientId?: string;
  /**
   * Its roles, as the server's `auth` gave them: of a direct call now, of a step when the run started. They do not
   * distinguish owners. Missing: none.
   */
  readonly roles?: readonly string[];
}

/** The second argument of a tool's `execute`, for direct calls and for steps of workflows. */
export interface ToolContext extends RequestContext {
  /**
   * The same for every attempt of one step of one run, so that a tool can recognise a repetition. Absent for a direct
   * call without one.
   */
  readonly idempotencyKey?: string;
  /** Reports progress to the caller, if it asked for progress. `total` is in the unit of `progress`. */
  progress(progress: number, total?: number, message?: string): void;
  /** Puts a form to the user of the client, and waits for the answer. */
  readonly elicit: ElicitForm;
  /** Sends a log message to the client, if it wants messages of this level. `logger` names what it is about. */
  log(level: LogLevel, data: Json, logger?: string): void;
  /**
   * Asks the model of the client. The protocol retires this: few clients can do it.
   *
   * @throws Error with the code `E_CLIENT_UNSUPPORTED`, or `E_CLIENT` if the client answers with an error.
   */
  sample(request: SamplingRequest): Promise<SamplingResult>;
  /** The folders that the client works on; errors as `sample`. The protocol retires this as well. */
  roots(): Promise<readonly Root[]>;
  /**
   * Calls the tool of the option `upstream`. It returns the result in MCP's own form, for `execute` to return as it is:
   * the caller then gets the value in it, or the failure. The signal cancels the call, and its progress is reported.
   *
   * @typeParam Output the type of the value.
   * @throws Error with a code `E_UPSTREAM_…`.
   */
  callUpstream<Output = unknown>(input: object): Promise<Output>;
  /**
   * Ends the stream of this request over HTTP while the call goes on: the client connects again, and gets the answer
   * then. No effect if the client cannot do that.
   */
  closeStream(): void;
}

/** The second argument of a resource's `read`. */
export interface ResourceContext extends RequestContext {
  /** The requested address, with its variables filled in. */
  readonly uri: string;
}

/** The last argument of `complete` of an argument or a resource template. */
export interface CompletionContext extends RequestContext {
  /** The values that the caller has filled in so far, as text, by argument or variable. */
  readonly arguments: Readonly<Record<string, string>>;
}

/** The authenticated caller. */
export interface AuthInfo {
  readonly clientId: string;
  /** The user, if known: the claim that the server is configured to use. */
  readonly subject?: string | number;
  readonly scopes: readonly string[];
  /** Its roles: they say which questions of other callers' runs it may answer. Missing: none. */
  readonly roles?: readonly string[];
  readonly extra?: Readonly<Record<string, Json>>;
}

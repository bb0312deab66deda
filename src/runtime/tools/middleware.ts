import type { RequestContext, ToolContext } from '../../decorators/context.js';
import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';
import type { Failure } from '../engine/contract.js';
import type { CallMask } from '../secrets/call-mask.js';
import { maskedFailure } from '../secrets/mask.js';
import { maskedThrown, thrownFailure } from './exceptions.js';
import { type Log, subjectOf } from './log.js';
import type { CallContext, CallOrigin, ToolOutcome } from './port.js';
import { toJson } from './to-json.js';
import { message, quoted } from './tool-texts.js';

/** A tool call as middleware sees it, with who asked for it. */
export type MiddlewareCall = CallOrigin & {
  readonly tool: string;
  /** The input as the middleware before left it, not checked yet. Frozen: to change it, return another one. */
  readonly input: JsonObject;
  /** `input` as it may be logged: values the tool or the workflow calls secret are masked. */
  readonly shownInput: JsonObject;
};

/** What `onRequest` may answer with: the input that the call continues with. */
export interface ChangedRequest {
  readonly input: JsonObject;
}

/** A request for a prompt, of a workflow or in loose mode, as middleware sees it. */
export interface PromptRequest {
  readonly prompt: string;
  /** The arguments as they may be logged: values that the prompt calls secret are masked. */
  readonly shownArguments: JsonObject;
}

/** A read of a resource as middleware sees it, with who asked for it. */
export type ReadRequest = CallOrigin & {
  readonly resource: string;
  /** Its address, with the variables filled in. */
  readonly uri: string;
};

/** Called when a request has ended: without a failure it succeeded. What it throws is logged and changes nothing. */
export type RequestEnd = (failure?: Failure) => Nothing;

/** What `onResponse` sees of a call that succeeded: a copy, so that looking changes nothing. */
export interface MiddlewareResponse {
  /** The normalised result, as a workflow binds it. */
  readonly value: Json;
  /** `value` as it may be logged: secrets the tool repeats are masked. */
  readonly shownValue: Json;
}

/**
 * Code that runs around every tool call, of `tools/call` of a client and of steps of workflows, and before prompts and reads
 * of resources. For auth, logging, rate limits.
 *
 * `onRequest` runs in the order of the list, before the input is checked against the tool's schema; `onResponse` and
 * `onError` run in the reverse order. A middleware gets the outcome of a call if its own `onRequest` let the call pass.
 * A call of a tool that does not exist reaches none.
 *
 * All of it counts towards the time limit of the call. The call does not wait for them after its limit: `onResponse` and
 * `onError` run when the tool has settled, however late that is.
 *
 * @example
 * ```ts
 * const readersOnly: Middleware = {
 *   name: 'readers-only',
 *   onRequest: (_call, { auth }) => {
 *     if (!auth?.scopes.includes('read')) throw Object.assign(new Error('not allowed'), { code: 'FORBIDDEN' });
 *   },
 * };
 * await serve(registry, { middleware: [readersOnly] });
 * ```
 */
export interface Middleware {
  /** The name in logs and messages. */
  readonly name: string;
  /**
   * Lets the call pass, changes its input, or refuses it by throwing: the tool is not called then, and the call fails
   * with the code of the error, `E_REFUSED` where it has none of the form `E_NAME`.
   */
  onRequest?(call: MiddlewareCall, context: ToolContext): Answer | Promise<Answer>;
  /** Called when the tool has succeeded. What it throws is logged and changes nothing. */
  onResponse?(call: MiddlewareCall, response: MiddlewareResponse, context: ToolContext): Nothing;
  /**
   * Called when the call has failed or its input was refused. What it throws is logged and changes nothing.
   * @param error what the tool or a middleware threw, as it is: it may hold secrets and is never shown to clients.
   *   Undefined where nothing was thrown.
   */
  onError?(call: MiddlewareCall, failure: Failure, context: ToolContext, error: unknown): Nothing;
  /**
   * Before a prompt is made for a client. Lets it pass, or refuses it by throwing: the request is answered with the error
   * -32006. May return a function that gets how the request ended.
   */
  onPrompt?(request: PromptRequest, context: RequestContext): Admission | Promise<Admission>;
  /**
   * Before a resource is read, for a client, a step or the instructions of a workflow. Refused by throwing, the read fails
   * with the code of the error, else `E_REFUSED`. May return a function that gets how the read ended.
   */
  onRead?(request: ReadRequest, context: RequestContext): Admission | Promise<Admission>;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing lets the request pass
type Admission = RequestEnd | undefined | void;

// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing lets the call pass
type Answer = ChangedRequest | undefined | void;
type Nothing = void | Promise<void>;

/** A call on its way through the middleware. */
export interface Request {
  readonly tool: string;
  readonly input: JsonObject;
  /** Names of the inputs that are masked in `shownInput`. */
  readonly secret: readonly string[];
  readonly context: CallContext;
  /** What middleware itself gets as context. */
  readonly toolContext: ToolContext;
  readonly mask: CallMask;
}

/** Every middleware of a server, around each call. */
export class MiddlewareChain {
  /** Whether there is no middleware. */
  readonly isEmpty: boolean;
  readonly #all: readonly Middleware[];
  readonly #log: Log;

  /** @param log receives what `onResponse` and `onError` threw. */
  constructor(all: readonly Middleware[], log: Log) {
    this.isEmpty = all.length === 0;
    this.#all = all;
    this.#log = log;
  }

  /**
   * Makes a call by `work`, with the input that is left when all middleware has seen it. `work` reports what was thrown.
   */
  async around(
    request: Request,
    work: (input: JsonObject, onThrown: (error: unknown) => void) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    let thrown: unknown;
    const onThrown = (error: unknown): void => {
      thrown = error;
    };
    const copy = toJson(request.input);
    // A value that is not JSON is refused by the next check, without middleware.
    if (!copy.ok || !isJsonObject(copy.value)) return work(request.input, onThrown);
    let call = this.#callOf(request, copy.value);
    const passed: Middleware[] = [];
    for (const middleware of this.#all) {
      const answer = await ask(middleware, call, request, onThrown);
      if (!answer.ok) return this.#tell(passed, call, request, answer, thrown);
      if (answer.input !== undefined) call = this.#callOf(request, answer.input);
      passed.push(middleware);
    }
    const outcome = await work(call.input, onThrown);
    return this.#tell(passed, call, request, outcome, thrown);
  }

  /**
   * Asks every middleware about a request for a prompt or a resource.
   *
   * @returns a failure where one refuses it, else a function that reports how the request ended.
   */
  async admit(
    subject: string,
    ask: (middleware: Middleware) => Admission | Promise<Admission>,
    mask: CallMask,
  ): Promise<{ readonly failure: Failure } | { readonly end: (failure?: Failure) => Promise<void> }> {
    const ends: (readonly [name: string, end: RequestEnd])[] = [];
    const end = async (failure?: Failure): Promise<void> => {
      for (const [name, tell] of ends.toReversed()) {
        try {
          await tell(failure === undefined ? undefined : structuredClone(failure));
        } catch (error) {
          this.#log(
            `middleware ${quoted(name)}: what it returned for ${subject} failed: ${maskedThrown(error, mask)}`,
            {
              event: 'middleware.threw',
              middleware: name,
            },
          );
        }
      }
    };
    for (const middleware of this.#all) {
      try {
        const admitted = await ask(middleware);
        if (typeof admitted === 'function') ends.push([middleware.name, admitted]);
      } catch (error) {
        const failure = maskedFailure(thrownFailure(error, 'E_REFUSED'), mask);
        await end(failure);
        return { failure };
      }
    }
    return { end };
  }

  async #tell(
    passed: readonly Middleware[],
    call: MiddlewareCall,
    { toolContext, mask }: Request,
    outcome: ToolOutcome,
    thrown: unknown,
  ): Promise<ToolOutcome> {
    for (const middleware of passed.toReversed()) {
      try {
        if (!outcome.ok)
          await middleware.onError?.(call, structuredClone(outcome.failure), toolContext, thrown);
        else if (middleware.onResponse !== undefined)
          await middleware.onResponse(call, responseOf(outcome.value, mask), toolContext);
      } catch (error) {
        const hook = outcome.ok ? 'onResponse' : 'onError';
        const shown = maskedThrown(error, mask);
        this.#log(
          `middleware ${quoted(middleware.name)}: ${hook} of a call of ${quoted(call.tool)} failed: ${shown}`,
          {
            event: 'middleware.threw',
            middleware: middleware.name,
            tool: call.tool,
            ...subjectOf(call),
          },
        );
      }
    }
    return outcome;
  }

  #callOf({ tool, secret, context, mask }: Request, input: JsonObject): MiddlewareCall {
    mask.giveMembers(input, secret);
    return Object.freeze({
      ...(context.origin ?? { source: 'client' }),
      tool,
      input: deepFreeze(input),
      shownInput: deepFreeze(mask.input(input, secret)),
    });
  }
}

function responseOf(value: Json, mask: CallMask): MiddlewareResponse {
  return {
    value: structuredClone(value),
    // Results may be long, and few are logged.
    get shownValue() {
      return mask.json(structuredClone(value));
    },
  };
}

type Asked =
  | { readonly ok: true; readonly input?: JsonObject }
  | Extract<ToolOutcome, { readonly ok: false }>;

async function ask(
  middleware: Middleware,
  call: MiddlewareCall,
  request: Request,
  onThrown: (error: unknown) => void,
): Promise<Asked> {
  try {
    const answer: unknown = await middleware.onRequest?.(call, request.toolContext);
    if (answer === undefined) return { ok: true };
    const changed = isJsonObject(answer) ? toJson(answer.input) : undefined;
    if (changed?.ok === true && isJsonObject(changed.value)) return { ok: true, input: changed.value };
    const text = `middleware ${quoted(middleware.name)} must return nothing, or { input } with a JSON object`;
    return { ok: false, attempted: false, failure: { code: 'E_MIDDLEWARE', message: message(text) } };
  } catch (error) {
    onThrown(error);
    const failure = maskedFailure(thrownFailure(error, 'E_REFUSED'), request.mask);
    return { ok: false, attempted: false, failure };
  }
}

function deepFreeze<T extends Json>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member as Json);
  }
  return value;
}

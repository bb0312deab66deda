import { randomUUID } from 'node:crypto';
import { inputRequired, isSpecType, type ServerContext } from '@modelcontextprotocol/server';
import type { SamplingResult } from '../../../decorators/client.js';
import { noProgress, type RequestContext } from '../../runs/request.js';
import { RequestSignal } from '../../server/requests/limits.js';
import { invalidResponses } from '../../server/wire.js';
import type { CancelSignal, Elicited, Peer } from '../../tools/port.js';
import { LongTimer } from '../../upstream/long-timer.js';

/** How many requests with questions to their clients a server keeps open. */
const OPEN_LIMIT = 1_000;

/** How long the result of a request is kept for a client that has not returned with its answers, in ms. */
const RESULT_MS = 60_000;

type InputRequest = ReturnType<typeof inputRequired.listRoots>;

/** What a client returned for its requests, by their keys. */
type InputResponses = NonNullable<ServerContext['mcpReq']['inputResponses']>;

/** A request of a server to its client, which the next request for the same thing answers. */
interface Question {
  readonly request: InputRequest;
  readonly isResponse: (response: unknown) => boolean;
  answer(response: unknown): void;
  fail(error: Error): void;
}

/** One request of a client, and what is sent during it. */
export interface Exchange {
  readonly context: ServerContext;
  /** Sends a log message. Missing where the client wants none. */
  readonly log: Peer['log'];
  readonly progress: RequestContext['progress'] | undefined;
  /** Why its signal is aborted. */
  reason(): unknown;
}

/** Which client requests a call may make, by the capabilities of the client. */
export type Askable = Readonly<Record<'elicit' | 'sample' | 'roots', boolean>>;

/**
 * A request that is worked on in this process over several exchanges: what the work asks of the client is the result of
 * one exchange, and the next one has the answers. The work is not made again, so that no effect of a tool is repeated.
 */
export class OpenCall {
  /** Aborted when an exchange is, and when its server ends. */
  readonly signal = new RequestSignal();
  /** A capability that the work needed, and the client does not have. */
  lacking: string | undefined;
  readonly peer: Peer;
  readonly progress: RequestContext['progress'];
  readonly #calls: OpenCalls;
  readonly #questions = new Map<string, Question>();
  #exchange: Exchange;
  /** Stops following the signal of the exchange. */
  #leave: () => void;
  #work: Promise<object> | undefined;
  #isOver = false;
  /** Called when there is a question. */
  #wake = noWaiter;

  /**
   * @param owner who may continue the call, and which: see {@link OpenCalls.take}.
   * @param client what the call knows of its client. What it asks the client is added.
   */
  constructor(
    calls: OpenCalls,
    readonly owner: () => string,
    exchange: Exchange,
    askable: Askable,
    client: Pick<Peer, 'client' | 'headers'>,
  ) {
    this.#calls = calls;
    this.#exchange = exchange;
    this.#leave = this.#follow(exchange);
    const toCurrent: RequestContext['progress'] = (...report) => this.#exchange.progress?.(...report);
    this.progress = exchange.progress === undefined ? noProgress : toCurrent;
    const peer: { -readonly [Name in keyof Peer]: Peer[Name] } = client;
    const lacks: NonNullable<Peer['lacks']> = (capability) => {
      this.lacking = capability;
    };
    const log: NonNullable<Peer['log']> = (...entry) => this.#exchange.log?.(...entry);
    peer.asksBetween = true;
    peer.lacks = lacks;
    peer.log = log;
    if (askable.elicit) peer.elicit = this.#elicit.bind(this);
    if (askable.sample) peer.sample = this.#sample.bind(this);
    if (askable.roots) peer.roots = this.#roots.bind(this);
    this.peer = peer;
  }

  /** Begins the work. */
  begin(work: Promise<object>): void {
    this.#work = work;
    const end = (): void => {
      this.#isOver = true;
      for (const { fail } of this.#questions.values()) fail(new Error('the request is over'));
      this.#questions.clear();
    };
    work.then(end, end);
  }

  /** @throws ProtocolFault -32602 for answers that are not what clients return for its questions. */
  check(responses: InputResponses): void {
    const invalid = Object.entries(responses).flatMap(([key, response]) => {
      const question = this.#questions.get(key);
      return question === undefined || question.isResponse(response) ? [] : [key];
    });
    if (invalid.length > 0) throw invalidResponses(invalid);
  }

  /** Passes the answers of an exchange on. A question without one is asked again. */
  resume(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#leave = this.#follow(exchange);
    for (const [key, response] of Object.entries(exchange.context.mcpReq.inputResponses ?? {})) {
      const question = this.#questions.get(key);
      this.#questions.delete(key);
      question?.answer(response);
    }
  }

  /** The result of an exchange: of the work, or what it asks. */
  async next(): Promise<object> {
    try {
      return await new Promise<object>((resolve, reject) => {
        // Questions that are put at once are one exchange. They may be withdrawn, or the work be over, meanwhile.
        const ask = (): void => {
          if (this.#wake === wake && this.#questions.size > 0) resolve(this.#asked());
        };
        const wake = (): void => void setImmediate(ask);
        this.#wake = wake;
        this.#work?.then(resolve, reject);
        if (this.#questions.size > 0) wake();
      });
    } finally {
      this.#leave();
      this.#wake = noWaiter;
    }
  }

  #asked(): object {
    this.#wake = noWaiter;
    const requests = [...this.#questions].map(([key, { request }]) => [key, request] as const);
    return inputRequired({
      inputRequests: Object.fromEntries(requests),
      requestState: this.#calls.keep(this),
    });
  }

  /** Calls back when the work is over. */
  whenOver(callback: () => void): void {
    this.#work?.then(callback, callback);
  }

  #follow({ context, reason }: Exchange): () => void {
    const { signal: request } = context.mcpReq;
    const abort = (): void => this.signal.abort(reason());
    if (request.aborted) abort();
    else request.addEventListener('abort', abort, { once: true });
    return () => request.removeEventListener('abort', abort);
  }

  async #elicit(...[{ message, schema, key }, signal]: Parameters<NonNullable<Peer['elicit']>>) {
    const request = inputRequired.elicit({ message, requestedSchema: schema as never });
    const answer = await this.#ask(key ?? 'elicitation', request, isSpecType.ElicitResult, signal);
    const { action, content } = answer;
    return (action === 'accept' ? { action, content: content ?? {} } : { action }) as Elicited;
  }

  async #sample(...[params, signal]: Parameters<NonNullable<Peer['sample']>>) {
    const request = inputRequired.createMessage(params as never);
    const answer = await this.#ask('sampling', request, isSpecType.CreateMessageResultWithTools, signal);
    return answer as SamplingResult;
  }

  async #roots(signal: AbortSignal) {
    const answer = await this.#ask('roots', inputRequired.listRoots(), isSpecType.ListRootsResult, signal);
    return answer.roots as unknown as Awaited<ReturnType<NonNullable<Peer['roots']>>>;
  }

  /** @param isResponse whether a value is what a client returns for the request. */
  #ask<T>(
    name: string,
    request: InputRequest,
    isResponse: (value: unknown) => value is T,
    signal: CancelSignal,
  ): Promise<T> {
    if (this.#isOver) return Promise.reject(new Error('no request of the client is open'));
    if (this.#calls.isFull)
      return Promise.reject(
        new Error(`${OPEN_LIMIT} requests of this server wait for their clients already`),
      );
    let key = name;
    for (let n = 2; this.#questions.has(key); n += 1) key = `${name}-${n}`;
    return new Promise((resolve, reject) => {
      const withdraw = (): void => {
        this.#questions.delete(key);
        reject(signal.reason);
      };
      signal.addEventListener('abort', withdraw, { once: true });
      const end = (settle: () => void): void => {
        signal.removeEventListener('abort', withdraw);
        settle();
      };
      this.#questions.set(key, {
        request,
        isResponse,
        answer: (response) => end(() => resolve(response as T)),
        fail: (error) => end(() => reject(error)),
      });
      this.#wake();
    });
  }
}

/** The requests of a server that wait for answers of their clients, by the states that these return. */
export class OpenCalls {
  readonly #calls = new Map<string, OpenCall>();

  get isFull(): boolean {
    return this.#calls.size >= OPEN_LIMIT;
  }

  /** Keeps a call until its client returns with the state. */
  keep(call: OpenCall): string {
    const state = randomUUID();
    this.#calls.set(state, call);
    const forget = (): boolean => this.#calls.delete(state);
    call.whenOver(() => new LongTimer(forget, RESULT_MS, { keepsProcess: false }));
    return state;
  }

  /**
   * The call that an exchange continues. Undefined for a state of another owner, and for one that was used before.
   *
   * @throws ProtocolFault -32602 for responses that are malformed: the state can be used again.
   */
  take(state: string, owner: () => string, responses: InputResponses = {}): OpenCall | undefined {
    const call = this.#calls.get(state);
    if (call === undefined || call.owner() !== owner()) return undefined;
    call.check(responses);
    this.#calls.delete(state);
    return call;
  }

  /** Cancels all calls. */
  end(reason: Error): void {
    for (const call of this.#calls.values()) call.signal.abort(reason);
    this.#calls.clear();
  }
}

function noWaiter(): void {}

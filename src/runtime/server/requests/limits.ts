import { counted } from '../../../graph/printable-text.js';
import type { Failure } from '../../engine/contract.js';
import type { RequestContext } from '../../runs/request.js';
import type { Log } from '../../tools/log.js';
import type { CancelSignal } from '../../tools/port.js';
import { LongTimer, within } from '../../upstream/long-timer.js';
import { faultCodes, ProtocolFault } from '../wire.js';

export class RequestSignal implements CancelSignal {
  aborted = false;
  reason: unknown = undefined;
  readonly #listeners = new Set<() => void>();

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** Tells every listener, once. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}

/** How limited work ended. Work may go on after its limit; what it does then is ignored. */
export type Limited<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'timedOut' }
  | { readonly kind: 'cancelled' };

/**
 * Does work under a signal that is aborted when the request is cancelled or `limitMs` have passed, and answers then,
 * whether the work heeds its signal or not.
 *
 * @throws what `work` throws before that.
 */
export async function limited<T>(
  limitMs: number,
  request: CancelSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Limited<T>> {
  if (request.aborted) return { kind: 'cancelled' };
  const controller = new AbortController();
  let give: (ending: Limited<T>) => void = () => {};
  const givenUp = new Promise<Limited<T>>((resolve) => {
    give = resolve;
  });
  const cancel = (): void => {
    give({ kind: 'cancelled' });
    controller.abort(request.reason);
  };
  const timer = new LongTimer(() => {
    give({ kind: 'timedOut' });
    controller.abort(new DOMException(`No answer within ${limitMs} ms`, 'TimeoutError'));
  }, limitMs);
  request.addEventListener('abort', cancel, { once: true });
  try {
    const completion = work(controller.signal).then((value): Limited<T> => ({ kind: 'done', value }));
    return await Promise.race([completion, givenUp]);
  } finally {
    timer.cancel();
    request.removeEventListener('abort', cancel);
  }
}

/** Why limited work has no value. */
export function unfinished(kind: 'timedOut' | 'cancelled', limitMs: number): Failure {
  return kind === 'timedOut'
    ? { code: 'E_TIMEOUT', message: `there was no answer within ${limitMs} ms` }
    : { code: 'E_CANCELLED', message: 'the request was cancelled' };
}

/** The runs that outlast a request, as far as a drain is concerned with them. */
export interface DrainedRuns {
  /** Resolves when every run is over or waits for an answer or a time. */
  atRest(): Promise<void>;
  /** Cancels every run that is not over. Returns how many those are. */
  endAll(reason: string): number;
}

export type Abort = (reason: unknown) => void;

const STOPPED = 'the server was stopped';

/** How long answers may still take once everything has been cancelled, in ms. */
const HAND_OFF_MS = 1_000;

/** Admits requests until the server is drained, and counts those in flight. */
export class RequestGate {
  readonly #inFlight = new InFlight();
  /** What aborts each request in flight. */
  readonly #aborts = new Set<Abort>();
  /** Those of requests that only wait for a run. */
  readonly #waiting = new Set<Abort>();
  #drained: Promise<void> | undefined;

  get isDraining(): boolean {
    return this.#drained !== undefined;
  }

  /**
   * Does the work of one request. Its signal is aborted when the request's own one is, and by the end of a drain.
   *
   * @param abort aborts the request's own signal. Without it the work gets another one, which follows that.
   * @param isWaiting whether the work only waits for a run: a drain aborts it when no run continues by itself.
   * @throws {ProtocolFault} when the server is being drained.
   */
  async admit<T>(
    request: RequestContext,
    work: (request: RequestContext) => Promise<T>,
    abort?: Abort,
    isWaiting = false,
  ): Promise<T> {
    if (this.isDraining)
      throw new ProtocolFault(
        faultCodes.shuttingDown,
        'The server is shutting down and takes no further requests: connect again and repeat this one',
      );
    if (abort === undefined) return this.#admitFollowing(request, work, isWaiting);
    this.#aborts.add(abort);
    if (isWaiting) this.#waiting.add(abort);
    this.#inFlight.begin();
    try {
      return await work(request);
    } finally {
      this.#aborts.delete(abort);
      this.#waiting.delete(abort);
      this.#inFlight.end();
    }
  }

  async #admitFollowing<T>(
    { signal, ...request }: RequestContext,
    work: (request: RequestContext) => Promise<T>,
    isWaiting: boolean,
  ): Promise<T> {
    const controller = new AbortController();
    const follow = (): void => controller.abort(signal.reason);
    signal.addEventListener('abort', follow, { once: true });
    if (signal.aborted) follow();
    try {
      const abort: Abort = (reason) => controller.abort(reason);
      return await this.admit({ ...request, signal: controller.signal }, work, abort, isWaiting);
    } finally {
      signal.removeEventListener('abort', follow);
    }
  }

  /** Aborts the requests that only wait for a run. */
  endWaiting(): void {
    for (const abort of this.#waiting) abort(new Error(STOPPED));
  }

  /** See `StepwrightServer.drain`. A second call waits for the first. */
  drain(limitMs: number, runs: DrainedRuns, log: Log): Promise<void> {
    this.#drained ??= this.#drain(limitMs, runs, log);
    return this.#drained;
  }

  async #drain(limitMs: number, runs: DrainedRuns, log: Log): Promise<void> {
    const inFlight = this.#inFlight;
    if (inFlight.count > 0)
      log(
        `the server is being stopped: ${counted(inFlight.count, 'request')} in flight may take ${limitMs} ms to finish`,
        { event: 'server.draining', level: 'info' },
      );
    const rest = within(limitMs, runs.atRest()).then(() => this.endWaiting());
    await Promise.all([inFlight.none(limitMs), rest]);
    // First the runs: a request that waits for one is answered with its state.
    const cut = inFlight.count;
    const ended = runs.endAll(STOPPED);
    for (const abort of this.#aborts) abort(new Error(STOPPED));
    if (ended + cut > 0)
      log(
        `the server was stopped: cancelled ${counted(cut, 'request')} and ${counted(ended, 'run')} that were not over`,
        { event: 'server.drained', level: 'warning' },
      );
    await inFlight.none(HAND_OFF_MS);
    if (inFlight.count > 0)
      log(`the server was stopped: ${counted(inFlight.count, 'request')} got no answer in time`, {
        event: 'server.unanswered',
      });
  }
}

/** Counts the requests that have no answer yet. */
export class InFlight {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    for (const go of this.#waiting) go();
    this.#waiting.clear();
  }

  /** Settles when none is left, or after `limitMs` all the same. */
  async none(limitMs: number): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const timer = new LongTimer(resolve, limitMs);
      this.#waiting.add(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

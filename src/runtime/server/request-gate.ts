import { faultCodes, ProtocolFault, type RequestContext } from './request.js';
import { texts } from './texts.js';

/** The runs that outlast a request, as far as a drain is concerned with them. */
export interface DrainedRuns {
  /** Resolves when every run is over or waits for an answer or a time. */
  atRest(): Promise<void>;
  /** Cancels every run that is not over. Returns how many those are. */
  endAll(reason: string): number;
}

/** Aborts a request. */
export type Abort = (reason: unknown) => void;

/** How long answers may still take once everything has been cancelled, in ms. */
const HAND_OFF_MS = 1_000;

/** Admits requests until the server is drained, and knows how many of them are under way. */
export class RequestGate {
  readonly #inFlight = new InFlight();
  /** What aborts each request that is under way. */
  readonly #aborts = new Set<Abort>();
  #drained: Promise<void> | undefined;

  get isDraining(): boolean {
    return this.#drained !== undefined;
  }

  /**
   * Does the work of one request. Its signal is aborted when the request's own one is, and by the end of a drain.
   *
   * @param abort aborts the request's own signal. Without it the work gets another one, which follows that.
   * @throws {ProtocolFault} when the server is being drained.
   */
  async admit<T>(
    request: RequestContext,
    work: (request: RequestContext) => Promise<T>,
    abort?: Abort,
  ): Promise<T> {
    if (this.isDraining) throw new ProtocolFault(faultCodes.shuttingDown, texts.shuttingDown());
    if (abort === undefined) return this.#admitFollowing(request, work);
    this.#aborts.add(abort);
    this.#inFlight.begin();
    try {
      return await work(request);
    } finally {
      this.#aborts.delete(abort);
      this.#inFlight.end();
    }
  }

  async #admitFollowing<T>(
    { signal, ...request }: RequestContext,
    work: (request: RequestContext) => Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    const follow = (): void => controller.abort(signal.reason);
    signal.addEventListener('abort', follow, { once: true });
    if (signal.aborted) follow();
    try {
      return await this.admit({ ...request, signal: controller.signal }, work, (reason) =>
        controller.abort(reason),
      );
    } finally {
      signal.removeEventListener('abort', follow);
    }
  }

  /** See `StepwrightServer.drain`. A second call waits for the first. */
  drain(limitMs: number, runs: DrainedRuns, log: (text: string) => void): Promise<void> {
    this.#drained ??= this.#drain(limitMs, runs, log);
    return this.#drained;
  }

  async #drain(limitMs: number, runs: DrainedRuns, log: (text: string) => void): Promise<void> {
    const inFlight = this.#inFlight;
    if (inFlight.count > 0) log(texts.drains(inFlight.count, limitMs));
    await Promise.all([inFlight.none(limitMs), within(limitMs, runs.atRest())]);
    // First the runs: a request that waits for one is answered with what is left of it.
    const cut = inFlight.count;
    const ended = runs.endAll(texts.stopped());
    for (const abort of this.#aborts) abort(new Error(texts.stopped()));
    if (ended + cut > 0) log(texts.drained(cut, ended));
    await inFlight.none(HAND_OFF_MS);
    if (inFlight.count > 0) log(texts.unanswered(inFlight.count));
  }
}

/** Waits for `done`, and no longer than `limitMs`. */
async function within(limitMs: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([done, late]);
  clearTimeout(timer);
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
      const timer = setTimeout(resolve, limitMs);
      this.#waiting.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

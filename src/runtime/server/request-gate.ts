import { faultCodes, ProtocolFault } from './fault.js';
import { InFlight } from './in-flight.js';
import type { RequestContext } from './request.js';
import { texts } from './texts.js';

/** The runs that outlast a request, as far as a drain is concerned with them. */
export interface DrainedRuns {
  /** Resolves when every run is over or waits for an answer or a time. */
  atRest(): Promise<void>;
  /** Cancels every run that is not over. Returns how many those are. */
  endAll(reason: string): number;
}

/** How long answers may still take once everything has been cancelled, in ms. */
const HAND_OFF_MS = 1_000;

/** Admits requests until the server is drained, and knows how many of them are under way. */
export class RequestGate {
  readonly #inFlight = new InFlight();
  readonly #stopped = new AbortController();
  #drained: Promise<void> | undefined;

  get isDraining(): boolean {
    return this.#drained !== undefined;
  }

  /**
   * Does the work of one request. Its signal is aborted when the request's own one is, and by the end of a drain.
   *
   * @throws {ProtocolFault} when the server is being drained.
   */
  async admit<T>(request: RequestContext, work: (request: RequestContext) => Promise<T>): Promise<T> {
    if (this.isDraining) throw new ProtocolFault(faultCodes.shuttingDown, texts.shuttingDown());
    const sources = [request.signal, this.#stopped.signal];
    const controller = new AbortController();
    const abort = (): void => controller.abort(sources.find(({ aborted }) => aborted)?.reason);
    // Not `AbortSignal.any`: the signal of the drain outlives every request, and would keep what depends on it.
    for (const signal of sources) signal.addEventListener('abort', abort, { once: true });
    if (request.signal.aborted) abort();
    this.#inFlight.begin();
    try {
      return await work({ ...request, signal: controller.signal });
    } finally {
      for (const signal of sources) signal.removeEventListener('abort', abort);
      this.#inFlight.end();
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
    this.#stopped.abort(new Error(texts.stopped()));
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

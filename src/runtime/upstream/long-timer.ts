/** Longer delays overflow `setTimeout`, which fires at once then. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** Calls back once, after a delay of any length. */
export class LongTimer {
  #timer: NodeJS.Timeout | undefined;
  #keepsProcess: boolean;

  /** @param options.keepsProcess whether the process stays alive for as long. Default: true. */
  constructor(
    readonly callback: () => void,
    readonly delayMs: number,
    { keepsProcess = true }: { readonly keepsProcess?: boolean } = {},
  ) {
    this.#keepsProcess = keepsProcess;
    this.#arm(delayMs);
  }

  /** Begins the delay again. */
  refresh(): void {
    this.cancel();
    this.#arm(this.delayMs);
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  /** Lets the process end before the delay has passed. */
  release(): void {
    this.#keepsProcess = false;
    this.#timer?.unref();
  }

  #arm(remainingMs: number): void {
    const ms = Math.min(Math.max(0, remainingMs), LONGEST_DELAY_MS);
    this.#timer = setTimeout(() => {
      if (remainingMs > ms) this.#arm(remainingMs - ms);
      else this.callback();
    }, ms);
    if (!this.#keepsProcess) this.#timer.unref();
  }
}

/** Does work under a signal that is aborted after a limit of any length. */
export async function withLimit<T>(
  limitMs: number | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal, isLate: () => boolean) => Promise<T>,
): Promise<T> {
  if (limitMs === undefined) return work(signal, () => false);
  const limit = new AbortController();
  const late = new DOMException(`No answer within ${limitMs} ms`, 'TimeoutError');
  const timer = new LongTimer(() => limit.abort(late), limitMs);
  try {
    return await work(AbortSignal.any([signal, limit.signal]), () => limit.signal.aborted && !signal.aborted);
  } finally {
    timer.cancel();
  }
}

/** Waits for work, and no longer than `limitMs`. Returns whether it has ended. */
export async function within(limitMs: number, work: Promise<void>): Promise<boolean> {
  let timer: LongTimer | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = new LongTimer(() => resolve(false), limitMs);
  });
  const hasEnded = await Promise.race([work.then(() => true), late]);
  timer?.cancel();
  return hasEnded;
}

/** How long a session is idle before it does what no answer depends on. */
const IDLE_MS = 100;

/**
 * Work that no answer of a session depends on, and that later work replaces: it is done while the session is idle, and
 * at the latest when the process ends. A process that is killed leaves it undone.
 */
export class DeferredWork {
  #work: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Takes the place of what is not done yet. */
  put(work: () => void): void {
    this.#drop();
    this.#work = work;
    if (unfinished.size === 0) process.once('exit', finishAll);
    unfinished.add(this);
    this.resume();
  }

  /** Waits with what is not done yet: the session is busy. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** The session is idle again. */
  resume(): void {
    this.pause();
    if (this.#work === undefined) return;
    this.#timer = setTimeout(() => this.finish(), IDLE_MS);
    this.#timer.unref();
  }

  /** Does at once what is not done yet. What fails stays undone: no caller waits for it. */
  finish(): void {
    const work = this.#work;
    this.#drop();
    try {
      work?.();
    } catch {
      // The folder of the project may be gone, or may no longer be read.
    }
  }

  #drop(): void {
    this.pause();
    this.#work = undefined;
    unfinished.delete(this);
    if (unfinished.size === 0) process.off('exit', finishAll);
  }
}

const unfinished = new Set<DeferredWork>();

function finishAll(): void {
  for (const each of unfinished) each.finish();
}

import type { LiveCatalogue } from '../live-catalogue.js';

/** How long what clients bring is used, and a failure is repeated, in ms. */
const KEPT_MS = 60_000;
const FAILED_MS = 5_000;

/** How many are kept. */
const MOST = 100;

/** How many are made at once: each may take a connection and a process. */
const AT_ONCE = 4;

interface Entry {
  readonly made: Promise<LiveCatalogue>;
  until: number;
}

/**
 * Catalogues of clients that bring workflows or hints. Over HTTP most clients have no session, and bring them with each
 * request: the same are made once. They are equal for equal headers, so that no client sees what only another one brought.
 */
export class OverlayCache {
  /** The one that was used last is the last one. */
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  readonly #waiting: (() => void)[] = [];
  #making = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get(key: string, make: () => Promise<LiveCatalogue>): Promise<LiveCatalogue> {
    const now = this.#now();
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = known !== undefined && known.until > now ? known : this.#begin(make, now);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MOST && oldest !== undefined) this.#entries.delete(oldest);
    return entry.made;
  }

  #begin(make: () => Promise<LiveCatalogue>, now: number): Entry {
    const entry: Entry = { made: this.#inTurn(make), until: now + KEPT_MS };
    entry.made.catch(() => {
      entry.until = this.#now() + FAILED_MS;
    });
    return entry;
  }

  async #inTurn<T>(make: () => Promise<T>): Promise<T> {
    if (this.#making >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#making += 1;
    try {
      return await make();
    } finally {
      // The turn goes to the one that waits for the longest time.
      const next = this.#waiting.shift();
      if (next === undefined) this.#making -= 1;
      else next();
    }
  }
}

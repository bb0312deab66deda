import type { LiveCatalogue } from '../catalogue/live-catalogue.js';
import { FairTurns } from '../requests/fair-turns.js';

/** How long what clients bring is used, and a failure is repeated, in ms. */
const KEPT_MS = 60_000;
const FAILED_MS = 5_000;

/** How many are kept. */
const MOST = 100;

/** How many are made at once, of all callers and of one: each may take a connection and a process. */
const TURNS = { concurrent: 4, concurrentPerOwner: 2, queuedPerOwner: Number.POSITIVE_INFINITY };

interface Entry {
  readonly catalogue: Promise<LiveCatalogue>;
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
  readonly #turns = new FairTurns(TURNS);

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param caller equal for requests of one caller, which do not keep those of others waiting. */
  get(key: string, caller: string, make: () => Promise<LiveCatalogue>): Promise<LiveCatalogue> {
    const now = this.#now();
    const cached = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = cached !== undefined && cached.until > now ? cached : this.#begin(caller, make, now);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MOST && oldest !== undefined) this.#entries.delete(oldest);
    return entry.catalogue;
  }

  #begin(caller: string, make: () => Promise<LiveCatalogue>, now: number): Entry {
    const entry: Entry = { catalogue: this.#inTurn(caller, make), until: now + KEPT_MS };
    entry.catalogue.catch(() => {
      entry.until = this.#now() + FAILED_MS;
    });
    return entry;
  }

  async #inTurn<T>(caller: string, make: () => Promise<T>): Promise<T> {
    // Others may wait for the same, so that it is made also when its first request is cancelled.
    const endTurn = await this.#turns.take(caller, new AbortController().signal);
    try {
      return await make();
    } finally {
      endTurn?.();
    }
  }
}

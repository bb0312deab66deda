import type { ServerChange } from './stepwright-server.js';

type Listener = (change: ServerChange) => void;

/** Passes changes on to the clients that they concern. */
export class Changes {
  readonly #listeners = new Map<Listener, (source: object) => boolean>();

  /**
   * @param isConcerned whether a change of this source concerns the listener.
   * @returns what ends it.
   */
  listen(isConcerned: (source: object) => boolean, listener: Listener): () => void {
    // The same function may listen twice.
    const own: Listener = (change) => listener(change);
    this.#listeners.set(own, isConcerned);
    return () => void this.#listeners.delete(own);
  }

  /** @param source what has changed. Default: all clients are concerned. */
  announce(change: ServerChange, source?: object): void {
    for (const [listener, isConcerned] of this.#listeners)
      if (source === undefined || isConcerned(source)) listener(change);
  }
}

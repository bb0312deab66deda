import { getOrInsert } from '../../../graph/maps.js';
import type { CancelSignal } from '../../tools/port.js';

/** How many requests are worked on at once. */
export interface TurnLimits {
  /** Of all callers. */
  readonly concurrent: number;
  /** Of one caller. */
  readonly concurrentPerOwner: number;
  /** Of one caller that wait for a turn. */
  readonly queuedPerOwner: number;
}

interface Line {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Gives requests their turns. Each caller waits in a line of its own, and the lines are served round robin: a caller
 * with many requests does not delay another one with few.
 */
export class FairTurns {
  #running = 0;
  /** By owner, in the order of the next turns. A caller without requests has no line. */
  readonly #lines = new Map<string, Line>();

  constructor(readonly limits: TurnLimits) {}

  /** Whether another request of this caller would be refused. */
  isFull(owner: string): boolean {
    const waiting = this.#lines.get(owner)?.waiting.length ?? 0;
    return waiting >= this.limits.queuedPerOwner;
  }

  /**
   * Resolves when it is the turn of a request.
   *
   * @param signal of the request, which takes no turn once it is aborted.
   * @returns what ends the turn, to be called once; nothing for an aborted request.
   */
  async take(owner: string, signal: CancelSignal): Promise<(() => void) | undefined> {
    const line = getOrInsert(this.#lines, owner, (): Line => ({ running: 0, waiting: [] }));
    if (this.#isFree(line)) return this.#begin(owner, line);
    const isGranted = await new Promise<boolean>((resolve) => {
      const grant = (): void => resolve(true);
      line.waiting.push(grant);
      const leave = (): void => {
        const index = line.waiting.indexOf(grant);
        if (index === -1) return;
        line.waiting.splice(index, 1);
        resolve(false);
      };
      signal.addEventListener('abort', leave, { once: true });
    });
    if (isGranted) return () => this.#end(owner, line);
    this.#forget(owner, line);
    return undefined;
  }

  #isFree(line: Line): boolean {
    const { concurrent, concurrentPerOwner } = this.limits;
    return this.#running < concurrent && line.running < concurrentPerOwner;
  }

  #begin(owner: string, line: Line): () => void {
    this.#running += 1;
    line.running += 1;
    return () => this.#end(owner, line);
  }

  #end(owner: string, line: Line): void {
    this.#running -= 1;
    line.running -= 1;
    this.#next();
    this.#forget(owner, line);
  }

  /** The first line with a request that may run; it is the last one from then on. */
  #next(): void {
    for (const [owner, line] of this.#lines) {
      if (line.waiting.length === 0 || !this.#isFree(line)) continue;
      const start = line.waiting.shift();
      this.#begin(owner, line);
      this.#lines.delete(owner);
      this.#lines.set(owner, line);
      start?.();
      return;
    }
  }

  #forget(owner: string, line: Line): void {
    if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(owner);
  }
}

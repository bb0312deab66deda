import type { JournalEntry } from './journal.js';
import { MemoryJournal } from './memory-journal.js';

/** How a write fails: before anything was written, or after it was. */
export type WriteFault = 'before' | 'after';

/** A journal whose writes fail as a test says. */
export class FaultyJournal extends MemoryJournal {
  /** How many writes were tried. */
  writes = 0;
  readonly #faultOf: (write: number, entry: JournalEntry) => WriteFault | undefined;

  /** @param faultOf says how a write fails, by its number from 1; nothing for one that does not. */
  constructor(faultOf: (write: number, entry: JournalEntry) => WriteFault | undefined) {
    super();
    this.#faultOf = faultOf;
  }

  override async append(entry: JournalEntry): Promise<void> {
    this.writes += 1;
    const fault = this.#faultOf(this.writes, entry);
    if (fault === 'before') throw new Error('the disk is full');
    await super.append(entry);
    if (fault === 'after') throw new Error('the disk went away');
  }
}

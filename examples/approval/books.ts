import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';

/** A line of the books. Amounts are in euros. */
export interface Entry {
  readonly id: string;
  readonly kind: 'reserved' | 'released' | 'paid';
  readonly purpose: string;
  readonly amount: number;
}

interface Line extends Entry {
  /** The idempotency key of the call that wrote it. */
  readonly key: string;
}

/** The books of a company, a line of JSON for each entry: the system outside that tools have effects on. */
export class Books {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
    closeSync(openSync(file, 'a'));
  }

  /** Writes an entry; for a key that was used before, returns the entry that it wrote. */
  enter(key: string, kind: Entry['kind'], purpose: string, amount: number): Entry {
    const lines = this.#lines();
    const made = lines.find((line) => line.key === key);
    if (made !== undefined) return made;
    const entry = { id: `E-${lines.length + 1}`, kind, purpose, amount };
    const file = openSync(this.#file, 'a');
    writeSync(file, `${JSON.stringify({ ...entry, key })}\n`);
    fsyncSync(file);
    closeSync(file);
    return entry;
  }

  /** @throws Error if the books have no such entry. */
  entry(id: string): Entry {
    const found = this.#lines().find((line) => line.id === id);
    if (found === undefined) throw new Error(`The books have no entry '${id}'`);
    return found;
  }

  #lines(): Line[] {
    const lines = readFileSync(this.#file, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
  }
}

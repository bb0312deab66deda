import { crc32 } from 'node:zlib';
import type { EncodedEntry } from './encode-entry.js';

/** A checksum of columns: random damage passes it once in four billion times. */
export function sumOf(...columns: readonly unknown[]): number {
  const texts = columns.map((column) =>
    column instanceof Uint8Array ? Buffer.from(column).toString('hex') : column,
  );
  return crc32(texts.join('\0'));
}

/** Totals are less than that: they are exact, and fit a column. */
const MODULUS = 2 ** 48;

/** The table of rows of the host in {@link RunSums}. */
const HOST = 'host ';

/**
 * The checksum of the rows of a run, those of its state and of its host. A row that is missing, or is one of another run,
 * changes it as other content does. A write changes it by the rows of the write alone.
 */
export class RunSums {
  readonly #sums = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  get rows(): number {
    return this.#sums.size;
  }

  addState({ tab, key, row, refs, owes, command, due_at }: Record<string, unknown>): void {
    this.#put(`${tab} ${key}`, [row, refs, owes, command, due_at]);
  }

  addHost({ tab, key, row }: Record<string, unknown>): void {
    this.#put(`${HOST}${tab} ${key}`, [row]);
  }

  /** The rows of an entry were written. */
  apply({ changes, hostRows }: Pick<EncodedEntry, 'changes' | 'hostRows'>): void {
    for (const { table: tab, key, put } of changes) {
      if (put === undefined) this.#delete(`${tab} ${key}`);
      else this.addState({ ...put, tab, key, due_at: put.dueAt });
    }
    for (const { table: tab, key, row } of hostRows) this.addHost({ tab, key, row });
  }

  #put(name: string, columns: readonly unknown[]): void {
    this.#delete(name);
    const sum = sumOf(name, ...columns);
    this.#sums.set(name, sum);
    this.#total = (this.#total + sum) % MODULUS;
  }

  #delete(name: string): void {
    const sum = this.#sums.get(name) ?? 0;
    this.#sums.delete(name);
    this.#total = (this.#total + MODULUS - sum) % MODULUS;
  }
}

/** The checksum of what does not change in the row of a run. */
export function identitySum(row: object): number {
  const { id, ref, workflow, startedAt, quota, access, alias } = row as Readonly<Record<string, unknown>>;
  return sumOf(id, ref, workflow, startedAt, quota, access, alias);
}

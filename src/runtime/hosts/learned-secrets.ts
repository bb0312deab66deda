import type { Json } from '../../graph/json.js';
import type { HostRow } from './journal.js';

/** What a run has learned of its secrets since it was asked last, as a row has it. Plain JSON. */
export interface Learned {
  /** Texts of secrets, and of what derives from them. */
  readonly texts: readonly string[];
  /** Fields of the run's state that hold what derives from a secret. */
  readonly fields: readonly string[];
  /** Calls that were given a secret too short to be searched for. */
  readonly calls: readonly { readonly command: string; readonly node: string }[];
  /** Such secrets. */
  readonly short: readonly string[];
}

const TABLE = 'secrets' as const;

/**
 * Gathers what a run learns of its secrets, for rows of its host. A value that derives from a secret outlasts the part of
 * the state that it was made from, and so does the text that an argument came as: neither can be found again later.
 */
export class LearnedSecrets {
  #learned: Learned[] = [];
  #rows: number;

  /** @param rows how many rows there are. */
  constructor(rows: number) {
    this.#rows = rows;
  }

  add(learned: Partial<Learned>): void {
    this.#learned.push({ ...NOTHING, ...learned });
  }

  /** What was learned since it was asked last, as a row. */
  takeRows(): HostRow[] {
    const learned = this.#learned;
    if (learned.length === 0) return [];
    this.#learned = [];
    this.#rows += 1;
    const row = {
      texts: learned.flatMap(({ texts }) => texts),
      fields: learned.flatMap(({ fields }) => fields),
      calls: learned.flatMap(({ calls }) => calls),
      short: learned.flatMap(({ short }) => short),
    };
    return [{ table: TABLE, key: String(this.#rows), row: row as unknown as Json }];
  }

  /** Rows could not be written: what they say is learned again. */
  putBack(rows: readonly HostRow[]): void {
    const learned = learnedIn(rows);
    this.#learned.unshift(...learned);
    this.#rows -= learned.length;
  }
}

const NOTHING: Learned = { texts: [], fields: [], calls: [], short: [] };

/** What rows of a run's host say of its secrets. */
export function learnedIn(rows: readonly HostRow[]): Learned[] {
  return rows.flatMap(({ table, row }) => (table === TABLE ? [row as unknown as Learned] : []));
}

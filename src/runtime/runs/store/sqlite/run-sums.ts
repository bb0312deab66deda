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

// How many runs of a quota are open, and how many questions they ask: a start reads it, however many there are. Triggers
// keep it, so that a server of a version before them, on the same file, does as well.

/** The quotas that are counted together as well: those of anonymous callers, under the quota `anonymous *`. */
const AND_TOTAL = (quota: string): string => `(${quota}, substr(${quota}, 1, 10) || '*')`;

/** Where the questions of a run are counted. Those of a run that is over are not. */
const quotaOfRun = (run: string): string => `(SELECT quota FROM runs WHERE n = ${run} AND is_open = 1)`;

const QUESTIONS_OF = (run: string): string =>
  `(SELECT count(*) FROM state WHERE run = ${run} AND owes = 'requestAction')`;

const REMOVE_EMPTY = 'DELETE FROM counts WHERE quota = OLD.quota AND runs = 0';

/** The migration that counts the runs of a store. Items of finished runs leave the inbox. */
export const COUNTS = `
  DELETE FROM inbox WHERE run IN (SELECT n FROM runs WHERE is_open = 0);
  CREATE TABLE counts (quota TEXT PRIMARY KEY, runs INTEGER NOT NULL, questions INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO counts SELECT quota, count(*), sum(${QUESTIONS_OF('n')}) FROM runs
    WHERE is_open = 1 AND quota IS NOT NULL GROUP BY quota;
  INSERT INTO counts SELECT 'anonymous *', coalesce(sum(runs), 0), 0 FROM counts WHERE substr(quota, 1, 10) = 'anonymous ';
  CREATE TRIGGER run_began AFTER INSERT ON runs WHEN NEW.is_open = 1 AND NEW.quota IS NOT NULL BEGIN
    INSERT OR IGNORE INTO counts VALUES (NEW.quota, 0, 0);
    UPDATE counts SET runs = runs + 1 WHERE quota IN ${AND_TOTAL('NEW.quota')};
  END;
  CREATE TRIGGER run_ended AFTER UPDATE OF is_open ON runs
  WHEN NEW.is_open <> OLD.is_open AND NEW.quota IS NOT NULL BEGIN
    INSERT OR IGNORE INTO counts VALUES (NEW.quota, 0, 0);
    UPDATE counts SET runs = runs + NEW.is_open - OLD.is_open WHERE quota IN ${AND_TOTAL('NEW.quota')};
    UPDATE counts SET questions = questions + (NEW.is_open - OLD.is_open) * ${QUESTIONS_OF('NEW.n')}
      WHERE quota = NEW.quota;
    ${REMOVE_EMPTY};
  END;
  CREATE TRIGGER run_removed AFTER DELETE ON runs WHEN OLD.is_open = 1 AND OLD.quota IS NOT NULL BEGIN
    UPDATE counts SET runs = runs - 1 WHERE quota IN ${AND_TOTAL('OLD.quota')};
    ${REMOVE_EMPTY};
  END;
  CREATE TRIGGER question_replaced BEFORE INSERT ON state
  WHEN NEW.tab = 'nodes' AND EXISTS
    (SELECT 1 FROM state WHERE run = NEW.run AND tab = 'nodes' AND key = NEW.key AND owes = 'requestAction') BEGIN
    UPDATE counts SET questions = questions - 1 WHERE quota = ${quotaOfRun('NEW.run')};
  END;
  CREATE TRIGGER question_asked AFTER INSERT ON state WHEN NEW.owes = 'requestAction' BEGIN
    UPDATE counts SET questions = questions + 1 WHERE quota = ${quotaOfRun('NEW.run')};
  END;
  CREATE TRIGGER question_removed AFTER DELETE ON state WHEN OLD.owes = 'requestAction' BEGIN
    UPDATE counts SET questions = questions - 1 WHERE quota = ${quotaOfRun('OLD.run')};
  END;
`;

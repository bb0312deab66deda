import type { StoreTables } from './store-tables.js';

/** Whether a run owes commands, and its host none of them. */
export const WAITS = `(EXISTS (SELECT 1 FROM state WHERE run = runs.n AND owes IS NOT NULL) AND NOT EXISTS
  (SELECT 1 FROM state WHERE run = runs.n AND owes IN ('callTool', 'readResource', 'evaluate')))`;

/** Whether a run owes a call that no process makes. */
export const PAUSED = `(holder IS NULL AND EXISTS (SELECT 1 FROM state WHERE run = runs.n AND owes = 'callTool'))`;

/** A process that has runs. */
export interface StoreHolder {
  /** Names the process while it runs. */
  readonly id: string;
  /** How many runs it holds. */
  readonly runs: number;
  /** It counts up several times in a lease: one that stays the same for longer is of a process that is gone. */
  readonly beat: number;
  /** After so many ms without a beat others take its runs over. */
  readonly leaseMs: number;
}

/** How a store does. All numbers are of one moment. */
export interface StoreMetrics {
  readonly open: number;
  /** Of the open runs, those that go on with an answer or a time only. */
  readonly waiting: number;
  /** Of the open runs, those that wait for an operator. */
  readonly paused: number;
  readonly finished: number;
  /** Answers, cancellations and commands that were sent, and that no run has taken. */
  readonly inbox: number;
  /** Times that came, in open runs that have not taken them. */
  readonly overdue: number;
  /** The earliest time that an open run waits for, in ms since the epoch. */
  readonly nextDueAt: number | undefined;
  readonly holders: readonly StoreHolder[];
  /** The size of the database, in bytes. */
  readonly bytes: number;
}

/** The times that open runs wait for. Limits of calls are a matter of the process that makes the call. */
const TIMES = `FROM state JOIN runs ON n = run
  WHERE due_at IS NOT NULL AND owes IN ('startTimer', 'requestAction') AND is_open = 1`;

/** Reads the metrics of a store at a time, in ms since the epoch. */
export function storeMetrics(tables: StoreTables, now: number): StoreMetrics {
  const number = (sql: string, ...values: readonly number[]): number =>
    Number(tables.get(`SELECT ${sql} AS number`, ...values)?.number);
  const count = (rest: string, ...values: readonly number[]): number =>
    number(`(SELECT count(*) ${rest})`, ...values);
  const nextDueAt = tables.get(`SELECT min(due_at) AS at ${TIMES}`)?.at as number | null | undefined;
  const holders = tables.all(
    `SELECT id, beat, lease_ms AS leaseMs, (SELECT count(*) FROM runs WHERE holder = holders.id) AS runs
     FROM holders ORDER BY id`,
  ) as unknown as StoreHolder[];
  return {
    open: count('FROM runs WHERE is_open = 1'),
    waiting: count(`FROM runs WHERE is_open = 1 AND ${WAITS}`),
    paused: count(`FROM runs WHERE is_open = 1 AND ${PAUSED}`),
    finished: count('FROM runs WHERE ended IS NOT NULL'),
    inbox: count('FROM inbox'),
    overdue: count(`${TIMES} AND due_at <= ?`, now),
    nextDueAt: nextDueAt ?? undefined,
    holders: holders.filter(({ runs }) => runs > 0),
    bytes:
      number('(SELECT page_count FROM pragma_page_count)') *
      number('(SELECT page_size FROM pragma_page_size)'),
  };
}

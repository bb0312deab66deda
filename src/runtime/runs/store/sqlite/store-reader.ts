import { defined } from '../../../../graph/defined.js';
import { limitOf } from '../../../engine/actions.js';
import { isWait } from '../../../engine/read.js';
import type { Tables } from '../../../engine/rows.js';
import type { Capability } from '../../../tools/capabilities.js';
import type { Retention } from '../journal.js';
import type { Head, ListedRow, ReadRun, StoreCheck, StoredEntry, StoreReader } from '../reader.js';
import { StoreError } from '../store-error.js';
import {
  checkDriver,
  findDriver,
  type SqliteDatabase,
  type SqliteDriver,
  type SqliteValue,
} from './driver.js';
import { keyIn } from './encode-entry.js';
import { openReadOnly, pragma, storeError } from './store-file.js';
import { countExpired } from './store-index.js';
import { StoreTables } from './store-tables.js';

/** Whether a run owes commands, and its host none of them. */
const WAITS = `(EXISTS (SELECT 1 FROM state WHERE run = runs.n AND owes IS NOT NULL) AND NOT EXISTS
  (SELECT 1 FROM state WHERE run = runs.n AND owes IN ('callTool', 'readResource', 'evaluate')))`;

/** Whether a server has reported needs of a run that no server has. */
const LEFT = `(is_open = 1 AND missing IS NOT NULL)`;

/** Whether a run owes a call that no process makes. */
const PAUSED = `(holder IS NULL AND EXISTS (SELECT 1 FROM state WHERE run = runs.n AND owes = 'callTool'))`;

/** How often a file is asked whether it has changed, in ms. It answers within microseconds. */
const POLL_MS = 20;

/** Reads a store without changing it. A server that uses the file does not wait for it, nor does it wait for the server. */
export class SqliteReader implements StoreReader {
  readonly path: string;
  readonly #database: SqliteDatabase;
  readonly #tables: StoreTables;

  /**
   * @param path of a file that exists.
   * @throws StoreError for a file that is not a store; see its `problem`.
   */
  static async open(path: string, driver?: SqliteDriver): Promise<SqliteReader> {
    const usedDriver = driver ?? (await findDriver(path));
    checkDriver(usedDriver, path);
    return new SqliteReader(path, openReadOnly(path, usedDriver));
  }

  private constructor(path: string, database: SqliteDatabase) {
    this.path = path;
    this.#database = database;
    this.#tables = new StoreTables(database, path);
  }

  list({ state, workflow, before, limit }: Parameters<StoreReader['list']>[0]): readonly ListedRow[] {
    const conditions: string[] = [];
    const values: SqliteValue[] = [];
    const where = (condition: string, ...given: SqliteValue[]): void => {
      conditions.push(condition);
      values.push(...given);
    };
    if (state === 'waiting') where(`is_open = 1 AND (${WAITS} OR ${LEFT})`);
    else if (state === 'paused') where(`is_open = 1 AND ${PAUSED}`);
    else if (state === 'running') where(`is_open = 1 AND NOT ${WAITS} AND NOT ${PAUSED} AND NOT ${LEFT}`);
    else if (state !== undefined) where('status = ?', state);
    if (workflow !== undefined) where('workflow = ?', workflow);
    if (before !== undefined) where('n < ?', before);
    const all = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    return this.#reading(() =>
      this.#tables
        .all(
          `SELECT n, ref, workflow, access, status, started_at, ended_at, is_open, missing, ${WAITS} OR ${LEFT} AS waits,
           ${PAUSED} AS paused
           FROM runs ${all} ORDER BY n DESC LIMIT ?`,
          ...values,
          limit,
        )
        .map((row) => this.#listedRow(row)),
    );
  }

  #listedRow(row: Record<string, unknown>): ListedRow {
    const { n, ref, workflow, status, started_at: startedAt, ended_at: endedAt } = row;
    const open = row.waits === 1 ? 'waiting' : row.paused === 1 ? 'paused' : 'running';
    const isOpen = row.is_open === 1;
    return {
      ...{ n, ref, workflow, startedAt, endedAt: endedAt ?? undefined },
      state: isOpen ? open : status,
      ...defined({ owner: ownerIn(row.access) }),
      waits: isOpen && open !== 'running' ? this.#waitsOf(n as number, open) : [],
      missing: isOpen ? missingIn(row.missing) : [],
    } as ListedRow;
  }

  #waitsOf(n: number, state: 'waiting' | 'paused'): ListedRow['waits'] {
    const owed = this.#tables.all(
      `SELECT key, row, owes FROM state WHERE run = ? AND owes IS NOT NULL ORDER BY due_at IS NULL, due_at, key`,
      n,
    );
    return owed.flatMap(({ key, row, owes }): ListedRow['waits'] => {
      if (owes === 'callTool') return state === 'paused' ? [{ for: 'decision', of: keyIn(key) }] : [];
      const { command } = this.#tables.json(row) as Tables['nodes'];
      if (command === undefined) return [];
      const { id, dueAt: until } = command;
      if (command.kind === 'requestAction')
        return [{ for: 'answer', of: id, ...defined({ until: limitOf(command) }) }];
      return command.kind === 'startTimer' && isWait(command)
        ? [{ for: 'time', of: id, ...defined({ until }) }]
        : [];
    });
  }

  find(name: string): readonly Head[] {
    return this.#reading(() => {
      const named = this.#tables.headsOf(name);
      const head = named.length > 0 ? undefined : this.#tables.head(name);
      return head === undefined ? named : [head];
    });
  }

  read({ id }: Pick<Head, 'id'>): ReadRun | undefined {
    return this.#reading(() => {
      const head = this.#tables.head(id);
      const graph = head && this.#tables.graph(head.graph);
      if (head === undefined || graph === undefined) return undefined;
      const row = this.#tables.get('SELECT missing FROM runs WHERE n = ?', head.n);
      return {
        ...{ head, graph, loaded: this.#tables.load(head), inbox: this.#tables.inbox(head.n) },
        missing: missingIn(row?.missing),
      };
    });
  }

  entries({ n }: Pick<Head, 'n'>, from: number, most: number): readonly StoredEntry[] {
    return this.#reading(() => this.#tables.entries(n, from, most));
  }

  countExpired(retention: Retention): number {
    return this.#reading(() => countExpired(this.#tables, retention));
  }

  check(): StoreCheck {
    return checkStore(this.#tables);
  }

  metrics(now: number): StoreMetrics {
    return this.#reading(() => storeMetrics(this.#tables, now));
  }

  watch(onChange: () => void): () => void {
    const version = (): number | undefined => {
      try {
        return pragma(this.#database, 'data_version');
      } catch {
        // The next read reports it.
        return undefined;
      }
    };
    let last = version();
    const timer = setInterval(() => {
      const current = version();
      if (current !== undefined && current === last) return;
      last = current;
      onChange();
    }, POLL_MS).unref();
    return () => clearInterval(timer);
  }

  close(): void {
    this.#tables.close();
    this.#database.close();
  }

  #reading<T>(read: () => T): T {
    try {
      return this.#tables.reading(read);
    } catch (error) {
      throw storeError(error, this.path);
    }
  }
}

/** The name in an access key; see `accessKey`. */
function ownerIn(column: unknown): string | undefined {
  if (typeof column !== 'string' || !column.startsWith('{')) return undefined;
  const { subject, clientId } = JSON.parse(column) as {
    readonly subject?: unknown;
    readonly clientId?: unknown;
  };
  return subject === undefined && clientId === undefined ? undefined : String(subject ?? clientId);
}

function missingIn(column: unknown): readonly Capability[] {
  return typeof column === 'string' ? (JSON.parse(column) as Capability[]) : [];
}

/** The times that open runs wait for. Limits of calls are a matter of the process that makes the call. */
const TIMES = `FROM state JOIN runs ON n = run
  WHERE due_at IS NOT NULL AND owes IN ('startTimer', 'requestAction') AND is_open = 1`;

type StoreMetrics = Awaited<ReturnType<StoreReader['metrics']>>;

/** Reads the metrics of a store at a time, in ms since the epoch. */
function storeMetrics(tables: StoreTables, now: number): StoreMetrics {
  const number = (sql: string, ...values: readonly number[]): number =>
    Number(tables.get(`SELECT ${sql} AS number`, ...values)?.number);
  const count = (rest: string, ...values: readonly number[]): number =>
    number(`(SELECT count(*) ${rest})`, ...values);
  const nextDueAt = tables.get(`SELECT min(due_at) AS at ${TIMES}`)?.at as number | null | undefined;
  const holders = tables.all(
    `SELECT id, beat, lease_ms AS leaseMs, (SELECT count(*) FROM runs WHERE holder = holders.id) AS runs
     FROM holders ORDER BY id`,
  ) as unknown as StoreMetrics['holders'][number][];
  return {
    open: count('FROM runs WHERE is_open = 1'),
    waiting: count(`FROM runs WHERE is_open = 1 AND ${WAITS}`),
    paused: count(`FROM runs WHERE is_open = 1 AND ${PAUSED}`),
    missing: count(`FROM runs WHERE ${LEFT}`),
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

type Damage = StoreCheck['damages'][number];

/** So many rows are read at once. */
const PAGE = 1_000;

/** Reads all pages and all runs of a store. A part that is damaged does not keep the others from being read. */
function checkStore(tables: StoreTables): StoreCheck {
  const damages: Damage[] = [];
  const reading = (work: () => void, about: Pick<Damage, 'run'> = {}): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof StoreError) || error.problem !== 'damaged') throw error;
      damages.push({ ...about, why: error.detail });
    }
  };
  reading(() => {
    for (const { integrity_check: text } of tables.all('PRAGMA integrity_check'))
      if (text !== 'ok') damages.push({ why: text as string });
  });
  const refs = new Set<string>();
  // Each lists all runs of an intact file.
  for (const [source, place] of [
    ['INDEXED BY refs', 'ref'],
    ['NOT INDEXED', 'n'],
  ] as const)
    reading(() => addRefs(tables, source, place, refs));
  // Servers write in the meantime: what a run has is read as of one moment.
  for (const run of refs) reading(() => tables.reading(() => checkRuns(tables, run)), { run });
  return { runs: refs.size, damages };
}

function addRefs(tables: StoreTables, source: string, place: 'ref' | 'n', refs: Set<string>): void {
  for (let last: string | number = place === 'n' ? -1 : ''; ; ) {
    const rows = tables.all(
      `SELECT ${place} AS place, ref FROM main.runs ${source} WHERE ${place} > ? ORDER BY ${place} LIMIT ?`,
      ...[last, PAGE],
    );
    for (const { ref } of rows) refs.add(ref as string);
    if (rows.length < PAGE) return;
    last = rows.at(-1)?.place as string | number;
  }
}

/** Reads all that the store has of the runs of a name. @throws StoreError `damaged`. */
function checkRuns(tables: StoreTables, ref: string): void {
  const heads = tables.headsOf(ref);
  if (heads.length === 0) throw tables.damaged('its row is missing');
  for (const head of heads) checkRun(tables, head);
}

function checkRun(tables: StoreTables, head: Head): void {
  const { id, n, seq, status } = head;
  if (tables.head(id) === undefined) throw tables.damaged('the index of the ids of runs has gaps');
  const { rows } = tables.load(head);
  const run = rows.find(({ table }) => table === 'run');
  if (run?.table !== 'run' || run.row.status !== status) throw tables.damaged('its status was changed');
  if (tables.graph(head.graph) === undefined) throw tables.damaged('its workflow is missing');
  for (let from = 1; from <= seq; from += PAGE) {
    const { length } = tables.entries(n, from, Math.min(PAGE, seq - from + 1));
    if (length < Math.min(PAGE, seq - from + 1)) throw tables.damaged(`entry ${from + length} is missing`);
  }
  tables.inbox(n);
  tables.responses(n);
}

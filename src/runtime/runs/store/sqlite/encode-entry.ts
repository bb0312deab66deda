import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { defined } from '../../../../graph/defined.js';
import type { Json } from '../../../../graph/json.js';
import type { Graph } from '../../../../graph/model.js';
import type { Row } from '../../../engine/contract.js';
import type { RunStatus } from '../../../engine/events.js';
import { withLargeValues, withoutLargeValues } from '../../../engine/large-values.js';
import { dueTimeOf, owedKind, type Tables } from '../../../engine/rows.js';
import { type HostRow, type JournalEntry, listingIn, type RunListing } from '../journal.js';

/** An entry as it is written: later changes of its objects do not reach it. */
export interface EncodedEntry
  extends Pick<JournalEntry, 'run' | 'seq' | 'expectedSeq' | 'epoch' | 'releases'> {
  /** Of an entry that begins a run. */
  readonly begins?: {
    readonly graphHash: string;
    readonly graph: string;
    readonly workflow: string;
    /** In ms since the epoch. */
    readonly startedAt: number;
    readonly listing: Partial<RunListing>;
  };
  /** The status of the run, where its row is written. */
  readonly becomes: NewStatus | undefined;
  readonly events: TextColumn;
  readonly changes: readonly EncodedChange[];
  readonly hostRows: readonly { readonly table: string; readonly key: string; readonly row: TextColumn }[];
  readonly consumed: readonly { readonly id: string; readonly response: TextColumn }[];
  readonly large: readonly LargeText[];
}

interface NewStatus {
  readonly status: RunStatus;
  /** The time of the last event that led to it, in ms since the epoch; null for none. */
  readonly at: number | null;
}

interface EncodedChange {
  readonly table: string;
  readonly key: string;
  /** Undefined for a row that is deleted. */
  readonly put:
    | {
        readonly row: TextColumn;
        readonly refs: string | null;
        /** The kind of the command that the row is to have answered, and its id if it has a time. */
        readonly owes: string | null;
        readonly command: string | null;
        readonly dueAt: number | null;
      }
    | undefined;
}

export function encodeEntry(entry: JournalEntry): EncodedEntry {
  const { run, seq, expectedSeq, epoch, graph, events, changes, hostRows = [], consumed = [] } = entry;
  const { releases } = entry;
  const texts = new TextWriter();
  let start: Tables['start'] | undefined;
  let becomes: NewStatus | undefined;
  for (const change of changes) {
    if (change.op === 'delete') continue;
    if (change.table === 'start') start = change.row;
    if (change.table === 'run') becomes = { status: change.row.status, at: events.at(-1)?.at ?? null };
  }
  return {
    ...{ run, seq, expectedSeq, epoch, becomes },
    ...defined({ releases }),
    ...(graph === undefined || start === undefined ? {} : { begins: beginningOf(graph, start, hostRows) }),
    events: texts.column(`[${events.map((event) => texts.event(event)).join(',')}]`),
    changes: changes.map((change) => ({
      table: change.table,
      key: keyColumn(change.key),
      put: change.op === 'put' ? putOf(change, texts) : undefined,
    })),
    hostRows: hostRows.map(({ table, key, row }) => ({
      ...{ table, key: keyColumn(key) },
      row: texts.column(JSON.stringify(row)),
    })),
    consumed: consumed.map(({ id, response }) => ({ id, response: texts.column(JSON.stringify(response)) })),
    large: texts.large,
  };
}

function beginningOf(
  graph: Graph,
  { graphHash, workflow, startedAt }: Tables['start'],
  hostRows: readonly HostRow[],
): NonNullable<EncodedEntry['begins']> {
  const listing = listingIn(hostRows) ?? {};
  return { graphHash, graph: JSON.stringify(graph), workflow, startedAt, listing };
}

function putOf(change: Row, texts: TextWriter): EncodedChange['put'] {
  const due = dueTimeOf(change);
  return {
    row: texts.column(JSON.stringify(change.row)),
    refs: change.refs === undefined ? null : JSON.stringify(change.refs),
    owes: owedKind(change) ?? null,
    command: due === undefined ? null : keyColumn(due.command),
    dueAt: due?.dueAt ?? null,
  };
}

/** Texts that are longer (in UTF-16 code units) are stored once, by their hash. */
const LARGE_TEXT = 65_536;

/** A text as a column holds it: itself, or the hash of one that is stored apart. */
type TextColumn = string | Uint8Array;

/** A long text that a row refers to. */
interface LargeText {
  readonly hash: Uint8Array;
  readonly text: string;
}

/** Gathers the long texts of what is about to be written. */
class TextWriter {
  readonly large: LargeText[] = [];

  column(text: string): TextColumn {
    return text.length > LARGE_TEXT ? this.#keep(text) : text;
  }

  /** The JSON of an event. Its large values are stored apart, as those of rows of the state are: both share them. */
  event(event: object): string {
    const text = JSON.stringify(event);
    const { value } = event as { readonly value?: Json };
    if (value === undefined || text.length <= LARGE_TEXT) return text;
    const [small, ...values] = withoutLargeValues([{ op: 'put', table: 'outputs', key: '', row: value }]);
    for (const { row } of values) this.#keep(JSON.stringify(row));
    const keys = values.map(({ key }) => key);
    return JSON.stringify({ ...event, value: small?.row, [REFS]: { refs: small?.refs ?? [], keys } });
  }

  #keep(text: string): Uint8Array {
    const hash = createHash('sha256').update(text).digest();
    this.large.push({ hash, text });
    return hash;
  }
}

/** Member of a stored event that says which values are stored apart. */
const REFS = '$refs';

/** Reads an event back. @param textOf finds a text that was stored apart. */
export function readEvent(stored: unknown, textOf: (hash: Uint8Array) => string): unknown {
  const { [REFS]: apart, ...event } = stored as Record<string, unknown>;
  if (apart === undefined) return stored;
  const { refs, keys } = apart as { readonly refs: readonly string[]; readonly keys: readonly string[] };
  const values = keys.map((key): Row => {
    return { op: 'put', table: 'values', key, row: JSON.parse(textOf(Buffer.from(key, 'hex'))) as Json };
  });
  const small: Row = { op: 'put', table: 'outputs', key: '', row: event.value as Json, refs };
  return { ...event, value: withLargeValues([small, ...values])[0]?.row };
}

/**
 * What a column holds of a key: SQLite's texts end at U+0000, and lone surrogates have no UTF-8. Such keys are stored as
 * JSON.
 */
export function keyColumn(key: string): string {
  return /^"|[\0\p{Cs}]/u.test(key) ? JSON.stringify(key) : key;
}

/** The inverse of {@link keyColumn}. */
export function keyIn(column: unknown): string {
  const text = column as string;
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

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

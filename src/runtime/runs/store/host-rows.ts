import type { AuthInfo, Owner } from '../../../decorators/context.js';
import type { Json } from '../../../graph/json.js';
import type { ForkOrigin, HostRow, JournalEntry, LoadedRun, RunListing } from './journal.js';

const TABLE = 'run' as const;

/** What is kept of a run as a whole beside its state, by key of the table. */
interface RunRows {
  readonly start?: RunOrigin;
  /** Whether it was cancelled with `compensate`. */
  readonly undoes?: boolean;
  /** When it was over, in ms since the epoch. */
  readonly endAt?: number;
  readonly fork?: ForkOrigin;
  /** How it was moved to other graphs, the first time first. */
  readonly moved?: readonly RunMove[];
}

/** A move of a run to another graph. */
interface RunMove {
  /** The entry of its log that did it. */
  readonly entry: number;
  /** Ms since the epoch. */
  readonly at: number;
  /** The hash of the graph before. */
  readonly from: string;
  /** New ids of nodes by the old ones. Missing for none. */
  readonly mapping?: Readonly<Record<string, string>>;
}

interface RunOrigin extends RunListing {
  readonly owner: Owner;
  /** Of a run that was started as a task. */
  readonly task?: TaskOrigin;
  /** Of the request that started it; see {@link recorded}. */
  readonly auth?: AuthInfo;
}

/** A tool call that was made as a task. */
export interface TaskOrigin {
  /** The tool that was called: its result is that of the task. */
  readonly tool: string;
  /** How long the task is kept, in ms from its start: what its caller wants, or the limit of finished runs. Default: without limit. */
  readonly ttlMs?: number;
}

/** A task with the time that it is kept in fact. @param limitMs how long any finished run is kept. */
export function keptTask({ tool, ttlMs }: TaskOrigin, limitMs: number): TaskOrigin {
  const lifeMs = Math.min(ttlMs ?? limitMs, limitMs);
  return { tool, ...(lifeMs === Number.POSITIVE_INFINITY ? {} : { ttlMs: lifeMs }) };
}

export function runRow<Key extends keyof RunRows>(key: Key, row: Required<RunRows>[Key]): HostRow {
  return { table: TABLE, key, row: row as unknown as Json };
}

export function runRowsIn(rows: readonly HostRow[]): RunRows {
  return Object.fromEntries(rows.flatMap(({ table, key, row }) => (table === TABLE ? [[key, row]] : [])));
}

/** Whether a log leads from the start of the run to its state: the run was neither forked nor moved, and no entry is missing. */
export function hasWholeLog({
  loaded: { seq, hostRows },
  entries,
}: {
  readonly loaded: LoadedRun;
  readonly entries: readonly Pick<JournalEntry, 'seq'>[];
}): boolean {
  const { fork, moved } = runRowsIn(hostRows);
  const isWhole = entries.length === seq && entries.every((entry, index) => entry.seq === index + 1);
  return isWhole && fork === undefined && moved === undefined;
}

/** Rows with those that later entries write, in the order in which they were first written. */
export function withHostRows(rows: readonly HostRow[], later: readonly HostRow[] = []): readonly HostRow[] {
  const all = new Map([...rows, ...later].map((row) => [JSON.stringify([row.table, row.key]), row]));
  return [...all.values()];
}

/** What a run keeps of who started it once it waits: claims of the token may be private, or expire. */
export function recorded(auth: AuthInfo | undefined): { readonly auth?: AuthInfo } {
  if (auth === undefined) return {};
  const { extra: _, ...kept } = auth;
  return { auth: kept };
}

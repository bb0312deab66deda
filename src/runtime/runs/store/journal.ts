import type { Json, JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import type { Change, Fact, RunState } from '../../engine/contract.js';
import type { Event, RunStatus, StartIds } from '../../engine/events.js';
import type { Capability } from '../../tools/capabilities.js';

/** One or more transitions of a run, written as a whole or not at all. */
export interface JournalEntry {
  /** The run's id. */
  readonly run: string;
  /** Number of the entry in its run, from 1. */
  readonly seq: number;
  /** The last entry of the run that the writer knows; 0 for the first one. */
  readonly expectedSeq: number;
  /** Which holder of the run writes. It never falls: an entry of an earlier holder is refused. */
  readonly epoch: number;
  /** Whether no process holds the run after it, as one that only waits. Default: its writer holds the run. */
  readonly releases?: true;
  /**
   * The graph the run starts on, in the first entry; in a later one, with the row `start`, the graph it goes on with. With
   * all workflows it runs among its tasks.
   */
  readonly graph?: Graph;
  /** What was taken in, in order: none for a start, for a continuation, and where only items are consumed. */
  readonly events: readonly Event[];
  /** The rows of the run's state that were written or deleted: those of all entries in order add up to the state. */
  readonly changes: readonly Change[];
  /** Rows of the host that were written, beside those of the state. Default: none. */
  readonly hostRows?: readonly HostRow[];
  /** Items of the inbox that the entry consumes, each with its response. Default: none. */
  readonly consumed?: readonly ConsumedItem[];
}

/**
 * A row that a host keeps of a run beside those of its state: what it needs after a restart, and the engine does not know.
 * A later one replaces an earlier one of its table and key. The table `run` says whose run it is, how it was ended and
 * which trace it began in, `actions` what became of each action, `children` which
 * items agents drive, `secrets` what must not be shown, `variables` what programs have set. The row `start` of the table `run` comes
 * with the first entry, and is a {@link RunListing} at least.
 */
export interface HostRow {
  readonly table: 'run' | 'actions' | 'children' | 'secrets' | 'variables';
  readonly key: string;
  readonly row: Json;
}

/** By what a run is found beside its id; see {@link RunIndex}. */
export interface RunListing {
  /** Equal for runs that are counted and listed together. */
  readonly quota: string;
  /** Equal for runs that the same callers reach. */
  readonly access: string;
  /** A second name. Default: none. */
  readonly alias?: string;
}

/** Where a run comes from that was forked. Plain JSON. */
export interface ForkOrigin {
  /** Names the other run; see `runRef`. */
  readonly run: string;
  /** The last entry of its log that is in this one. */
  readonly entry: number;
  /** Calls of the other run with an effect, as far as this one has their results. It does not undo them. */
  readonly effects: readonly InheritedEffect[];
}

interface InheritedEffect {
  readonly step_id: string;
  readonly tool: string;
  /** It returned no result, and may have taken effect. */
  readonly outcome_unknown?: true;
}

/** What is sent to a run from outside: an answer, a cancellation, variables or a command of an operator. */
export interface InboxItem {
  readonly run: string;
  /** Unique in its run, chosen by the sender. */
  readonly id: string;
  readonly kind: 'answer' | 'cancel' | 'operator' | 'variables';
  /** Ms since the epoch, as the sender read it. */
  readonly at: number;
  /** Who sent it. */
  readonly by?: JsonObject;
  readonly content: JsonObject;
}

export interface ConsumedItem {
  /** The item's id. */
  readonly id: string;
  /** The response to its sender. */
  readonly response: Json;
}

/** A run as a journal has it. */
export interface LoadedRun {
  readonly run: string;
  /** Of its last entry. */
  readonly seq: number;
  readonly epoch: number;
  /**
   * Which process holds it: this one, with this epoch, or another one. Missing for none, and in a journal of one
   * process. See {@link Leases}.
   */
  readonly holder?: 'this' | 'other';
  readonly graphHash: string;
  /** No process has made the calls that it expects. Default: they may have been made. */
  readonly isUncalled?: true;
  /** The rows of its state; see `fold`. */
  readonly rows: readonly Row[];
  /** Those of its host, in the order in which they were first written. */
  readonly hostRows: readonly HostRow[];
}

/** Whether no call that a run expects was made. */
export function isUncalled(loaded: LoadedRun): boolean {
  return loaded.isUncalled === true || isUntouchedFork(loaded);
}

/**
 * Whether a run was forked and no process but the one that has it now has gone on with it: none of its calls was made. The
 * row `fork` of the table `run` comes with the first entry.
 */
function isUntouchedFork({ seq, epoch, hostRows }: LoadedRun): boolean {
  return seq <= 1 && epoch <= 1 && hostRows.some(({ table, key }) => table === 'run' && key === 'fork');
}

/** The last entry of a run, and who holds it. */
export type RunHead = Pick<LoadedRun, 'seq' | 'epoch' | 'holder'>;

export function isSameHead(one: RunHead, other: RunHead): boolean {
  return one.seq === other.seq && one.epoch === other.epoch && one.holder === other.holder;
}

/** A row of a run's state. */
export type Row = Extract<Change, { readonly op: 'put' }>;

/** A run that is not over. */
export interface OpenRun {
  readonly run: string;
  readonly graphHash: string;
}

/** Whether a run of this status does not go on. */
export function isOver(status: RunStatus): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

/** A time that an open run waits for. */
export interface DueTimer {
  readonly run: string;
  /** The id of the timer, or of the call or action that has a limit. */
  readonly command: string;
  /** Ms since the epoch. */
  readonly dueAt: number;
}

/**
 * Where the transitions of runs are written before they take effect: a tool is called, a question put, a
 * caller answered and an observer notified only when what led to it is safe.
 *
 * It holds what runs hold, secrets included, and so belongs where only those read it who may know them. What it takes is
 * JSON; what it gives back is as it was when it was written, whatever became of the objects since.
 *
 * Any method may reject with an error of the store. After a rejected `append` or `send` it is open whether the entry or
 * item was written: the caller looks with `load` or `inbox`.
 */
export interface Journal {
  /**
   * Writes an entry. Resolves when it is safe. Entries of many runs that come together are written together; an entry
   * that is refused does not hold up the others.
   *
   * @throws JournalConflictError where the run has another last entry, a later holder, or no such item in its inbox: the
   *   entry was not written.
   */
  append(entry: JournalEntry): Promise<void>;
  /** A run by its id; nothing for one it does not have. */
  load(run: string): Promise<LoadedRun | undefined>;
  /** A graph that a run it has started on. Graphs are kept once, by their hash. */
  graph(hash: string): Promise<Graph | undefined>;
  /** The runs that are not over, in the order in which they began. */
  openRuns(): Promise<readonly OpenRun[]>;
  /** The ids of the runs that are over, in the order in which they ended. */
  finishedRuns(): Promise<readonly string[]>;
  /** The times of open runs up to and including `until` (ms since the epoch), the earliest first. */
  dueTimers(until: number): Promise<readonly DueTimer[]>;
  /**
   * Puts an item into a run's inbox. Resolves when it is safe. An item whose id the run has had already, consumed or not,
   * is left out, and so is one for a run that is over: its items leave the inbox when it ends.
   *
   * @throws UnknownRunError where the journal has no such run.
   */
  send(item: InboxItem): Promise<void>;
  /** The items of a run that were not consumed, the oldest first. */
  inbox(run: string): Promise<readonly InboxItem[]>;
  /** The response to a consumed item; nothing for any other. */
  response(run: string, item: string): Promise<Json | undefined>;
  /**
   * Calls back when something was sent to a run or consumed, by this process or another one. It may call late and too
   * often, and must not call before `watch` returns. Returns what stops it.
   */
  watch(run: string, onChange: () => void): () => void;
  /** Removes a run. An unknown run is not an error. */
  forget(run: string): Promise<void>;
  /** Which process holds which run, in a journal of several processes. Default: there is one process. */
  readonly leases?: Leases;
  /** A journal of several processes has it. Default: its host keeps all runs. */
  readonly index?: RunIndex;
}

/** The same methods, which may also answer at once. */
type AtOnce<T> = {
  readonly [Name in keyof T]: T[Name] extends (...args: infer Args) => Promise<infer Value>
    ? (...args: Args) => Value | Promise<Value>
    : T[Name];
};

/**
 * A journal as runs use it: with leases and an index. See `local-journal.ts` for those in memory, which journals of one
 * process get.
 */
export interface RunJournal extends Omit<Journal, 'append' | 'leases' | 'index'> {
  /** Returns nothing where the entry is safe at once. */
  append(entry: JournalEntry): void | Promise<void>;
  readonly leases: Leases;
  readonly index: AtOnce<RunIndex> & {
    /** A run is over for this process, at a time in ms since the epoch. An index on disk reads it from the entries. */
    ended?(run: string, at: number): void;
  };
  /**
   * It ends with the process, and keeps neither rows nor items: what is sent to a run goes to it directly, and a run that
   * is not in memory is lost.
   */
  readonly isVolatile?: true;
  /**
   * Gets each transition of its runs as it is made, also where no entry is written, and the state, which changes afterwards.
   * Default: only entries are kept.
   */
  onTransition?(transition: MadeTransition, state: RunState): void;
  /** Why it refuses all entries until it is opened again, as of now. Default: it takes them. */
  readonly fault?: Error | undefined;
  /** A secret of 256 bits that all processes of the journal share. Default: there is no such secret. */
  key?(): Promise<Uint8Array>;
}

/** A transition of a run. Its members do not change afterwards. */
export interface MadeTransition {
  /** What the run starts with, in the first one. */
  readonly start?: { readonly input: JsonObject; readonly ids: StartIds };
  /** What was taken in. */
  readonly events: readonly Event[];
  readonly facts: readonly Fact[];
}

/** Whether a user's journal has what several processes need. */
export function hasLeases(journal: Journal | RunJournal): journal is RunJournal {
  return journal.leases !== undefined && journal.index !== undefined;
}

/** Whether this process alone uses a journal. No other one goes on with its runs, and none is given back. */
export function isLocal({ leases }: RunJournal): boolean {
  return leases.intervalMs === Number.POSITIVE_INFINITY;
}

/** By what a run is found, from the rows of its first entry. */
export function listingIn(hostRows: readonly HostRow[] | undefined): RunListing | undefined {
  const start = hostRows?.find(({ table, key }) => table === 'run' && key === 'start');
  return start?.row as unknown as RunListing | undefined;
}

/** Finds runs by their {@link RunListing}. */
export interface RunIndex {
  /** Who reaches a run; nothing for an unknown one. */
  accessTo(run: string): Promise<string | undefined>;
  /** The ids of the runs that are listed together, the latest first. */
  listed(quota: string, query: ListedQuery): Promise<readonly string[]>;
  /** How many of them are open, and how many questions they ask. */
  open(quota: string): Promise<{ readonly runs: number; readonly questions: number }>;
  /** How many runs of anonymous callers are open: their quotas begin with this text. */
  openOf(prefix: string): Promise<number>;
  /** The run with a second name. */
  byAlias(alias: string): Promise<string | undefined>;
  /** The open runs that have a second name, the oldest first. */
  openWithAlias(): Promise<readonly string[]>;
  /**
   * When the first time after `now` comes that an open run waits for which no process holds. Both in ms since the epoch.
   */
  nextDue(now: number): Promise<number | undefined>;
  /** Removes finished runs that do not stay. Works in small parts. */
  expire(retention: Retention): Promise<void>;
}

interface ListedQuery {
  /** Those that began before this run. Default: all. */
  readonly before?: string;
  /** Those that are open, or those that are over. Default: both. */
  readonly isOpen?: boolean;
  readonly limit: number;
}

/** How long runs stay in a store after they are over. Open runs always stay. */
export interface Retention {
  /** Runs that ended at this time or before are removed, in ms since the epoch. Default: none. */
  readonly endedBefore?: number;
  /** So many stay, those that ended last. Default: all. */
  readonly keep?: number;
}

/**
 * Which process holds which run. The first entry of a process claims a run that no process holds; entries of other processes
 * are refused until it is released. A holder that shows no sign of life for a full lease loses its runs to the first
 * process that claims them.
 */
export interface Leases {
  /**
   * Takes a run that no process holds, or whose holder is gone. Resolves when that is safe, with the run as it is then;
   * with nothing where another process holds it, where it is over, and for an unknown run.
   */
  claim(run: string): Promise<LoadedRun | undefined>;
  /** Gives a run back that this process holds with this epoch, and that only waits. */
  release(run: string, epoch: number): Promise<void>;
  /** Abandons a run that this process holds and cannot go on with: any process may claim it. */
  abandon(run: string): Promise<void>;
  /** What a run has been loaded with last, or would be now; nothing for an unknown run. */
  head(run: string): Promise<RunHead | undefined>;
  /** Calls back when the run has another head than this one. It may call late. Returns what stops it. */
  follow(run: string, head: RunHead, onChange: () => void): () => void;
  /**
   * Open runs that need a process: their holder is gone, or no process holds them and a time has come or something was sent.
   * It also shows the other processes that this one lives: it has to be called at least each `intervalMs`.
   *
   * @param now ms since the epoch.
   * @param isMoved whether this process goes on with a run that it holds. One that it does not go on with needs a
   *   process as well: it was claimed or begun, and the response of the journal was lost. Default: it does.
   */
  orphans(now: number, isMoved?: (run: string) => boolean): Promise<readonly OpenRun[]>;
  /**
   * Notes for operators the needs of a run that this process lacks: it leaves the run to others, and no process has claimed
   * it for some time. The next claim removes the note. Default: it is not noted.
   */
  leave?(run: string, missing: readonly Capability[]): Promise<void>;
  /** How often {@link orphans} has to be called, in ms. */
  readonly intervalMs: number;
}

/** Thrown by `Journal.append` for an entry that does not follow the run's last one. */
export class JournalConflictError extends Error {
  override readonly name = 'JournalConflictError';
  readonly run: string;

  /** @param why completes "entry … of run … was refused: …". */
  constructor({ run, seq }: Pick<JournalEntry, 'run' | 'seq'>, why: string) {
    super(`entry ${seq} of run '${run}' was refused: ${why}`);
    this.run = run;
  }
}

/** Thrown by `Journal.send` for a run that the journal does not have. */
export class UnknownRunError extends Error {
  override readonly name = 'UnknownRunError';
  readonly run: string;

  constructor(run: string) {
    super(`the journal has no run '${run}'`);
    this.run = run;
  }
}

/**
 * Thrown by a host that gave a run up because its journal failed. The run stays in the journal as it was last written.
 * `cause` is what the journal threw last.
 */
export class JournalFailedError extends Error {
  override readonly name = 'JournalFailedError';

  constructor(what: string, cause: unknown) {
    super(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** So many times an item is sent before its sender gets an error. */
const SEND_TRIES = 3;

/**
 * Sends an item, again where it is open whether that was written: a journal takes each item once.
 *
 * @throws JournalFailedError where it could not be sent.
 */
export async function sendSafely(journal: Pick<Journal, 'send'>, item: InboxItem): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await journal.send(item);
    } catch (error) {
      if (error instanceof UnknownRunError) throw error;
      if (tries < SEND_TRIES) continue;
      throw new JournalFailedError('the journal failed to take what was sent to the run', error);
    }
  }
}

/** Sends an item and waits for its response, from whichever process holds the run. Rejects when `signal` is aborted. */
export async function request(
  journal: Pick<Journal, 'send' | 'response' | 'watch'>,
  item: InboxItem,
  signal?: AbortSignal,
): Promise<Json> {
  await sendSafely(journal, item);
  const { run, id } = item;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      unwatch();
      signal?.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      stop();
      reject(signal?.reason);
    };
    const look = (): void => {
      journal.response(run, id).then(
        (response) => {
          if (response === undefined) return;
          stop();
          resolve(response);
        },
        (error) => {
          stop();
          reject(error);
        },
      );
    };
    const unwatch = journal.watch(run, look);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    else look();
  });
}

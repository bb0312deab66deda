import { defined } from '../../../graph/defined.js';
import type { Graph } from '../../../graph/model.js';
import type { RunState } from '../../engine/contract.js';
import type { Event, RunStatus } from '../../engine/events.js';
import { commandsOf, isWait } from '../../engine/read.js';
import type { Capability } from '../../tools/capabilities.js';
import { type InboxItem, isOver, type LoadedRun, type Retention } from './journal.js';

/**
 * Reads a store without changing it. Servers go on meanwhile. A store on a server answers later, and a file at once.
 */
export interface StoreReader {
  /** Lists runs, the latest first. */
  list(filter: RunFilter): Later<readonly ListedRow[]>;
  /** The runs that a name may refer to: the `ref` of a run, or its id. */
  find(name: string): Later<readonly StoredHead[]>;
  /** A run as it is now; undefined if it was removed meanwhile. */
  read(run: StoredHead): Later<ReadRun | undefined>;
  /** Entries of the log of a run from a number on, in their order. */
  entries(run: StoredHead, from: number, most: number): Later<readonly StoredEntry[]>;
  /** Calls back when the store may have changed, also too often. Returns what ends that. */
  watch(onChange: () => void): () => void;
  /** How many runs would not stay. */
  countExpired(retention: Retention): Later<number>;
  check(): Later<StoreCheck>;
  /** How the store does at a time, in ms since the epoch. */
  metrics(now: number): Later<StoreMetrics>;
}

type Later<T> = T | Promise<T>;

/** What was found damaged in a store. */
export interface StoreCheck {
  /** How many runs were found. */
  readonly runs: number;
  readonly damages: readonly Damage[];
}

interface Damage {
  /** Names the run; see `runRef`. Missing for a part of the file. */
  readonly run?: string;
  readonly why: string;
}

export interface StoredHead {
  /** Its number: later runs have greater ones. */
  readonly n: number;
  readonly id: string;
  /** Of its last entry. */
  readonly seq: number;
  /** The hash of its graph. */
  readonly graph: string;
  /** The process that holds it; null for none. */
  readonly holder: string | null;
}

/** The row of a run in a file. */
export interface Head extends StoredHead {
  readonly epoch: number;
  readonly status: RunStatus;
  /** Equal for runs that the same callers reach; null for none. */
  readonly access: string | null;
  /** The checksum of the rows of the run, as of an entry. Null without one. */
  readonly sum: number | null;
  readonly sumSeq: number | null;
}

/** An entry of a run's log. */
export interface StoredEntry {
  readonly seq: number;
  readonly events: readonly Event[];
}

interface RunFilter {
  /** The states of runs. Default: all. */
  readonly state?: StoredState;
  /** The name of a workflow. Default: all. */
  readonly workflow?: string;
  /** Runs that began before the run of this number. Default: all. */
  readonly before?: number;
  /** How many are listed at most. */
  readonly limit: number;
}

/**
 * A status of the engine. `waiting` is a run that goes on with an answer or a time only, `paused` one that owes a call and
 * that no process holds: an operator decides about the call. `running` is any other open run.
 */
type StoredState = RunStatus | 'waiting';

/** A run, as the list of a store has it. */
export interface ListedRow {
  /** Its number: later runs have greater ones. */
  readonly n: number;
  /** Names it for operators; see `runRef`. */
  readonly ref: string;
  readonly workflow: string;
  readonly state: StoredState;
  /** The subject or the client of its owner. Missing without authentication, and where the store does not keep it. */
  readonly owner?: string;
  /** In ms since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  /** What an open run waits for, the earliest time first. Empty while it is at work. */
  readonly waits: readonly {
    /** An answer, a time, or an operator's decision about a call. */
    readonly for: 'answer' | 'time' | 'decision';
    /** The id of the action, or the step of the call. */
    readonly of: string;
    /** Ms since the epoch: when the time comes, or the action expires. */
    readonly until?: number;
  }[];
  /** Needs of an open run that a server has reported, since no server has them. */
  readonly missing: readonly Capability[];
}

/** A run with what is needed to show it, as of one moment. */
export interface ReadRun {
  readonly head: StoredHead;
  readonly loaded: LoadedRun;
  readonly graph: Graph;
  /** What was sent to it and not yet consumed. */
  readonly inbox: readonly InboxItem[];
  /** Needs of the run that a server has reported, since no server has them. */
  readonly missing: readonly Capability[];
  /** The steps with calls about which an operator decides. Default: all calls that are not repeated, without a holder. */
  readonly paused?: readonly string[];
}

/** A process that has runs. */
interface StoreHolder {
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
interface StoreMetrics {
  readonly open: number;
  /** Of the open runs, those that go on with an answer or a time only. */
  readonly waiting: number;
  /** Of the open runs, those that wait for an operator. */
  readonly paused: number;
  /** Of the open runs, those with reported needs that no server has. */
  readonly missing: number;
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

/** How many runs are read at once. */
const PAGE = 200;

/** All open runs, or those of a workflow, a page at a time. */
export async function* openRuns(
  reader: Pick<StoreReader, 'list' | 'find'>,
  workflow?: string,
): AsyncGenerator<StoredHead> {
  const numbers = new Set<number>();
  for (const state of ['running', 'waiting', 'paused'] as const) {
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const rows = await reader.list({ state, ...defined({ workflow }), before, limit: PAGE });
      for (const { ref } of rows) {
        // Some are in two of the states, or come to another one meanwhile.
        const heads = (await reader.find(ref)).filter(({ n }) => !numbers.has(n));
        for (const { n } of heads) numbers.add(n);
        yield* heads;
      }
      if (rows.length < PAGE) break;
      before = rows.at(-1)?.n ?? 0;
    }
  }
}

/** The state of a run as callers see it. */
export function shownState(state: ListedRow['state']): string {
  return state === 'succeeded' ? 'completed' : state;
}

/**
 * What a run waits for, the earliest time first.
 *
 * @param paused the steps with calls about which an operator decides.
 */
export function waitsOf(state: RunState, paused: readonly string[]): Pick<ListedRow, 'state' | 'waits'> {
  const { status } = state.run;
  if (isOver(status)) return { state: status, waits: [] };
  const commands = commandsOf(state);
  const isBusy = commands.some(
    (command) =>
      (command.kind === 'callTool' && !paused.includes(command.undoes ?? command.node)) ||
      command.kind === 'readResource' ||
      command.kind === 'evaluate',
  );
  if (isBusy || commands.length === 0) return { state: 'running', waits: [] };
  const waits = commands.flatMap((command): ListedRow['waits'] => {
    if (command.kind === 'callTool') return [{ for: 'decision', of: command.node }];
    const { id: of, dueAt: until } = command;
    if (command.kind === 'requestAction') return [{ for: 'answer', of, ...defined({ until }) }];
    return command.kind === 'startTimer' && isWait(command)
      ? [{ for: 'time', of, ...defined({ until }) }]
      : [];
  });
  const untilOf = ({ until = Number.POSITIVE_INFINITY }: ListedRow['waits'][number]): number => until;
  waits.sort((one, other) => untilOf(one) - untilOf(other) || 0);
  return { state: paused.length > 0 ? 'paused' : 'waiting', waits };
}

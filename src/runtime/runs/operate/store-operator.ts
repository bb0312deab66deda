import type { Failure } from '../../engine/contract.js';
import type { Operator, OperatorCommand } from '../actions/operator-commands.js';
import type { Retention } from '../store/journal.js';
import type { ReadRun, StoredHead, StoreReader } from '../store/reader.js';
import type { Fork, ForkSource } from './fork.js';
import type { judgeMove, MoveTarget, moveRun } from './move-run.js';
import type { StoredRunReader } from './stored-view.js';

/** What became of a command that an operator sent to a run. */
type CommandOutcome =
  | { readonly outcome: 'applied' }
  | { readonly outcome: 'refused'; readonly failure: Partial<Failure> }
  /** No server has taken it yet. */
  | { readonly outcome: 'stored' };

export type MigrationOutcome = Awaited<ReturnType<typeof moveRun>> | ReturnType<typeof judgeMove>;

/** A copy of a store that was made and checked. */
interface StoreCopy {
  /** How many runs it has. */
  readonly runs: number;
  readonly bytes: number;
}

/**
 * What operators do with the runs of a store while servers use it. Each method rejects with a `StoreError` where the store
 * cannot be used.
 */
export interface StoreOperator {
  /** Of the file, or the name of the store. */
  readonly path: string;
  /** Opens the store for `work`, and closes it. */
  read<T>(work: (reader: StoreReader) => T | Promise<T>): Promise<T>;
  /** Sends a command to a run, and waits so many ms for its response. */
  send(run: string, command: OperatorCommand, by: Operator, waitMs: number): Promise<CommandOutcome>;
  /**
   * Reopens a failed run: the calls that failed it are in flight again. Refuses a run that its workflow failed. Resolves with
   * the steps with calls that may not be repeated: these wait for an operator's decision.
   */
  reopen(
    source: ForkSource,
    by: Operator,
  ): Promise<{ readonly steps: readonly string[] } | Extract<CommandOutcome, { outcome: 'refused' }>>;
  /** Adds a fork of a run, which a server that uses the store resumes. */
  add(fork: Fork, of: StoredHead): Promise<void>;
  /**
   * Compares open runs with the workflow of today, one after the other.
   * @param target.hash of the graph. @param applies whether runs that move safely are moved.
   */
  migrate(
    runs: Iterable<StoredHead> | AsyncIterable<StoredHead>,
    target: MoveTarget & { readonly hash: string },
    applies: boolean,
  ): AsyncIterable<{ readonly run: StoredHead; readonly outcome: MigrationOutcome }>;
  /** Removes finished runs. Resolves with their number. */
  prune(retention: Retention): Promise<number>;
  /** Copies the store to a file that does not exist, and checks the copy. */
  copyTo(path: string): Promise<StoreCopy>;
}

/** What an operator has a run do: commands, or to reopen after its failure. */
export type RunCommands = readonly OperatorCommand[] | 'reopen';

interface Sending {
  readonly store: StoreOperator;
  readonly reader: StoreReader;
  readonly by: Operator;
  /** How long a server has for each response, in ms. */
  readonly waitMs: number;
}

/** Sends commands to a run. After a reopening, the calls that may not be repeated are made again. */
export async function sendCommands(
  run: ReadRun,
  commands: RunCommands,
  { store, reader, by, waitMs }: Sending,
): Promise<readonly CommandOutcome[]> {
  if (commands !== 'reopen')
    return Promise.all(commands.map((command) => store.send(run.head.id, command, by, waitMs)));
  const entries = await reader.entries(run.head, 1, run.head.seq);
  const reopened = await store.reopen({ ...run, entries }, by);
  if (!('steps' in reopened)) return [reopened];
  if (reopened.steps.length === 0) return [{ outcome: 'applied' }];
  return sendCommands(run, retriesOf(reopened.steps), { store, reader, by, waitMs });
}

/** The steps with calls that wait for a decision, or will when a server has the run again. */
export function undecidedSteps({ calls }: StoredRunReader['view']): readonly string[] {
  return calls
    .filter(({ retry_safety, compensates }) => retry_safety === 'none' && compensates !== true)
    .map(({ step_id }) => step_id);
}

/** Makes the calls of steps again. */
export function retriesOf(steps: readonly string[]): readonly OperatorCommand[] {
  return steps.map((step) => ({ command: 'retry', step }));
}

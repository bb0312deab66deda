import type { Failure } from '../../engine/contract.js';
import type { Operator, OperatorCommand } from '../actions/operator-commands.js';
import type { Retention } from '../store/journal.js';
import type { StoredHead, StoreReader } from '../store/reader.js';
import type { Fork, ForkSource } from './fork.js';
import type { judgeMove, MoveTarget, moveRun } from './move-run.js';

/** What became of a command that an operator sent to a run. */
type CommandOutcome =
  | { readonly outcome: 'applied' }
  | { readonly outcome: 'refused'; readonly failure: Partial<Failure> }
  /** No server has taken it yet. */
  | { readonly outcome: 'stored' };

/** What became of the move of a run. */
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

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../../../graph/json.js';
import type { Failure } from '../../engine/contract.js';
import { type Operator, type OperatorCommand, operatorItem, RUN_OVER } from '../actions/operator-commands.js';
import { JournalConflictError, type Retention, request } from '../store/journal.js';
import type { StoredHead } from '../store/reader.js';
import { copyStore } from '../store/sqlite/backup.js';
import { SqliteJournal } from '../store/sqlite/sqlite-journal.js';
import { checkFile } from '../store/sqlite/store-file.js';
import { pruneStore } from '../store/sqlite/store-index.js';
import { SqliteReader } from '../store/sqlite/store-reader.js';
import { storeErrorIn } from '../store/store-error.js';
import type { Fork, ForkSource } from './fork.js';
import { judgeMove, type MoveTarget, moveRun } from './move-run.js';
import { reopening } from './reopen.js';
import type { MigrationOutcome, StoreOperator } from './store-operator.js';

/** A command that is killed holds a run for so long, in ms. */
const LEASE_MS = 1_000;

/** Operates the runs of a file. */
export class SqliteOperator implements StoreOperator {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  async read<T>(work: (reader: SqliteReader) => T | Promise<T>): Promise<T> {
    const reader = await SqliteReader.open(this.path);
    try {
      return await work(reader);
    } finally {
      reader.close();
    }
  }

  async send(
    run: string,
    command: OperatorCommand,
    by: Operator,
    waitMs: number,
  ): ReturnType<StoreOperator['send']> {
    const item = operatorItem({ run, id: randomUUID(), at: Date.now() }, command, by);
    const journal = await SqliteJournal.open(this.path);
    const late = new AbortController();
    // It keeps the process alive, which what the journal does in the meantime does not.
    const timer = setTimeout(() => late.abort(), waitMs);
    try {
      return outcomeIn(await request(journal, item, late.signal));
    } catch (error) {
      const fault = storeErrorIn(error);
      if (fault !== undefined) throw fault;
      if (!late.signal.aborted || error !== late.signal.reason) throw error;
      const isStored = (await journal.inbox(run)).some(({ id }) => id === item.id);
      const response = await journal.response(run, item.id);
      if (response !== undefined) return outcomeIn(response);
      return isStored ? { outcome: 'stored' } : { outcome: 'refused', failure: RUN_OVER };
    } finally {
      clearTimeout(timer);
      await journal.close();
    }
  }

  async reopen(source: ForkSource, by: Operator): ReturnType<StoreOperator['reopen']> {
    const reopened = reopening(source, { at: Date.now(), by });
    if ('failure' in reopened) return { outcome: 'refused', ...reopened };
    const journal = await SqliteJournal.open(this.path);
    try {
      await journal.append(reopened.entry);
      return reopened;
    } catch (error) {
      if (!(error instanceof JournalConflictError)) throw error;
      return {
        outcome: 'refused',
        failure: { code: 'E_NOT_REOPENED', message: 'Another command has changed the run meanwhile.' },
      };
    } finally {
      // It no longer holds the run then.
      await journal.close();
    }
  }

  async add({ run, graph, rows, hostRows }: Fork): Promise<void> {
    checkFile(this.path);
    const journal = await SqliteJournal.open(this.path);
    try {
      const entry = { run, seq: 1, expectedSeq: 0, epoch: 0, graph, events: [], changes: rows, hostRows };
      await journal.append(entry);
    } finally {
      // It no longer holds the run then.
      await journal.close();
    }
  }

  async *migrate(
    runs: Iterable<StoredHead> | AsyncIterable<StoredHead>,
    target: MoveTarget & { readonly hash: string },
    applies: boolean,
  ): AsyncGenerator<{ readonly run: StoredHead; readonly outcome: MigrationOutcome }> {
    const reader = await SqliteReader.open(this.path);
    const journal = applies ? await SqliteJournal.open(this.path, { leaseMs: LEASE_MS }) : undefined;
    let hasWaited = false;
    try {
      for await (const run of runs) {
        let outcome = await migrated(reader, run, target, journal);
        if (outcome.kind === 'held' && journal !== undefined) {
          // One wait is enough for all of them.
          if (!hasWaited) await leaseOver(journal);
          hasWaited = true;
          outcome = await migrated(reader, run, target, journal);
        }
        yield { run, outcome };
      }
    } finally {
      reader.close();
      await journal?.close();
    }
  }

  prune(retention: Retention): Promise<number> {
    return pruneStore(this.path, retention);
  }

  copyTo(path: string): ReturnType<StoreOperator['copyTo']> {
    return copyStore(this.path, path);
  }
}

function outcomeIn(response: Json): Awaited<ReturnType<StoreOperator['send']>> {
  const { ok, failure = {} } = response as { readonly ok: boolean; readonly failure?: Partial<Failure> };
  return ok ? { outcome: 'applied' } : { outcome: 'refused', failure };
}

async function migrated(
  reader: SqliteReader,
  run: StoredHead,
  target: MoveTarget & { readonly hash: string },
  journal: SqliteJournal | undefined,
): Promise<MigrationOutcome> {
  const current = reader.read(run);
  if (current === undefined) return { kind: 'stays', reasons: [{ reason: 'over' }] };
  const verdict = judgeMove(current.loaded, current.graph, target);
  if (verdict.kind !== 'safe' || journal === undefined) return verdict;
  return moveRun(journal, run.id, target, Date.now());
}

/** Waits until runs are free that a command held which was killed. Servers hold theirs longer. */
async function leaseOver({ leases }: SqliteJournal): Promise<void> {
  for (let waited = 0; waited <= LEASE_MS; waited += LEASE_MS / 4) {
    await leases.orphans(0);
    await delay(LEASE_MS / 4);
  }
  await leases.orphans(0);
}

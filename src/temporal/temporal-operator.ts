import { randomUUID } from 'node:crypto';
import { defined } from '../graph/defined.js';
import { toolsIn } from '../graph/nodes.js';
import { planOf } from '../plan/compile.js';
import type { Failure } from '../runtime/engine/contract.js';
import { foldRows } from '../runtime/engine/snapshot.js';
import {
  type Operator,
  type OperatorCommand,
  operatorItem,
  RUN_OVER,
} from '../runtime/runs/actions/operator-commands.js';
import type { Fork, ForkSource } from '../runtime/runs/operate/fork.js';
import { judgeMove } from '../runtime/runs/operate/move-run.js';
import { reopening } from '../runtime/runs/operate/reopen.js';
import type { MigrationOutcome, StoreOperator } from '../runtime/runs/operate/store-operator.js';
import { withHostRows } from '../runtime/runs/store/host-rows.js';
import { isOver, JournalFailedError } from '../runtime/runs/store/journal.js';
import type {
  ListedRow,
  ReadRun,
  StoredEntry,
  StoredHead,
  StoreReader,
} from '../runtime/runs/store/reader.js';
import { StoreError } from '../runtime/runs/store/store-error.js';
import type { Capability } from '../runtime/tools/capabilities.js';
import { thrownText } from '../runtime/tools/exceptions.js';
import { runRef } from '../runtime/tools/port.js';
import { nameOf, type ResolvedOptions, resolveOptions } from './options.js';
import { NOT_MOVED, type StoredRemoteRun, workflowIdOf, workflowIdsOf } from './protocol.js';
import { isTerminated, type RemoteExecution, RunClient, type RunMemo, terminatedRun } from './run-client.js';
import { shownTextsOf } from './temporal-run-store.js';

/** What operates the runs of the store of a name. @throws StoreError for a name that is malformed. */
export function operatorOf(name: string): StoreOperator {
  return new TemporalOperator(resolveOptions(name));
}

/** Operates runs on Temporal, by requests to their workflows. A worker has to run, also for runs that are over. */
class TemporalOperator implements StoreOperator {
  readonly path: string;
  readonly #options: ResolvedOptions;

  constructor(options: ResolvedOptions) {
    this.path = nameOf(options);
    this.#options = options;
  }

  read<T>(work: (reader: StoreReader) => T | Promise<T>): Promise<T> {
    return this.#with((_, reader) => work(reader));
  }

  async #with<T>(work: (client: RunClient, reader: TemporalReader) => T | Promise<T>): Promise<T> {
    const client = await RunClient.connect(this.#options);
    try {
      return await work(client, new TemporalReader(client, this.path));
    } finally {
      await client.close();
    }
  }

  send(
    run: string,
    command: OperatorCommand,
    by: Operator,
    waitMs: number,
  ): ReturnType<StoreOperator['send']> {
    const item = operatorItem({ run, id: randomUUID(), at: Date.now() }, command, by);
    return this.#with(async (client) => {
      const response = await client
        .request(workflowIdOf(run), 'operate', item, waitMs)
        .catch((error: unknown) => ({ ok: false, failure: unanswered(error) }) as const);
      if (response === undefined) return { outcome: 'refused', failure: RUN_OVER };
      return response.ok ? { outcome: 'applied' } : { outcome: 'refused', failure: response.failure };
    });
  }

  async reopen(source: ForkSource, by: Operator): ReturnType<StoreOperator['reopen']> {
    const reopened = reopening(source, { at: Date.now(), by });
    if ('failure' in reopened) return { outcome: 'refused', ...reopened };
    const { run, rows, hostRows } = source.loaded;
    const { entry, steps } = reopened;
    return this.#with(async (client, reader) => {
      const { execution, stored } = await reader.stored(workflowIdOf(run));
      const snapshot = {
        ...{ run, seq: entry.seq, epoch: 1, graphHash: source.loaded.graphHash },
        rows: foldRows([...rows, ...entry.changes]),
        hostRows: withHostRows(hostRows, entry.hostRows),
        ...{ earlier: execution.runId, entries: [{ events: entry.events }] },
      };
      const isStarted = await client.resume(
        { ...stored.started, left: snapshot },
        { memo: execution.memo, ...shownTextsOf(source.graph) },
      );
      if (isStarted) return { steps };
      const message = 'Another command has reopened the run meanwhile.';
      return { outcome: 'refused', failure: { code: 'E_NOT_REOPENED', message } };
    });
  }

  add({ run, graph, rows, hostRows }: Fork, of: StoredHead): Promise<void> {
    return this.#with(async (client, reader) => {
      const { execution, stored } = await reader.stored(workflowIdOf(of.id));
      const { hash: graphHash } = planOf(graph);
      const snapshot = { run, seq: 1, epoch: 1, graphHash, rows, hostRows, entries: [{ events: [] }] };
      const memo = { ...execution.memo, ref: runRef(run), startedAt: Date.now() };
      await client.resume(
        { ...stored.started, run, graph, left: snapshot },
        { memo, ...shownTextsOf(graph) },
      );
    });
  }

  async *migrate(
    runs: Parameters<StoreOperator['migrate']>[0],
    target: MigrationTarget,
    applies: boolean,
  ): ReturnType<StoreOperator['migrate']> {
    for await (const run of runs)
      yield {
        run,
        outcome: await this.#with((client, reader) =>
          applies ? this.#moved(client, reader, run, target) : reader.judge(run, target),
        ),
      };
  }

  /** Moves a run that can move. Where it has gone on meanwhile, it moves when its calls have returned. */
  async #moved(
    client: RunClient,
    reader: TemporalReader,
    run: StoredHead,
    target: MigrationTarget,
  ): Promise<MigrationOutcome> {
    const outcome = await reader.judge(run, target);
    if (outcome.kind !== 'safe') return outcome;
    const { graph, tools, mapping, isPrivate } = target;
    const move = {
      ...{ graph, tools, mapping: Object.fromEntries(mapping) },
      privateTools: [...toolsIn(graph)].filter((tool) => isPrivate?.(tool) === true),
    };
    const response = await client
      .request(workflowIdOf(run.id), 'migrate', move, MOVE_MS)
      .catch((error: unknown) => ({ ok: false, failure: unanswered(error) }) as const);
    if (response?.ok === true) return { kind: 'moved' };
    const { code, message = '' } = response?.failure ?? {};
    if (code !== undefined && code !== NOT_MOVED) throw new StoreError('unsupported', this.path, message);
    // It has gone on since it was compared.
    const later = await reader.judge(run, target);
    return later.kind === 'safe' ? { kind: 'held' } : later;
  }

  async prune(): Promise<never> {
    throw new StoreError(
      'unsupported',
      this.path,
      'Temporal removes runs after the retention of its namespace',
    );
  }

  async copyTo(): Promise<never> {
    throw new StoreError('unsupported', this.path, 'the database of Temporal has its own backups');
  }
}

/** A command that no worker has answered. */
function unanswered(error: unknown): Failure {
  if (!(error instanceof JournalFailedError)) throw error;
  const message = `${error.message}. Whether it took effect is not known, and it is not stored: start a worker with \`stepwright worker\`, see what the run waits for, and send it again.`;
  return { code: 'E_STORE', message };
}

type MigrationTarget = Parameters<StoreOperator['migrate']>[1];

/** How long a run that is to move is waited for, in ms. */
const MOVE_MS = 30_000;

/** Between two looks of a caller that watches the store, in ms. */
const LOOK_MS = 500;

/** So many runs are asked at once. */
const AT_ONCE = 10;

/** How a run is that its workflow in Temporal has ended. */
const ENDS: Readonly<Partial<Record<RemoteExecution['status'], ListedRow['state']>>> = {
  COMPLETED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'cancelled',
  TIMED_OUT: 'cancelled',
};

class TemporalReader implements StoreReader {
  readonly #client: RunClient;
  readonly #name: string;

  constructor(client: RunClient, name: string) {
    this.#client = client;
    this.#name = name;
  }

  async list({
    state,
    workflow,
    before,
    limit,
  }: Parameters<StoreReader['list']>[0]): Promise<readonly ListedRow[]> {
    const isOpen =
      state === undefined ? undefined : state === 'running' || state === 'waiting' || state === 'paused';
    const executions: RemoteExecution[] = [];
    const status = isOpen === true ? state : undefined;
    for await (const execution of this.#client.list({ isOpen, ...defined({ workflow, status }) })) {
      const { memo } = execution;
      if (before !== undefined && numberOf(memo) >= before) continue;
      if (isOpen === false && ENDS[execution.status] !== state) continue;
      executions.push(execution);
    }
    executions.sort((one, other) => numberOf(other.memo) - numberOf(one.memo));
    const workers = executions.length > 0 ? await this.#client.workers() : [];
    const rows: ListedRow[] = [];
    for (let from = 0; from < executions.length && rows.length < limit; from += AT_ONCE) {
      const next = executions.slice(from, from + AT_ONCE);
      const listed = await Promise.all(next.map((execution) => this.#listedRow(execution, workers)));
      rows.push(...listed.filter((row) => state === undefined || row.state === state));
    }
    return rows.slice(0, limit);
  }

  async #listedRow(execution: RemoteExecution, workers: readonly string[]): Promise<ListedRow> {
    const { memo, status, closedAt, workflowId, pinnedTo } = execution;
    const { ref = '', workflow = '', startedAt = 0 } = memo;
    const row = { n: numberOf(memo), ref, workflow, startedAt, endedAt: closedAt, missing: [] };
    const state = ENDS[status];
    if (state !== undefined) return { ...row, state, waits: [] };
    const hasWorker = pinnedTo === undefined ? workers.length > 0 : workers.includes(pinnedTo);
    const waits = hasWorker ? await this.#client.show(workflowId, 'waits').catch(() => undefined) : undefined;
    return waits === undefined
      ? { ...row, state: 'waiting', waits: [], missing: [this.#workerFor(execution, workers)] }
      : { ...row, ...waits };
  }

  /** What a run needs that no worker shows. @param workers those that poll the queue; see {@link RunClient.workers}. */
  #workerFor({ pinnedTo, memo: { version = '' } }: RemoteExecution, workers: readonly string[]): Capability {
    return pinnedTo === undefined && workers.length === 0
      ? { kind: 'worker', name: this.#client.taskQueue }
      : { kind: 'engine', name: pinnedTo ?? `stepwright ${version}` };
  }

  async find(name: string): Promise<readonly StoredHead[]> {
    const heads: StoredHead[] = [];
    for (const workflowId of await this.#workflowsOf(name)) {
      const { execution, stored } = await this.stored(workflowId);
      heads.push(headOf(execution, stored));
    }
    return heads;
  }

  async #workflowsOf(name: string): Promise<readonly string[]> {
    const ids: string[] = [];
    for await (const { workflowId } of this.#client.list({ ref: name })) ids.push(workflowId);
    if (ids.length > 0) return ids;
    const [workflowId = ''] = workflowIdsOf(name);
    return (await this.#client.describe(workflowId)) === undefined ? [] : [workflowId];
  }

  async read({ id }: StoredHead): Promise<ReadRun | undefined> {
    const { execution, stored } = await this.stored(workflowIdOf(id));
    const { started, loaded, paused } = stored;
    return {
      ...{ head: headOf(execution, stored), graph: started.graph, loaded, paused },
      ...{ inbox: [], missing: [] },
    };
  }

  /** Compares a run with the workflow of today. */
  async judge({ id }: StoredHead, target: MigrationTarget): Promise<MigrationOutcome> {
    const { loaded, started } = (await this.stored(workflowIdOf(id))).stored;
    return judgeMove(loaded, started.graph, target);
  }

  /** A run with its last workflow. @throws StoreError where no worker shows it. */
  async stored(
    workflowId: string,
  ): Promise<{ readonly execution: RemoteExecution; readonly stored: StoredRemoteRun }> {
    const execution = await this.#client.describe(workflowId);
    if (execution === undefined)
      throw new StoreError('unsupported', this.#name, 'the run was removed meanwhile');
    const stored = await this.#client.show(workflowId, 'stored_run').catch(async (error: unknown) => {
      const { kind, name } = this.#workerFor(execution, await this.#client.workers());
      const why =
        kind === 'worker'
          ? `no worker polls the task queue '${name}': start \`stepwright worker\``
          : `no worker shows the run (${thrownText(error)}): start one of ${name}, with \`stepwright worker\``;
      throw new StoreError('unsupported', this.#name, why, error);
    });
    if (stored === undefined)
      throw new StoreError('unsupported', this.#name, 'the run was removed meanwhile');
    const { closedAt = 0 } = execution;
    return { execution, stored: isTerminated(execution) ? terminatedRun(stored, closedAt) : stored };
  }

  async entries({ id }: StoredHead, from: number, most: number): Promise<readonly StoredEntry[]> {
    const entries: StoredEntry[] = [];
    for (const execution of await this.#executionsFrom(id, from)) {
      for (let next = from + entries.length; entries.length < most; next = from + entries.length) {
        const page = await this.#client.show(execution, 'log', next);
        const fitting = (page ?? []).filter(({ seq }) => seq >= next);
        entries.push(...fitting.map(({ seq, events }) => ({ seq, events })));
        if (fitting.length === 0) break;
      }
    }
    return entries.slice(0, most);
  }

  /** The workflows that have the log of a run from a number on, the earliest first. Temporal removes old ones. */
  async #executionsFrom(id: string, from: number) {
    const workflowId = workflowIdOf(id);
    const { execution, stored } = await this.stored(workflowId);
    const executions: { workflowId: string; runId: string }[] = [execution];
    let { firstSeq, earlier }: Pick<StoredRemoteRun, 'firstSeq' | 'earlier'> = stored;
    while (firstSeq > from && earlier !== undefined) {
      const before = { workflowId, runId: earlier };
      const shown = await this.#client.show(before, 'stored_run');
      if (shown === undefined) break;
      executions.unshift(before);
      ({ firstSeq, earlier } = shown);
    }
    return executions;
  }

  countExpired(): never {
    throw new StoreError(
      'unsupported',
      this.#name,
      'Temporal removes runs after the retention of its namespace',
    );
  }

  check(): never {
    throw new StoreError('unsupported', this.#name, 'the database of Temporal has its own checks');
  }

  /** A server of Temporal does not report changes: a caller looks again each time. */
  watch(onChange: () => void): () => void {
    const timer = setInterval(onChange, LOOK_MS).unref();
    return () => clearInterval(timer);
  }

  metrics(): never {
    throw new StoreError('unsupported', this.#name, "see the metrics of Temporal's server and of its SDK");
  }
}

/** Later runs have greater numbers. The name of a run decides within a millisecond. */
function numberOf({ startedAt = 0, ref = '' }: RunMemo): number {
  return startedAt * 1_000 + ((Number.parseInt(ref.slice(0, 8), 16) || 0) % 1_000);
}

function headOf({ memo }: RemoteExecution, { loaded }: StoredRemoteRun): StoredHead {
  const { run: id, seq, graphHash: graph, rows } = loaded;
  const isDone = rows.some((row) => row.table === 'run' && isOver(row.row.status));
  return { n: numberOf(memo), id, seq, graph, holder: isDone ? null : 'temporal' };
}

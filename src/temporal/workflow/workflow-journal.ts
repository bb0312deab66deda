import { proxyLocalActivities } from '@temporalio/workflow';
import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import type { Event, Fact, RunState } from '../../runtime/engine/contract.js';
import { restore, snapshot } from '../../runtime/engine/snapshot.js';
import type {
  HostRow,
  JournalEntry,
  Leases,
  LoadedRun,
  MadeTransition,
  OpenRun,
} from '../../runtime/runs/store/journal.js';
import { VolatileJournal } from '../../runtime/runs/store/local-journal.js';
import { type Activities, digestOf, type LeftRun, type LoggedTransition } from '../protocol.js';

/** A run to continue. */
interface ContinuedRun {
  readonly graph: Graph;
  readonly loaded: LeftRun;
}

/**
 * The journal of the one run of a workflow. A replay restores the state, so that it keeps only what the engine does not
 * know: the next workflow of the run starts with both.
 */
export class WorkflowJournal extends VolatileJournal {
  override readonly leases: Leases;
  /** Of this workflow. */
  readonly log: TransitionLog;
  readonly #previous: ContinuedRun | undefined;
  readonly #hostRows = new Map<string, HostRow>();
  #isOver = false;
  #state: RunState | undefined;

  constructor(left: ContinuedRun | undefined) {
    super();
    this.#previous = left;
    this.log = new TransitionLog(left?.loaded);
    const runs: readonly OpenRun[] = left === undefined ? [] : [left.loaded];
    this.leases = {
      ...new VolatileJournal().leases,
      claim: async () => left && { ...left.loaded, holder: 'this' },
      orphans: async (_now, isMoved = () => true) => runs.filter(({ run }) => !isMoved(run)),
    };
    const { index } = this;
    const ended = index.ended.bind(index);
    index.ended = (run, at) => {
      this.#isOver = true;
      ended(run, at);
    };
    if (left === undefined) return;
    index.add(left.loaded.run, left.loaded.hostRows);
    this.#keep(left.loaded.hostRows);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** In the order in which they were first written. */
  get hostRows(): readonly HostRow[] {
    return [...this.#hostRows.values()];
  }

  override append(entry: JournalEntry): void {
    super.append(entry);
    this.#keep(entry.hostRows ?? []);
  }

  onTransition(transition: MadeTransition, state: RunState): void {
    this.log.add(transition);
    this.#state = state;
  }

  /** The state of the run as it is, also after its end. */
  get state(): RunState {
    const { graph, loaded } = this.#previous ?? {};
    this.#state ??= graph && loaded && restore(planOf(graph), loaded.rows);
    if (this.#state === undefined) throw new Error('the run has not started');
    return this.#state;
  }

  get current(): LoadedRun {
    const { state } = this;
    return {
      ...{ run: state.run.id, seq: this.log.seq, epoch: 1, graphHash: state.plan.hash },
      ...{ rows: snapshot(state), hostRows: this.hostRows },
    };
  }

  override async load(): Promise<LoadedRun | undefined> {
    return this.#previous?.loaded;
  }

  override async graph(): Promise<Graph | undefined> {
    return this.#previous?.graph;
  }

  #keep(rows: readonly HostRow[]): void {
    for (const row of rows) this.#hostRows.set(`${row.table} ${row.key}`, row);
  }
}

/** So many transitions are recorded at once. */
const BATCH = 100;

const { recordFacts } = proxyLocalActivities<Pick<Activities, 'recordFacts'>>({
  startToCloseTimeout: '1 minute',
});

/**
 * The transitions of a run in one workflow. Digests of their facts are recorded in its history. A replay computes them again,
 * and compares them: an engine that comes to other facts must not continue the run.
 */
class TransitionLog {
  readonly #transitions: LoggedTransition[] = [];
  readonly #before: number;
  #recorded = 0;
  #pending = 0;
  #fault: Error | undefined;

  /** @param left what an earlier workflow has left. */
  constructor({ seq, entries = [] }: Pick<LeftRun, 'seq' | 'entries'> = { seq: 0 }) {
    this.#before = seq - entries.length;
    for (const { events } of entries) this.#push({ events }, []);
    this.#recorded = entries.length;
  }

  /** The number of the last transition of the run. */
  get seq(): number {
    return this.#before + this.#transitions.length;
  }

  get firstSeq(): number {
    return this.#before + 1;
  }

  /** The transitions from a number on, until their JSON is longer than a limit; one in any case. */
  from(seq: number, limit: number): readonly LoggedTransition[] {
    const first = Math.max(0, seq - this.#before - 1);
    let length = 0;
    let end = first;
    while (end < this.#transitions.length && (end === first || length <= limit)) {
      length += JSON.stringify(this.#transitions[end]).length;
      end += 1;
    }
    return this.#transitions.slice(first, end);
  }

  /** Whether no digest is on its way to the history. */
  get isIdle(): boolean {
    return this.#pending === 0;
  }

  /** How a replay differs from what was executed. Undefined as long as it does not. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  add({ facts, ...transition }: MadeTransition): void {
    this.#push(transition, facts);
    if (this.#transitions.length - this.#recorded >= BATCH) void this.#record();
  }

  #push(transition: Omit<MadeTransition, 'facts'>, facts: readonly Fact[]): void {
    this.#transitions.push({ ...transition, seq: this.seq + 1, digest: digestOf(facts) });
  }

  async #record(): Promise<void> {
    const first = this.#recorded;
    this.#recorded = this.#transitions.length;
    const digests = this.#transitions.slice(first).map(({ digest }) => digest);
    this.#pending += 1;
    const recorded = await recordFacts(digests);
    this.#pending -= 1;
    const index = digests.findIndex((digest, at) => digest !== recorded[at]);
    if (index >= 0) this.#fault ??= new ReplayError(first + index, this.#transitions[first + index]?.events);
  }
}

/** Fails the workflow task, and not the run. */
class ReplayError extends Error {
  override readonly name = 'ReplayError';

  constructor(index: number, events: readonly Event[] = []) {
    const [event] = events;
    const which =
      event === undefined ? '' : ` ('${event.kind}'${'command' in event ? ` of '${event.command}'` : ''})`;
    super(
      `The interpreter comes to other facts than the one that executed the run, first at transition ${index + 1} of this workflow${which}. Run a worker with the version of stepwright that executed it.`,
    );
  }
}

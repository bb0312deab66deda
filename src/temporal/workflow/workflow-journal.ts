import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import type { RunState } from '../../runtime/engine/contract.js';
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
import type { LeftRun } from '../protocol.js';
import { TransitionLog } from './transition-log.js';

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

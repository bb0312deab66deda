import type { Graph } from '../../graph/model.js';
import type {
  HostRow,
  JournalEntry,
  Leases,
  LoadedRun,
  MadeTransition,
  OpenRun,
} from '../../runtime/runs/store/journal.js';
import { VolatileJournal } from '../../runtime/runs/store/local-journal.js';
import { TransitionLog } from './transition-log.js';

/** A run that an earlier workflow of the same id has left. */
export interface LeftRun {
  readonly graph: Graph;
  readonly loaded: LoadedRun;
}

/**
 * The journal of the one run of a workflow. A replay restores the state, so that it keeps only what the engine does not
 * know: the next workflow of the run starts with both.
 */
export class WorkflowJournal extends VolatileJournal {
  override readonly leases: Leases;
  /** Of this workflow. */
  readonly log = new TransitionLog();
  readonly #left: LeftRun | undefined;
  readonly #hostRows = new Map<string, HostRow>();
  #isOver = false;

  constructor(left: LeftRun | undefined) {
    super();
    this.#left = left;
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

  onTransition(transition: MadeTransition): void {
    this.log.add(transition);
  }

  override async load(): Promise<LoadedRun | undefined> {
    return this.#left?.loaded;
  }

  override async graph(): Promise<Graph | undefined> {
    return this.#left?.graph;
  }

  #keep(rows: readonly HostRow[]): void {
    for (const row of rows) this.#hostRows.set(`${row.table} ${row.key}`, row);
  }
}

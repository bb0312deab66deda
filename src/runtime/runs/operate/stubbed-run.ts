import { defined } from '../../../graph/defined.js';
import { snapshot } from '../../engine/snapshot.js';
import { RunMask } from '../../secrets/run-mask.js';
import { ActionHistory } from '../actions/action-history.js';
import { processClock } from '../run/clock.js';
import { LiveRun } from '../run/live-run.js';
import type { Recorder } from '../run/run-host.js';
import { runRowsIn } from '../store/host-rows.js';
import type { HostRow, LoadedRun } from '../store/journal.js';
import type { Fork } from './fork.js';
import { StoredRunReader } from './stored-view.js';
import { type StubbedCall, StubPort, type Stubs } from './stubs.js';

/** How far a run went with stubs. */
interface StubbedRun {
  readonly view: StoredRunReader['view'];
  readonly calls: readonly StubbedCall[];
}

/** Goes on with a forked run in this process until it is over or waits. Nothing is written, and no tool is called. */
export function runStubbed(fork: Fork, stubs: Stubs): Promise<StubbedRun> {
  const { graph } = fork;
  const loaded: LoadedRun = { ...fork, seq: 0, epoch: 0, graphHash: startIn(fork).graphHash };
  const { secretInputs } = stubs.toolset ?? {};
  const secrets = { input: startIn(fork).input, rows: fork.hostRows };
  const mask = new RunMask(graph, { ...secrets, ...defined({ secretInputs }) });
  const calls: StubbedCall[] = [];
  const port = new StubPort(graph, stubs, { mask, onCall: (call) => calls.push(call) });
  const notes = new Notes(fork.hostRows);
  return new Promise((resolve, reject) => {
    const { owner } = runRowsIn(fork.hostRows).start ?? {};
    const context = {
      requestId: 'fork',
      progress: () => {},
      principal: owner ?? ({ kind: 'local' } as const),
    };
    const host = { calls: port, clock: processClock };
    const run = new LiveRun({ graph, loaded, context, mask, record: notes }, host, (event) => {
      if (event.kind === 'failed') reject(event.fault);
      if (event.kind !== 'idle' || run.liveStatus === 'busy') return;
      run.leave();
      const rows = snapshot(run.state);
      const now = { ...loaded, rows, hostRows: notes.rows };
      resolve({ view: new StoredRunReader(now, graph, { hasHolder: true }).view, calls });
    });
    run.go();
  });
}

/** The rows of the host as they would be written. */
class Notes implements Recorder {
  readonly #actions = new ActionHistory();
  readonly #rows = new Map<string, HostRow>();

  constructor(rows: readonly HostRow[]) {
    this.#actions.reload(rows);
    this.#put(rows);
  }

  get rows(): readonly HostRow[] {
    return [...this.#rows.values()];
  }

  rowsOf({ events, facts, state }: Parameters<Recorder['rowsOf']>[0]): readonly HostRow[] {
    this.#actions.note(events, facts, state, processClock.now());
    const rows = this.#actions.takeRows();
    this.#put(rows);
    return rows;
  }

  reload(): void {}

  #put(rows: readonly HostRow[]): void {
    for (const row of rows) this.#rows.set(`${row.table} ${row.key}`, row);
  }
}

function startIn({ rows }: Fork) {
  for (const row of rows) if (row.table === 'start') return row.row;
  throw new Error('the run has no start');
}

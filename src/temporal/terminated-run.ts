import { planOf } from '../plan/compile.js';
import { advance } from '../runtime/engine/engine.js';
import type { Event } from '../runtime/engine/events.js';
import { restore, snapshot } from '../runtime/engine/snapshot.js';
import type { RunSummary } from '../runtime/runs/run-store.js';
import { runRow } from '../runtime/runs/store/host-rows.js';
import type { StoredRemoteRun } from './protocol.js';
import type { RemoteExecution } from './run-client.js';

/** Whether Temporal has ended the workflow of a run, which does not know. */
export function isTerminated({ status }: Pick<RemoteExecution, 'status'>): boolean {
  return status === 'TERMINATED' || status === 'TIMED_OUT';
}

/** What a list shows of such a run. */
export function terminatedSummary(summary: RunSummary, { closedAt = 0 }: RemoteExecution): RunSummary {
  if ('unreadable' in summary || summary.ended_at !== undefined) return summary;
  return { ...summary, status: 'cancelled', open_actions: [], ended_at: new Date(closedAt).toISOString() };
}

/**
 * A run as an operator has ended it in Temporal, with `terminate`: its workflow does not know, and has the run as it was.
 * The run is cancelled without undoing.
 *
 * @param at when, in ms since the epoch.
 */
export function terminatedRun(stored: StoredRemoteRun, at: number): StoredRemoteRun {
  const { started, loaded } = stored;
  const plan = planOf(started.graph);
  const by = { kind: 'operator', name: 'Temporal' };
  const cancelled: Event = { kind: 'cancelled', at, reason: 'an operator terminated it in Temporal', by };
  let transition = advance(plan, restore(plan, loaded.rows), [cancelled]);
  while (transition.more) transition = advance(plan, transition.state, []);
  const rows = snapshot(transition.state);
  return {
    ...stored,
    loaded: { ...loaded, rows, hostRows: [...loaded.hostRows, runRow('endAt', at)] },
    paused: [],
  };
}

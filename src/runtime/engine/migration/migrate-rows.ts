import type { Plan } from '../../../plan/plan.js';
import type { NodeRecord, ScopeRecord } from '../records.js';
import type { Row, RunRow, StartRow } from '../rows.js';
import { restore, snapshot } from '../snapshot.js';
import type { RunState } from '../state.js';
import { ADVANCE_BUDGET } from '../transition.js';

export interface MigrationOptions {
  /** When it moves, in ms since the epoch. */
  readonly at: number;
  /** How tools may be repeated that the run does not know, by tool. */
  readonly tools: StartRow['tools'];
}

/**
 * The rows of a run that goes on with another graph, which {@link compare} has found safe. Undo records keep their keys.
 * What can start at once is left for the next transition.
 */
export function migrateRows(state: RunState, to: Plan, { at, tools }: MigrationOptions): Row[] {
  const rows = snapshot(state).map((row): Row => {
    if (row.table !== 'start') return row;
    return { ...row, row: { ...row.row, graphHash: to.hash, tools: { ...tools, ...row.row.tools } } };
  });
  const ready = [...enabledIn(restore(to, rows).root)];
  if (ready.length === 0) return rows;
  const remainingWork = { at, budget: ADVANCE_BUDGET, ready, completions: [] };
  return rows.map((row): Row => (row.table === 'run' ? { ...row, row: { ...row.row, remainingWork } } : row));
}

/** The keys of the nodes that start with the next transition. */
export function startsIn(rows: readonly Row[]): readonly string[] {
  const row = rows.find(({ table }) => table === 'run')?.row as RunRow | undefined;
  return row?.remainingWork?.ready ?? [];
}

/** The keys of nodes that wait for nothing, and have not started. */
function* enabledIn(scope: ScopeRecord): Generator<string> {
  for (const planned of scope.plan.nodes) {
    const node = scope.node(planned);
    if (node.status === 'pending' && waitsForNothing(node)) yield node.key;
    for (const part of node.container?.parts ?? [])
      if (part !== undefined && node.status === 'running') yield* enabledIn(part);
  }
}

function waitsForNothing({ waitingFor, routers, planned, details }: NodeRecord): boolean {
  if (planned.needsSelection && details.selections.length === 0) return routers === 0;
  return waitingFor === 0;
}

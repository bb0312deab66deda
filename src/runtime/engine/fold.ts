import type { Plan } from '../../plan/plan.js';
import type { Change, RunState } from './contract.js';
import { emptyTables, setRow } from './table.js';
import { checkPlan, checkVersion } from './version.js';

/**
 * The state that the changes of a run's steps add up to, in the order in which the engine gave them. It equals the state
 * the engine had after the last of them, and shares no table with it.
 *
 * @throws Error where the changes do not begin with those of a start.
 */
export function fold(changes: Iterable<Change>): RunState {
  const tables = emptyTables();
  let run: RunState['run'] | undefined;
  let input: RunState['input'] | undefined;
  let tools: RunState['tools'] = {};
  for (const change of changes) {
    if (change.op === 'delete') delete tables[change.table][change.key];
    else if (change.table === 'tools') tools = change.row;
    else if (change.table === 'run') run = change.row;
    else if (change.table === 'input') input = change.row;
    else setRow<unknown>(tables[change.table], change.key, change.row);
  }
  if (run === undefined || input === undefined) throw new Error('these changes do not begin a run');
  return { run, input, tools, ...tables };
}

/** Every row of a state, as the changes that make it up. Equal states give equal rows. */
export function snapshot(state: RunState): Change[] {
  const { run, input, tools, ...tables } = state;
  const rows: Change[] = [
    { op: 'put', table: 'run', key: run.id, row: run },
    { op: 'put', table: 'input', key: run.id, row: input },
    { op: 'put', table: 'tools', key: run.id, row: tools },
  ];
  for (const [table, entries] of Object.entries(tables)) {
    for (const [key, row] of Object.entries(entries)) rows.push({ op: 'put', table, key, row } as Change);
  }
  return rows;
}

/**
 * The state that rows make up: those of a snapshot, or all changes of a run in order.
 *
 * @throws StateVersionError for a state that this engine cannot read.
 * @throws GraphMismatchError when `plan` is not of the graph the run was started on.
 */
export function restore(plan: Plan, rows: Iterable<Change>): RunState {
  const state = fold(rows);
  checkVersion(state);
  checkPlan(plan, state);
  return state;
}

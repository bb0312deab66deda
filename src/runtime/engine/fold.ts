import type { Change, RunState } from './contract.js';
import { emptyTables, setRow } from './table.js';

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
  for (const change of changes) {
    if (change.op === 'delete') delete tables[change.table][change.key];
    else if (change.table === 'run') run = change.row;
    else if (change.table === 'input') input = change.row;
    else setRow<unknown>(tables[change.table], change.key, change.row);
  }
  if (run === undefined || input === undefined) throw new Error('these changes do not begin a run');
  return { run, input, ...tables };
}

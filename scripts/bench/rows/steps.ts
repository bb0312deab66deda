import { line } from '../graphs.js';
import { HostedRun } from '../host.js';
import { inTurns, timed } from '../measure.js';
import * as functions from '../peers/functions.js';
import { lineMachine, runMachine } from '../peers/machines.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/** What a step costs in workflows of one call after the other. */
export async function steps(sizes: Sizes): Promise<Row[]> {
  const rows: Row[] = [];
  for (const count of sizes.steps) {
    const graph = line(count);
    const machine = lineMachine(count);
    const { ours, plain, xstate } = await inTurns(
      {
        ours: timed(count, sizes.goMs, () => new HostedRun(graph).answer().result),
        plain: timed(count, sizes.goMs, () => functions.line(count)),
        xstate: timed(count, sizes.goMs, () => runMachine(machine)),
      },
      sizes,
    );
    const figures = {
      name: `step, in a line of ${count}`,
      unit: 'µs',
      ours,
      target: { of: 'ours', atMost: 10 },
    } as const;
    rows.push(row({ ...figures, peer: { name: 'async functions', value: plain } }));
    rows.push(row({ ...figures, peer: { name: 'XState', value: xstate } }));
  }
  return rows;
}

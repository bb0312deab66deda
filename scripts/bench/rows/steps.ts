import { line } from '../graphs.js';
import { HostedRun, runHosted } from '../host.js';
import { inTurns, timed } from '../measure.js';
import * as functions from '../peers/functions.js';
import { lineMachine, runMachine } from '../peers/machines.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/** The cost of a step in linear workflows of calls, in the engine alone and in the host. */
export async function steps(sizes: Sizes): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { count, atMost } of sizes.steps) {
    const graph = line(count);
    const machine = lineMachine(count);
    const { engine, host, plain, xstate } = await inTurns(
      {
        engine: timed(count, sizes.goMs, () => new HostedRun(graph).answer().result),
        host: timed(count, sizes.goMs, () => runHosted(graph)),
        plain: timed(count, sizes.goMs, () => functions.line(count)),
        xstate: timed(count, sizes.goMs, () => runMachine(machine)),
      },
      sizes,
    );
    const name = `step, in a line of ${count}`;
    const peer = { name: 'XState', value: xstate };
    rows.push(
      row({ name: `engine: ${name}`, unit: 'µs', ours: engine, peer, target: { of: 'ratio', atMost } }),
      row({ name: `host: ${name}`, unit: 'µs', ours: host, peer, target: { of: 'ratio', atMost: 0.25 } }),
      row({ name: `host: ${name}`, unit: 'µs', ours: host, peer: { name: 'async functions', value: plain } }),
    );
  }
  return rows;
}

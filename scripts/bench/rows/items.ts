import { loop } from '../graphs.js';
import { HostedRun, runHosted } from '../host.js';
import { inTurns, timed } from '../measure.js';
import * as functions from '../peers/functions.js';
import { loopMachine, runMachine } from '../peers/machines.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/** The cost of an item in a fan-out with one call each, in the engine alone and in the host. */
export async function items(sizes: Sizes): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { count, concurrency } of sizes.items) {
    const list = Array.from({ length: count }, (_, place) => place);
    const graph = loop(concurrency);
    const machine = loopMachine(concurrency);
    const { engine, host, plain, xstate } = await inTurns(
      {
        engine: timed(count, sizes.goMs, () => new HostedRun(graph, { items: list }).answer().result),
        host: timed(count, sizes.goMs, () => runHosted(graph, { items: list })),
        plain: timed(count, sizes.goMs, () => functions.loop(list, concurrency)),
        xstate: timed(count, sizes.goMs, () => runMachine(machine, list)),
      },
      sizes,
    );
    const name = `item, ${count} of them, ${concurrency} at once`;
    const peer = { name: 'XState', value: xstate };
    rows.push(
      row({ name: `engine: ${name}`, unit: 'µs', ours: engine, peer, target: { of: 'ratio', atMost: 0.1 } }),
      row({ name: `host: ${name}`, unit: 'µs', ours: host, peer, target: { of: 'ratio', atMost: 0.25 } }),
      row({ name: `host: ${name}`, unit: 'µs', ours: host, peer: { name: 'async functions', value: plain } }),
    );
  }
  return rows;
}

import { loop } from '../graphs.js';
import { HostedRun } from '../host.js';
import { inTurns, timed } from '../measure.js';
import * as functions from '../peers/functions.js';
import { loopMachine, runMachine } from '../peers/machines.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/** What an item costs in a fan-out of one call each. */
export async function items(sizes: Sizes): Promise<Row[]> {
  const rows: Row[] = [];
  const list = Array.from({ length: sizes.items }, (_, place) => place);
  for (const concurrency of sizes.concurrency) {
    const graph = loop(concurrency);
    const machine = loopMachine(concurrency);
    const { ours, plain, xstate } = await inTurns(
      {
        ours: timed(list.length, sizes.goMs, () => new HostedRun(graph, { items: list }).answer().result),
        plain: timed(list.length, sizes.goMs, () => functions.loop(list, concurrency)),
        xstate: timed(list.length, sizes.goMs, () => runMachine(machine, list)),
      },
      sizes,
    );
    const figures = {
      name: `item, ${list.length} of them, ${concurrency} at once`,
      unit: 'µs',
      ours,
      target: { of: 'ours', atMost: 5 },
    } as const;
    rows.push(row({ ...figures, peer: { name: 'async functions', value: plain } }));
    rows.push(row({ ...figures, peer: { name: 'XState', value: xstate } }));
  }
  return rows;
}

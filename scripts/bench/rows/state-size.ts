import type { Json } from '../../../src/graph/json.js';
import { lineBehindOutput, lineBesideField } from '../graphs.js';
import { HostedRun } from '../host.js';
import { inTurns, timed } from '../measure.js';
import { type Row, row, THE_SAME } from '../row.js';
import type { Sizes } from '../sizes.js';

const STEPS = 100;

/** The cost of a step beside a large field of the run's state, and of one that reads from a large result. */
export async function stateSize(sizes: Sizes): Promise<Row[]> {
  const rows: Row[] = [];
  const large = recordsOf(sizes.stateBytes);
  for (const [where, make] of [
    ['beside a field', lineBesideField],
    ['that reads a result', lineBehindOutput],
  ] as const) {
    const graphs = { with: make(large, STEPS), without: make(recordsOf(0), STEPS) };
    const costs = await inTurns(
      {
        with: timed(STEPS, sizes.goMs, () => new HostedRun(graphs.with).answer().result),
        without: timed(STEPS, sizes.goMs, () => new HostedRun(graphs.without).answer().result),
      },
      sizes,
    );
    rows.push(
      row({
        name: `engine: step ${where} of ${sizes.stateBytes / 1_000} kB`,
        unit: 'µs',
        ours: costs.with,
        peer: { name: 'of a few bytes', value: costs.without },
        target: { of: 'ratio', atMost: THE_SAME },
      }),
    );
  }
  return rows;
}

/** Records as from a database, with about this many bytes of JSON. */
function recordsOf(bytes: number): Json {
  const rows: Json[] = [];
  for (let place = 0; place < bytes / 100; place += 1) {
    rows.push({ id: place, name: `Record number ${place}`, tags: ['one', 'two'], note: 'x'.repeat(40) });
  }
  return { n: 1, rows };
}

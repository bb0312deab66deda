import { line, loop } from '../graphs.js';
import { runHosted } from '../host.js';
import { inTurns, timed } from '../measure.js';
import { installedFrameworks } from '../peers/frameworks.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/** The cost of a step and of an item in the host, and in other in-memory workflow engines that are installed. */
export async function frameworks(sizes: Sizes): Promise<Row[]> {
  const rows: Row[] = [];
  const [{ count: length }] = sizes.steps;
  const [{ count, concurrency }] = sizes.items;
  const list = Array.from({ length: count }, (_, place) => place);
  for (const framework of await installedFrameworks()) {
    const { name } = framework;
    const graphs = { line: line(length), loop: loop(concurrency) };
    const theirs = { line: framework.line(length), loop: framework.loop(concurrency) };
    const costs = await inTurns(
      {
        step: timed(length, sizes.goMs, () => runHosted(graphs.line)),
        item: timed(count, sizes.goMs, () => runHosted(graphs.loop, { items: list })),
        theirStep: timed(length, sizes.goMs, () => theirs.line()),
        theirItem: timed(count, sizes.goMs, () => theirs.loop(list)),
      },
      sizes,
    );
    const step = { name, value: costs.theirStep };
    const item = { name, value: costs.theirItem };
    rows.push(
      row({ name: `host: step, in a line of ${length}`, unit: 'µs', ours: costs.step, peer: step }),
      row({
        name: `host: item, ${count} of them, ${concurrency} at once`,
        unit: 'µs',
        ours: costs.item,
        peer: item,
      }),
    );
  }
  return rows;
}

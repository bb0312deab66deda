import type { Graph } from '../../../src/graph/model.js';
import { fan, line } from '../graphs.js';
import { HostedRun } from '../host.js';
import { cpuTime, inTurns, type Sample, timed } from '../measure.js';
import { ABOUT_THE_SAME, type Row, row, THE_SAME } from '../row.js';
import type { Sizes } from '../sizes.js';

/** The cost to plan and run a node in a large graph, compared with a small one. */
export async function graphSize(sizes: Sizes): Promise<Row[]> {
  const {
    nodes: [smaller, larger],
    goMs,
  } = sizes;
  const rows: Row[] = [];
  for (const [shape, make] of [
    ['a line', line],
    ['a fan', fan],
  ] as const) {
    const fresh = (graph: Graph) => new HostedRun({ ...graph }).answer().result;
    const graphs = { small: make(smaller), large: make(larger) };
    const { large, small } = await inTurns(
      {
        large: timed(larger, goMs, () => fresh(graphs.large)),
        small: timed(smaller, goMs, () => fresh(graphs.small)),
      },
      sizes,
    );
    const peer = { name: `in one of ${smaller}`, value: small };
    const name = `engine: node, planned and run, in ${shape} of ${larger}`;
    const target = { of: 'ratio', atMost: ABOUT_THE_SAME } as const;
    rows.push(row({ name, unit: 'µs', ours: large, peer, target }));
  }
  return rows;
}

/** The cost of a late step of a long run, compared with an early step of an equally long run. */
export async function runLength(sizes: Sizes): Promise<Row[]> {
  const { early, late, width, runs } = sizes.window;
  const graph = line(late + width);
  const from = (step: number): Sample => {
    return () => {
      let spent = 0;
      for (let count = 0; count < runs; count += 1) {
        const run = new HostedRun(graph).answer(step - 1);
        const begin = cpuTime();
        run.answer(width);
        spent += cpuTime() - begin;
        // Reads all of the plan first, so that not only early steps are in the caches.
        run.answer();
      }
      return spent / (runs * width);
    };
  };
  const costs = await inTurns({ late: from(late), early: from(early) }, sizes);
  const peer = { name: `step ${early}`, value: costs.early };
  const target = { of: 'ratio', atMost: THE_SAME } as const;
  return [row({ name: `engine: step ${late} of a run`, unit: 'µs', ours: costs.late, peer, target })];
}

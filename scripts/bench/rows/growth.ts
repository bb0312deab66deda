import type { Graph } from '../../../src/graph/model.js';
import { fan, line } from '../graphs.js';
import { HostedRun } from '../host.js';
import { cpuTime, inTurns, type Sample, timed } from '../measure.js';
import { ABOUT_THE_SAME, type Row, row, THE_SAME } from '../row.js';
import type { Sizes } from '../sizes.js';

/** What a node costs in a large graph, against a small one, to plan and run. */
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

/** What a late step of a long run costs, against an early one of a run that goes on as long. */
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
        // Whatever is measured, all of the plan was read before: early steps are not those that alone are in the caches.
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

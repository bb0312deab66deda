import type { Graph } from '../../../src/graph/model.js';
import { planOf } from '../../../src/runtime/engine/plan.js';
import { fan, line } from '../graphs.js';
import { HostedRun } from '../host.js';
import { cpuTime, inTurns, type Sample, timed } from '../measure.js';
import { ABOUT_THE_SAME, type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

const target = { of: 'ratio', atMost: ABOUT_THE_SAME } as const;

/** What a node costs in a large graph, against a small one, to plan and run. */
export async function graphSize({ nodes: [smaller, larger], rounds }: Sizes): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [shape, make] of [
    ['a line', line],
    ['a fan', fan],
  ] as const) {
    const fresh = (graph: Graph) => new HostedRun({ ...graph }).answer().result;
    const graphs = { small: make(smaller), large: make(larger) };
    const times = Math.max(1, Math.round(larger / smaller));
    const { large, small } = await inTurns(
      {
        large: timed(larger, 1, () => fresh(graphs.large)),
        small: timed(smaller, times, () => fresh(graphs.small)),
      },
      rounds,
    );
    const peer = { name: `in one of ${smaller}`, value: small };
    rows.push(row({ name: `node, planned and run, in ${shape} of ${larger}`, unit: 'µs', ours: large, peer, target }));
  }
  return rows;
}

/** What a late step of a long run costs, against an early one. */
export async function runLength({ window: { early, late, width }, rounds, work }: Sizes): Promise<Row[]> {
  const graph = line(late + width);
  planOf(graph);
  const runs = Math.max(1, Math.round(work / late));
  const around = (step: number): Sample => () => {
    const before = Array.from({ length: runs }, () => new HostedRun(graph).answer(step - 1 - width / 2));
    const begin = cpuTime();
    for (const run of before) run.answer(width);
    return (cpuTime() - begin) / (runs * width);
  };
  const costs = await inTurns({ late: around(late), early: around(early) }, rounds);
  const peer = { name: `step ${early}`, value: costs.early };
  return [row({ name: `step ${late} of a run`, unit: 'µs', ours: costs.late, peer, target })];
}

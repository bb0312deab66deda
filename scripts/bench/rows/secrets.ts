import type { Graph } from '../../../src/graph/model.js';
import { loop } from '../graphs.js';
import { portOf, runHosted } from '../host.js';
import { inTurns, timed } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/** The cost of a secret item among many, compared with few: a run collects secrets, and masks results of calls. */
export async function secrets(sizes: Sizes): Promise<Row[]> {
  const [fewer, more] = sizes.secrets;
  const graph = withSecretItems(loop(1));
  const { many, few } = await inTurns(
    {
      many: timed(more, sizes.goMs, () => run(graph, more)),
      few: timed(fewer, sizes.goMs, () => run(graph, fewer)),
    },
    sizes,
  );
  const peer = { name: `one of ${fewer}`, value: few };
  const target = { of: 'ratio', atMost: 1.2 } as const;
  return [row({ name: `secret item, ${more} of them`, unit: 'µs', ours: many, peer, target })];
}

function withSecretItems(graph: Graph): Graph {
  return { ...graph, inputs: graph.inputs.map((input) => ({ ...input, secret: true })) };
}

/** @throws Error if the run has not succeeded, or a secret was shown. */
async function run(graph: Graph, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, place) => 1_000_000 + place);
  await runHosted(graph, { items }, PORT);
}

const PORT = portOf(async (_name, { n }, { mask }) => {
  if (mask?.text(`no ${String(n)}`) !== 'no ••••') throw new Error('a secret is not masked');
  return { ok: true, value: { n: 1 } };
});

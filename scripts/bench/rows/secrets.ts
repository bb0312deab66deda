import type { Graph } from '../../../src/graph/model.js';
import { loop } from '../graphs.js';
import { portOf, runHosted } from '../host.js';
import { inTurns, timed } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/** What a secret item costs among many, against one among few: a run learns each, and masks what calls give back. */
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

/** @throws Error where the run has not succeeded, or a secret was shown: then there is nothing to measure. */
async function run(graph: Graph, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, place) => 1_000_000 + place);
  await runHosted(graph, { items }, PORT);
}

const PORT = portOf(async (_name, { n }, { mask }) => {
  if (mask?.text(`no ${String(n)}`) !== 'no ••••') throw new Error('a secret is not masked');
  return { ok: true, value: { n: 1 } };
});

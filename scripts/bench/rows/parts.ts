import { hashGraph } from '../../../src/graph/canonical.js';
import { Budget, type EvaluationScope, evaluate } from '../../../src/graph/expression/evaluate.js';
import type { Expr } from '../../../src/graph/expression/tree.js';
import type { JsonObject } from '../../../src/graph/json.js';
import { line, ref } from '../graphs.js';
import { planAnew } from '../host.js';
import { inTurns, timed } from '../measure.js';
import { lineMachine } from '../peers/machines.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/** The cost to prepare a graph, once for each graph and not for each run. */
export async function planning(sizes: Sizes): Promise<Row[]> {
  const [count] = sizes.nodes;
  const graph = line(count);
  const { plan, hash, xstate } = await inTurns(
    {
      plan: timed(count, sizes.goMs, () => planAnew(graph)),
      hash: timed(count, sizes.goMs, () => hashGraph(graph)),
      xstate: timed(count, sizes.goMs, () => lineMachine(count)),
    },
    sizes,
  );
  return [
    row({
      name: 'plan, for each node, without its hash',
      unit: 'µs',
      ours: plan,
      peer: { name: 'XState', value: xstate },
      target: { of: 'ours', atMost: 8 },
    }),
    row({ name: 'hash, for each node', unit: 'µs', ours: hash, peer: { name: 'the plan', value: plan } }),
  ];
}

const REFERENCES = 10;

/** The cost of a reference in an expression, compared with the same in JavaScript. */
export async function references(sizes: Sizes): Promise<Row[]> {
  const outputs: Record<string, JsonObject> = {};
  for (let place = 0; place < REFERENCES; place += 1) outputs[`s${place}`] = { page: { title: `t${place}` } };
  const scope: EvaluationScope = { lookup: (_, name) => outputs[name] };
  const names = Object.keys(outputs);
  const expr: Expr = {
    kind: 'list',
    items: names.map((name) => ({ value: ref('steps', name, 'page', 'title') })),
  };
  const read = () => names.map((name) => (outputs[name]?.page as JsonObject | undefined)?.title);
  const { ours, plain } = await inTurns(
    {
      ours: timed(REFERENCES, sizes.goMs, () => evaluate(expr, scope, new Budget(1_000))),
      plain: timed(REFERENCES, sizes.goMs, read),
    },
    sizes,
  );
  const peer = { name: 'JavaScript', value: plain };
  return [row({ name: 'reference in an expression', unit: 'µs', ours, peer })];
}

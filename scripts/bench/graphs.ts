import type { DictExpr, Expr } from '../../src/graph/expression/tree.js';
import type { Json } from '../../src/graph/json.js';
import type { Node } from '../../src/graph/kinds/node.js';
import type { CallNode, ForeachNode, Graph } from '../../src/graph/model.js';

/** The only tool of the benchmark. It adds one to its input. */
const TOOL = 'increment';

const common = { after: [], join: 'none_failed', executor: 'server' } as const;

/** `count` calls, each with the result of the one before as its input. The result is `count`. */
export function line(count: number): Graph {
  const nodes: Node[] = [];
  for (let place = 0; place < count; place += 1) {
    nodes.push(
      place === 0 ? call('s0', constant(0)) : call(`s${place}`, result(`s${place - 1}`), [`s${place - 1}`]),
    );
  }
  return graphOf(nodes, result(`s${count - 1}`));
}

/** `count` calls as in `line`, each without the results of others, in a run that is a task. */
export function failingLine(count: number): Graph {
  const nodes = Array.from({ length: count }, (_, place) =>
    call(`s${place}`, constant(0), place === 0 ? [] : [`s${place - 1}`]),
  );
  return graphOf(nodes, result(`s${count - 1}`), { task: true });
}

/** One call, `count - 2` calls with its result as their input, and one after all of them. The result is 2. */
export function fan(count: number): Graph {
  const middle = Array.from({ length: count - 2 }, (_, place) => call(`m${place}`, result('first')));
  const last = call(
    'last',
    result('first'),
    middle.map(({ id }) => id),
  );
  return graphOf([call('first', constant(0)), ...middle, last], result('last'));
}

/** A call for each item of the input `items`. The result is the list of their results. */
export function loop(concurrency: number): Graph {
  const each: ForeachNode = {
    ...common,
    kind: 'foreach',
    id: 'each',
    items: ref('inputs', 'items'),
    as: 'item',
    body: { nodes: [call('one', ref('item', 'item'))], value: result('one') },
    concurrency,
    max: 10_000,
    onItemError: 'fail',
  };
  return graphOf([each], ref('steps', 'each'), {
    inputs: [{ name: 'items', description: 'Numbers', schema: { type: 'array' }, required: true }],
    maxConcurrency: concurrency,
  });
}

/** A value in the run's state, then `count` calls as in `line` that do not read it. The result is `count`. */
export function lineBesideField(value: Json, count: number): Graph {
  const set: Node = {
    ...common,
    kind: 'set',
    id: 'set',
    updates: [{ field: 'kept', value: constant(value) }],
  };
  return withFirst(set, line(count), { state: [{ name: 'kept', scope: 'run', schema: {} }] });
}

/** A step with the value `value`, then `count` calls that all get its part `n` too. */
export function lineBehindOutput(value: Json, count: number): Graph {
  const first: Node = { ...common, kind: 'compute', id: 'big', value: constant(value) };
  const graph = withFirst(first, line(count));
  const beside = { key: 'beside', value: ref('steps', 'big', 'n') };
  const nodes = graph.nodes.map((node) =>
    node.kind === 'call'
      ? { ...node, input: { ...node.input, entries: [...node.input.entries, beside] } }
      : node,
  );
  return { ...graph, nodes };
}

/** Two calls, a question to a person, and two more calls: a run that waits. */
export function question(): Graph {
  const ask: Node = {
    ...common,
    kind: 'ask',
    id: 'sure',
    after: ['s1'],
    mode: 'confirm',
    message: { kind: 'text', style: 'display', parts: ['Go on with ', result('s1'), '?'] },
  };
  const { nodes } = line(4);
  return graphOf(
    [...nodes.slice(0, 2), ask, ...nodes.slice(2).map((node) => behind(node, ['sure']))],
    result('s3'),
  );
}

/** A question to a person, and no call. */
export function confirmation(): Graph {
  const message: Expr = { kind: 'text', style: 'display', parts: ['Go on?'] };
  const ask: Node = { ...common, kind: 'ask', id: 'sure', mode: 'confirm', message };
  return { ...graphOf([ask], ref('steps', 'sure')), name: 'confirmation' };
}

/** `count` calls as in `line`, beside a number of questions without answers. */
export function lineBesideAsks(asks: number, count: number): Graph {
  const message: Expr = { kind: 'text', style: 'display', parts: ['Go on?'] };
  return beside(asks, count, (id) => ({ ...common, kind: 'ask', id, mode: 'confirm', message }));
}

/** `count` calls as in `line`, beside a number of waits of an hour. */
export function lineBesideWaits(waits: number, count: number): Graph {
  return beside(waits, count, (id) => ({ ...common, kind: 'wait', id, durationMs: constant(3_600_000) }));
}

function beside(others: number, count: number, make: (id: string) => Node): Graph {
  const graph = line(count);
  return {
    ...graph,
    nodes: [...Array.from({ length: others }, (_, place) => make(`w${place}`)), ...graph.nodes],
  };
}

export function ref(root: 'inputs' | 'steps' | 'item', ...path: (string | number)[]): Expr {
  return { kind: 'ref', root, path };
}

function constant(value: Json): Expr {
  return { kind: 'literal', value };
}

function result(id: string): Expr {
  return ref('steps', id, 'n');
}

function call(id: string, n: Expr, after: readonly string[] = []): CallNode {
  const input: DictExpr = { kind: 'dict', entries: [{ key: 'n', value: n }] };
  return { ...common, kind: 'call', id, tool: TOOL, input, after };
}

function behind(node: Node, after: readonly string[]): Node {
  return { ...node, after: [...node.after, ...after] };
}

function withFirst(first: Node, graph: Graph, options: Partial<Graph> = {}): Graph {
  const [second, ...rest] = graph.nodes;
  const nodes = second === undefined ? [first] : [first, behind(second, [first.id]), ...rest];
  return { ...graph, ...options, nodes };
}

function graphOf(nodes: readonly Node[], returns: Expr, options: Partial<Graph> = {}): Graph {
  const description = 'A workflow of the benchmark';
  return {
    graphVersion: 1,
    name: 'bench',
    description,
    inputs: [],
    instructions: [],
    nodes,
    returns,
    ...options,
  };
}

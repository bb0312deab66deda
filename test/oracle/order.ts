import { references } from '../../src/graph/expression/references.js';
import type { Expr } from '../../src/graph/expression/tree.js';
import type { Node } from '../../src/graph/model.js';
import {
  bodiesOf,
  compensationsOf,
  nodesOf,
  sideExpressions,
  valueExpressions,
} from '../../src/graph/node-expressions.js';

/** What a node of a scope waits for there. All by id. */
export interface Waits {
  /** Those whose states the join looks at. */
  readonly joined: ReadonlySet<string>;
  /** Those that must be settled. */
  readonly all: ReadonlySet<string>;
  /** Those that may select it. */
  readonly routers: readonly Node[];
}

const known = new WeakMap<readonly Node[], ReadonlyMap<string, Waits>>();

/** What each node of a list of nodes waits for. */
export function waitsIn(nodes: readonly Node[]): ReadonlyMap<string, Waits> {
  const found = known.get(nodes) ?? workOut(nodes);
  known.set(nodes, found);
  return found;
}

function workOut(nodes: readonly Node[]): ReadonlyMap<string, Waits> {
  const waits = new Map<string, { joined: Set<string>; all: Set<string>; routers: Node[] }>();
  for (const node of nodes) {
    const routers = nodes.filter((other) => targetsOf(other).includes(node.id));
    // A `parallel` settles only after the node that undoes has, which therefore cannot wait for it.
    const mayWaitFor = nodes.filter(
      (o) => o !== node && !(o.kind === 'parallel' && o.compensateNode === node.id),
    );
    const holders = (exprs: readonly Expr[], plain: boolean): string[] =>
      exprs
        .flatMap((expr) => references(expr))
        .filter(({ ref, guarded }) => ref.root === 'steps' && !(plain && guarded))
        .flatMap(({ ref }) =>
          mayWaitFor.filter((other) => nodesOf({ nodes: [other] }).some(({ id }) => id === ref.path[0])),
        )
        .map(({ id }) => id);
    const inside = nodesOf({ nodes: [node] });
    const values = inside.flatMap((each) => [
      ...valueExpressions(each),
      ...bodiesOf(each).flatMap(({ scope }) => scope.value ?? []),
    ]);
    const others = inside.flatMap((each) => [
      ...sideExpressions(each),
      ...compensationsOf(each).map(({ input }) => input),
    ]);
    const joined = new Set([...node.after, ...holders(values, true)]);
    waits.set(node.id, {
      joined,
      all: new Set([...joined, ...holders([...values, ...others], false)]),
      routers,
    });
  }
  nodes.forEach((node, index) => {
    if (node.kind !== 'goto') return;
    const loop = nodes
      .slice(
        nodes.findIndex(({ id }) => id === node.target),
        index,
      )
      .map(({ id }) => id);
    for (const id of loop) waits.get(node.id)?.all.add(id);
    for (const { id } of nodes.slice(index + 1)) {
      const { all, routers } = waits.get(id) ?? { all: new Set<string>(), routers: [] };
      if (loop.some((each) => all.has(each) || routers.some((router) => router.id === each)))
        all.add(node.id);
    }
  });
  return waits;
}

/** The ids a node may select. */
export function targetsOf(node: Node): string[] {
  const targets: string[] = [];
  if (node.kind === 'branch') {
    for (const arm of [...node.cases, ...(node.else === undefined ? [] : [node.else])]) {
      if ('goto' in arm) targets.push(arm.goto);
    }
  }
  if (node.kind === 'parallel' && node.compensateNode !== undefined) targets.push(node.compensateNode);
  if (node.onError !== undefined && 'fallbackNode' in node.onError) targets.push(node.onError.fallbackNode);
  return targets;
}

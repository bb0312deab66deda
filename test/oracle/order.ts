import type { Expr } from '../../src/graph/expression/tree.js';
import type { Node } from '../../src/graph/model.js';
import { stepsIn } from './expressions.js';
import { neededBy, orderedBy, scopesIn, undoneBy, withInner } from './walk.js';

/** What a node of a scope waits for there. All by id. */
export interface Waits {
  /** Those whose states the join looks at. */
  readonly joined: ReadonlySet<string>;
  /** Those that must be settled. */
  readonly all: ReadonlySet<string>;
  /** The `goto` nodes that may start over what it waits for. */
  readonly loops: ReadonlySet<string>;
  /** Those among them that may start over who selects it. */
  readonly routerLoops: ReadonlySet<string>;
  /** Those it takes for granted, also in its condition: without them it does not run where all failures are collected. */
  readonly needed: ReadonlySet<string>;
  /** Those that may select it; of one that its `after` activates, the branches that name it. */
  readonly routers: readonly Node[];
}

const known = new WeakMap<readonly Node[], ReadonlyMap<string, Waits>>();

/** What each node of a list of nodes waits for. */
export function waitsIn(nodes: readonly Node[]): ReadonlyMap<string, Waits> {
  const found = known.get(nodes) ?? workOut(nodes);
  known.set(nodes, found);
  return found;
}

type Draft = Waits & {
  readonly all: Set<string>;
  readonly loops: Set<string>;
  readonly routerLoops: Set<string>;
};

function workOut(nodes: readonly Node[]): ReadonlyMap<string, Waits> {
  const waits = new Map<string, Draft>();
  for (const node of nodes) {
    const namedBy = nodes.filter((other) => targetsOf(other).includes(node.id));
    const routers = needsSelection(node, namedBy)
      ? namedBy
      : namedBy.filter((other) => gotosOf(other).includes(node.id));
    // A `parallel` settles only after the node that undoes has, which therefore cannot wait for it.
    const mayWaitFor = nodes.filter(
      (o) => o !== node && !(o.kind === 'parallel' && o.compensateNode === node.id),
    );
    const holders = (exprs: readonly (Expr | undefined)[], plain: boolean): string[] =>
      exprs
        .flatMap((expr) => (expr === undefined ? [] : stepsIn(expr)[plain ? 'plain' : 'all']))
        .flatMap((step) => mayWaitFor.filter((other) => withInner(other).some(({ id }) => id === step)))
        .map(({ id }) => id);
    const inside = withInner(node);
    const values = inside.flatMap((each) => [
      ...neededBy(each),
      ...scopesIn(each).flatMap(({ value }) => value ?? []),
    ]);
    const others = inside.flatMap((each) => [
      ...orderedBy(each),
      ...undoneBy(each).map(({ input }) => input),
    ]);
    const plain = holders(values, true);
    const joined = new Set([...node.after, ...plain]);
    const needed = new Set([...plain, ...holders([node.when], node.kind !== 'error')]);
    const all = new Set([...joined, ...holders([...values, ...others], false)]);
    waits.set(node.id, { joined, needed, all, loops: new Set(), routerLoops: new Set(), routers });
  }
  nodes.forEach((node, index) => {
    if (node.kind !== 'goto') return;
    const first = nodes.findIndex(({ id }) => id === node.target);
    const loop = nodes.slice(first, index).map(({ id }) => id);
    for (const id of loop) waits.get(node.id)?.all.add(id);
    for (const { id } of nodes.slice(index + 1)) {
      const own = waits.get(id);
      if (own === undefined) throw new Error(`nothing is known of ${id}`);
      // An inner loop that may jump back to a router may do so in each iteration.
      const isRouted =
        own.routers.some((router) => loop.includes(router.id)) || loop.some((id) => own.routerLoops.has(id));
      if (isRouted) own.routerLoops.add(node.id);
      if (!isRouted && !loop.some((each) => own.all.has(each))) continue;
      own.all.add(node.id);
      own.loops.add(node.id);
    }
  });
  return waits;
}

/** Whether a node runs only when one of those that name it selects it. */
export function needsSelection({ kind, after }: Node, namedBy: readonly Node[]): boolean {
  return kind === 'compensate' || (namedBy.length > 0 && after.length === 0);
}

/** The ids a branch may go to. */
function gotosOf(node: Node): string[] {
  if (node.kind !== 'branch') return [];
  const arms = [...node.cases, ...(node.else === undefined ? [] : [node.else])];
  return arms.flatMap((arm) => ('goto' in arm ? [arm.goto] : []));
}

/** The ids a node may select. */
export function targetsOf(node: Node): string[] {
  const targets = gotosOf(node);
  if (node.kind === 'parallel' && node.compensateNode !== undefined) targets.push(node.compensateNode);
  if (node.onError !== undefined && 'fallbackNode' in node.onError) targets.push(node.onError.fallbackNode);
  return targets;
}

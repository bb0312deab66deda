import { childrenOf } from '../../graph/expression/children.js';
import { references } from '../../graph/expression/references.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Node, Scope } from '../../graph/model.js';
import { bodiesOf, expressionsOf, withBodies } from '../../graph/node-expressions.js';
import type { Place } from '../../graph/place.js';
import { boundToNode, type StepNode, type StepOutcome } from './outcome.js';

/** The most parts of an expression that a name stands for as it is. */
const MAX_PARTS = 32;

/**
 * An outcome whose name stands for little, and for the same wherever it is used. Every use of a name repeats what it
 * stands for, so that names which stand for expressions of each other would double a graph with every step, and a
 * field of state might be another one by then: a large expression, and one over state, gets a node of its own, which
 * the name stands for instead.
 *
 * @param nextId gives the id of that node.
 */
export function settle(outcome: StepOutcome, nextId: () => string, source: Place): StepOutcome {
  const bound = outcome.bind([]);
  if (bound.kind !== 'value' || (isSmall(bound.expr) && !readsState(bound.expr))) return outcome;
  const id = nextId();
  const node: StepNode = {
    id,
    core: { kind: 'compute', value: bound.expr },
    conditions: [],
    source,
    settled: true,
  };
  return { nodes: [...outcome.nodes, node], bind: boundToNode(id) };
}

/** Whether an expression may have another value later on, because a step in between sets a field of state. */
export function readsState(expr: Expr): boolean {
  return references(expr).some(({ ref }) => ref.root === 'state');
}

function isSmall(expr: Expr): boolean {
  let parts = 0;
  const open = [expr];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    parts++;
    if (parts > MAX_PARTS) return false;
    open.push(...childrenOf(next).map((child) => child.expr));
  }
  return true;
}

/** The nodes without those settled values that nothing uses, and with nobody waiting for them. */
export function withoutIdle(nodes: readonly Node[], settled: ReadonlySet<string>): readonly Node[] {
  if (settled.size === 0) return nodes;
  const used = new Set<string>();
  const before = new Map<string, readonly string[]>();
  const use = (expr: Expr): void => {
    for (const { ref } of references(expr)) if (ref.root === 'steps') used.add(String(ref.path[0]));
  };
  // A value is used by what comes after it, which is known by the time it is looked at.
  const visit = ({ nodes: inside, value }: Scope): void => {
    if (value !== undefined) use(value);
    for (const node of [...inside].reverse()) {
      if (settled.has(node.id) && !used.has(node.id)) {
        before.set(node.id, node.after);
        continue;
      }
      expressionsOf(node).forEach(use);
      for (const { scope } of bodiesOf(node).reverse()) visit(scope);
    }
  };
  visit({ nodes });
  const waitedFor = (id: string): readonly string[] => before.get(id)?.flatMap(waitedFor) ?? [id];
  const prune = (inside: readonly Node[]): readonly Node[] =>
    inside
      .filter(({ id }) => !before.has(id))
      .map((node) => ({
        ...withBodies(node, (scope) => ({ ...scope, nodes: prune(scope.nodes) })),
        after: node.after.flatMap(waitedFor),
      }));
  return before.size === 0 ? nodes : prune(nodes);
}

import { childrenOf } from '../../graph/expression/children.js';
import { references } from '../../graph/expression/references.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Node } from '../../graph/model.js';
import { sideExpressions, valueExpressions } from '../../graph/node-expressions.js';
import type { Place } from '../../graph/place.js';
import { boundToNode, type StepNode, type StepOutcome } from './outcome.js';

/** The most parts of an expression that a name stands for as it is. */
const MAX_PARTS = 32;

/**
 * An outcome whose name stands for little. Every use of a name repeats what it stands for, so that names which stand
 * for expressions of each other would double a graph with every step: a large expression gets a node of its own, which
 * the name stands for instead.
 *
 * @param id of that node.
 */
export function settle(outcome: StepOutcome, id: string, source: Place): StepOutcome {
  const bound = outcome.bind([]);
  if (bound.kind !== 'value' || isSmall(bound.expr)) return outcome;
  const node: StepNode = {
    id,
    core: { kind: 'compute', value: bound.expr },
    conditions: [],
    source,
    settled: true,
  };
  return { nodes: [...outcome.nodes, node], bind: boundToNode(id) };
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
  // A value is used by what comes after it, which is known by the time it is looked at.
  for (const node of [...nodes].reverse()) {
    if (settled.has(node.id) && !used.has(node.id)) {
      before.set(node.id, node.after);
      continue;
    }
    const summary = node.summary === undefined ? [] : [node.summary];
    for (const { ref } of [...valueExpressions(node), ...sideExpressions(node), ...summary].flatMap(
      references,
    ))
      if (ref.root === 'steps') used.add(String(ref.path[0]));
  }
  const waitedFor = (id: string): readonly string[] => before.get(id)?.flatMap(waitedFor) ?? [id];
  return nodes
    .filter(({ id }) => !before.has(id))
    .map((node) => ({ ...node, after: node.after.flatMap(waitedFor) }));
}

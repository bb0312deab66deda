import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { childrenOf } from '../graph/expression/children.js';
import type { Expr } from '../graph/expression/tree.js';
import { MAX_EXPRESSION_DEPTH } from '../graph/limits.js';
import { expressionsOf } from '../graph/node-expressions.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { placeOfExpr, placeOfNode } from './places.js';

/** SW9016: expressions that the evaluator refuses for their depth, each once. */
export function checkDepth({ graph, scopes, nodes }: WorkflowPlan): Diagnostic[] {
  const ofNodes = nodes.flatMap(({ node }) =>
    expressionsOf(node).map((expr) => ({ expr, place: placeOfNode(node, graph) })),
  );
  const ofScopes = scopes.flatMap(({ value, container }) =>
    value === undefined
      ? []
      : [{ expr: value, place: container === undefined ? graph.source : placeOfNode(container.node, graph) }],
  );
  return [...ofNodes, ...ofScopes].flatMap(({ expr, place }) => {
    const deep = firstTooDeep(expr);
    if (deep === undefined) return [];
    return [diagnostic('SW9016', placeOfExpr(deep, place), { limit: MAX_EXPRESSION_DEPTH })];
  });
}

/** The outermost part at a depth that the evaluator does not enter. */
function firstTooDeep(root: Expr): Expr | undefined {
  const open: [expr: Expr, depth: number][] = [[root, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [expr, depth] = next;
    if (depth >= MAX_EXPRESSION_DEPTH) return expr;
    for (const child of childrenOf(expr)) open.push([child.expr, depth + 1]);
  }
  return undefined;
}

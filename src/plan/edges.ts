import { references } from '../graph/expression/references.js';
import type { Expr } from '../graph/expression/tree.js';
import { compensationsOf, sideExpressions, valueExpressions } from '../graph/node-expressions.js';
import type { Draft, DraftScope } from './draft.js';
import { type PlanFault, planFailures } from './fault.js';
import type { RunnableNode } from './plan.js';

/** A step that an expression names, and what naming it means: its data are needed, or it only orders. */
interface Named {
  readonly id: string;
  readonly use: 'need' | 'order' | 'undo';
}

/**
 * What a node waits for: `after`, and whatever it or anything inside it names in the scope it stands in. Only `after`
 * and the plain references of values count in the join. [G10]
 */
export function addEdges(draft: Draft, faults: PlanFault[]): void {
  const { node, scope } = draft;
  const { byId, graph } = scope.workflow;
  const orders = new Set<Draft>();
  const joins = new Set<Draft>();
  const needs = new Set<Draft>();
  const unknown = (target: string) => faults.push({ failure: planFailures.unknownNode(node.id, target) });

  for (const id of node.after) {
    const target = byId.get(id);
    if (target === undefined || target.scope !== scope) unknown(id);
    else orders.add(target) && joins.add(target);
  }
  for (const { id, use } of namedIn(draft)) {
    const target = byId.get(id);
    if (target === undefined) unknown(id);
    const holder = target === undefined ? undefined : holderIn(scope, target);
    // What stands inside this node is its own affair, and so is what it gave to whatever undoes it.
    if (holder === undefined || (holder === draft && (id !== node.id || use === 'undo'))) continue;
    orders.add(holder);
    if (use === 'need') joins.add(holder) && needs.add(holder);
  }
  draft.orders = [...orders];
  draft.joins = [...joins];
  if (graph.errorStrategy?.kind !== 'collect') return;
  for (const id of presupposed(node)) {
    const target = byId.get(id);
    const holder = target === undefined ? undefined : holderIn(scope, target);
    if (holder !== undefined) needs.add(holder);
  }
  draft.needs = [...needs];
}

/** The node of `scope` that is `target`, or that it stands in. */
function holderIn(scope: DraftScope, target: Draft): Draft | undefined {
  let holder: Draft | undefined = target;
  while (holder !== undefined && holder.scope !== scope) holder = holder.scope.container;
  return holder;
}

function* namedIn({ node, parts }: Draft): Generator<Named> {
  yield* stepsOf(valueExpressions(node));
  for (const { id } of stepsOf(sideExpressions(node))) yield { id, use: 'order' };
  for (const { id } of stepsOf(compensationsOf(node).map(({ input }) => input))) yield { id, use: 'undo' };
  for (const { nodes, value } of parts) {
    for (const draft of nodes) yield* namedIn(draft);
    if (value !== undefined) yield* stepsOf([value]);
  }
}

function* stepsOf(exprs: readonly Expr[]): Generator<Named> {
  for (const { ref, guarded } of exprs.flatMap(references)) {
    const [id] = ref.path;
    if (ref.root === 'steps' && id !== undefined) yield { id: String(id), use: guarded ? 'order' : 'need' };
  }
}

/**
 * The steps whose success a condition takes for granted. To a check that ends the run these are all it names: what
 * never came is no finding.
 */
function presupposed({ kind, when }: RunnableNode): string[] {
  const named = when === undefined ? [] : [...stepsOf([when])];
  return named.filter(({ use }) => kind === 'error' || use === 'need').map(({ id }) => id);
}

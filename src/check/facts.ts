import { kinds } from '../graph/kinds/kinds.js';
import type { Node } from '../graph/model.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from '../plan/plan.js';
import { type Fact, rootsIn } from './narrow.js';

/** The conditions of what a scope stands in: each holds where its nodes run, or does not. */
export function factsAround({ container, arm }: ScopePlan): readonly Fact[] {
  if (container === undefined) return [];
  const { node, scope } = container;
  const own: Fact[] = node.when === undefined ? [] : [{ test: node.when, holds: true }];
  return [...factsAround(scope), ...own, ...(node.kind === 'branch' ? casesBefore(node, arm) : [])];
}

/** The first case that holds is taken. */
function casesBefore({ cases }: Extract<Node, { kind: 'branch' }>, arm: string | undefined): Fact[] {
  const taken = cases.findIndex(({ id }) => id === arm);
  const before = taken === -1 ? cases : cases.slice(0, taken);
  const facts = before.map(({ when }): Fact => ({ test: when, holds: false }));
  const own = cases[taken];
  return own === undefined ? facts : [...facts, { test: own.when, holds: true }];
}

/**
 * What is asked for by conditions that hold for others than those they are written around: those of what ends the run
 * or goes back, and those of nodes whose skipping others share.
 */
export function rootsAskedElsewhere({ nodes }: WorkflowPlan): ReadonlySet<string> {
  const isShared = nodes.some(({ node: { join } }) => join !== 'none_failed' && join !== 'all_done');
  const found = new Set<string>();
  for (const each of nodes) {
    const isEnd = kinds[each.node.kind].exit !== 'none';
    const facts = isEnd ? factsAround(each.scope) : [];
    const own = each.node.when !== undefined && (isEnd || isShared) ? [{ test: each.node.when }] : [];
    const routed = casesWithoutBody(each);
    for (const { test } of [...facts, ...own, ...routed]) for (const root of rootsIn(test)) found.add(root);
  }
  return found;
}

/** Cases that select nodes beside the branch. */
function casesWithoutBody({ node }: PlannedNode): readonly Pick<Fact, 'test'>[] {
  if (node.kind !== 'branch') return [];
  return node.cases.flatMap((each) =>
    'body' in each && each.body !== undefined ? [] : [{ test: each.when }],
  );
}

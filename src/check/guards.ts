import { canonicalExpr } from '../graph/canonical.js';
import type { Expr } from '../graph/expression/tree.js';
import { kinds } from '../graph/kinds/kinds.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from '../plan/plan.js';
import { nodesBehind } from '../plan/reachability.js';
import type { Reader } from '../plan/visibility.js';
import { namedSteps } from './needs.js';

/** What is asked before something runs, as far as it tells of steps that may have been skipped. */
export interface Guards {
  /** Whether a condition on the way to a reader names a step; `given` are those within its expression. */
  asks(reader: Reader, given: readonly Expr[], step: PlannedNode): boolean;
  /** Whether what holds where a reader reads is enough for a step to run. */
  implies(reader: Reader, given: readonly Expr[], step: PlannedNode): boolean;
}

/**
 * A condition guards what it leads to: that of the node itself, of what it stands in, of the case it is taken by, and
 * of a `return`, `error` or `goto` before it. Which way round it asks is not looked at.
 */
export function guardsIn(plan: WorkflowPlan): Guards {
  const names = new Map<PlannedNode, ReadonlySet<string>>();
  const namesFor = (planned: PlannedNode): ReadonlySet<string> => {
    const known = names.get(planned);
    if (known !== undefined) return known;
    // Steps that select each other are a fault of their own.
    names.set(planned, new Set());
    const found = new Set(conditionsAround(planned).flatMap((when) => [...namedSteps(when)]));
    names.set(planned, found);
    return found;
  };
  const gates = gatesIn(plan, namesFor);
  const behind = new Map<PlannedNode, ReadonlySet<PlannedNode>>();
  const isBehind = (planned: PlannedNode, gate: PlannedNode): boolean => {
    const known = behind.get(gate) ?? nodesBehind(gate);
    behind.set(gate, known);
    return known.has(planned);
  };

  return {
    asks(reader, given, { node: { id } }) {
      if (given.some((condition) => namedSteps(condition).has(id))) return true;
      const line = lineOf(reader);
      if (line.some((planned) => namesFor(planned).has(id))) return true;
      const ofStep = gates.get(id) ?? [];
      // What a workflow returns in the end is behind everything.
      if (line.length === 0) return ofStep.length > 0;
      return ofStep.some((gate) => line.some((planned) => planned !== gate && isBehind(planned, gate)));
    },
    implies(reader, given, { node: { when } }) {
      const holding = [...given, ...lineOf(reader).flatMap(({ node }) => node.when ?? [])];
      const parts = new Set(holding.flatMap(partsOf));
      return when !== undefined && partsOf(when).every((part) => parts.has(part));
    },
  };
}

/** A reader's node and all it stands in, the innermost first. */
function lineOf({ node, scope }: Reader): PlannedNode[] {
  const line = node === undefined ? [] : [node];
  for (let { container }: ScopePlan = scope; container !== undefined; { container } = container.scope)
    line.push(container);
  return line;
}

function conditionsAround(planned: PlannedNode): Expr[] {
  const own = planned.node.when === undefined ? [] : [planned.node.when];
  const { container } = planned.scope;
  const taken = [...planned.selectors, ...(container === undefined ? [] : [container])].flatMap(({ node }) =>
    node.kind === 'branch' ? node.cases.map(({ when }) => when) : [],
  );
  return [...own, ...taken];
}

/** By the step they ask for: the nodes that end or repeat a part of the run, and what those stand in. */
function gatesIn(
  { nodes }: WorkflowPlan,
  namesFor: (planned: PlannedNode) => ReadonlySet<string>,
): ReadonlyMap<string, readonly PlannedNode[]> {
  const gates = new Map<string, PlannedNode[]>();
  for (const end of nodes) {
    if (kinds[end.node.kind].exit === 'none') continue;
    const line = lineOf({ scope: end.scope, node: end });
    for (const name of new Set(line.flatMap((each) => [...namesFor(each)]))) {
      const known = gates.get(name);
      if (known === undefined) gates.set(name, [...line]);
      else known.push(...line);
    }
  }
  return gates;
}

/** The conditions that all have to hold. */
function partsOf(when: Expr): string[] {
  return when.kind === 'and' ? when.items.flatMap(partsOf) : [canonicalExpr(when)];
}

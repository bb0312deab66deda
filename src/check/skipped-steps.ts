import { canonicalGraph } from '../graph/canonical.js';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { isMethodCall } from '../graph/expression/functions.js';
import { childrenOf, references } from '../graph/expression/traversal.js';
import type { Expr, RefExpr } from '../graph/expression/tree.js';
import { kinds } from '../graph/kinds/kinds.js';
import type { Node } from '../graph/kinds/node.js';
import { append, getOrInsert } from '../graph/maps.js';
import { fallbackValue, valueExpressions } from '../graph/nodes.js';
import { locationOfExpr, locationOfNode, type SourceLocation } from '../graph/source-location.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from '../plan/plan.js';
import { followersOf, maySkipWithout, nodesBehind, reachabilityOf } from '../plan/reachability.js';
import { locationOfScope, type Reader, visibilityOf } from '../plan/visibility.js';
import { argumentsSchema } from './calls.js';
import type { CheckEnvironment } from './environment.js';
import { requiredKeys, viewOf } from './schema-view.js';

/**
 * SW4024: reads of steps that may have been skipped, without a guard. A heuristic in favour of the author: any earlier
 * condition that names the step counts as a guard.
 */
export function checkSkipped(plan: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  const { graph, nodes, scopes, byId, duplicates } = plan;
  const { skippable } = reachabilityOf(plan);
  const uncertain = uncertainSteps(plan, skippable);
  if (uncertain.size === 0) return [];
  let guards: Guards | undefined;
  const followers = new Map<PlannedNode, ReadonlySet<PlannedNode>>();

  const check = (
    needs: readonly RequiredReference[],
    reader: Reader,
    source: SourceLocation | undefined,
  ): Diagnostic[] => {
    const byName = new Map<string, Diagnostic>();
    for (const { ref, conditions } of needs) {
      const name = String(ref.path[0]);
      const target = duplicates.has(name) ? undefined : byId.get(name);
      const visible = target === undefined || byName.has(name) ? undefined : visibilityOf(target, reader);
      if (target === undefined || visible?.kind !== 'visible' || visible.source === visible.user) continue;
      const risk = skipRiskOf(target, visible.source, skippable);
      if (risk === 'none') continue;
      guards ??= guardsIn(plan);
      if (guards.asks(reader, conditions, target)) continue;
      if (risk === 'condition' && guards.implies(reader, conditions, target)) continue;
      if (target === visible.source && visible.user !== undefined) {
        const sure = getOrInsert(followers, target, () => followersOf(target));
        if (sure.has(visible.user)) continue;
      }
      const step = reader.node?.node.id ?? reader.scope.container?.node.id ?? graph.name;
      byName.set(name, diagnostic('SW4024', locationOfExpr(ref, source), { name, step }));
    }
    return [...byName.values()];
  };

  const ofNodes = nodes.flatMap((each) => {
    const needs = requiredBy(each.node, environment).filter(({ ref }) => uncertain.has(String(ref.path[0])));
    if (needs.length === 0) return [];
    return check(needs, { scope: each.scope, node: each }, locationOfNode(each.node, graph));
  });
  const ofScopes = scopes.flatMap((scope) => {
    if (scope.value === undefined) return [];
    return check(requiredReferences(scope.value, false), { scope }, locationOfScope(scope));
  });
  return [...ofNodes, ...ofScopes];
}

/**
 * The references of a node to steps that must have a value. Conditions count as guards. Compensations need no value: without
 * one there is nothing to undo.
 */
function requiredBy(node: Node, environment: CheckEnvironment): RequiredReference[] {
  const fallback = fallbackValue(node);
  return [...valueExpressions(node), ...(fallback === undefined ? [] : [fallback])].flatMap((expr) => {
    const schema = argumentsSchema(node, environment);
    if (schema === undefined || !('input' in node) || expr !== node.input)
      return requiredReferences(expr, false);
    const required = requiredKeys(viewOf(schema));
    return node.input.entries.flatMap((entry) =>
      'key' in entry
        ? requiredReferences(entry.value, required.includes(entry.key))
        : requiredReferences(entry.spread, false),
    );
  });
}

/** The steps that some reader may find without a value: most workflows have none. */
function uncertainSteps({ nodes }: WorkflowPlan, skippable: ReadonlySet<PlannedNode>): ReadonlySet<string> {
  const uncertain = new Set<PlannedNode>();
  for (const each of nodes) {
    // A container comes before its content.
    const { container } = each.scope;
    const isInUncertain =
      container !== undefined && (uncertain.has(container) || mayOmitParts(container.node));
    if (isInUncertain || skippable.has(each)) uncertain.add(each);
  }
  return new Set([...uncertain].map(({ node }) => node.id));
}

/** Why a step may have no value when its outermost container has settled: its own condition alone, or another reason. */
function skipRiskOf(
  target: PlannedNode,
  source: PlannedNode,
  skippable: ReadonlySet<PlannedNode>,
): 'none' | 'condition' | 'other' {
  for (let each = target; each !== source; ) {
    const { container } = each.scope;
    if (container === undefined || mayOmitParts(container.node)) return 'other';
    if (each !== target && skippable.has(each)) return 'other';
    each = container;
  }
  if (target !== source && skippable.has(source)) return 'other';
  if (!skippable.has(target)) return 'none';
  return target === source && !maySkipWithout(target, skippable) ? 'condition' : 'other';
}

/** Whether a container may complete without one of its parts. */
function mayOmitParts(node: Node): boolean {
  if (fallbackValue(node) !== undefined) return true;
  if (node.kind === 'parallel') return node.onPartialFailure === 'continue';
  return node.kind === 'branch' && node.cases.length + (node.else === undefined ? 0 : 1) > 1;
}

/** The conditions that guard reads of steps that may have been skipped. */
interface Guards {
  /** Whether a condition that controls a reader names a step; `given` are the conditions in its expression. */
  asks(reader: Reader, conditions: readonly Expr[], step: PlannedNode): boolean;
  /** Whether the conditions that hold at a reader imply the condition of a step. */
  implies(reader: Reader, conditions: readonly Expr[], step: PlannedNode): boolean;
}

/**
 * Finds the conditions that control a node: its own, those of its containers, of the case that selects it, and of an earlier
 * `return`, `error` or `goto`. Their polarity is ignored.
 */
function guardsIn(plan: WorkflowPlan): Guards {
  const names = new Map<PlannedNode, ReadonlySet<string>>();
  const namesFor = (planned: PlannedNode): ReadonlySet<string> => {
    const cached = names.get(planned);
    if (cached !== undefined) return cached;
    // Ends the recursion in a cycle, which is SW4006.
    names.set(planned, new Set());
    const stepNames = new Set(conditionsAround(planned).flatMap((when) => [...namedSteps(when)]));
    names.set(planned, stepNames);
    return stepNames;
  };
  const gates = gatesIn(plan, namesFor);
  const behind = new Map<PlannedNode, ReadonlySet<PlannedNode>>();
  const isBehind = (planned: PlannedNode, gate: PlannedNode): boolean => {
    return getOrInsert(behind, gate, () => nodesBehind(gate)).has(planned);
  };

  return {
    asks(reader, conditions, { node: { id } }) {
      if (conditions.some((condition) => namedSteps(condition).has(id))) return true;
      const line = ancestorsOf(reader);
      if (line.some((planned) => namesFor(planned).has(id))) return true;
      const ofStep = gates.get(id) ?? [];
      // The result of a workflow is read after every node.
      if (line.length === 0) return ofStep.length > 0;
      return ofStep.some((gate) => line.some((planned) => planned !== gate && isBehind(planned, gate)));
    },
    implies(reader, conditions, { node: { when } }) {
      const holding = [...conditions, ...ancestorsOf(reader).flatMap(({ node }) => node.when ?? [])];
      const parts = new Set(holding.flatMap(conjunctsOf));
      return when !== undefined && conjunctsOf(when).every((part) => parts.has(part));
    },
  };
}

/** A reader's node and its containers, the innermost first. */
function ancestorsOf({ node, scope }: Reader): PlannedNode[] {
  const line = node === undefined ? [] : [node];
  for (let { container }: ScopePlan = scope; container !== undefined; { container } = container.scope)
    line.push(container);
  return line;
}

function conditionsAround(planned: PlannedNode): Expr[] {
  const own = planned.node.when === undefined ? [] : [planned.node.when];
  const { container } = planned.scope;
  const ofSelectors = [...planned.selectors, ...(container === undefined ? [] : [container])].flatMap(
    ({ node }) => (node.kind === 'branch' ? node.cases.map(({ when }) => when) : []),
  );
  return [...own, ...ofSelectors];
}

/** By the step that they test: the nodes that end or repeat a part of the run, and their containers. */
function gatesIn(
  { nodes }: WorkflowPlan,
  namesFor: (planned: PlannedNode) => ReadonlySet<string>,
): ReadonlyMap<string, readonly PlannedNode[]> {
  const gates = new Map<string, PlannedNode[]>();
  for (const end of nodes) {
    if (kinds[end.node.kind].exit === 'none') continue;
    const line = ancestorsOf({ scope: end.scope, node: end });
    for (const name of new Set(line.flatMap((each) => [...namesFor(each)]))) {
      append(gates, name, ...line);
    }
  }
  return gates;
}

function conjunctsOf(when: Expr): string[] {
  return when.kind === 'and' ? when.items.flatMap(conjunctsOf) : [canonicalGraph(when)];
}

/** A reference to a step that must have a value. */
interface RequiredReference {
  readonly ref: RefExpr;
  /** The conditions within the expression under which it is evaluated. */
  readonly conditions: readonly Expr[];
}

/**
 * The references of an expression to steps that must have a value, because the expression reads a part of it.
 *
 * @param isNeeded whether the whole expression must have a value as well.
 */
function requiredReferences(expr: Expr, isNeeded: boolean): RequiredReference[] {
  const required: RequiredReference[] = [];
  collect(expr, isNeeded, [], required);
  return required;
}

/** The steps whose value, or how they settled, an expression names. */
function namedSteps(expr: Expr): ReadonlySet<string> {
  const refs = references(expr).filter(({ ref: { root } }) => root === 'steps' || root === 'nodes');
  return new Set(refs.map(({ ref }) => String(ref.path[0])));
}

/** @param conditions the conditions that hold here. */
function collect(
  expr: Expr,
  isNeeded: boolean,
  conditions: readonly Expr[],
  required: RequiredReference[],
): void {
  switch (expr.kind) {
    case 'ref': {
      if (expr.find === 'optional') return;
      const needsValue = isNeeded || expr.path.length > 1 || expr.find === 'strict';
      if (expr.root === 'steps' && needsValue) required.push({ ref: expr, conditions });
      return;
    }
    case 'conditional':
      collect(expr.test, false, conditions, required);
      collect(expr.then, isNeeded, [...conditions, expr.test], required);
      if (expr.else !== undefined) {
        const otherwise: Expr = { kind: 'not', truth: expr.truth, of: expr.test };
        collect(expr.else, isNeeded, [...conditions, otherwise], required);
      }
      return;
    case 'and':
    case 'or': {
      let before = conditions;
      for (const [index, item] of expr.items.entries()) {
        collect(item, isNeeded && index === expr.items.length - 1, before, required);
        before = [...before, expr.kind === 'and' ? item : { kind: 'not', truth: expr.truth, of: item }];
      }
      return;
    }
    default: {
      const subject = receiverOf(expr);
      for (const child of childrenOf(expr))
        if (!child.guarded) collect(child.expr, child.expr === subject, conditions, required);
    }
  }
}

/** The receiver of a read or a method call. */
function receiverOf(expr: Expr): Expr | undefined {
  switch (expr.kind) {
    case 'get':
    case 'slice':
      return expr.of;
    case 'each':
      return expr.in;
    case 'call':
      return isMethodCall(expr) ? expr.args[0] : undefined;
    default:
      return undefined;
  }
}

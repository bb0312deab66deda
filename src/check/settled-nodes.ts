import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { childrenOf, references, textsOf } from '../graph/expression/traversal.js';
import type { Expr, RefExpr } from '../graph/expression/tree.js';
import type { Json } from '../graph/json.js';
import { nearestName } from '../graph/names.js';
import { SETTLED_STATUSES, type SettledStatus } from '../graph/nodes.js';
import { locationOfExpr } from '../graph/source-location.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { reachabilityOf } from '../plan/reachability.js';
import { type Reader, type Use, usesIn, visibilityOf } from '../plan/visibility.js';

/**
 * SW3019: comparisons of the status of a step with something that is none. SW3020: a status or a failure that a step
 * never has where it is read.
 */
export function checkSettledNodes(plan: WorkflowPlan): Diagnostic[] {
  return usesIn(plan).flatMap((use) => {
    if (!references(use.expr).some(({ ref }) => ref.root === 'nodes')) return [];
    return [...statusFaults(use), ...neverFaults(use, plan)];
  });
}

/** A comparison of a status with values that are written out. */
interface StatusTest {
  readonly ref: RefExpr;
  readonly values: readonly { readonly value: Json; readonly at: Expr }[];
}

function statusFaults({ expr, source }: Use): Diagnostic[] {
  return testsIn(expr).flatMap(({ values }) =>
    values.flatMap(({ value, at }) => {
      if (isStatus(value)) return [];
      const suggestion = typeof value === 'string' ? nearestName(value, SETTLED_STATUSES) : undefined;
      return diagnostic('SW3019', locationOfExpr(at, source), {
        value: typeof value === 'string' ? value : JSON.stringify(value),
        candidates: SETTLED_STATUSES,
        suggestion,
      });
    }),
  );
}

function isStatus(value: Json): value is SettledStatus {
  return SETTLED_STATUSES.some((status) => status === value);
}

function neverFaults({ expr, reader, source }: Use, plan: WorkflowPlan): Diagnostic[] {
  const step = reader.node?.node.id ?? reader.scope.container?.node.id ?? plan.graph.name;
  const exclusionsOf = (ref: RefExpr): Exclusions | undefined => {
    const target = plan.byId.get(String(ref.path[0]));
    return target === undefined || plan.duplicates.has(target.node.id)
      ? undefined
      : exclusions(target, reader);
  };
  const never = (ref: RefExpr, status: SettledStatus | 'error', because: Reason): Diagnostic =>
    diagnostic('SW3020', locationOfExpr(ref, source), {
      ...{ name: String(ref.path[0]), step, status, ...because },
    });
  const ofStatus = testsIn(expr).flatMap(({ ref, values }) => {
    const exclusions = exclusionsOf(ref);
    const statuses = values.flatMap(({ value }) => (isStatus(value) ? [value] : []));
    const [first] = statuses;
    if (exclusions === undefined || first === undefined || statuses.length < values.length) return [];
    const why = exclusions.never.get(first);
    return why === undefined || !statuses.every((each) => exclusions.never.has(each))
      ? []
      : never(ref, first, why);
  });
  const ofError = references(expr).flatMap(({ ref }) => {
    if (ref.root !== 'nodes' || ref.path[1] !== 'error') return [];
    const why = exclusionsOf(ref)?.noError;
    return why === undefined ? [] : never(ref, 'error', why);
  });
  return [...ofStatus, ...ofError];
}

/** The comparisons with the status of a step in an expression. */
function testsIn(expr: Expr): StatusTest[] {
  const inside = childrenOf(expr).flatMap((child) => testsIn(child.expr));
  if (expr.kind === 'compare') {
    const operands = [expr.left, ...expr.ops.map(({ right }) => right)];
    const pairs = operands.slice(1).flatMap((right, index): StatusTest[] => {
      const leftOperand = operands[index] as Expr;
      const ref = statusIn(leftOperand) ?? statusIn(right);
      const other = statusIn(leftOperand) === undefined ? leftOperand : right;
      const isConstant = other.kind === 'literal' && other.value !== undefined && other.value !== null;
      return ref === undefined || !isConstant
        ? []
        : [{ ref, values: [{ value: other.value as Json, at: other }] }];
    });
    return [...pairs, ...inside];
  }
  if (expr.kind === 'call' && (expr.fn === 'contains' || expr.fn === 'includes.js')) {
    const [list, item] = expr.args;
    const ref = item && statusIn(item);
    const texts = textsOf(list);
    if (ref === undefined || list === undefined || texts === undefined) return inside;
    const at = (index: number): Expr => (list.kind === 'list' ? (list.items[index]?.value ?? list) : list);
    return [{ ref, values: texts.map((value, index) => ({ value, at: at(index) })) }, ...inside];
  }
  return inside;
}

/** The reference of an expression that is the status of a step, perhaps with another value where it is missing. */
function statusIn(expr: Expr): RefExpr | undefined {
  if (expr.kind === 'call' && expr.fn === 'coalesce' && expr.args[0] !== undefined)
    return statusIn(expr.args[0]);
  return expr.kind === 'ref' && expr.root === 'nodes' && expr.path[1] === 'status' ? expr : undefined;
}

/**
 * Why something is never so, and what causes it: a failure that ends the steps behind it or leaves no result, a join, or
 * what the step is.
 */
interface Reason {
  readonly why: string;
  readonly cause: 'failure' | 'result' | 'join' | 'step';
}

/** What is never so of a step where a reader reads it, and why. The list need not be complete. */
interface Exclusions {
  readonly never: ReadonlyMap<SettledStatus, Reason>;
  /** Why the step has no failure there. Missing if it may have one. */
  readonly noError?: Reason;
}

function exclusions(target: PlannedNode, reader: Reader): Exclusions | undefined {
  const visible = visibilityOf(target, reader);
  if (visible.kind !== 'visible' || visible.source === visible.user) return undefined;
  const { source, user } = visible;
  const { id, kind, onError } = target.node;
  const never = new Map<SettledStatus, Reason>();
  if (kind === 'error') never.set('succeeded', { why: `\`${id}\` ends what it is in`, cause: 'step' });
  const mayTakeOver = onError !== undefined && 'fallbackNode' in onError;
  if (!mayTakeOver) never.set('handled', { why: `no other step takes over for \`${id}\``, cause: 'step' });
  if (target === source && isNeverSkipped(target))
    never.set('skipped', { why: `nothing skips \`${id}\``, cause: 'step' });
  // A compensation may run after anything.
  if (user?.node.kind === 'compensate') return { never };
  if (target === source)
    never.set('cancelled', { why: `what cancels \`${id}\` ends the steps behind it as well`, cause: 'step' });
  const whyNoFailure = neverFailed(target, source, user);
  if (whyNoFailure !== undefined) never.set('failed', whyNoFailure);
  return whyNoFailure === undefined || onError !== undefined ? { never } : { never, noError: whyNoFailure };
}

function isNeverSkipped(target: PlannedNode): boolean {
  const { workflow } = target.scope;
  return workflow.failFast && !reachabilityOf(workflow).skippable.has(target);
}

/** Why nothing reads the failure of a step; `undefined` if something may. */
function neverFailed(
  target: PlannedNode,
  source: PlannedNode,
  user: PlannedNode | undefined,
): Reason | undefined {
  if (target !== source) {
    const { container } = target.scope;
    if (container === undefined || container.node.onError !== undefined) return undefined;
    if (container.node.kind === 'parallel' && container.node.onPartialFailure === 'continue')
      return undefined;
    return neverFailed(container, source, user);
  }
  const { id } = target.node;
  if (user === undefined) return { why: `there is no result where \`${id}\` fails`, cause: 'result' };
  if (target.scope.workflow.failFast)
    return { why: `a failure of \`${id}\` ends the steps behind it`, cause: 'failure' };
  return skippedAfterFailure(target).has(user)
    ? { why: `the \`join\` of \`${user.node.id}\` skips it where \`${id}\` fails`, cause: 'join' }
    : undefined;
}

/** The later nodes that do not run after a failure of a node. */
function skippedAfterFailure(target: PlannedNode): ReadonlySet<PlannedNode> {
  const skipped = new Set([target]);
  const isSkipped = (before: PlannedNode): boolean => skipped.has(before);
  for (const each of target.scope.nodes.slice(target.index + 1)) {
    const { joins, needs, needsSelection, selectors } = each;
    const { join } = each.node;
    const isLeftOut =
      needs.some(isSkipped) ||
      (join === 'one_success' ? joins.length > 0 && joins.every(isSkipped) : false) ||
      (join !== 'one_success' && join !== 'all_done' && joins.some(isSkipped)) ||
      (needsSelection && selectors.length > 0 && selectors.every(isSkipped));
    if (isLeftOut) skipped.add(each);
  }
  return skipped;
}

import { describeAnswerers } from '../graph/answerers.js';
import { references } from '../graph/expression/traversal.js';
import type { Expr } from '../graph/expression/tree.js';
import { times } from '../graph/kinds/descriptor.js';
import { kindOf } from '../graph/kinds/kinds.js';
import { type Compensation, defaultCapMs, type Node, type Retry } from '../graph/kinds/node.js';
import { fallbackValue, ownResources } from '../graph/nodes.js';
import { durationText } from '../graph/printable-text.js';
import { routesOf } from '../plan/edges.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { endOf, reachabilityOf } from '../plan/reachability.js';
import { visibilityOf } from '../plan/visibility.js';
import { printExpr } from './expression.js';
import { type Attempt, attemptOf, soleBody, sourcesOf, valuesOf } from './shapes.js';

/** What a node does, in a few words: `call add-line`, `for each line of body.lines, at most 100`. */
export function describeNode(node: Node): string {
  const attempt = attemptOf(node);
  if (attempt !== undefined) return describeAttempt(attempt);
  if (soleBody(node) !== undefined) return 'steps that belong together';
  return kindOf(node).describe(node, printExpr);
}

function describeAttempt({ tried, otherwise }: Attempt): string {
  const named = (nodes: readonly Node[]): string => {
    const steps = nodes.filter(({ kind }) => kind !== 'compute');
    return (steps.length === 0 ? nodes : steps).map(({ id }) => id).join(', ');
  };
  return `try ${named(tried)}, otherwise ${named(otherwise)}`;
}

/** The resources of its own that a node shows: `shows: guide, rules`. */
export function describeOwnResources(node: Node): string[] {
  const own = ownResources(node);
  return own.length === 0 ? [] : [`shows: ${own.map(({ resource }) => resource).join(', ')}`];
}

/** The retry and the timeout of a node's own: `tried: at most 3 attempts`, `time limit: 1 day`. */
function describeAttempts({ retry, timeoutMs }: Node): string[] {
  const each = retry === undefined || retry.extra === 0 ? '' : ' for each';
  return [
    ...(retry === undefined ? [] : [`tried: ${describeRetry(retry)}`]),
    ...(timeoutMs === undefined ? [] : [`time limit: ${durationText(timeoutMs)}${each}`]),
  ];
}

/** The reminder of a question: `reminder: after 1 day, then also for a caller with the role 'lead'`. */
function describeReminder(node: Node): string[] {
  if (node.kind !== 'ask' || node.remindAfterMs === undefined) return [];
  const { remindAfterMs, escalateTo } = node;
  const also = escalateTo === undefined ? '' : `, then also for ${describeAnswerers(escalateTo)}`;
  return [`reminder: after ${durationText(remindAfterMs)}${also}`];
}

/** `at most 3 attempts, 200 ms apart (exponential, at most 5 min)`, without a cap that is the default. */
export function describeRetry({ extra, delayMs, backoff, capMs }: Retry): string {
  const attempts = `at most ${extra + 1} ${extra === 0 ? 'attempt' : 'attempts'}`;
  if (extra === 0 || delayMs === 0) return attempts;
  const isCapped = backoff === 'exponential' && capMs !== defaultCapMs(delayMs);
  const cap = isCapped ? `, at most ${durationText(capMs)}` : '';
  const growth = backoff === 'constant' ? '' : ` (${backoff}${cap})`;
  return `${attempts}, ${durationText(delayMs)} apart${growth}`;
}

/** `cancel-booking { id: flight.id }`. */
export function describeUndoing({ tool, input, ignoreError }: Compensation): string {
  const inputText = input.entries.length === 0 ? '' : ` ${printExpr(input)}`;
  return `${tool}${inputText}${ignoreError ? ', whether it fails or not' : ''}`;
}

/** The value of a body; of an attempt in words: `a, otherwise b`. */
export function describeValue(value: Expr | undefined, attempt?: Attempt): string | undefined {
  if (value === undefined) return undefined;
  const values = attempt && valuesOf(attempt, value);
  return values === undefined ? printExpr(value) : values.map(printExpr).join(', otherwise ');
}

function describeFallback(node: Node): string[] {
  const value = fallbackValue(node);
  return value === undefined ? [] : [`on failure: ${printExpr(value)}`];
}

/** The reminder, the attempts and the fallback of a node, where they are not the defaults. */
export function describePolicy(node: Node): string[] {
  return [...describeReminder(node), ...describeAttempts(node), ...describeFallback(node)];
}

/** What an author says of a step. */
export function describeGuidance(text: Expr): string {
  return text.kind === 'literal' && typeof text.value === 'string' ? text.value : printExpr(text);
}

/**
 * The trigger rule of a node, if it is not the default. Where one of the nodes before it always runs, the rule of spec
 * files is the default.
 */
export function describeJoin({ node, joins, scope }: PlannedNode): string | undefined {
  if (node.join === 'none_failed' || joins.length === 0) return undefined;
  if (node.join !== 'none_failed_min_one_success') return node.join;
  const { skippable } = reachabilityOf(scope.workflow);
  return joins.every((each) => skippable.has(each)) ? 'at least one' : undefined;
}

/** The arrows to a node from its dependencies. A node that selects it has an arrow of its own. */
export function sourcesInOrder(planned: PlannedNode): PlannedNode[] {
  return sourcesOf(planned).filter((source) => !planned.selectors.includes(source));
}

/** Whether a node can run after another one has run. */
export function follows(planned: PlannedNode, source: PlannedNode): boolean {
  const end = endOf(source);
  return end === undefined || (end === 'failure' && planned.node.join === 'all_done');
}

/** The nodes at the top of a workflow whose values its result reads, in declaration order. */
export function resultSources(value: Expr, { byId, root }: WorkflowPlan): readonly PlannedNode[] {
  const sources = new Set<PlannedNode>();
  for (const { ref } of references(value)) {
    const target = ref.root === 'steps' ? byId.get(String(ref.path[0])) : undefined;
    const visible = target === undefined ? undefined : visibilityOf(target, { scope: root });
    if (visible?.kind === 'visible') sources.add(visible.source);
  }
  return root.nodes.filter((planned) => sources.has(planned));
}

/** The way from a node to another one of its scope that it selects. */
interface RouteArrow {
  /** `arm` leaves the decision of a branch, `undo` leads to a compensation. */
  readonly kind: 'arm' | 'fallback' | 'undo' | 'back';
  readonly text: string;
  readonly target: PlannedNode;
}

/** The ways on which a node selects others. */
export function routeArrows(planned: PlannedNode): RouteArrow[] {
  const { node, scope } = planned;
  const arrow = (kind: RouteArrow['kind'], text: string, id: string): RouteArrow[] => {
    const target = scope.workflow.byId.get(id);
    return target?.scope === scope ? [{ kind, text, target }] : [];
  };
  const routes = routesOf(node).flatMap(({ kind, target, arm }) => {
    if (kind === 'fallbackNode') return arrow('fallback', 'on failure', target);
    if (kind === 'compensateNode') return arrow('undo', 'undone by', target);
    const armCase = node.kind === 'branch' ? node.cases.find(({ id }) => id === arm) : undefined;
    return arrow('arm', armCase === undefined ? 'else' : printExpr(armCase.when), target);
  });
  const back = node.kind === 'goto' ? arrow('back', `again, at most ${times(node.max)}`, node.target) : [];
  return [...routes, ...back];
}

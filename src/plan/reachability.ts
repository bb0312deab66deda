import { unreachable } from '../graph/json.js';
import { kinds } from '../graph/kinds/kinds.js';
import type { Node } from '../graph/kinds/node.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from './plan.js';

/** Which nodes of a workflow can run, as far as a static analysis shows. */
export interface Reachability {
  /** The nodes that never start, each with the earlier node that always ends their scope. */
  readonly endedBy: ReadonlyMap<PlannedNode, PlannedNode>;
  /** The nodes that need selection and whose selectors never run. */
  readonly unselectable: ReadonlySet<PlannedNode>;
  /** The nodes that may settle without a value while the run continues. */
  readonly skippable: ReadonlySet<PlannedNode>;
}

const cache = new WeakMap<WorkflowPlan, Reachability>();

/** The reachability of a workflow's nodes, computed on first use. */
export function reachabilityOf(workflow: WorkflowPlan): Reachability {
  const reachability = cache.get(workflow) ?? {
    endedBy: new Map(workflow.scopes.flatMap(endedIn)),
    unselectable: new Set(workflow.scopes.flatMap(unselectableIn)),
    skippable: skippableIn(workflow),
  };
  cache.set(workflow, reachability);
  return reachability;
}

/** Visits nodes in declaration order, after their dependencies. */
function endedIn({ nodes }: ScopePlan): [PlannedNode, PlannedNode][] {
  const ends = new Map<PlannedNode, PlannedNode>();
  for (const planned of nodes) {
    for (const before of planned.sources) {
      if (before === planned || ends.has(planned)) continue;
      const end = ends.get(before) ?? (alwaysEnds(before) ? before : undefined);
      if (end !== undefined) ends.set(planned, end);
    }
  }
  return [...ends];
}

/** Whether a node runs in every run and ends its scope. One that may be skipped does not count. */
function alwaysEnds({ node, needsSelection, scope }: PlannedNode): boolean {
  if (node.when !== undefined || !endsAlone(node)) return false;
  if (needsSelection) return false;
  return node.join === 'all_done' || (node.join === 'none_failed' && scope.workflow.failFast);
}

/** A node whose selectors never run never runs itself. */
function unselectableIn({ nodes }: ScopePlan): PlannedNode[] {
  const idle = new Set(nodes.filter((each) => each.needsSelection));
  let before = -1;
  while (idle.size !== before) {
    before = idle.size;
    for (const each of idle) if (each.selectors.some((selector) => !idle.has(selector))) idle.delete(each);
  }
  return [...idle];
}

/** Visits nodes in declaration order, after their dependencies. */
function skippableIn({ nodes }: WorkflowPlan): ReadonlySet<PlannedNode> {
  const skippable = new Set<PlannedNode>();
  for (const each of nodes) {
    if (each.node.when !== undefined || maySkipWithout(each, skippable)) skippable.add(each);
  }
  return skippable;
}

/** Whether a node may settle without a value for another reason than its condition. */
export function maySkipWithout(planned: PlannedNode, skippable: ReadonlySet<PlannedNode>): boolean {
  const { node, joins, needsSelection } = planned;
  if (needsSelection) return true;
  if (node.onError !== undefined && 'fallbackNode' in node.onError) {
    if (!endsScope(planned, node.onError.fallbackNode)) return true;
  }
  switch (node.join) {
    case 'all_success':
      return joins.some((each) => skippable.has(each));
    case 'none_failed_min_one_success':
    case 'one_success':
      return joins.length > 0 && joins.every((each) => skippable.has(each));
    case 'none_failed':
    case 'all_done':
      return false;
    default:
      return unreachable(node.join);
  }
}

/** Whether the fallback of a node always ends the scope. */
function endsScope({ scope }: PlannedNode, fallback: string): boolean {
  const target = scope.workflow.byId.get(fallback);
  if (target === undefined || target.scope !== scope || target.node.when !== undefined) return false;
  return endsAlone(target.node);
}

function endsAlone({ kind }: Node): boolean {
  const { exit } = kinds[kind];
  return exit === 'failure' || exit === 'return';
}

/** A node, and the later nodes that only run after its success. */
export function followersOf(target: PlannedNode): ReadonlySet<PlannedNode> {
  const sure = new Set([target]);
  for (const each of target.scope.nodes.slice(target.index + 1)) {
    const { joins, needsSelection, selectors } = each;
    const { join } = each.node;
    const needsOne = join === 'none_failed_min_one_success' || join === 'one_success';
    const isSure =
      (join === 'all_success' && joins.some((before) => sure.has(before))) ||
      (needsOne && joins.length > 0 && joins.every((before) => sure.has(before))) ||
      (needsSelection && selectors.length > 0 && selectors.every((selector) => sure.has(selector)));
    if (isSure) sure.add(each);
  }
  return sure;
}

/** A node, and the later nodes that wait for it, directly or indirectly. */
export function nodesBehind(target: PlannedNode): ReadonlySet<PlannedNode> {
  const behind = new Set([target]);
  for (const each of target.scope.nodes.slice(target.index + 1)) {
    if (each.sources.some((before) => behind.has(before))) behind.add(each);
  }
  return behind;
}

/** The nodes that `targets` wait for, directly or indirectly. */
export function nodesBefore(
  targets: readonly PlannedNode[],
  isFollowed: (source: PlannedNode) => boolean = () => true,
): ReadonlySet<PlannedNode> {
  const before = new Set<PlannedNode>();
  const open = [...targets];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    for (const source of each.sources) {
      if (before.has(source) || !isFollowed(source)) continue;
      before.add(source);
      open.push(source);
    }
  }
  return before;
}

/** Whether a node may run although `source` was skipped. */
export function runsAfterSkip({ node: { join }, joins }: PlannedNode, source: PlannedNode): boolean {
  if (!joins.includes(source)) return true;
  switch (join) {
    case 'none_failed':
    case 'all_done':
      return true;
    case 'none_failed_min_one_success':
    case 'one_success':
      return joins.length > 1;
    case 'all_success':
      return false;
    default:
      return unreachable(join);
  }
}

/** How a scope always ends after a node of it has run, unless it is handled. */
export type End = 'failure' | 'return';

/** How a node always ends its scope, or `undefined` if it may continue. */
export function endOf({ node, parts }: PlannedNode): End | undefined {
  if (node.onError !== undefined) return undefined;
  if (node.kind === 'branch') {
    const arms = [...node.cases, ...(node.else === undefined ? [] : [node.else])];
    if (arms.some((arm) => 'goto' in arm)) return undefined;
    const ends = parts.map(endOfScope);
    if (ends.includes(undefined)) return undefined;
    return ends.includes('failure') ? 'failure' : 'return';
  }
  const { exit } = kinds[node.kind];
  if (exit !== 'jump') return exit === 'none' ? undefined : exit;
  return node.kind === 'goto' && node.onLimit === 'continue' ? undefined : 'failure';
}

function endOfScope({ nodes }: ScopePlan): End | undefined {
  const last = nodes.at(-1);
  return last === undefined || last.node.when !== undefined || last.needsSelection ? undefined : endOf(last);
}

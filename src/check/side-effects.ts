import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { references } from '../graph/expression/traversal.js';
import { workOf } from '../graph/kinds/kinds.js';
import type { Node } from '../graph/kinds/node.js';
import type { CallNode, Graph, ParallelNode } from '../graph/model.js';
import { isServerCall, nodesOf } from '../graph/nodes.js';
import { locationOfNode, relatedLocation } from '../graph/source-location.js';
import { toolSafetyOf } from '../graph/tool-safety.js';
import { type PlannedNode, rollsBack, type WorkflowPlan } from '../plan/plan.js';
import type { CheckEnvironment } from './environment.js';
import { reachableFrom } from './environment.js';

/** SW4028 rollbacks with nothing to undo, SW4037 calls that a rollback does not undo. */
export function checkRollbacks({ graph, nodes }: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  const rolling = nodes.flatMap(({ node }) => (rollsBack(node) ? [node] : []));
  if (graph.onFailure === 'undo' && !hasCompensation(graph, environment))
    return [diagnostic('SW4028', graph.source, {})];
  if (rolling.length === 0) return [];
  const idle = new Set(rolling.filter((each) => !canUndo(each, environment)));
  const faults = rolling.flatMap((node) =>
    idle.has(node) ? [diagnostic('SW4028', locationOfNode(node, graph), { step: node.id })] : [],
  );
  const reported = new Set<CallNode>();
  const remaining = nodes.flatMap((planned) => {
    const parallel = planned.rolledBackBy.find((each) => !isUndoneBy(planned, each));
    if (parallel === undefined || (rollsBack(parallel.node) && idle.has(parallel.node))) return [];
    return callsOf(planned, graph, environment).flatMap(({ call, of }) => {
      if (reported.has(call) || !lacksCompensation(call, environment)) return [];
      reported.add(call);
      const location = locationOfNode(call, of) ?? locationOfNode(planned.node, graph);
      const related = relatedLocation('it rolls back here', parallel.node.source);
      const { tool } = call;
      const params = { step: call.id, tool, parallel: parallel.node.id, ...upstreamOf(tool, environment) };
      return [
        diagnostic('SW4037', location, of === graph ? params : { ...params, workflow: of.name }, { related }),
      ];
    });
  });
  return [...faults, ...remaining];
}

/**
 * SW4046: calls with a compensation that is not made when a later step fails. A workflow that only others run may be undone by
 * them.
 */
export function checkNeverUndone({ graph, nodes }: WorkflowPlan): Diagnostic[] {
  // A task that is cancelled is undone.
  if (graph.onFailure === 'undo' || graph.task === true || graph.expose?.length === 0) return [];
  const byNodes = new Set(
    nodes.flatMap(({ node, compensations }) =>
      node.kind === 'compensate' ? compensations.flatMap(({ refersTo }) => refersTo) : [],
    ),
  );
  return nodes.flatMap((planned) => {
    const { node, rolledBackBy } = planned;
    if (node.compensate === undefined || rolledBackBy.length > 0 || byNodes.has(planned)) return [];
    if (!mayFailAfter(planned)) return [];
    return [diagnostic('SW4046', locationOfNode(node, graph), { step: node.id })];
  });
}

/** SW4057: questions that approve another thing than a call of their list, or a call with an input that is not known by then. */
export function checkApprovals(plan: WorkflowPlan): Diagnostic[] {
  const { graph, nodes, byId } = plan;
  return nodes.flatMap((planned) => {
    const { node, scope } = planned;
    if (node.kind !== 'ask' || node.approves === undefined) return [];
    const call = byId.get(node.approves);
    const problem =
      call?.scope !== scope || call.node.kind !== 'call'
        ? `\`${node.approves}\` is not a call in its list of steps`
        : call.approvedBy === planned
          ? unknownInput(planned, call.node)
          : `\`${call.approvedBy?.node.id}\` approves \`${node.approves}\` as well`;
    return problem === undefined
      ? []
      : [diagnostic('SW4057', locationOfNode(node, graph), { step: node.id, problem })];
  });
}

/** What the input of a call reads that is not known, or differs, when its question is asked. */
function unknownInput(question: PlannedNode, { id, input }: CallNode): string | undefined {
  const before = new Set(question.orders);
  for (const each of before) for (const earlier of each.orders) before.add(earlier);
  for (const { ref } of references(input)) {
    const [name] = ref.path;
    if (ref.root === 'run' || ref.root === 'error')
      return `\`${id}\` reads \`${ref.root === 'run' ? name : ref.root}\`, which differs each time`;
    if (ref.root !== 'steps' && ref.root !== 'nodes') continue;
    let source = question.scope.workflow.byId.get(String(name));
    while (source !== undefined && source.scope !== question.scope) source = source.scope.container;
    // A step of a list around this one has settled.
    if (source === question) return `\`${id}\` reads its answer`;
    if (source !== undefined && !before.has(source))
      return `\`${id}\` reads \`${name}\`, which is not known when it is asked`;
  }
  return undefined;
}

/** Whether work, or a failure, waits for a node or a container around it, or is in another branch of a `parallel` around it. */
function mayFailAfter({ successors, scope }: PlannedNode): boolean {
  const later = new Set(successors);
  for (const each of later) for (const next of each.successors) later.add(next);
  const { container } = scope;
  const beside = container?.node.kind === 'parallel' ? container.parts.filter((part) => part !== scope) : [];
  const others = [...later, ...beside.flatMap(({ nodes }) => nodes)].map(({ node }) => node);
  return nodesOf({ nodes: others }).some(mayFail) || (container !== undefined && mayFailAfter(container));
}

function mayFail(node: Node): boolean {
  return workOf(node) !== 'none' || node.kind === 'workflow' || node.kind === 'error';
}

/** Whether a rollback may undo something. Unknown workflows may. */
function canUndo(node: ParallelNode, environment: CheckEnvironment): boolean {
  return node.compensateNode !== undefined || hasCompensation({ nodes: [node] }, environment);
}

/** Whether a call in nodes, or in the workflows that they run, has a compensation. One in an unknown workflow may. */
function hasCompensation(of: Pick<Graph, 'nodes'>, environment: CheckEnvironment): boolean {
  const nodes = nodesOf(of);
  const { graphs, isWhole } = reachableFrom({ nodes }, environment);
  const all = [...nodes, ...graphs.flatMap(nodesOf)];
  return !isWhole || all.some((each) => each.kind === 'call' && each.compensate !== undefined);
}

interface LocatedCall {
  readonly call: CallNode;
  readonly of: Graph;
}

/** The call of a node, or the calls of the workflows that it runs. */
function callsOf({ node }: PlannedNode, graph: Graph, environment: CheckEnvironment): LocatedCall[] {
  if (isServerCall(node)) return [{ call: node, of: graph }];
  if (node.kind !== 'workflow') return [];
  return reachableFrom({ nodes: [node] }, environment).graphs.flatMap((of) =>
    nodesOf(of).flatMap((call) => (isServerCall(call) ? [{ call, of }] : [])),
  );
}

/** The server of a tool with a generated class, which has the annotations of the server. */
function upstreamOf(tool: string, { tools }: CheckEnvironment): { readonly upstream?: string } {
  const upstream = tools.get(tool)?.upstream;
  return upstream === undefined ? {} : { upstream: upstream.server };
}

/** Whether a call has a side effect and no compensation. An unknown tool is SW4001. */
function lacksCompensation({ tool, compensate }: CallNode, { tools }: CheckEnvironment): boolean {
  const signature = tools.get(tool);
  return compensate === undefined && signature !== undefined && toolSafetyOf(signature) !== 'readOnly';
}

/** Whether the `compensate` node of a `parallel` refers without a guard to an inner node or a container of it. */
function isUndoneBy(inside: PlannedNode, { node, scope }: PlannedNode): boolean {
  if (node.kind !== 'parallel' || node.compensateNode === undefined) return false;
  const undoing = scope.nodes.find((each) => each.node.id === node.compensateNode);
  // A target of another kind is SW4017.
  if (undoing?.node.kind !== 'compensate') return true;
  const named = new Set(undoing.compensations.flatMap(({ refersTo }) => refersTo));
  let part: PlannedNode | undefined = inside;
  for (; part !== undefined && part.node !== node; part = part.scope.container) {
    if (named.has(part)) return true;
  }
  return false;
}

/**
 * SW4014: retries of tools that may repeat a side effect. A retry of a container or a workflow repeats the calls in it.
 */
export function checkRetries({ graph, nodes }: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  const strategy = graph.errorStrategy?.kind === 'retry' ? graph.errorStrategy.retry : undefined;
  return nodes.flatMap(({ node }) => {
    // The strategy applies to calls; a container needs a retry of its own.
    const retry = node.retry ?? (isServerCall(node) ? strategy : undefined);
    if (retry === undefined || !(retry.extra > 0)) return [];
    const location = locationOfNode(node, graph);
    const tools = new Map(callsIn(node, environment).map((call) => [call.tool, call]));
    return [...tools.values()]
      .filter(({ tool }) => mayRepeatEffect(tool, environment))
      .map(({ tool, id }) =>
        diagnostic('SW4014', location, {
          ...{ step: node.id, tool, ...upstreamOf(tool, environment) },
          ...(id === node.id ? {} : { inside: id }),
        }),
      );
  });
}

/** The calls that an attempt of a node makes, those of workflows it runs included. */
function callsIn(node: Node, environment: CheckEnvironment): CallNode[] {
  const nodes = nodesOf({ nodes: [node] });
  const { graphs } = reachableFrom({ nodes }, environment);
  return [...nodes, ...graphs.flatMap(nodesOf)].filter(isServerCall);
}

function mayRepeatEffect(name: string, { tools }: CheckEnvironment): boolean {
  const tool = tools.get(name);
  // An unknown tool is SW4001.
  return tool !== undefined && toolSafetyOf(tool) === 'none';
}

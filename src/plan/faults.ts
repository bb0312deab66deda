import type { Node } from '../graph/kinds/node.js';
import type { RunTimeCode } from '../graph/run-time-codes.js';

/** Why a graph cannot run. `code` is stable, for programs; `message` is one sentence, for people. */
export interface PlanFailure {
  readonly code: RunTimeCode;
  readonly message: string;
}

/** A fault of the graph as a whole, found before anything runs. */
export interface PlanFault {
  readonly failure: PlanFailure;
  /** The node at fault, if it is at the top of the graph. */
  readonly node?: Node;
}

/** Every fault of a plan. */
export const planFailures = {
  /** A node needs a feature that this version lacks; without it the graph would mean something else. */
  unsupported: (node: string, executor: string): PlanFailure => ({
    code: 'E_UNSUPPORTED',
    message: `Node '${node}' has the executor '${executor}', which this version cannot run.`,
  }),
  /** Only the server undoes what it did. */
  clientCompensation: (node: string): PlanFailure => ({
    code: 'E_UNSUPPORTED',
    message: `Node '${node}' is work of the client, which has no \`compensate\`: undo it in a step of its own.`,
  }),
  /** A node has `onError` although its failure cannot be handled. */
  onError: (node: string, kind: string): PlanFailure => ({
    code: 'E_ON_ERROR_TYPE',
    message: `Node '${node}' is of kind '${kind}', whose failure has no fallback: it is how the workflow ends.`,
  }),
  /** A node's id has characters that are reserved for keys and command ids. */
  nodeId: (node: string): PlanFailure => ({
    code: 'E_GRAPH',
    message: `'${node}' is not a valid node id: it is empty or has one of / [ ] # @ : in it.`,
  }),
  /** Two arms of one node share an id. */
  duplicateArm: (node: string, arm: string): PlanFailure => ({
    code: 'E_GRAPH',
    message: `Node '${node}' has two arms named '${arm}'.`,
  }),
  /** A node selects itself, or a node outside its scope. */
  route: (node: string, target: string): PlanFailure => ({
    code: 'E_GRAPH',
    message: `Node '${node}' leads to '${target}', which is not another node of its scope.`,
  }),
  /** The `compensateNode` of a `parallel` is of another kind. */
  noCompensateNode: (node: string, target: string): PlanFailure => ({
    code: 'E_GRAPH',
    message: `Node '${node}' is undone by '${target}', which is not a compensate node.`,
  }),
  /** The target of a `goto` is not an earlier node of its scope. */
  gotoTarget: (node: string, target: string): PlanFailure => ({
    code: 'E_GRAPH',
    message: `Node '${node}' goes back to '${target}', which its scope does not declare before it.`,
  }),
  /** A node runs a workflow that the graph does not include. */
  unknownWorkflow: (node: string, workflow: string): PlanFailure => ({
    code: 'E_GRAPH',
    message: `Node '${node}' runs workflow '${workflow}', which the graph does not include.`,
  }),
  /** Two nodes of one workflow share an id. */
  duplicateNode: (node: string): PlanFailure => ({
    code: 'E_GRAPH',
    message: `The graph has two nodes named '${node}'.`,
  }),
  /** A node waits for a node that does not exist. */
  unknownNode: (node: string, target: string): PlanFailure => ({
    code: 'E_GRAPH',
    message: `Node '${node}' waits for '${target}', which the graph does not have.`,
  }),
  /** Nodes wait for each other. */
  cycle: (nodes: readonly string[]): PlanFailure => ({
    code: 'E_GRAPH',
    message: `These nodes wait for each other: ${nodes.join(', ')}.`,
  }),
} as const;

/**
 * Why a single node cannot run. To skip such a node silently would change the meaning of the run.
 *
 * @param workflows names of the workflows that the graph includes.
 */
export function faultOf(node: Node, workflows: ReadonlySet<string>): PlanFailure | undefined {
  const { id, kind } = node;
  if (node.executor === 'client') {
    if (kind !== 'call' && kind !== 'shell' && kind !== 'delegate')
      return planFailures.unsupported(id, node.executor);
    if (node.compensate !== undefined) return planFailures.clientCompensation(id);
  }
  if (node.onError !== undefined && (kind === 'error' || kind === 'return'))
    return planFailures.onError(id, kind);
  if (kind === 'workflow' && !workflows.has(node.workflow))
    return planFailures.unknownWorkflow(id, node.workflow);
  if (kind !== 'parallel' && kind !== 'branch') return undefined;
  const arms = armIdsOf(node);
  const twice = arms.find((arm, index) => arms.indexOf(arm) !== index);
  return twice === undefined ? undefined : planFailures.duplicateArm(id, twice);
}

/** The names of a node's arms or branches. */
export function armIdsOf(node: Node): string[] {
  if (node.kind === 'parallel') return node.branches.map(({ id }) => id);
  if (node.kind !== 'branch') return [];
  return [...node.cases, ...(node.else === undefined ? [] : [node.else])].map(({ id }) => id);
}

import { hashGraph } from '../../graph/canonical.js';
import { references } from '../../graph/expression/references.js';
import type { Expr } from '../../graph/expression/tree.js';
import type {
  CallNode,
  ComputeNode,
  ErrorNode,
  Graph,
  Node,
  ResourceNode,
  Retry,
  ReturnNode,
} from '../../graph/model.js';
import { sideExpressions, valueExpressions } from '../../graph/node-expressions.js';
import type { Failure } from './contract.js';
import { failures } from './failures.js';

/** How many calls, reads and evaluations are in flight at once where the graph does not say. */
const DEFAULT_MAX_CONCURRENCY = 10;

/** The kinds of node this engine runs. */
export type RunnableNode = CallNode | ResourceNode | ComputeNode | ErrorNode | ReturnNode;

/** A graph made ready to run: everything the engine looks up is one step away. */
export interface Plan {
  readonly graph: Graph;
  readonly hash: string;
  /** In declaration order. Empty where there is a `fault`. */
  readonly nodes: readonly PlannedNode[];
  readonly byId: ReadonlyMap<string, PlannedNode>;
  readonly maxConcurrency: number;
  readonly failFast: boolean;
  /** Why this engine cannot run the graph at all. */
  readonly fault?: GraphFault;
}

/** A node and its place in the order of the run. */
export interface PlannedNode {
  readonly node: RunnableNode;
  /** Place in declaration order, from 0. */
  readonly index: number;
  /** How many nodes must settle before this one is considered. */
  readonly waitsFor: number;
  /** The nodes whose states the join looks at. */
  readonly joins: readonly string[];
  /** Under the error strategy `collect`, the nodes without whose data this one is skipped, whatever the join says. */
  readonly needs: readonly string[];
  /** How often a failed attempt is repeated, where it is. */
  readonly retry?: Retry;
  /** The nodes that wait for this one, in declaration order. */
  readonly successors: readonly PlannedNode[];
}

/** A fault of the graph as a whole, found before anything runs. */
export interface GraphFault {
  readonly failure: Failure;
  /** The node at fault, where it is one. */
  readonly node?: Node;
}

const plans = new WeakMap<Graph, Plan>();

/** The plan of a graph, made once per graph object. A graph must not change afterwards. */
export function planOf(graph: Graph): Plan {
  const known = plans.get(graph);
  if (known !== undefined) return known;
  const plan = compile(graph);
  plans.set(graph, plan);
  return plan;
}

function compile(graph: Graph): Plan {
  const common = {
    graph,
    hash: hashGraph(graph),
    maxConcurrency: Math.max(1, graph.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY),
    failFast: graph.errorStrategy?.kind !== 'collect' && (graph.failFast ?? true),
  };
  const order = orderOf(graph);
  return order.ok ? { ...common, ...order } : { ...common, nodes: [], byId: new Map(), fault: order.fault };
}

type Order =
  | { readonly ok: true; readonly nodes: readonly PlannedNode[]; readonly byId: Plan['byId'] }
  | { readonly ok: false; readonly fault: GraphFault };

function orderOf(graph: Graph): Order {
  const unsupported = unsupportedIn(graph);
  if (unsupported !== undefined) return { ok: false, fault: unsupported };

  const building = new Map<string, PlannedNode & { readonly successors: PlannedNode[] }>();
  const waits = new Map<string, ReadonlySet<string>>();
  for (const [index, node] of graph.nodes.entries()) {
    if (!isRunnable(node)) {
      return { ok: false, fault: { node, failure: failures.nodeKind(node.id, node.kind) } };
    }
    if (building.has(node.id)) return { ok: false, fault: { failure: failures.duplicateNode(node.id) } };
    const edges = edgesOf(node);
    const needs = graph.errorStrategy?.kind === 'collect' ? [...edges.needs, ...presupposed(node)] : [];
    const retry = retryOf(node, graph);
    waits.set(node.id, edges.orders);
    building.set(node.id, {
      node,
      index,
      waitsFor: edges.orders.size,
      joins: [...edges.joins],
      needs,
      ...(retry === undefined ? {} : { retry }),
      successors: [],
    });
  }

  for (const planned of building.values()) {
    for (const target of waits.get(planned.node.id) ?? []) {
      const predecessor = building.get(target);
      if (predecessor === undefined) {
        return { ok: false, fault: { failure: failures.unknownNode(planned.node.id, target) } };
      }
      predecessor.successors.push(planned);
    }
  }
  const nodes = [...building.values()];
  const stuck = unreachableByOrder(nodes);
  if (stuck.length > 0) return { ok: false, fault: { failure: failures.cycle(stuck) } };
  return { ok: true, nodes, byId: building };
}

function isRunnable(node: Node): node is RunnableNode {
  switch (node.kind) {
    case 'call':
    case 'resource':
    case 'compute':
    case 'error':
    case 'return':
      return true;
    default:
      return false;
  }
}

/** Only calls and reads are repeated: whatever is computed comes out the same again. */
function retryOf(node: RunnableNode, { errorStrategy }: Graph): Retry | undefined {
  if (node.kind !== 'call' && node.kind !== 'resource') return undefined;
  return node.retry ?? (errorStrategy?.kind === 'retry' ? errorStrategy.retry : undefined);
}

/** A behaviour this engine lacks would change the meaning of the run if it were left out in silence. */
function unsupportedIn(graph: Graph): GraphFault | undefined {
  for (const node of graph.nodes) {
    const where = `Node '${node.id}'`;
    if (node.onError !== undefined && 'fallbackNode' in node.onError) {
      return { node, failure: failures.unsupported(where, 'onError: fallbackNode') };
    }
    if (node.onError !== undefined && (node.kind === 'error' || node.kind === 'return')) {
      return { node, failure: failures.onError(node.id, node.kind) };
    }
    if (node.compensate !== undefined) return { node, failure: failures.unsupported(where, 'compensate') };
    if (node.executor === 'client') return { node, failure: failures.unsupported(where, 'executor: client') };
  }
  return undefined;
}

/** The ids of the nodes a node names, by what naming them means. */
interface Edges {
  /** It waits for these. */
  readonly orders: ReadonlySet<string>;
  /** Their states count in the join. */
  readonly joins: ReadonlySet<string>;
  /** It cannot do without their data. */
  readonly needs: ReadonlySet<string>;
}

/**
 * What a node waits for. Everything it names orders; only `after` and the plain references of its values count in the
 * join. References in its condition, guidance and fallback, and those whose absence is provided for, order and no more.
 */
function edgesOf(node: RunnableNode): Edges {
  const needs = new Set<string>();
  const orders = new Set(node.after);
  for (const { step, guarded } of stepsIn(valueExpressions(node))) {
    orders.add(step);
    if (!guarded) needs.add(step);
  }
  for (const { step } of stepsIn(sideExpressions(node))) orders.add(step);
  return { orders, needs, joins: new Set([...node.after, ...needs]) };
}

/**
 * The steps whose success a condition takes for granted. To a check that ends the run these are all it names: what
 * never came is no finding.
 */
function presupposed({ kind, when }: RunnableNode): string[] {
  const named = when === undefined ? [] : [...stepsIn([when])];
  return named.filter(({ guarded }) => kind === 'error' || !guarded).map(({ step }) => step);
}

function* stepsIn(exprs: readonly Expr[]): Generator<{ step: string; guarded: boolean }> {
  for (const { ref, guarded } of exprs.flatMap(references)) {
    const [step] = ref.path;
    if (ref.root === 'steps' && step !== undefined) yield { step: String(step), guarded };
  }
}

/** Ids of the nodes no order of execution ever gets to, because they wait for each other. */
function unreachableByOrder(nodes: readonly PlannedNode[]): string[] {
  const left = new Map(nodes.map((planned) => [planned, planned.waitsFor]));
  const free = nodes.filter((planned) => planned.waitsFor === 0);
  for (let planned = free.pop(); planned !== undefined; planned = free.pop()) {
    left.delete(planned);
    for (const successor of planned.successors) {
      const waitsFor = (left.get(successor) ?? 0) - 1;
      left.set(successor, waitsFor);
      if (waitsFor === 0) free.push(successor);
    }
  }
  return [...left.keys()].map((planned) => planned.node.id);
}

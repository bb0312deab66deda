import { canonicalGraph, canonicalNode } from '../../../graph/canonical.js';
import type { Graph } from '../../../graph/model.js';
import { bodiesOf, nodesOf, withBodies } from '../../../graph/nodes.js';
import { type Plan, type PlannedNode, rollsBack } from '../../../plan/plan.js';

/** Compares the nodes of two plans. Keeps what it has found of each graph that they run. */
export class NodeComparison {
  readonly #from: Plan;
  readonly #to: Plan;
  readonly #tasks = new Map<string, boolean>();

  constructor(from: Plan, to: Plan) {
    this.#from = from;
    this.#to = to;
  }

  /** Whether two nodes are the same but for what is inside their bodies. */
  hasSameHeader(one: PlannedNode, other: PlannedNode): boolean {
    return header(one) === header(other);
  }

  /** Whether two nodes and everything that they run are the same. */
  isSame(one: PlannedNode, other: PlannedNode): boolean {
    if (canonicalNode(one.node) !== canonicalNode(other.node)) return false;
    return nodesOf({ nodes: [one.node] }).every(
      (node) => node.kind !== 'workflow' || this.hasSameTask(node.workflow),
    );
  }

  /** Whether a body and everything that it runs are the same. */
  hasSameBody(one: PlannedNode, other: PlannedNode, part: number): boolean {
    const [a, b] = [one, other].map(({ node }) => bodiesOf(node)[node.kind === 'foreach' ? 0 : part]);
    if (a === undefined || b === undefined) return a === b;
    const wrap = ({ scope }: typeof a): Graph =>
      ({ nodes: scope.nodes, value: scope.value }) as unknown as Graph;
    if (canonicalGraph(wrap(a)) !== canonicalGraph(wrap(b))) return false;
    return nodesOf(a.scope).every((node) => node.kind !== 'workflow' || this.hasSameTask(node.workflow));
  }

  /** Whether a workflow that nodes run is the same, with all that it runs. */
  hasSameTask(name: string): boolean {
    const known = this.#tasks.get(name);
    if (known !== undefined) return known;
    // A workflow may run itself.
    this.#tasks.set(name, true);
    const [one, other] = [this.#from, this.#to].map(({ tasks }) => tasks.get(name)?.graph);
    const isSame =
      one !== undefined &&
      other !== undefined &&
      canonicalGraph(one) === canonicalGraph(other) &&
      nodesOf(one).every((node) => node.kind !== 'workflow' || this.hasSameTask(node.workflow));
    this.#tasks.set(name, isSame);
    return isSame;
  }
}

/** Whether two nodes wait for the same nodes, and are selected by the same. */
export function hasSameEdges(one: PlannedNode, other: PlannedNode): boolean {
  return (
    isSelectedAlike(one, other) &&
    (['after', 'sources', 'orders', 'joins', 'needs', 'slice'] as const).every((edge) =>
      isSameList(one[edge], other[edge]),
    ) &&
    one.compensations.every(({ refersTo }, index) =>
      isSameList(refersTo, other.compensations[index]?.refersTo ?? []),
    ) &&
    (!rollsBack(one.node) ||
      (one.isRepeatable === other.isRepeatable && one.mayStartOver === other.mayStartOver))
  );
}

/** Whether two nodes are selected by the same nodes. */
export function isSelectedAlike(one: PlannedNode, other: PlannedNode): boolean {
  return (
    one.needsSelection === other.needsSelection &&
    isSameList(one.selectors, other.selectors) &&
    isSameList(one.routers, other.routers)
  );
}

type Nodes = readonly (PlannedNode | undefined)[];

function isSameList(one: Nodes, other: Nodes): boolean {
  const ids = (nodes: Nodes): string => JSON.stringify(nodes.map((each) => each?.node.id ?? null).sort());
  return one.length === other.length && ids(one) === ids(other);
}

function header({ node }: PlannedNode): string {
  return canonicalNode(withBodies(node, () => ({ nodes: [] })));
}

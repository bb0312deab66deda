import type { Expr } from '../graph/expression/tree.js';
import type { Graph, Node } from '../graph/model.js';
import { bodiesOf } from '../graph/node-expressions.js';

/** A list of nodes that run together: the root of a graph, or a body of one of its nodes. */
export interface PlacedScope {
  readonly nodes: readonly Placed[];
  /** What it hands out. */
  readonly value: Expr | undefined;
  /** The node it is a body of; missing for the root. */
  readonly owner?: Placed;
  /** The arm or branch it is, where the owner has several. */
  readonly arm?: string;
}

/** A node and where it stands. */
export interface Placed {
  readonly node: Node;
  readonly scope: PlacedScope;
  /** Its place in the scope. */
  readonly index: number;
  /** Its own bodies, in declaration order. */
  readonly bodies: readonly PlacedScope[];
}

/** A graph with an index of its nodes, as every family of checks needs it. */
export interface Subject {
  readonly graph: Graph;
  readonly root: PlacedScope;
  /** All of them, an outer scope before those in it. */
  readonly scopes: readonly PlacedScope[];
  /** Every node, a container before what stands in it. */
  readonly placed: readonly Placed[];
  /** By id; of two nodes with one id the first. */
  readonly nodes: ReadonlyMap<string, Placed>;
  /** The ids that more than one node has, which is SW4009: nobody knows which of them is meant. */
  readonly twice: ReadonlySet<string>;
}

export function subjectOf(graph: Graph): Subject {
  const scopes: PlacedScope[] = [];
  const placed: Placed[] = [];
  const nodes = new Map<string, Placed>();
  const twice = new Set<string>();

  const open = (
    within: Pick<PlacedScope, 'owner' | 'arm' | 'value'>,
    inside: readonly Node[],
  ): PlacedScope => {
    const opened = { ...within, nodes: [] as Placed[] };
    scopes.push(opened);
    for (const [index, node] of inside.entries()) {
      const bodies: PlacedScope[] = [];
      const here: Placed = { node, scope: opened, index, bodies };
      opened.nodes.push(here);
      placed.push(here);
      if (nodes.has(node.id)) twice.add(node.id);
      else nodes.set(node.id, here);
      for (const { arm, scope } of bodiesOf(node)) {
        const at = arm === undefined ? { owner: here } : { owner: here, arm };
        bodies.push(open({ ...at, value: scope.value }, scope.nodes));
      }
    }
    return opened;
  };
  const root = open({ value: graph.returns }, graph.nodes);
  return { graph, root, scopes, placed, nodes, twice };
}

/** Where something is read: by a node, or by the value of a scope when its nodes are done. */
export interface Reader {
  readonly scope: PlacedScope;
  readonly node?: Placed;
}

/** What a reader can make of a node that it names. */
export type Sight =
  /**
   * The node's value may be read. `source` is the node, or what it stands in, in the reader's own scope or one around
   * it; `user` is the reader there, or what it stands in, and missing for that scope's value.
   */
  | { readonly kind: 'seen'; readonly source: Placed; readonly user: Placed | undefined }
  /** It stands in a loop that the reader does not stand in: there is one of it for each item. */
  | { readonly kind: 'inLoop'; readonly loop: Placed }
  /** It stands in another arm of the same node: it never runs, or nobody knows when. */
  | { readonly kind: 'inOtherArm'; readonly of: Placed; readonly arm: string };

/**
 * Finds out whether a reader may read a node. It sees its own scope and those around it, and the bodies of branches and
 * parallels there, but into no loop.
 */
export function sightOf(target: Placed, reader: Reader): Sight {
  const users = new Map<PlacedScope, Placed | undefined>();
  users.set(reader.scope, reader.node);
  for (let { owner } = reader.scope; owner !== undefined; { owner } = owner.scope)
    users.set(owner.scope, owner);
  let source = target;
  let arm = '';
  while (!users.has(source.scope)) {
    const { owner } = source.scope;
    if (owner === undefined) break;
    if (owner.node.kind === 'foreach') return { kind: 'inLoop', loop: owner };
    arm = source.scope.arm ?? '';
    source = owner;
  }
  const user = users.get(source.scope);
  if (user === source && source !== target) return { kind: 'inOtherArm', of: source, arm };
  return { kind: 'seen', source, user };
}

/** The loops around a scope, the innermost first. */
export function loopsAround(scope: PlacedScope): Placed[] {
  const loops: Placed[] = [];
  for (let { owner } = scope; owner !== undefined; { owner } = owner.scope) {
    if (owner.node.kind === 'foreach') loops.push(owner);
  }
  return loops;
}

/** As a text names it: `the workflow`, ``arm `a` of step `x` ``. */
export function describeScope({ owner, arm }: PlacedScope): string {
  if (owner === undefined) return 'the workflow';
  return arm === undefined ? `loop \`${owner.node.id}\`` : `arm \`${arm}\` of step \`${owner.node.id}\``;
}

import type { Json } from '../graph/json.js';
import type { Node } from '../graph/kinds/node.js';
import type { Plan, PlannedNode, ScopePlan, WorkflowPlan } from './plan.js';

/** One workflow's part of a key: a node and the indices of the loops around it there, the outermost first. */
export interface KeyPart {
  readonly id: string;
  readonly indices: readonly number[];
}

/** Delimiters of keys and command ids, which an id must not contain. */
const RESERVED = /[/[\]#@:]/;

/** Whether a node may have this id: a key with it can be parsed. */
export function isPlainId(id: string): boolean {
  return id !== '' && !RESERVED.test(id);
}

/** The index that represents all items of a loop that have not begun, in a rehearsal of a run. */
export const ANY_ITEM = -1;

/** The key of a node under the workflow whose keys start with `prefix`. */
export function nodeKey(prefix: string, id: string, indices: readonly number[]): string {
  let key = prefix + id;
  for (const index of indices) key += `[${index}]`;
  return key;
}

/** Parses a node's key: the `workflow` nodes that it runs under, the outermost first, then the node itself. */
export function parseNodeKey(key: string): readonly KeyPart[] {
  return key.split('/').map((part) => {
    const [id = '', ...indices] = part.split('[');
    return { id, indices: indices.map((index) => Number.parseInt(index, 10)) };
  });
}

/** A workflow of a run: the one it was started on, or one that a `workflow` node runs. */
export interface WorkflowInstance<N = NodeInstance> {
  readonly plan: WorkflowPlan;
  /** The prefix of its nodes' keys. */
  readonly prefix: string;
  /** The number of nested workflows, this one included. */
  readonly depth: number;
  /** The node that runs it. */
  readonly node?: N;
}

/** The identity of a scope of a run. */
export interface ScopeAddress<N = NodeInstance> {
  /** `/` at the top, `both:left` for a branch, `line[3]` for an item of a loop, `sub/` for the workflow of a node. */
  readonly key: string;
  readonly plan: ScopePlan;
  readonly workflow: WorkflowInstance<N>;
  /** The item indices of the loops around it in its workflow, the outermost first. */
  readonly indices: readonly number[];
}

/** A list of nodes of a run: with the items of the loops around it. */
export interface ScopeInstance extends ScopeAddress {
  /** Its position in declaration order: the index and the part of each container around it. */
  readonly order: readonly number[];
  /** The node that it is a part of. `part` is the number of the part. */
  readonly container: NodeInstance | undefined;
  readonly part: number;
  /** Its nodes by index, created on demand. */
  readonly nodes: (NodeInstance | undefined)[];
}

/** A node of a run: with the items of the loops around it. */
export class NodeInstance {
  readonly key: string;
  readonly planned: PlannedNode;
  readonly scope: ScopeInstance;
  /** Its parts, created on demand. */
  parts: (ScopeInstance | undefined)[] | undefined;

  constructor(key: string, planned: PlannedNode, scope: ScopeInstance) {
    this.key = key;
    this.planned = planned;
    this.scope = scope;
    this.parts = undefined;
  }
}

/** The scope at the top of a run. */
export function rootAddress({ main }: Plan): ScopeAddress<never> {
  return { key: '/', plan: main.root, workflow: { plan: main, prefix: '', depth: 1 }, indices: [] };
}

/** Key of the scope of a part of a container. */
export function partKey(
  { key, planned }: { readonly key: string; readonly planned: PlannedNode },
  part: number,
): string {
  switch (planned.node.kind) {
    case 'workflow':
      return `${key}/`;
    case 'foreach':
      return `${key}[${part}]`;
    default:
      return `${key}:${planned.parts[part]?.arm}`;
  }
}

/**
 * The address of a part of a container: an arm's body, a branch, an item, or the workflow that it runs.
 *
 * @throws Error if it has no such part.
 */
export function partAddress<
  N extends { readonly key: string; readonly planned: PlannedNode; readonly scope: ScopeAddress<N> },
>(plan: Plan, container: N, part: number): ScopeAddress<N> {
  const { planned, scope } = container;
  const { node } = planned;
  const key = partKey(container, part);
  if (node.kind === 'workflow') {
    const called = plan.tasks.get(node.workflow);
    if (called === undefined) throw new Error(`the plan has no workflow '${node.workflow}'`);
    const workflow = { plan: called, prefix: key, depth: scope.workflow.depth + 1, node: container };
    return { key, plan: called.root, workflow, indices: [] };
  }
  const isLoop = node.kind === 'foreach';
  const body = planned.parts[isLoop ? 0 : part];
  if (body === undefined) throw new Error(`node '${container.key}' has no part ${part}`);
  const indices = isLoop ? [...scope.indices, part] : scope.indices;
  return { key, plan: body, workflow: scope.workflow, indices };
}

/** The nodes and scopes of a run. */
export interface InstanceTree<N, S> {
  /** The scope at the top. */
  readonly root: S;
  node(scope: S, planned: PlannedNode): N;
  /** A part of a container, as `partAddress` says. */
  part(container: N, part: number): S;
}

/** The node of a key, or `undefined` if this plan has none. */
export function findNode<N extends { readonly key: string }, S extends ScopeAddress<N>>(
  tree: InstanceTree<N, S>,
  key: string,
): N | undefined {
  let top = tree.root;
  const parts = parseNodeKey(key);
  for (const [position, { id, indices }] of parts.entries()) {
    const planned = top.workflow.plan.byId.get(id);
    if (planned === undefined || !indices.every((index) => index >= ANY_ITEM)) return undefined;
    const isLast = position === parts.length - 1;
    if (!isLast && planned.node.kind !== 'workflow') return undefined;
    const node = tree.node(findScope(tree, planned.scope, top, indices), planned);
    // The key may have too many or too few indices.
    if (isLast) return node.key === key ? node : undefined;
    top = tree.part(node, 0);
  }
  return undefined;
}

/** The instance of a planned scope in the workflow whose root scope is `top`. */
function findScope<N, S extends ScopeAddress<N>>(
  tree: InstanceTree<N, S>,
  plan: ScopePlan,
  top: S,
  indices: readonly number[],
): S {
  const { container } = plan;
  if (container === undefined) return top;
  const outer = tree.node(findScope(tree, container.scope, top, indices), container);
  if (container.node.kind !== 'foreach') return tree.part(outer, container.parts.indexOf(plan));
  return tree.part(outer, indices[container.scope.loops.length] ?? 0);
}

/**
 * Finds nodes and scopes of a run. They derive from the plan and their keys alone and hold no state: a key has one
 * instance.
 */
export class Instances implements InstanceTree<NodeInstance, ScopeInstance> {
  readonly root: ScopeInstance;
  readonly #plan: Plan;
  readonly #byKey = new Map<string, NodeInstance>();

  constructor(plan: Plan) {
    this.#plan = plan;
    const { key, plan: scope, workflow, indices } = rootAddress(plan);
    // Written out, without spread: each run has one.
    this.root = {
      key,
      plan: scope,
      workflow,
      indices,
      order: [],
      container: undefined,
      part: 0,
      nodes: [],
    };
  }

  node(scope: ScopeInstance, planned: PlannedNode): NodeInstance {
    const existing = scope.nodes[planned.index];
    return existing?.planned === planned ? existing : this.#makeNode(scope, planned);
  }

  #makeNode(scope: ScopeInstance, planned: PlannedNode): NodeInstance {
    const key = nodeKey(scope.workflow.prefix, planned.node.id, scope.indices);
    const node = new NodeInstance(key, planned, scope);
    scope.nodes[planned.index] = node;
    this.#byKey.set(key, node);
    return node;
  }

  part(container: NodeInstance, part: number): ScopeInstance {
    return container.parts?.[part] ?? this.#makePart(container, part);
  }

  #makePart(container: NodeInstance, part: number): ScopeInstance {
    const order = [...container.scope.order, container.planned.index, part];
    const address = partAddress(this.#plan, container, part);
    const instance: ScopeInstance = { ...address, order, container, part, nodes: [] };
    container.parts ??= [];
    container.parts[part] = instance;
    return instance;
  }

  /** The node of a key. @throws Error if the plan has no such node. */
  find(key: string): NodeInstance {
    const node = this.#byKey.get(key) ?? findNode(this, key);
    if (node === undefined) throw new Error(`the graph has no node '${key}'`);
    return node;
  }
}

/**
 * The key of the node `id` as a scope sees it, or `undefined` if that node is in a loop that the scope is not in.
 */
export function visibleKey(
  { workflow, plan, indices }: Pick<ScopeAddress<unknown>, 'workflow' | 'plan' | 'indices'>,
  id: string,
): string | undefined {
  const target = visibleIn(plan, id);
  return target && nodeKey(workflow.prefix, id, indices.slice(0, target.scope.loops.length));
}

/** The node of this name as a scope sees it; `undefined` if it is in a loop that the scope is not in. */
export function visibleIn(scope: ScopePlan, id: string): PlannedNode | undefined {
  const target = scope.workflow.byId.get(id);
  const depth = target?.scope.loops.length ?? 0;
  return depth === 0 || scope.loops[depth - 1] === target?.scope.loops[depth - 1] ? target : undefined;
}

/** Whether a node is a loop that binds this name: to its item or the results before, or to its index. */
export function bindsName(node: Node, root: 'item' | 'index', name: string): boolean {
  if (node.kind !== 'foreach') return false;
  return root === 'index' ? node.indexAs === name : node.as === name || node.resultsAs === name;
}

/** A workflow within a run, and the node that runs it. */
interface NestedWorkflow {
  readonly plan: Pick<WorkflowPlan, 'graph'>;
  readonly node?: { readonly scope: { readonly workflow: NestedWorkflow } } | undefined;
}

/**
 * The initial value of a state field: as declared by its workflow or the nearest workflow that runs it. What a workflow has
 * for itself is not that of the workflows that it runs.
 */
export function initialOf(workflow: NestedWorkflow, name: string): Json | undefined {
  for (
    let each: NestedWorkflow | undefined = workflow;
    each !== undefined;
    each = each.node?.scope.workflow
  ) {
    const field = each.plan.graph.state?.find((declared) => declared.name === name);
    if (field !== undefined && (each === workflow || field.scope === 'run')) return field.initial;
  }
  return undefined;
}

import { nodeKey, parseNodeKey } from '../../plan/node-key.js';
import type { Plan, PlannedNode, ScopePlan, WorkflowPlan } from '../../plan/plan.js';

/** A workflow of the run: the one it was started on, or one that a `workflow` node runs. */
export interface WorkflowInstance {
  readonly plan: WorkflowPlan;
  /** What the keys of its nodes start with. */
  readonly prefix: string;
  /** How many workflows stand inside each other here, this one included. */
  readonly depth: number;
  /** The node that runs it. */
  readonly node?: NodeInstance;
}

/** A list of nodes as it stands in the run: with the items of the loops around it. */
export interface ScopeInstance {
  readonly key: string;
  readonly plan: ScopePlan;
  readonly workflow: WorkflowInstance;
  /** Of the loops around it in its workflow, the outermost first. */
  readonly indices: readonly number[];
  /** Its place in declaration order: of each node around it the index, and which part of it comes next. */
  readonly order: readonly number[];
  /** The node it is a part of, and which one. */
  readonly container: NodeInstance | undefined;
  readonly part: number;
  /** Its nodes, by their place, as far as somebody has asked for them. */
  readonly nodes: (NodeInstance | undefined)[];
}

/** A node of a run: with the items of the loops around it. */
export class NodeInstance {
  readonly key: string;
  readonly planned: PlannedNode;
  readonly scope: ScopeInstance;
  /** Its parts, as far as somebody has asked for them. */
  parts: (ScopeInstance | undefined)[] | undefined;

  constructor(key: string, planned: PlannedNode, scope: ScopeInstance) {
    this.key = key;
    this.planned = planned;
    this.scope = scope;
    this.parts = undefined;
  }
}

/** Key of the scope at the top of a run. */
export const ROOT = '/';

/**
 * Finds nodes and scopes of a run. They are made from the plan and their keys alone, and hold no state: the same key gives
 * the same one.
 */
export class Instances {
  readonly #plan: Plan;
  readonly #root: ScopeInstance;
  readonly #byKey = new Map<string, NodeInstance>();

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#root = rootOf(plan);
  }

  /** The scope at the top. */
  get root(): ScopeInstance {
    return this.#root;
  }

  /** A node of a scope. */
  node(scope: ScopeInstance, planned: PlannedNode): NodeInstance {
    const known = scope.nodes[planned.index];
    return known?.planned === planned ? known : this.#makeNode(scope, planned);
  }

  #makeNode(scope: ScopeInstance, planned: PlannedNode): NodeInstance {
    const key = nodeKey(scope.workflow.prefix, planned.node.id, scope.indices);
    const node = new NodeInstance(key, planned, scope);
    scope.nodes[planned.index] = node;
    this.#byKey.set(key, node);
    return node;
  }

  /** A part of a container: an arm's body, a branch, an item, or the workflow that it runs. */
  part(container: NodeInstance, part: number): ScopeInstance {
    return container.parts?.[part] ?? this.#makePart(container, part);
  }

  #makePart(container: NodeInstance, part: number): ScopeInstance {
    const made = this.#partOf(container, part);
    container.parts ??= [];
    container.parts[part] = made;
    return made;
  }

  #partOf(container: NodeInstance, part: number): ScopeInstance {
    const { key, planned, scope } = container;
    const { node } = planned;
    const order = [...scope.order, planned.index, part];
    if (node.kind === 'workflow') {
      const plan = this.#plan.tasks.get(node.workflow);
      if (plan === undefined) throw new Error(`the plan has no workflow '${node.workflow}'`);
      const prefix = `${key}/`;
      const workflow = { plan, prefix, depth: scope.workflow.depth + 1, node: container };
      return { key: prefix, plan: plan.root, workflow, indices: [], order, container, part, nodes: [] };
    }
    const isLoop = node.kind === 'foreach';
    const plan = planned.parts[isLoop ? 0 : part];
    if (plan === undefined) throw new Error(`node '${key}' has no part ${part}`);
    return {
      key: isLoop ? `${key}[${part}]` : `${key}:${plan.arm}`,
      plan,
      workflow: scope.workflow,
      indices: isLoop ? [...scope.indices, part] : scope.indices,
      order,
      container,
      part,
      nodes: [],
    };
  }

  /** The node of a key. @throws Error for the key of no node of this plan. */
  find(key: string): NodeInstance {
    return this.#byKey.get(key) ?? this.#findByParts(key);
  }

  #findByParts(key: string): NodeInstance {
    let top = this.root;
    const parts = parseNodeKey(key);
    for (const [place, { id, indices }] of parts.entries()) {
      const planned = top.workflow.plan.byId.get(id);
      if (planned === undefined) break;
      const node = this.node(this.#scopeOf(planned.scope, top, indices), planned);
      if (place === parts.length - 1) return node;
      top = this.part(node, 0);
    }
    throw new Error(`the graph has no node '${key}'`);
  }

  /** The instance of a scope of the workflow at whose top `top` stands. */
  #scopeOf(plan: ScopePlan, top: ScopeInstance, indices: readonly number[]): ScopeInstance {
    const { container } = plan;
    if (container === undefined) return top;
    const outer = this.node(this.#scopeOf(container.scope, top, indices), container);
    if (container.node.kind !== 'foreach') return this.part(outer, container.parts.indexOf(plan));
    return this.part(outer, indices[container.scope.loops.length] ?? 0);
  }
}

function rootOf(plan: Plan): ScopeInstance {
  const workflow = { plan: plan.main, prefix: '', depth: 1 };
  const place = { indices: [], order: [], container: undefined, part: 0 };
  return { key: ROOT, plan: plan.main.root, workflow, ...place, nodes: [] };
}

/**
 * The key under which a node of `scope` sees the node `id` of its workflow; none where that stands in a loop the scope
 * is not in.
 */
export function visibleKey(
  {
    workflow,
    plan,
    indices,
  }: Pick<ScopeInstance, 'plan' | 'indices'> & {
    readonly workflow: Pick<WorkflowInstance, 'plan' | 'prefix'>;
  },
  id: string,
): string | undefined {
  const target = workflow.plan.byId.get(id);
  if (target === undefined) return undefined;
  const { loops } = target.scope;
  const depth = loops.length;
  if (depth === 0) return workflow.prefix + id;
  if (plan.loops[depth - 1] !== loops[depth - 1]) return undefined;
  return nodeKey(workflow.prefix, id, indices.slice(0, depth));
}

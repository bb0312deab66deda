import type { Expr } from './expression/tree.js';
import type { JsonSchema } from './json.js';
import { kinds } from './kinds/kinds.js';
import type { Compensation, Node, NodeKind, ResourceRef, Scope } from './kinds/node.js';
import type { CallNode, ForeachNode, Graph } from './model.js';

/** Something with a body perhaps: an arm of a branch, a branch of a `parallel`. */
interface ArmLike {
  readonly id: string;
  readonly body?: Scope;
}

const expressionKeys = listsByKind<true | string>(({ expressions }) => expressions);
const bodyKeys = listsByKind<'scope' | 'arm' | 'arms'>(({ bodies }) => bodies);

/** The entries of a descriptor's table, by kind: they are read for every node of every plan. */
function listsByKind<T>(
  tableOf: (descriptor: (typeof kinds)[NodeKind]) => Readonly<Record<string, T>>,
): Readonly<Record<NodeKind, readonly (readonly [key: string, how: T])[]>> {
  const lists = Object.entries(kinds).map(([kind, descriptor]) => [
    kind,
    Object.entries(tableOf(descriptor)),
  ]);
  return Object.fromEntries(lists) as Readonly<Record<NodeKind, [string, T][]>>;
}

function propertyOf(node: Node, key: string): unknown {
  return (node as unknown as Readonly<Record<string, unknown>>)[key];
}

/**
 * The expressions a node needs values for before it acts, in declaration order; those of nested scopes are not among
 * them. Its condition, its guidance and what follows a failure are separate: see `sideExpressions`.
 */
export function valueExpressions(node: Node): Expr[] {
  const expressions: Expr[] = [];
  for (const [key, inner] of expressionKeys[node.kind]) {
    const property = propertyOf(node, key);
    if (property === undefined) continue;
    if (inner === true) expressions.push(property as Expr);
    else
      for (const item of property as readonly Readonly<Record<string, Expr>>[])
        expressions.push(item[inner] as Expr);
  }
  return expressions;
}

/** The condition and the guidance of a node, and the value that replaces its failure. What they name only orders. */
export function sideExpressions(node: Node): Expr[] {
  const fallback = fallbackValue(node);
  // Most nodes have none of them.
  if (node.when === undefined && node.guidance === undefined && fallback === undefined) return [];
  return [node.when, node.guidance, fallback].filter((expr) => expr !== undefined);
}

/** The replacement for the value of a failed node; the only expression that may name the `error`. */
export function fallbackValue({ onError }: Node): Expr | undefined {
  return onError !== undefined && 'value' in onError ? onError.value : undefined;
}

/** The calls a node undoes with: that of its own effect, or the steps of a `compensate` node. */
export function compensationsOf(node: Node): readonly Compensation[] {
  if (node.kind === 'compensate') return node.steps;
  return node.compensate === undefined ? [] : [node.compensate];
}

/** The tools that several of these nodes call: their names do not tell the calls apart. */
export function repeatedTools(nodes: readonly Node[]): ReadonlySet<string> {
  const called = nodes.flatMap((node) => (node.kind === 'call' ? [node.tool] : []));
  return new Set(called.filter((tool, index) => called.indexOf(tool) !== index));
}

/** Every expression of a node itself, its summary and its compensations included; nested scopes are not. */
export function expressionsOf(node: Node): Expr[] {
  const expressions = valueExpressions(node);
  expressions.push(...sideExpressions(node));
  if (node.summary !== undefined) expressions.push(node.summary);
  for (const { input } of compensationsOf(node)) expressions.push(input);
  return expressions;
}

/** The nodes of a scope, in which a call that a question approves has the condition that the answer is yes. */
export function whenApproved(nodes: readonly Node[]): readonly Node[] {
  const questions = new Map(
    nodes.flatMap((node) =>
      node.kind === 'ask' && node.approves !== undefined ? [[node.approves, node.id] as const] : [],
    ),
  );
  if (questions.size === 0) return nodes;
  return nodes.map((node) => {
    const question = questions.get(node.id);
    if (question === undefined || node.kind !== 'call') return node;
    const isYes: Expr = { kind: 'ref', root: 'steps', path: [question, 'confirmed'], find: 'optional' };
    const { when } = node;
    const both: Expr = when === undefined ? isYes : { kind: 'and', truth: 'boolean', items: [isYes, when] };
    return { ...node, when: both };
  });
}

/** The resources that are read before a node acts. */
export function ownResources(node: Node): readonly ResourceRef[] {
  return ('resources' in node && node.resources) || NO_RESOURCES;
}

const NO_RESOURCES: readonly ResourceRef[] = [];

export interface Body {
  /** The arm or branch it is; missing for the one body of a loop. */
  readonly arm?: string;
  readonly scope: Scope;
}

/** The bodies of a node in declaration order; none for a node that is not a container. */
export function bodiesOf(node: Node): Body[] {
  const bodies: Body[] = [];
  for (const [key, how] of bodyKeys[node.kind]) {
    const property = propertyOf(node, key);
    if (property === undefined) continue;
    if (how === 'scope') bodies.push({ scope: property as Scope });
    else
      for (const arm of how === 'arm' ? [property as ArmLike] : (property as readonly ArmLike[])) {
        if (arm.body !== undefined) bodies.push({ arm: arm.id, scope: arm.body });
      }
  }
  return bodies;
}

export function failsByItem({ onItemError }: Pick<ForeachNode, 'onItemError'>): boolean {
  return onItemError === 'fail' || onItemError === 'settle';
}

/** Whether the first failed item ends its loop: no other starts, and running ones are stopped. */
export function stopsAtFailure({
  onItemError,
  concurrency,
}: Pick<ForeachNode, 'onItemError' | 'concurrency'>): boolean {
  return onItemError === 'fail' || (onItemError === 'settle' && concurrency === 1);
}

export function withBodies(node: Node, change: (scope: Scope) => Scope): Node {
  const changed: Record<string, unknown> = {};
  const changeArm = (arm: ArmLike): ArmLike =>
    arm.body === undefined ? arm : { ...arm, body: change(arm.body) };
  for (const [key, how] of bodyKeys[node.kind]) {
    const property = propertyOf(node, key);
    if (property === undefined) continue;
    if (how === 'scope') changed[key] = change(property as Scope);
    else
      changed[key] =
        how === 'arm' ? changeArm(property as ArmLike) : (property as readonly ArmLike[]).map(changeArm);
  }
  return { ...node, ...changed };
}

/** All nodes of a graph or scope, a container before its content. Other workflows are not looked into. */
export function nodesOf({ nodes }: { readonly nodes: readonly Node[] }): Node[] {
  const all: Node[] = [];
  const collect = (node: Node): void => {
    all.push(node);
    for (const { scope } of bodiesOf(node)) scope.nodes.forEach(collect);
  };
  nodes.forEach(collect);
  return all;
}

export function nodesWithTasks({ nodes, tasks = [] }: Pick<Graph, 'nodes' | 'tasks'>): Node[] {
  return [{ nodes }, ...tasks].flatMap(nodesOf);
}

/** Whether a node calls a tool of the server. */
export function isServerCall(node: Node): node is CallNode {
  return node.kind === 'call' && node.executor === 'server';
}

/** The tools of the server that a graph may call, those that undo and those of its tasks included. */
export function toolsIn(graph: Pick<Graph, 'nodes' | 'tasks'>): ReadonlySet<string> {
  const tools = new Set<string>();
  for (const node of nodesWithTasks(graph)) {
    if (isServerCall(node)) tools.add(node.tool);
    for (const { tool } of compensationsOf(node)) tools.add(tool);
  }
  return tools;
}

/**
 * A graph with everything it needs to run: each workflow that its `workflow` nodes name, directly or not, is among
 * its `tasks`, sorted by name and without tasks of its own. A workflow that runs itself is among them as well. What
 * `lookup` does not know is taken from the tasks the graph has already. A graph that runs no other comes back as it is.
 *
 * The same workflows give an equal graph. It visits all of them: keep the result where it is needed often.
 * @throws Error naming every workflow that is missing; the check has reported them (`SW4026`).
 */
export function bundle(graph: Graph, lookup: (name: string) => Graph | undefined): Graph {
  const own = new Map(graph.tasks?.map((task) => [task.name, task]));
  const bundled = new Map<string, Graph>();
  const missing = new Set<string>();
  const open = [...workflowsIn(graph)];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (bundled.has(name) || missing.has(name)) continue;
    const task = lookup(name) ?? own.get(name);
    if (task === undefined) missing.add(name);
    else {
      bundled.set(name, withoutTasks(task));
      open.push(...workflowsIn(task));
    }
  }
  if (missing.size > 0) {
    throw new Error(
      `workflow ${graph.name} runs workflows that are not there: ${[...missing].sort().join(', ')}`,
    );
  }
  if (bundled.size === 0) return graph;
  const tasks = [...bundled].sort(([one], [right]) => (one < right ? -1 : 1)).map(([, task]) => task);
  return { ...graph, tasks };
}

/** The workflows that a graph's own nodes name, nested ones included. */
export function workflowsIn(graph: Pick<Graph, 'nodes'>): ReadonlySet<string> {
  return new Set(nodesOf(graph).flatMap((node) => (node.kind === 'workflow' ? [node.workflow] : [])));
}

function withoutTasks({ tasks: _, ...task }: Graph): Graph {
  return task;
}

/** How a node may have settled. */
export const SETTLED_STATUSES = ['succeeded', 'failed', 'handled', 'skipped', 'cancelled'] as const;

export type SettledStatus = (typeof SETTLED_STATUSES)[number];

/** What references to `nodes` read of a node. `error` is the failure of the node, also if a fallback replaced it. */
export const SETTLED_NODE: JsonSchema = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: [...SETTLED_STATUSES] },
    error: {
      type: 'object',
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        attempts: { type: 'integer' },
        node: { type: 'string' },
      },
      required: ['code', 'message', 'attempts', 'node'],
      additionalProperties: false,
    },
  },
  required: ['status'],
  additionalProperties: false,
};

/** The expressions behind the parameters of work of the client, by their names. */
export function workExpressions(node: Node): Readonly<Record<string, Expr | undefined>> {
  if (node.executor !== 'client') return {};
  switch (node.kind) {
    case 'shell':
      return { command: node.command, argv: node.argv, env: node.env };
    case 'delegate':
      return { instructions: node.prompt };
    case 'call':
      return { args: node.input };
    default:
      return {};
  }
}

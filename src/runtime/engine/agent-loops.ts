import type { Json } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import type { ForeachNode } from '../../graph/model.js';
import { type NodeInstance, nodeKey, parseNodeKey, partKey } from '../../plan/instances.js';
import type { Failure, OwedCommand } from './events.js';
import { attemptId } from './identity.js';
import type { NodeRecord, ScopeRecord } from './records.js';
import type { RunState } from './state.js';

// Loops that have an agent: an agent drives each item. The engine runs them like other loops; hosts read here which items
// are open, and which actions belong to one.

/** One attempt of a loop with an agent, and its items that run. */
export interface AgentLoop {
  /** Key of the node. */
  readonly node: string;
  /** No other attempt of a loop in the run has the same. */
  readonly id: string;
  /** With `@` before the name. */
  readonly agent: string;
  /** Name of the workflow that each item runs, if the body is one. */
  readonly task?: string;
  /** How many items there are. */
  readonly count: number;
  /** In the order of their indexes. */
  readonly items: readonly AgentItem[];
}

/** An item of a loop with an agent. */
export interface AgentItem {
  /** No other item in the run has the same. */
  readonly id: string;
  /** Key of the loop. */
  readonly node: string;
  readonly agent: string;
  readonly task?: string;
  /** Counted from 0. */
  readonly index: number;
  readonly item: Json;
}

/** The loops with an agent that run, by key. Takes time for open items only. */
export function agentLoops(state: RunState): readonly AgentLoop[] {
  const loops: AgentLoop[] = [];
  for (const node of state.agentLoops.values()) {
    const { container, planned, key } = node;
    if (container === undefined || planned.node.kind !== 'foreach') continue;
    const about = aboutLoop(state, node, planned.node);
    const open = [...(container.openParts ?? [])].sort((one, other) => one - other);
    const items = open.map((index) => itemAt(about, index, container.items));
    loops.push({ ...about, node: key, count: container.end, items });
  }
  return loops.sort((one, other) => (one.node < other.node ? -1 : 1));
}

/** The item that a command belongs to, of the innermost loop with an agent around it. */
export function itemOf(state: RunState, { node: key }: Pick<OwedCommand, 'node'>): AgentItem | undefined {
  const node = state.lookup(key);
  for (let scope = node?.scope; scope?.container !== undefined; scope = scope.container.scope) {
    const { container: loop, part } = scope as ScopeRecord & { readonly container: NodeRecord };
    const model = loop.planned.node;
    if (model.kind === 'foreach' && model.agent !== undefined)
      return itemAt(aboutLoop(state, loop, model), part, loop.container?.items);
  }
  return undefined;
}

/** How an item has ended. */
export type EndedItem =
  | { readonly status: 'succeeded'; readonly value: Json }
  | { readonly status: 'failed'; readonly failure: Failure };

/** How an item of a loop that runs has ended; undefined if it has not. */
export function endedItem(state: RunState, loop: string, index: number): EndedItem | undefined {
  const node = state.agentLoops.get(loop);
  const container = node?.container;
  if (node === undefined || container === undefined || index >= container.next) return undefined;
  if (container.openParts?.has(index) === true) return undefined;
  const failure =
    index === container.failedPart ? container.failure : state.failedItems.get(partKey(node, index))?.failure;
  if (failure !== undefined) return { status: 'failed', failure };
  return { status: 'succeeded', value: container.values[index]?.value ?? null };
}

type About = Pick<AgentLoop, 'id' | 'node' | 'agent' | 'task'>;

function aboutLoop(state: RunState, node: NodeRecord, { agent = '', body }: ForeachNode): About {
  const [only, second] = body.nodes;
  const task = only?.kind === 'workflow' && second === undefined ? { task: only.workflow } : {};
  return { node: node.key, id: attemptId(state, node, node.attempt), agent, ...task };
}

function itemAt({ id, ...about }: About, index: number, items: readonly Json[] = []): AgentItem {
  return { ...about, id: `${id}[${index}]`, index, item: items[index] ?? null };
}

// What follows is for hosts, which show each agent the steps of its item and no others.

/** An item by its place. */
interface Item {
  /** Key of the loop. */
  readonly loop: string;
  /** From 0. */
  readonly index: number;
}

type DrivenLoop = ForeachNode & { readonly agent: string };

/** Whether agents drive the items of a node. */
export function isAgentLoop(node: Node): node is DrivenLoop {
  return node.kind === 'foreach' && node.agent !== undefined;
}

/** The innermost item of an agent that a node belongs to; undefined for a node of the caller of the run. */
export function agentItemOf(state: RunState, node: string): Item | undefined {
  const item = itemOf(state, { node });
  return item && { loop: item.node, index: item.index };
}

/** Whether two nodes are seen by the same agent, or both by the caller of the run. */
export function isSameItem(one: Item | undefined, other: Item | undefined): boolean {
  return one?.loop === other?.loop && one?.index === other?.index;
}

/** The workflow that the items of a loop run, where that is all they do. */
export function taskOf({ body }: DrivenLoop): string | undefined {
  const [only, ...others] = body.nodes;
  return others.length === 0 && only?.kind === 'workflow' ? only.workflow : undefined;
}

/** The key of a step as its agent knows it: without the loop, and without the node that runs the task. */
export function stepIdIn(
  { planned: { node }, key }: Pick<NodeInstance, 'planned' | 'key'>,
  step: string,
): string {
  const around = parseNodeKey(key);
  const [own, ...inner] = parseNodeKey(step).slice(around.length - 1);
  if (own === undefined) return step;
  const depth = (around.at(-1)?.indices.length ?? 0) + 1;
  const isTask = isAgentLoop(node) && taskOf(node) !== undefined && inner.length > 0;
  const parts = isTask ? inner : [{ id: own.id, indices: own.indices.slice(depth) }, ...inner];
  return parts.map(({ id, indices }) => nodeKey('', id, indices)).join('/');
}

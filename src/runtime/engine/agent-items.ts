import type { Node } from '../../graph/kinds/node.js';
import type { ForeachNode } from '../../graph/model.js';
import { type NodeInstance, nodeKey, parseNodeKey } from '../../plan/instances.js';
import { itemOf } from './agent-loops.js';
import type { RunState } from './state.js';

// An agent of a loop sees the steps of its item, as if they were a run, and no others.

/** An item of a loop that agents drive. */
interface AgentItem {
  /** Key of the loop. */
  readonly loop: string;
  /** From 0. */
  readonly index: number;
}

/** A loop that agents drive. */
type AgentLoop = ForeachNode & { readonly agent: string };

export function isAgentLoop(node: Node): node is AgentLoop {
  return node.kind === 'foreach' && node.agent !== undefined;
}

/** The innermost item of an agent that a node belongs to; undefined for a node of the caller of the run. */
export function agentItemOf(state: RunState, node: string): AgentItem | undefined {
  const item = itemOf(state, { node });
  return item && { loop: item.node, index: item.index };
}

/** Whether two nodes are seen by the same agent, or both by the caller of the run. */
export function isSameItem(one: AgentItem | undefined, other: AgentItem | undefined): boolean {
  return one?.loop === other?.loop && one?.index === other?.index;
}

/** The workflow that the items of a loop run, where that is all they do. */
export function taskOf({ body }: AgentLoop): string | undefined {
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

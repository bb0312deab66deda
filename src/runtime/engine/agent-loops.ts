import type { Node } from '../../graph/kinds/node.js';
import type { ForeachNode } from '../../graph/model.js';
import { type NodeInstance, nodeKey, parseNodeKey } from '../../plan/instances.js';
import type { RunState } from './state.js';

// The engine runs loops that have an agent like others. Hosts show the agent of an item the steps of this item, and no others.

/** An item of a loop that agents drive. */
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
  for (let scope = state.lookup(node)?.scope; scope?.container !== undefined; scope = scope.container.scope) {
    const { container, part } = scope;
    if (isAgentLoop(container.planned.node)) return { loop: container.key, index: part };
  }
  return undefined;
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

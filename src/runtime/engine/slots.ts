import type { NodeRecord } from './records.js';
import type { Transition } from './transition.js';

/** Whether another call, read or evaluation may be in flight. */
export function hasFreeSlot({ state, plan }: Transition): boolean {
  return state.running < plan.maxConcurrency;
}

/** Takes or gives back a slot. */
export function changeSlots({ state }: Transition, by: 1 | -1): void {
  state.running += by;
}

/** Puts a node at the end of the queue for a free slot. */
export function enterQueue(
  transition: Transition,
  node: NodeRecord,
  status: 'ready' | 'running' = 'ready',
): void {
  transition.change(node).status = status;
  node.queued = transition.nextSeq();
  transition.state.queue.add(node);
}

/** Takes the node that has waited longest out of the queue. */
export function nextInQueue(transition: Transition): NodeRecord | undefined {
  const node = transition.state.queue.first;
  if (node !== undefined) leaveQueue(transition, node);
  return node;
}

/** Takes a node out of the queue, wherever it is in it; one that is not is left alone. */
export function leaveQueue(transition: Transition, node: NodeRecord): void {
  if (node.queued === 0) return;
  transition.state.queue.remove(node);
  transition.change(node).queued = 0;
}

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
  node.set('queued', transition.nextSeq());
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
  if (node.details.queued === 0) return;
  transition.change(node).set('queued', 0);
  transition.state.queue.remove();
}

/** Of a queue that is empty. Never changed. */
const NONE: never[] = [];

/**
 * Nodes that wait for a free slot, in the order in which they came. A node that leaves stays in the list until its turn
 * comes: `node.details.queued` says whether it still waits, and since when.
 */
export class SlotQueue {
  #waiting: { readonly node: NodeRecord; readonly since: number }[] = NONE;
  #next = 0;
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** The node that has waited longest. */
  get first(): NodeRecord | undefined {
    for (; this.#next < this.#waiting.length; this.#next += 1) {
      const { node, since } = this.#waiting[this.#next] ?? {};
      if (node?.details.queued === since) return node;
    }
    return undefined;
  }

  /** Puts a node at the end. `node.details.queued` is its place, which is higher than those of all before it. */
  add(node: NodeRecord): void {
    if (this.#waiting === NONE) this.#waiting = [];
    this.#waiting.push({ node, since: node.details.queued });
    this.#size += 1;
  }

  /** A node leaves, wherever it is in the list. Those that have left are let go before they are most of it. */
  remove(): void {
    this.#size -= 1;
    if (this.#size === 0) {
      this.#waiting = NONE;
      this.#next = 0;
    } else if (this.#waiting.length > 2 * this.#size + FEW) {
      const left = this.#waiting.slice(this.#next).filter(({ node, since }) => node.details.queued === since);
      this.#waiting = left;
      this.#next = 0;
    }
  }
}

/** So many that have left are kept without looking. */
const FEW = 32;

/** Nodes to look at, handed out in declaration order whatever order they come in. */
export class ReadyQueue {
  /** The one that is next, where it is the only one: most often it is. */
  #only: NodeRecord | undefined;
  #nodes: NodeRecord[] | undefined;
  #next = 0;

  add(node: NodeRecord): void {
    if (this.size === 0) {
      this.#only = node;
      return;
    }
    const nodes = this.#all();
    const last = nodes[nodes.length - 1];
    if (last === undefined || !isBefore(node, last)) {
      nodes.push(node);
      return;
    }
    let low = this.#next;
    let high = nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = nodes[middle];
      if (other !== undefined && isBefore(other, node)) low = middle + 1;
      else high = middle;
    }
    nodes.splice(low, 0, node);
  }

  get size(): number {
    if (this.#only !== undefined) return 1;
    return this.#nodes === undefined ? 0 : this.#nodes.length - this.#next;
  }

  /** Keys of those that were not handed out, in order. */
  keys(): string[] {
    if (this.#only !== undefined) return [this.#only.key];
    return this.#nodes?.slice(this.#next).map(({ key }) => key) ?? [];
  }

  take(): NodeRecord | undefined {
    const only = this.#only;
    if (only !== undefined) {
      this.#only = undefined;
      return only;
    }
    const nodes = this.#nodes;
    const node = nodes?.[this.#next];
    if (nodes === undefined || node === undefined) return undefined;
    this.#next += 1;
    if (this.#next < nodes.length) return node;
    // All were handed out: the next ones begin from the front.
    nodes.length = 0;
    this.#next = 0;
    return node;
  }

  /** As a list: there will be more than one. */
  #all(): NodeRecord[] {
    this.#nodes ??= [];
    if (this.#only !== undefined) this.#nodes.push(this.#only);
    this.#only = undefined;
    return this.#nodes;
  }
}

/** Where a part of the order is equal, one node contains the other and comes first. */
function isBefore(one: NodeRecord, other: NodeRecord): boolean {
  const depth = Math.min(one.scope.order.length, other.scope.order.length);
  for (let place = 0; place < depth; place += 1) {
    const difference = (one.scope.order[place] ?? 0) - (other.scope.order[place] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  const [left, right] = [
    one.scope.order[depth] ?? one.planned.index,
    other.scope.order[depth] ?? other.planned.index,
  ];
  return left < right || (left === right && one.scope.order.length < other.scope.order.length);
}

import type { NodeRecord } from './records.js';

/** Nodes that wait for a free slot, in the order in which they came. */
export class ReadyQueue {
  /** By their place in the order of the run. None before the first one waits. */
  #nodes: Map<number, NodeRecord> | undefined;

  get isEmpty(): boolean {
    return this.#nodes === undefined || this.#nodes.size === 0;
  }

  /** The node that has waited longest. */
  get first(): NodeRecord | undefined {
    for (const node of this.#nodes?.values() ?? []) return node;
    return undefined;
  }

  /** Puts a node at the end. `node.queued` is its place, which is higher than those of all before it. */
  add(node: NodeRecord): void {
    this.#nodes ??= new Map();
    this.#nodes.set(node.queued, node);
  }

  /** Takes a node out, wherever it is. */
  remove(node: NodeRecord): void {
    this.#nodes?.delete(node.queued);
  }
}

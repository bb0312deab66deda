import type { NodeRecord } from './records.js';

/** Nodes to look at, handed out in declaration order whatever order they come in. */
export class StartQueue {
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

/** Where a part of the order is equal, one node stands around the other and comes first. */
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

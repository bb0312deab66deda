import type { NodeRecord } from './records.js';

/** Nodes to look at, handed out in declaration order whatever order they come in. */
export class StartQueue {
  readonly #nodes: NodeRecord[] = [];
  #next = 0;

  add(node: NodeRecord): void {
    const last = this.#nodes[this.#nodes.length - 1];
    if (last === undefined || !isBefore(node, last)) {
      this.#nodes.push(node);
      return;
    }
    let low = this.#next;
    let high = this.#nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#nodes[middle];
      if (other !== undefined && isBefore(other, node)) low = middle + 1;
      else high = middle;
    }
    this.#nodes.splice(low, 0, node);
  }

  clear(): void {
    this.#nodes.length = 0;
    this.#next = 0;
  }

  get size(): number {
    return this.#nodes.length - this.#next;
  }

  /** Keys of those that were not handed out, in order. */
  keys(): string[] {
    return this.#nodes.slice(this.#next).map(({ key }) => key);
  }

  take(): NodeRecord | undefined {
    const node = this.#nodes[this.#next];
    if (node === undefined) return undefined;
    this.#next += 1;
    if (this.#next < this.#nodes.length) return node;
    // All were handed out: the next ones begin from the front.
    this.#nodes.length = 0;
    this.#next = 0;
    return node;
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

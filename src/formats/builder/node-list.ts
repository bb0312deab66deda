import type { JoinRule, Node } from '../../graph/model.js';

/** What is said of a node besides its place in the order. */
type Bare<N> = N extends Node ? Omit<N, 'after' | 'join' | 'executor'> : never;

/** Nodes that follow each other. */
export class NodeList {
  readonly all: Node[] = [];
  readonly #join: JoinRule;

  /** @param join how a node joins with the one before it. */
  constructor(join: JoinRule) {
    this.#join = join;
  }

  add(node: Bare<Node>): void {
    const after = this.all.slice(-1).map(({ id }) => id);
    this.all.push({ ...node, after, join: this.#join, executor: 'server' });
  }
}

import type { Expr } from '../../src/graph/expression/tree.js';
import type { Compensation, Node, Scope } from '../../src/graph/model.js';

/** The bodies of a node. */
export function scopesIn(node: Node): Scope[] {
  switch (node.kind) {
    case 'branch': {
      const arms = node.else === undefined ? node.cases : [...node.cases, node.else];
      return arms.flatMap((arm) => ('body' in arm ? [arm.body] : []));
    }
    case 'parallel':
      return node.branches.map(({ body }) => body);
    case 'foreach':
      return [node.body];
    default:
      return [];
  }
}

/** A node and all that stands in it. */
export function withInner(node: Node): Node[] {
  return [node, ...scopesIn(node).flatMap(({ nodes }) => nodes.flatMap(withInner))];
}

/** The expressions a node cannot act without. */
export function neededBy(node: Node): Expr[] {
  switch (node.kind) {
    case 'call':
    case 'workflow':
      return [node.input];
    case 'resource':
      return [node.uri];
    case 'compute':
    case 'return':
      return [node.value];
    case 'error':
      return [node.message];
    case 'foreach':
      return [node.items];
    case 'branch':
      return node.cases.map(({ when }) => when);
    case 'set':
      return node.updates.map(({ value }) => value);
    case 'ask':
      return given(node.message, node.options);
    case 'wait':
      return given(node.durationMs, node.until);
    default:
      return [];
  }
}

/** The expressions of a node that only order: its condition, its guidance, the value that stands in for a failure. */
export function orderedBy({ when, guidance, onError }: Node): Expr[] {
  return given(when, guidance, onError !== undefined && 'value' in onError ? onError.value : undefined);
}

/** How a node undoes: its own effect, or the steps of a `compensate` node. */
export function undoneBy(node: Node): readonly Compensation[] {
  if (node.kind === 'compensate') return node.steps;
  return node.compensate === undefined ? [] : [node.compensate];
}

function given(...expressions: readonly (Expr | undefined)[]): Expr[] {
  return expressions.filter((expr) => expr !== undefined);
}

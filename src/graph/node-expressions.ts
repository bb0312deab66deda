import type { Expr } from './expression/tree.js';
import type { Node } from './model.js';
import { unreachable } from './unreachable.js';

/**
 * The expressions a node needs values for before it acts, in declaration order; those of nested scopes are not among
 * them. Its condition, its guidance and what follows a failure stand apart: see `sideExpressions`.
 */
export function valueExpressions(node: Node): Expr[] {
  switch (node.kind) {
    case 'call':
    case 'workflow':
      return [node.input];
    case 'resource':
      return [node.uri];
    case 'return':
    case 'compute':
      return [node.value];
    case 'error':
      return [node.message];
    case 'branch':
      return node.cases.map((branch) => branch.when);
    case 'foreach':
      return [node.items];
    case 'ask':
      return present(node.message, node.options);
    case 'shell':
      return present(node.command, node.argv, node.env);
    case 'delegate':
      return [node.prompt];
    case 'wait':
      return present(node.durationMs, node.until);
    case 'set':
      return node.updates.map((update) => update.value);
    case 'parallel':
    case 'goto':
    case 'compensate':
      return [];
    default:
      return unreachable(node);
  }
}

/** The condition and the guidance of a node, and the value that stands in for its failure. What they name only orders. */
export function sideExpressions(node: Node): Expr[] {
  return present(node.when, node.guidance, fallbackValue(node));
}

/** What stands in for the value of a node that failed; the only expression that may name the `error`. */
export function fallbackValue({ onError }: Node): Expr | undefined {
  return onError !== undefined && 'value' in onError ? onError.value : undefined;
}

function present(...parts: readonly (Expr | undefined)[]): Expr[] {
  return parts.filter((part) => part !== undefined);
}

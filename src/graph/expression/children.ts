import { unreachable } from '../unreachable.js';
import type { Expr } from './tree.js';

/** A part of a tree, and whether its position provides for the absence of what it names. */
export interface Child {
  readonly expr: Expr;
  /**
   * True for the test of a condition, every operand of `and`/`or` but the last, every argument of `coalesce` but the
   * last, the argument of `isNullish`, and what an optional `get` reads from.
   */
  readonly guarded: boolean;
}

/** The direct parts of a tree, in written order. */
export function childrenOf(expr: Expr): Child[] {
  switch (expr.kind) {
    case 'literal':
    case 'ref':
      return [];
    case 'get':
      return [{ expr: expr.of, guarded: expr.optional === true }, ...plain(expr.key)];
    case 'slice':
      return plain(expr.of, expr.start, expr.end, expr.step);
    case 'compare':
      return plain(expr.left, ...expr.ops.map((link) => link.right));
    case 'and':
    case 'or':
      return allButLast(expr.items);
    case 'not':
    case 'negate':
      return plain(expr.of);
    case 'arithmetic':
      return plain(expr.left, expr.right);
    case 'conditional':
      return [{ expr: expr.test, guarded: true }, ...plain(expr.then, expr.else)];
    case 'list':
      return plain(...expr.items.map((item) => item.value));
    case 'dict':
      return plain(...expr.entries.map((entry) => ('key' in entry ? entry.value : entry.spread)));
    case 'call': {
      const named = plain(...(expr.named ?? []).map((arg) => arg.value));
      if (expr.fn === 'coalesce') return [...allButLast(expr.args), ...named];
      return [...expr.args.map((arg) => ({ expr: arg, guarded: expr.fn === 'isNullish' })), ...named];
    }
    case 'text':
      return plain(...expr.parts.filter((part) => typeof part !== 'string'));
    case 'each':
      return plain(expr.in, expr.where, expr.body);
    case 'let':
      return plain(expr.value, expr.body);
    default:
      return unreachable(expr);
  }
}

function plain(...parts: readonly (Expr | undefined)[]): Child[] {
  return parts.filter((part) => part !== undefined).map((expr) => ({ expr, guarded: false }));
}

function allButLast(items: readonly Expr[]): Child[] {
  return items.map((expr, index) => ({ expr, guarded: index < items.length - 1 }));
}

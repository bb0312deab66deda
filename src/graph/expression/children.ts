import { unreachable } from '../unreachable.js';
import type { EachExpr, Expr } from './tree.js';

/** A part of a tree, and whether its position provides for the absence of what it names. */
export interface Child {
  readonly expr: Expr;
  /**
   * True for the test of a condition, every operand of `and`/`or` but the last, every argument of `coalesce` but the
   * last, the argument of `isNullish`, and the subject of an optional link.
   */
  readonly guarded: boolean;
  /** The local names that are known in this part because of the tree it is in. */
  readonly binds?: readonly string[];
}

/** The direct parts of a tree, in written order. */
export function childrenOf(expr: Expr): Child[] {
  switch (expr.kind) {
    case 'literal':
    case 'ref':
      return [];
    case 'get':
      return [subject(expr.of, expr), ...plain(expr.key)];
    case 'slice':
      return [subject(expr.of, expr), ...plain(expr.start, expr.end, expr.step)];
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
      const [first, ...others] = expr.args;
      if (first === undefined) return named;
      const isGuarded = expr.fn === 'isNullish' || expr.optional === true;
      return [{ expr: first, guarded: isGuarded }, ...plain(...others), ...named];
    }
    case 'text':
      return plain(...expr.parts.filter((part) => typeof part !== 'string'));
    case 'each':
      return [subject(expr.in, expr), { expr: expr.body, guarded: false, binds: localsOf(expr) }];
    case 'let':
      return [...plain(expr.value), { expr: expr.body, guarded: false, binds: [expr.name] }];
    default:
      return unreachable(expr);
  }
}

function subject(expr: Expr, link: { readonly optional?: true }): Child {
  return { expr, guarded: link.optional === true };
}

function localsOf({ as, indexAs }: EachExpr): readonly string[] {
  return indexAs === undefined ? [as] : [as, indexAs];
}

function plain(...parts: readonly (Expr | undefined)[]): Child[] {
  return parts.filter((part) => part !== undefined).map((expr) => ({ expr, guarded: false }));
}

function allButLast(items: readonly Expr[]): Child[] {
  return items.map((expr, index) => ({ expr, guarded: index < items.length - 1 }));
}

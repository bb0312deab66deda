import { expressionFunctions, isMethodCall } from '../../graph/expression/functions.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { ExpressionSyntax } from '../syntax.js';

/** Reads a key. A constant key of a plain reference lengthens its path. */
export function get(
  of: Expr,
  constant: string | number | undefined,
  key: Expr,
  { place, optional }: Extract<ExpressionSyntax, { kind: 'property' | 'element' }>,
): Expr {
  const at = place.span;
  if (of.kind === 'ref' && constant !== undefined && !optional)
    return { ...of, at, path: [...of.path, constant] };
  return { kind: 'get', at, of, key, ...(optional ? { optional } : {}) };
}

/** The key as a path segment: a name or an index. */
export function constantKey(key: Expr): string | number | undefined {
  const value = key.kind === 'literal' ? key.value : undefined;
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Whether a chain of links may end early, at a `?.` in it. */
export function hasOptional(expr: Expr): boolean {
  const subject = subjectOf(expr);
  return subject !== undefined && (subject.optional || hasOptional(subject.of));
}

/** What stands before the last link of a chain. */
function subjectOf(expr: Expr): { readonly of: Expr; readonly optional: boolean } | undefined {
  switch (expr.kind) {
    case 'get':
    case 'slice':
      return { of: expr.of, optional: expr.optional === true };
    case 'each':
      return { of: expr.in, optional: expr.optional === true };
    case 'call': {
      const [of] = isMethodCall(expr) ? expr.args : [];
      return of && { of, optional: expr.optional === true };
    }
    default:
      return undefined;
  }
}

/** Whether an expression is a boolean whatever its parts are. */
export function isBoolean(expr: Expr): boolean {
  switch (expr.kind) {
    case 'compare':
    case 'not':
      return true;
    case 'literal':
      return typeof expr.value === 'boolean';
    case 'call':
      return expressionFunctions.get(expr.fn)?.result === 'boolean' && !hasOptional(expr);
    case 'each':
      return (expr.mode === 'some' || expr.mode === 'every') && !hasOptional(expr);
    case 'and':
    case 'or':
      return expr.items.every(isBoolean);
    case 'conditional':
      return isBoolean(expr.then) && expr.else !== undefined && isBoolean(expr.else);
    default:
      return false;
  }
}

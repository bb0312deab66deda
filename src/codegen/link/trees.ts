import { expressionFunctions, isMethodCall } from '../../graph/expression/functions.js';
import type { Expr } from '../../graph/expression/tree.js';

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

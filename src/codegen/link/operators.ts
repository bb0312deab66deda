import { expressionFunctions, isMethodCall } from '../../graph/expression/functions.js';
import type { ArithmeticOp, CompareOp, Expr, Truth } from '../../graph/expression/tree.js';
import type { ExpressionSyntax } from '../syntax.js';
import { unwrap } from '../verbs.js';

/** JavaScript's truth: what the conditions of TypeScript mean. */
export const TRUTH: Truth = 'truthy.js';

export const COMPARISONS: ReadonlyMap<string, CompareOp> = new Map([
  ['===', 'eq.strict'],
  ['!==', 'ne.strict'],
  ['<', 'lt.js'],
  ['<=', 'le.js'],
  ['>', 'gt.js'],
  ['>=', 'ge.js'],
]);

export const ARITHMETIC: ReadonlyMap<string, ArithmeticOp> = new Map([
  ['+', 'add.js'],
  ['-', 'sub'],
  ['*', 'mul'],
  ['/', 'div'],
  ['%', 'mod.js'],
  ['**', 'pow'],
]);

/** The opposite of a condition. */
export function negate(of: Expr): Expr {
  return { kind: 'not', truth: TRUTH, of, ...(of.at === undefined ? {} : { at: of.at }) };
}

/** Takes off a double negation that was only there to make a boolean. */
export function negateOnce(condition: Expr): Expr {
  const isDouble = condition.kind === 'not' && condition.of.kind === 'not';
  return isDouble ? condition.of : negate(condition);
}

/** Holds when all conditions hold; nothing for no condition. */
export function allOf(conditions: readonly Expr[]): Expr | undefined {
  const [only] = conditions;
  return conditions.length <= 1 ? only : { kind: 'and', truth: TRUTH, items: conditions };
}

/** A value that is absent unless the conditions hold. */
export function onlyIf(conditions: readonly Expr[], then: Expr): Expr {
  const test = allOf(conditions);
  return test === undefined ? then : { kind: 'conditional', truth: 'boolean', test, then };
}

/** Whether an expression is `null` or `undefined`, written out. */
export function isNullLiteral(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  return inner.kind === 'undefined' || (inner.kind === 'literal' && inner.value === null);
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

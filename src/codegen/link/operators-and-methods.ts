import { defined } from '../../graph/defined.js';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { expressionFunctions, expressionMethods, isMethodCall } from '../../graph/expression/functions.js';
import type { ArithmeticOp, CompareOp, EachExpr, Expr, Truth } from '../../graph/expression/tree.js';
import { didYouMean, nearestName } from '../../graph/names.js';
import type { ExpressionSyntax } from '../syntax.js';
import { type CallSyntax, calleeName, symbolOf, unwrap, verbOf } from '../verbs.js';

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
  return { kind: 'not', truth: TRUTH, of, ...defined({ at: of.at }) };
}

/** The opposite of a condition, without a double negation that only made it a boolean. */
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

/** The object of the last link of a chain. */
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

/** How a method of JavaScript's strings and arrays is stored. */
export type Method =
  /** With `isFlat` the items of the results become one list. */
  | { readonly kind: 'each'; readonly mode: EachExpr['mode']; readonly isFlat?: true }
  | { readonly kind: 'slice'; readonly max: 2 }
  /** By a position that is written out it is a slice, by another one a function. */
  | { readonly kind: 'at' }
  | { readonly kind: 'function'; readonly fn: string; readonly min: number; readonly max: number };

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['map', { kind: 'each', mode: 'map' }],
  ['flatMap', { kind: 'each', mode: 'map', isFlat: true }],
  ['filter', { kind: 'each', mode: 'filter' }],
  ['find', { kind: 'each', mode: 'find' }],
  ['some', { kind: 'each', mode: 'some' }],
  ['every', { kind: 'each', mode: 'every' }],
  ['slice', { kind: 'slice', max: 2 }],
  ...[...expressionMethods].map(([name, { name: fn, arity }]): [string, Method] => [
    name,
    // The arity includes the object before the dot.
    { kind: 'function', fn, min: arity.min - 1, max: (arity.max ?? Number.POSITIVE_INFINITY) - 1 },
  ]),
  ['at', { kind: 'at' }],
]);

/** The method of a name; nothing for one that cannot be stored. */
export function methodOf(name: string): Method | undefined {
  return METHODS.get(name);
}

/** Replacements for methods that cannot be stored. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  [
    'forEach',
    'an expression has no effects: give each item to a step with `forEach(list, (item) => call(…))`',
  ],
  ['indexOf', 'ask with `.includes(…)` whether it is there'],
  ['substring', 'write `.slice(start, end)`'],
  ['substr', 'write `.slice(start, end)`'],
  ['toString', 'write a template literal, in backticks'],
]);

/** A hint for a method that cannot be stored, where it says more than the diagnostic's own. */
export function hintForMethod(name: string): string | undefined {
  const instead = INSTEAD.get(name);
  if (instead !== undefined) return instead;
  const near = nearestName(name, METHODS.keys());
  // Short names are near to each other: only one that differs by case or a letter was meant.
  return name.length > 3 ? didYouMean(near, (method) => `\`.${method}\``) : undefined;
}

/** Replacements for the functions of `Promise`. */
const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['all', 'write `parallel({ first: call(…), second: call(…) })`'],
  ['allSettled', "write `parallel({ first: call(…), second: call(…) }, { onPartialFailure: 'continue' })`"],
  ['any', 'try one step after the other: `attempt(call(…), (error) => call(…))`'],
  ['race', 'steps do not race each other: limit the time of one with `@Step({ timeoutMs: 5_000 })`'],
  ['resolve', 'write the value itself'],
  ['reject', "write `fail('…')`"],
]);

/** Reports promises and their methods: a step waits by itself, and its name is the value. */
export function promiseFault(call: CallSyntax): Diagnostic | undefined {
  const callee = unwrap(call.callee);
  if (callee.kind !== 'property' || callee.symbol !== undefined) return undefined;
  const { name, object, namePlace } = callee;
  const of = symbolOf(object);
  if (of?.kind === 'other' && of.name === 'Promise' && of.file === undefined) {
    const hint = FUNCTIONS.get(name) ?? 'leave it out: a step waits by itself';
    return diagnostic('SW2009', callee.place, { what: `\`Promise.${name}\`` }, { hint });
  }
  const hint = hintForHandler(name, unwrap(object));
  if (hint === undefined) return undefined;
  return diagnostic('SW2009', namePlace, { what: `\`.${name}(…)\`` }, { hint });
}

/** What to write instead of a promise's method; nothing for other methods. */
function hintForHandler(name: string, object: CallSyntax['callee']): string | undefined {
  const step =
    object.kind === 'call' && verbOf(object) !== undefined ? `${calleeName(object)}(…)` : undefined;
  switch (name) {
    case 'then':
      return step === undefined
        ? 'use the value itself: it is there when the step runs'
        : `write \`chain(${step}, (value) => …)\`, or read from \`this.name\` in a later step`;
    case 'catch':
      return `write \`attempt(${step ?? 'call(…)'}, (error) => …)\``;
    case 'finally':
      return 'write it as the next step: steps run one after the other';
    default:
      return undefined;
  }
}

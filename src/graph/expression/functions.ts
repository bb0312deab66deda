import type { Value } from '../json.js';
import type { Span } from '../place.js';
import type { ArgumentKind } from './arguments.js';
import type { Budget } from './budget.js';
import { javascriptMethods } from './javascript-methods.js';
import type { Made } from './made.js';
import type { CallExpr } from './tree.js';
import { uriFunctions } from './uri-functions.js';
import { isNullish } from './value.js';

/**
 * The functions an expression may call. An arrow never is an argument: functions over the items of a list (`map`,
 * `filter`, `find`, `some`, `every`) are the tree's own kind `each`, which binds the names of the arrow's parameters
 * and holds its body. `.length` is a `get`, and `.slice` the kind `slice`.
 */

/** What a function gives: the first of its arguments that is there, or always a value of one kind. */
export type ResultKind = 'first argument' | 'boolean' | 'text' | 'list of texts';

/** All there is to say about a function: codegen, the checker and the evaluator have no list of their own. */
interface FunctionBase {
  readonly name: string;
  /** How many arguments it takes; without `max` there is no upper limit. */
  readonly arity: { readonly min: number; readonly max?: number };
  readonly result: ResultKind;
}

/** Evaluates its own arguments, and only those it needs. `cost` is in budget units, beside the arguments' own. */
interface LazyFunction extends FunctionBase {
  readonly lazy: true;
  readonly cost: (argumentCount: number) => number;
  readonly apply: (args: readonly (() => Value)[]) => Value;
}

/** Is given values, which are checked against `takes` before. */
export interface EagerFunction extends FunctionBase {
  readonly lazy: false;
  /** What authors call it as a method: a link of a chain, whose first argument is what stands before the dot. */
  readonly method?: string;
  /** By position. */
  readonly takes: readonly ArgumentKind[];
  /** Charges the budget for what it touches and for what it makes, before it does either. */
  readonly apply: (args: readonly Value[], call: FunctionCall) => Value;
}

/** What a function works with beside its arguments. */
export interface FunctionCall {
  readonly budget: Budget;
  readonly made: Made;
  readonly at?: Span | undefined;
}

export type ExpressionFunction = LazyFunction | EagerFunction;

/** The first argument that is neither null nor absent; else the last one. JavaScript's `??`. */
const coalesce: LazyFunction = {
  name: 'coalesce',
  arity: { min: 1 },
  result: 'first argument',
  lazy: true,
  cost: (argumentCount) => argumentCount,
  apply: (args) => {
    let value: Value;
    for (const arg of args) {
      value = arg();
      if (!isNullish(value)) return value;
    }
    return value;
  },
};

/** True for null and for absent. */
const isNullishFunction: EagerFunction = {
  name: 'isNullish',
  arity: { min: 1, max: 1 },
  result: 'boolean',
  lazy: false,
  takes: ['any'],
  apply: (args, { budget, at }) => {
    budget.charge(1, at);
    return isNullish(args[0]);
  },
};

/** Every function an expression may call, by name. Closed: a graph cannot add to it. */
export const expressionFunctions: ReadonlyMap<string, ExpressionFunction> = new Map(
  [coalesce, isNullishFunction, ...javascriptMethods, ...uriFunctions].map(
    (fn): [string, ExpressionFunction] => [fn.name, fn],
  ),
);

/** The functions that authors call as methods, by the name of the method. */
export const expressionMethods: ReadonlyMap<string, EagerFunction> = new Map(
  javascriptMethods.flatMap((fn) => (fn.method === undefined ? [] : [[fn.method, fn]])),
);

/** Whether a call is a link of a chain. */
export function isMethodCall({ fn }: CallExpr): boolean {
  const known = expressionFunctions.get(fn);
  return known !== undefined && !known.lazy && known.method !== undefined;
}

/** Whether a function may be given this many arguments. */
export function takesArguments(fn: ExpressionFunction, count: number): boolean {
  return count >= fn.arity.min && count <= (fn.arity.max ?? Number.POSITIVE_INFINITY);
}

/** `1 argument`, `at least 1 argument`, `2 to 3 arguments`. */
export function describeArity({ arity: { min, max } }: ExpressionFunction): string {
  const noun = (max ?? min) === 1 ? 'argument' : 'arguments';
  if (max === undefined) return `at least ${min} ${noun}`;
  return min === max ? `${min} ${noun}` : `${min} to ${max} ${noun}`;
}

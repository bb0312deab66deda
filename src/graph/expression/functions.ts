import type { Value } from '../json.js';
import { isNullish } from './value.js';

/** Changes when a function is added or its meaning changes. */
export const EXPRESSION_FUNCTIONS_VERSION = 1;

interface FunctionBase {
  readonly name: string;
  /** How many arguments it takes; without `max` there is no upper limit. */
  readonly arity: { readonly min: number; readonly max?: number };
}

/** Evaluates its own arguments, and only those it needs. `cost` is in budget units, beside the arguments' own. */
export interface LazyFunction extends FunctionBase {
  readonly lazy: true;
  readonly cost: (argumentCount: number) => number;
  readonly apply: (args: readonly (() => Value)[]) => Value;
}

/** Is given values. `cost` is in budget units, and is charged before the function runs. */
export interface EagerFunction extends FunctionBase {
  readonly lazy: false;
  readonly cost: (args: readonly Value[]) => number;
  readonly apply: (args: readonly Value[]) => Value;
}

export type ExpressionFunction = LazyFunction | EagerFunction;

/** The first argument that is neither null nor absent; else the last one. JavaScript's `??`. */
const coalesce: LazyFunction = {
  name: 'coalesce',
  arity: { min: 1 },
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
  lazy: false,
  cost: () => 1,
  apply: (args) => isNullish(args[0]),
};

/** Every function an expression may call, by name. Closed: a graph cannot add to it. */
export const expressionFunctions: ReadonlyMap<string, ExpressionFunction> = new Map(
  [coalesce, isNullishFunction].map((fn): [string, ExpressionFunction] => [fn.name, fn]),
);

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

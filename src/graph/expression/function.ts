import type { Value } from '../json.js';
import type { Span } from '../source-location.js';
import type { Allocations } from './allocations.js';
import type { Budget } from './error.js';
import type { Expr } from './tree.js';

/**
 * What a function gives: the first of its arguments that is there, an item of its argument if it has one, a list of the
 * items of the lists in its argument, or always a value of one kind.
 */
export type ResultKind =
  | 'first argument'
  | 'boolean'
  | 'number'
  | 'text'
  | 'list of texts'
  | 'item'
  | 'items of items'
  | 'any';

/** All there is to say about a function: codegen, the checker and the evaluator have no list of their own. */
interface FunctionBase {
  readonly name: string;
  /** How many arguments it takes; without `max` there is no upper limit. */
  readonly arity: { readonly min: number; readonly max?: number };
  readonly result: ResultKind;
}

/** Evaluates its own arguments, and only those it needs. `cost` is in budget units, beside the arguments' own. */
export interface LazyFunction extends FunctionBase {
  readonly lazy: true;
  readonly cost: (argumentCount: number) => number;
  readonly apply: (args: readonly (() => Value)[]) => Value;
}

/** Is given values, which are checked against `takes` before. */
export interface EagerFunction extends FunctionBase {
  readonly lazy: false;
  /** What authors call it as a method: a link of a chain. Its first argument is the value before the dot. */
  readonly method?: string;
  /** By position. */
  readonly takes: readonly ArgumentKind[];
  /** Charges the budget for what it touches and for what it makes, before it does either. */
  readonly apply: (args: readonly Value[], call: FunctionCall) => Value;
}

/** What a function works with beside its arguments. */
export interface FunctionCall {
  readonly budget: Budget;
  readonly allocations: Allocations;
  readonly at?: Span | undefined;
  /** What the arguments were evaluated from. */
  readonly written?: readonly Expr[];
}

export type ExpressionFunction = LazyFunction | EagerFunction;

/** What an argument of a function may be. With a `?` it may be absent as well, given as absent or left out. */
export type ArgumentKind =
  | 'any'
  | 'text'
  | 'list'
  | 'object'
  | 'text or list'
  | 'text, list or object'
  | 'text?'
  | 'number?';

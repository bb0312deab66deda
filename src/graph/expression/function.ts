import type { Json, Value } from '../json.js';
import type { Span } from '../source-location.js';

import type { Budget } from './error.js';
import type { Expr } from './tree.js';
import { chargeWhole, isComposite, PythonValue } from './value.js';

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

/** Shorter texts are not worth counting. */
const LONG_TEXT = 64;

/**
 * The lists and objects that one evaluation makes. While it lasts they may hold absent items and properties, as
 * JavaScript's do; `finish` takes those out. Each one is charged by its size with everything made inside it, so that a
 * value that names one part again and again costs what it would take up when it is written out.
 */
export class Allocations {
  readonly #budget: Budget;
  /** The first one and its size, which mostly is the only one, and those of the others. */
  #first: object | undefined;
  #firstSize = 0;
  #sizes: Map<object, number> | undefined;
  /** Something was put in that JSON does not have. */
  #hasAbsent = false;
  /** Something was put in that counts once for each occurrence. */
  #hasParts = false;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Makes a list of items, absent ones among them. @throws ExpressionError `E_BUDGET` */
  list(items: readonly Value[], at?: Span): Json {
    this.#register(items, items, at);
    return items as Json;
  }

  /** Makes an object of one with absent values, which becomes its own. @throws ExpressionError `E_BUDGET` */
  object(properties: Readonly<Record<string, Value>>, at?: Span): Json {
    this.#register(properties, Object.values(properties), at);
    return properties as Json;
  }

  /**
   * The value as JSON: absent items null, absent properties gone, values of Python as JSON has them. What occurs in it more than once is charged for each
   * time but the first. @throws ExpressionError `E_BUDGET`, `E_DEPTH`
   */
  finish(value: Value, at?: Span): Value {
    if (PythonValue.is(value)) return value.toJSON();
    if (!isComposite(value) || !this.#isMade(value)) return value;
    if (this.#hasParts) this.#chargeCopies(value, at);
    return this.#hasAbsent ? this.#withoutAbsent(value, new Map()) : value;
  }

  #register(created: object, parts: readonly Value[], at: Span | undefined): void {
    let size = parts.length;
    for (const part of parts) {
      if (part === undefined || PythonValue.is(part)) this.#hasAbsent = true;
      else if (isRepeatable(part)) this.#hasParts = true;
      if (isComposite(part)) size += this.#sizeOf(part) ?? 0;
    }
    this.#budget.charge(size, at);
    if (this.#first === undefined) {
      this.#first = created;
      this.#firstSize = size;
      return;
    }
    this.#sizes ??= new Map();
    this.#sizes.set(created, size);
  }

  /** The size of a value that this evaluation created; `undefined` for other values. */
  #sizeOf(value: object): number | undefined {
    return value === this.#first ? this.#firstSize : this.#sizes?.get(value);
  }

  #isMade(value: object): boolean {
    return this.#sizeOf(value) !== undefined;
  }

  #chargeCopies(value: object, at: Span | undefined): void {
    const visited = new Set<Value>();
    const visit = (part: Value): void => {
      if (isComposite(part) && this.#isMade(part)) {
        for (const inner of Object.values(part)) visit(inner);
      } else if (isRepeatable(part)) {
        if (visited.has(part)) chargeWhole(part, this.#budget, at);
        else visited.add(part);
      }
    };
    visit(value as Json);
  }

  /** Only values that this evaluation created can hold absent values. A part that occurs twice stays one part. */
  #withoutAbsent(value: Value, copies: Map<object, Json>): Json {
    if (PythonValue.is(value)) return value.toJSON();
    if (!isComposite(value) || !this.#isMade(value)) return value ?? null;
    const copy = copies.get(value);
    if (copy !== undefined) return copy;
    const clean: Json = Array.isArray(value)
      ? value.map((item: Value) => this.#withoutAbsent(item, copies))
      : Object.fromEntries(
          Object.entries(value as Readonly<Record<string, Value>>)
            .filter(([, item]) => item !== undefined)
            .map(([key, item]) => [key, this.#withoutAbsent(item, copies)]),
        );
    copies.set(value, clean);
    return clean;
  }
}

/** Whether each further occurrence takes up space again. */
function isRepeatable(part: Value): boolean {
  return isComposite(part) || (typeof part === 'string' && part.length > LONG_TEXT);
}

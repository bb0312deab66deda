import type { Json, Value } from '../json.js';
import type { Span } from '../place.js';
import type { Budget } from './budget.js';
import { chargeWhole, isComposite } from './value.js';

/** Shorter texts are not worth counting. */
const LONG_TEXT = 64;

/**
 * The lists and objects that one evaluation makes. While it lasts they may hold absent items and properties, as
 * JavaScript's do; `finish` takes those out. Each one is charged by its size with everything made inside it, so that a
 * value that names one part again and again costs what it would take up when it is written out.
 */
export class Made {
  readonly #budget: Budget;
  readonly #sizes = new Map<object, number>();
  #hasAbsent = false;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Makes a list of items, absent ones among them. @throws ExpressionError `E_BUDGET` */
  list(items: readonly Value[], at?: Span): Json {
    this.#register(items, items, at);
    return items as Json;
  }

  /** Makes an object, absent values among its entries. @throws ExpressionError `E_BUDGET` */
  object(entries: ReadonlyMap<string, Value>, at?: Span): Json {
    // Defines own properties, `__proto__` included; assignment would set the prototype.
    const object: object = Object.fromEntries(entries);
    this.#register(object, entries.values(), at);
    return object as Json;
  }

  /**
   * The value as JSON: absent items null, absent properties gone. What stands in it more than once is charged for each
   * time but the first. @throws ExpressionError `E_BUDGET`, `E_DEPTH`
   */
  finish(value: Value, at?: Span): Value {
    if (!isComposite(value) || !this.#sizes.has(value)) return value;
    this.#chargeCopies(value, at);
    return this.#hasAbsent ? this.#withoutAbsent(value, new Map()) : value;
  }

  #register(made: object, parts: Iterable<Value>, at: Span | undefined): void {
    let size = 0;
    for (const part of parts) {
      size += 1 + (isComposite(part) ? (this.#sizes.get(part) ?? 0) : 0);
      if (part === undefined) this.#hasAbsent = true;
    }
    this.#budget.charge(size, at);
    this.#sizes.set(made, size);
  }

  #chargeCopies(value: object, at: Span | undefined): void {
    const seen = new Set<Value>();
    const visit = (part: Value): void => {
      if (isComposite(part) && this.#sizes.has(part)) {
        for (const inner of Object.values(part)) visit(inner);
      } else if (isComposite(part) || (typeof part === 'string' && part.length > LONG_TEXT)) {
        if (seen.has(part)) chargeWhole(part, this.#budget, at);
        else seen.add(part);
      }
    };
    visit(value as Json);
  }

  /** Only what was made here can hold absent values. A part that stands in two places stays one part. */
  #withoutAbsent(value: Value, done: Map<object, Json>): Json {
    if (!isComposite(value) || !this.#sizes.has(value)) return value ?? null;
    const known = done.get(value);
    if (known !== undefined) return known;
    const clean: Json = Array.isArray(value)
      ? value.map((item: Value) => this.#withoutAbsent(item, done))
      : Object.fromEntries(
          Object.entries(value as Readonly<Record<string, Value>>)
            .filter(([, item]) => item !== undefined)
            .map(([key, item]) => [key, this.#withoutAbsent(item, done)]),
        );
    done.set(value, clean);
    return clean;
  }
}

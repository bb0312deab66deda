import { type Json, type JsonObject, unreachable, type Value } from '../json.js';
import type { Span } from '../source-location.js';
import { type Budget, expressionError } from './error.js';
import type { Truth } from './tree.js';

/** Data nested deeper than this is refused before recursion meets the end of the stack. */
const MAX_DATA_DEPTH = 1000;

/**
 * A value of Python that JSON has no kind for. It lives while a tree is evaluated, and is plain JSON in the result. It has
 * no properties of its own, so that nothing can be read from it.
 */
export abstract class PythonValue {
  /** What it is in the result of an expression. */
  abstract toJSON(): Json;

  readonly #brand = true;

  static is(value: unknown): value is PythonValue {
    // Asks no prototype: what data inherits is never looked at.
    return typeof value === 'object' && value !== null && #brand in value;
  }
}

export function isNullish(value: Value): value is null | undefined {
  return value === null || value === undefined;
}

/** True for a list or an object. */
export function isComposite(value: Value): value is readonly Json[] | JsonObject {
  return typeof value === 'object' && value !== null && !PythonValue.is(value);
}

/** Names a value's kind as a sentence needs it: `absent`, `null`, `a list`, `text`. */
export function describeKind(value: Value): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'a boolean';
    default:
      return 'an object';
  }
}

/** Whether a value counts as true. @throws ExpressionError `E_NOT_A_BOOLEAN` */
export function isTrue(value: Value, truth: Truth, at?: Span): boolean {
  switch (truth) {
    case 'truthy.js':
      return Boolean(value);
    case 'boolean':
      if (typeof value !== 'boolean') {
        if (isUnknown(value)) return true;
        throw expressionError('E_NOT_A_BOOLEAN', { actual: describeKind(value) }, at);
      }
      return value;
    case 'truthy.py': {
      if (PythonValue.is(value)) return value.toJSON() !== 0;
      return isComposite(value) ? isUnknown(value) || Object.keys(value).length > 0 : Boolean(value);
    }
    default:
      return unreachable(truth);
  }
}

/**
 * Reads an own property of an object, an item or the length of a list or text. What is not there is absent;
 * inherited members are never reached.
 * @param of names what is read from, for the error's sentence.
 * @param why ends that sentence.
 * @throws ExpressionError `E_NOT_AN_OBJECT` for null, absent, booleans, numbers, and for names on text.
 */
export function readProperty(
  value: Value,
  key: string | number,
  of: () => string,
  at?: Span,
  why: () => string = () => '',
): Value {
  if (typeof value === 'object' && value !== null) {
    if (Object.hasOwn(value, key)) return (value as Readonly<Record<string | number, Value>>)[key];
    return isUnknown(value) ? value.at(key) : undefined;
  }
  if (typeof value === 'string') {
    if (key === 'length') return value.length;
    const index = Number(key);
    if (typeof key === 'number' || (Number.isInteger(index) && String(index) === key)) {
      return Number.isInteger(index) && index >= 0 && index < value.length ? value[index] : undefined;
    }
  }
  throw expressionError(
    'E_NOT_AN_OBJECT',
    { key: String(key), of: of(), actual: describeKind(value), why: why() },
    at,
  );
}

/** Reads an item of a list by its index, or an own property of an object; nothing else has parts. */
export function readPart(value: Value, key: string | number): Value {
  if (isUnknown(value)) return value.at(key);
  if (typeof value !== 'object' || value === null) return undefined;
  const isItem = !Array.isArray(value) || typeof key === 'number' || /^(?:0|[1-9][0-9]*)$/.test(key);
  return isItem && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string | number, Value>>)[key]
    : undefined;
}

/** The error of a function that was given a value of another kind. */
export function argumentType(fn: string, takes: string, value: Value, at?: Span): Error {
  return expressionError('E_ARGUMENT_TYPE', { fn, takes, actual: describeKind(value) }, at);
}

/** Charges for every item, entry and character of a value. @throws ExpressionError `E_BUDGET`, `E_DEPTH` */
export function chargeWhole(value: Value, budget: Budget, at?: Span, depth = 0): void {
  if (typeof value === 'string') {
    budget.charge(1 + value.length, at);
    return;
  }
  budget.charge(1, at);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= MAX_DATA_DEPTH) {
    throw expressionError('E_DEPTH', { what: 'the data', limit: MAX_DATA_DEPTH }, at);
  }
  if (Array.isArray(value)) {
    for (const item of value) chargeWhole(item, budget, at, depth + 1);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    budget.charge(key.length, at);
    chargeWhole(item, budget, at, depth + 1);
  }
}

type Path = readonly (string | number)[];

/** What is known of a value that a call to come will give. */
export interface UnknownOptions {
  /** What it derives from: names of steps and inputs, as a reader knows them. */
  readonly sources: readonly string[];
  /** The placeholder for what is read from the value by a path. Default: that of a computed value. */
  readonly text?: (path: Path) => string;
  /** No call to come will give it. Whatever is computed from it is lost as well. Default: false. */
  readonly isUnavailable?: boolean;
}

/**
 * A value that is not known yet. The evaluator carries it through lists, objects, texts and paths; what an operator or a
 * function makes of it is unknown as well, and as a condition it counts as true. Only dry runs hold such values: a run
 * that has a host never meets one. It has no properties of its own, so that what is read from it is never taken for data.
 */
export class Unknown {
  readonly #options: UnknownOptions;
  readonly #path: Path;

  private constructor(options: UnknownOptions, path: Path = []) {
    this.#options = options;
    this.#path = path;
  }

  static is(value: unknown): value is Unknown {
    // Asks no prototype: what data inherits is never looked at.
    return typeof value === 'object' && value !== null && #options in value;
  }

  static value(options: UnknownOptions): Json {
    return asJson(new Unknown(options));
  }

  get sources(): readonly string[] {
    return this.#options.sources;
  }

  get isUnavailable(): boolean {
    return this.#options.isUnavailable === true;
  }

  at(key: string | number): Json {
    return this.#options.text === undefined
      ? asJson(this)
      : asJson(new Unknown(this.#options, [...this.#path, key]));
  }

  toJSON(): string {
    return this.#options.text?.(this.#path) ?? describeComputed(this.sources);
  }
}

export function isUnknown(value: unknown): value is Unknown {
  return Unknown.is(value);
}

/** The placeholder of a value that is computed from others. */
function describeComputed(sources: readonly string[]): string {
  return `<value computed from ${sources.join(', ')}>`;
}

/** The result of an operator with unknown operands; `undefined` if all operands are known. */
export function unknownOf(...values: readonly unknown[]): Json | undefined {
  const unknown = values.filter(isUnknown);
  return unknown.length === 0 ? undefined : Unknown.value(jointOrigin(unknown));
}

function jointOrigin(unknown: readonly Unknown[]): Pick<Unknown, 'sources' | 'isUnavailable'> {
  return {
    sources: [...new Set(unknown.flatMap(({ sources }) => sources))],
    isUnavailable: unknown.some(({ isUnavailable }) => isUnavailable),
  };
}

/** A text some of whose parts are not known. Nothing can be read from it before they are. */
export function unknownText(parts: readonly (string | Unknown)[]): Json {
  const origin = jointOrigin(parts.filter((part) => typeof part !== 'string'));
  return Unknown.value({
    ...origin,
    text: (path) =>
      path.length > 0
        ? describeComputed(origin.sources)
        : parts.map((part) => (typeof part === 'string' ? part : part.toJSON())).join(''),
  });
}

/** The unknown values inside a value, itself included. */
export function unknownIn(value: Value): Unknown[] {
  if (isUnknown(value)) return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(unknownIn);
}

function asJson(unknown: Unknown): Json {
  return unknown as unknown as Json;
}

/**
 * The one rule of texts: text, numbers and booleans become a part of it, and no other value does.
 *
 * @param of names the value, for the error's sentence.
 * @throws ExpressionError `E_TEXT_VALUE` for null, absent, lists and objects; `E_BUDGET`
 */
export function toText(value: Value, of: () => string, budget: Budget, at?: Span): string {
  if (isUnknown(value)) return value.toJSON();
  if (isNullish(value) || isComposite(value))
    throw expressionError('E_TEXT_VALUE', { of: of(), actual: describeKind(value) }, at);
  const text = String(value);
  budget.charge(1 + (typeof value === 'string' ? text.length : 0), at);
  return text;
}

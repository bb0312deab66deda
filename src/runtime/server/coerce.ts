import { isJsonObject, type Json, type JsonSchema } from '../../graph/json.js';
import { expectedWords, valueWords } from './texts.js';

/** The value a text stands for, or what it should have been. */
export type Coerced =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly expected: string };

/**
 * Reads a prompt argument, which is text on the wire, as the type its schema asks for: numbers must be finite, decimal
 * and not written out beyond 2^53 - 1, where they would be rounded, booleans are `true/1/yes` and `false/0/no` in any case, lists and objects are JSON, text stays as it is.
 * Bounds, patterns and formats are left to the schema's own validation.
 */
export function coerce(text: string, schema: JsonSchema): Coerced {
  const readings = readingsOf(schema);
  const refusals: string[] = [];
  for (const reading of readings) {
    const coerced = read(text, reading);
    if (coerced.ok) return coerced;
    refusals.push(coerced.expected);
  }
  return { ok: false, expected: expectedWords.oneOfTypes([...new Set(refusals)]) };
}

/** How the type of an argument is told to a person; absent where any text will do. */
export function describeType(schema: JsonSchema): string | undefined {
  const words = new Set(readingsOf(schema).map(wordsOf));
  return words.has(undefined) ? undefined : [...words].join(' or ');
}

/** The texts that stand for the values of a schema, where there are few; nothing where there are many. */
export function choicesOf(schema: JsonSchema): readonly string[] | undefined {
  const choices = readingsOf(schema).map((reading) => {
    if (reading.kind === 'values') return reading.values.map(textOf);
    return reading.kind === 'boolean' ? ['true', 'false'] : undefined;
  });
  const known = choices.filter((values) => values !== undefined);
  return known.length === choices.length ? known.flat() : undefined;
}

type Reading =
  | { readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null' }
  | { readonly kind: 'values'; readonly values: readonly Json[] };

/** The ways to read a text under a schema, text last: it would accept everything the others can read. */
function readingsOf(schema: JsonSchema): readonly Reading[] {
  const { enum: values, const: constant, type, anyOf, oneOf } = schema;
  if (Array.isArray(values)) return [{ kind: 'values', values }];
  if (constant !== undefined) return [{ kind: 'values', values: [constant] }];
  const alternatives = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(alternatives)) return textLast(alternatives.filter(isJsonObject).flatMap(readingsOf));
  return textLast((Array.isArray(type) ? type : [type]).map(readingOfType));
}

function textLast(readings: readonly Reading[]): readonly Reading[] {
  return [...readings.filter((r) => r.kind !== 'text'), ...readings.filter((r) => r.kind === 'text')];
}

function readingOfType(type: Json | undefined): Reading {
  switch (type) {
    case 'number':
    case 'integer':
    case 'boolean':
    case 'array':
    case 'object':
    case 'null':
      return { kind: type };
    default:
      return { kind: 'text' };
  }
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const whole = /^[+-]?\d+$/;

function read(text: string, reading: Reading): Coerced {
  switch (reading.kind) {
    case 'text':
      return { ok: true, value: text };
    case 'number':
      return readNumber(text);
    case 'integer':
      return whole.test(text) ? readNumber(text) : { ok: false, expected: expectedWords.integer };
    case 'boolean':
      return readBoolean(text);
    case 'array':
      return readJson(text, Array.isArray, expectedWords.array);
    case 'object':
      return readJson(text, isJsonObject, expectedWords.object);
    case 'null':
      return readJson(text, (value) => value === null, expectedWords.null);
    case 'values': {
      const value = reading.values.find((candidate) => textOf(candidate) === text);
      return value === undefined
        ? { ok: false, expected: expectedWords.oneOf(reading.values.map(textOf)) }
        : { ok: true, value };
    }
    default:
      return unreachable(reading);
  }
}

function readNumber(text: string): Coerced {
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) return { ok: false, expected: expectedWords.number };
  // Adding zero turns -0 into 0, which JSON cannot tell apart.
  return isExact(text) ? { ok: true, value: value + 0 } : { ok: false, expected: expectedWords.safeNumber };
}

const jsonTexts = /"(?:[^"\\]|\\.)*"/g;
const jsonNumbers = /\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;

/** Whether no number in JSON is one that stands for its neighbours as well; a power of ten is meant to be rounded. */
function isExact(json: string): boolean {
  const numbers = json.replaceAll(jsonTexts, '').match(jsonNumbers) ?? [];
  return numbers.every((number) => /e/i.test(number) || Number(number) <= Number.MAX_SAFE_INTEGER);
}

function readBoolean(text: string): Coerced {
  switch (text.toLowerCase()) {
    case 'true':
    case '1':
    case 'yes':
      return { ok: true, value: true };
    case 'false':
    case '0':
    case 'no':
      return { ok: true, value: false };
    default:
      return { ok: false, expected: expectedWords.boolean };
  }
}

function readJson(text: string, valid: (value: unknown) => boolean, expected: string): Coerced {
  try {
    const value: Json = JSON.parse(text);
    if (!valid(value)) return { ok: false, expected };
    return isExact(text) ? { ok: true, value } : { ok: false, expected: expectedWords.safeNumbers(expected) };
  } catch {
    return { ok: false, expected };
  }
}

function wordsOf(reading: Reading): string | undefined {
  switch (reading.kind) {
    case 'text':
      return undefined;
    case 'null':
      return 'null';
    case 'values':
      return valueWords.oneOf(reading.values.map(textOf));
    case 'number':
    case 'integer':
    case 'boolean':
    case 'array':
    case 'object':
      return valueWords[reading.kind];
    default:
      return unreachable(reading);
  }
}

/** A value as a person would type it. */
export function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function unreachable(reading: never): never {
  throw new Error(`unknown reading ${JSON.stringify(reading)}`);
}

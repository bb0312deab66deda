import type { ArgOptions } from '../../../decorators/arg.js';
import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { defined } from '../../../graph/defined.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  referredValue,
  unreachable,
} from '../../../graph/json.js';
import type { Input } from '../../../graph/model.js';
import { nearestName, withSuggestion } from '../../../graph/names.js';
import { clip, counted, MASKED } from '../../../graph/printable-text.js';
import { receivedJson } from '../../tools/check-input.js';
import { thrownText } from '../../tools/exceptions.js';
import { type Problem, schemaProblems } from '../../tools/schema-problems.js';
import { kindOf, toolTexts } from '../../tools/tool-texts.js';
import type { PromptArgumentListing } from '../wire.js';

/** What is wrong with one argument of a request. */
export interface ArgumentProblem {
  readonly argument: string;
  /** One sentence. */
  readonly message: string;
}

/** The input of a run, or everything that is wrong with the arguments at once. */
export type ReadArguments =
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly problems: readonly ArgumentProblem[] };

/**
 * An argument as `prompts/list` shows it: type, limits and default follow the description, in plain words. One that is
 * not `required` may be left out, or sent blank.
 */
export function listArgument(input: Input): PromptArgumentListing {
  const notes = [
    ...describeValues(input.schema),
    input.default === undefined || input.secret === true
      ? undefined
      : valueWords.defaultValue(textOf(input.default)),
  ].filter((note) => note !== undefined);
  return {
    name: input.name,
    ...defined({ title: input.title }),
    description: notes.length === 0 ? input.description : `${input.description} (${notes.join('; ')})`,
    required: input.required,
  };
}

/**
 * Turns the arguments of `prompts/get` into the input of a run: coerces typed ones, checks each against its schema,
 * fills defaults in and leaves absent optional ones absent. They obey the limits of tools: see `receivedJson`. Blank
 * text counts as absent where an argument is optional: a form sends it for an empty field.
 */
export function readArguments(
  inputs: readonly Input[],
  values: Readonly<Record<string, unknown>>,
  schemas: SchemaCompiler,
): ReadArguments {
  const problems: ArgumentProblem[] = [];
  const entries: [string, Json][] = [];
  for (const name of Object.keys(values)) {
    if (inputs.some((input) => input.name === name)) continue;
    const names = inputs.map((input) => input.name);
    problems.push({ argument: name, message: unknownArgument(name, names) });
  }
  for (const input of inputs) {
    const { name } = input;
    const member = Object.hasOwn(values, name) ? values[name] : undefined;
    const text = !input.required && typeof member === 'string' && member.trim() === '' ? undefined : member;
    if (text !== undefined) {
      const value = readArgument(input, text, schemas);
      if (value.ok) entries.push([name, value.value]);
      else problems.push(...value.messages.map((message) => ({ argument: name, message })));
    } else if (input.default !== undefined) {
      entries.push([name, input.default]);
    } else if (input.required) {
      problems.push({ argument: name, message: `Missing required argument '${name}'` });
    }
  }
  if (problems.length > 0) return { ok: false, problems };
  const received = receivedJson(Object.fromEntries(entries));
  if (received.ok) return { ok: true, input: received.value as JsonObject };
  const { pointer, message } = received.problem;
  return { ok: false, problems: [{ argument: pointer.split('/')[1] ?? '', message }] };
}

type ReadArgument =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly messages: readonly string[] };

function readArgument(input: Input, text: unknown, schemas: SchemaCompiler): ReadArgument {
  const { name, schema } = input;
  if (typeof text !== 'string')
    return {
      ok: false,
      messages: [
        `Invalid value for argument '${name}': prompt arguments are text, and this is ${kindOf(text)}`,
      ],
    };
  const coerced = coerce(text, schema);
  if (!coerced.ok) {
    // A secret is never repeated, not even to its sender.
    const shown = input.secret === true ? MASKED : text;
    return {
      ok: false,
      messages: [`Invalid value for argument '${name}': '${clip(shown)}' is not ${coerced.expected}`],
    };
  }
  if (typeof coerced.value === 'object') {
    // Before the schema: what is too deep or too large for it must not reach it.
    const received = receivedJson({ [name]: coerced.value });
    if (!received.ok) return { ok: false, messages: [refusedValue(name, received.problem)] };
  }
  let problems: readonly Problem[];
  try {
    const faults = schemas.check(schema, coerced.value);
    if (faults.length === 0) return coerced;
    problems = schemaProblems(faults, schema);
  } catch (error) {
    return { ok: false, messages: [toolTexts.schemaBroken('argument', name, thrownText(error))] };
  }
  return { ok: false, messages: problems.map((problem) => refusedValue(name, problem)) };
}

/** The message for an argument that is not one of these. */
export function unknownArgument(name: string, names: Iterable<string>): string {
  return withSuggestion(`Unknown argument '${clip(name)}'`, nearestName(name, names));
}

function refusedValue(name: string, { message }: Pick<Problem, 'message'>): string {
  return `Invalid value for argument '${name}': ${message}`;
}

/** What a person should know of the values of an argument: its type, then its limits, in plain words. */
function describeValues(schema: JsonSchema): string[] {
  const type = describeType(schema);
  return [...(type === undefined ? [] : [type]), ...describeLimits(schema)];
}

/** The limits of a schema; of alternatives only those of the one that is not `null`. */
function describeLimits(schema: JsonSchema): string[] {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) {
    const values = alternatives.filter(isJsonObject).filter(({ type }) => type !== 'null');
    const [only, ...others] = values;
    return only === undefined || others.length > 0 ? [] : describeLimits(only);
  }
  const number = (keyword: string): number | undefined => numberIn(schema[keyword]);
  const { pattern, uniqueItems } = schema;
  return [
    limitWords.range(number('minimum'), number('maximum')),
    limitWords.exclusiveRange(number('exclusiveMinimum'), number('exclusiveMaximum')),
    limitWords.multipleOf(number('multipleOf')),
    limitWords.count('character', number('minLength'), number('maxLength')),
    limitWords.count('item', number('minItems'), number('maxItems')),
    uniqueItems === true ? 'no item twice' : undefined,
    typeof pattern === 'string' ? `matches ${clip(pattern)}` : undefined,
  ].filter((words) => words !== undefined);
}

function numberIn(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** The value of a text, or what it should have been. */
export type Coerced =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly expected: string };

/**
 * Reads a prompt argument, which is text on the wire, as the type its schema asks for: numbers must be finite, decimal
 * and not written out beyond 2^53 - 1, where they would be rounded, booleans are `true/1/yes` and `false/0/no` in any
 * case, lists and objects are JSON, text stays as it is. Bounds, patterns and formats are left to the schema's own
 * validation.
 */
export function coerce(text: string, schema: JsonSchema): Coerced {
  const readings = readingsOf(schema);
  const refusals: string[] = [];
  for (const reading of readings) {
    const coerced = read(text, reading);
    if (coerced.ok) return coerced;
    refusals.push(coerced.expected);
  }
  return { ok: false, expected: [...new Set(refusals)].join(' or ') };
}

/** The type of an argument in words; absent if any text is valid. */
export function describeType(schema: JsonSchema): string | undefined {
  const words = new Set(readingsOf(schema).map(wordsOf));
  return words.has(undefined) ? undefined : [...words].join(' or ');
}

/** The texts of the values of a schema that has few; nothing if there are many. */
export function choicesOf(schema: JsonSchema): readonly string[] | undefined {
  const choices = readingsOf(schema).map((reading) => {
    if (reading.kind === 'values') return reading.values.map(textOf);
    return reading.kind === 'boolean' ? ['true', 'false'] : undefined;
  });
  const listed = choices.filter((values) => values !== undefined);
  return listed.length === choices.length ? listed.flat() : undefined;
}

type Reading =
  | { readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null' }
  | { readonly kind: 'values'; readonly values: readonly Json[] };

/** The ways to read a text under a schema, text last: it would accept everything the others can read. */
function readingsOf(schema: JsonSchema, root = schema, followed: readonly string[] = []): readonly Reading[] {
  const { $ref, enum: values, const: constant, type, anyOf, oneOf } = schema;
  if (typeof $ref === 'string' && !followed.includes($ref)) {
    const target = referredValue($ref, root);
    if (isJsonObject(target)) return readingsOf(target, root, [...followed, $ref]);
  }
  if (Array.isArray(values)) return [{ kind: 'values', values }];
  if (constant !== undefined) return [{ kind: 'values', values: [constant] }];
  const alternatives = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(alternatives)) {
    const readings = alternatives.filter(isJsonObject).flatMap((each) => readingsOf(each, root, followed));
    return textLast(readings);
  }
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
  // Blanks around a text are a part of it.
  const word = text.trim();
  switch (reading.kind) {
    case 'text':
      return { ok: true, value: text };
    case 'number':
      return readNumber(word);
    case 'integer':
      return whole.test(word) ? readNumber(word) : { ok: false, expected: 'a valid integer' };
    case 'boolean':
      return readBoolean(word);
    case 'array':
      return readJson(text, Array.isArray, 'a valid JSON array');
    case 'object':
      return readJson(text, isJsonObject, 'a valid JSON object');
    case 'null':
      return readJson(text, (value) => value === null, 'null');
    case 'values': {
      const value = reading.values.find(
        (candidate) => textOf(candidate) === (typeof candidate === 'string' ? text : word),
      );
      return value === undefined
        ? { ok: false, expected: `one of: ${reading.values.map(textOf).join(', ')}` }
        : { ok: true, value };
    }
    default:
      return unreachable(reading);
  }
}

function readNumber(text: string): Coerced {
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) return { ok: false, expected: 'a valid number' };
  // Adding zero turns -0 into 0, which JSON cannot tell apart.
  return isExact(text)
    ? { ok: true, value: value + 0 }
    : { ok: false, expected: 'a number that is kept exactly: whole numbers beyond 2^53 - 1 are not exact' };
}

const jsonTexts = /"(?:[^"\\]|\\.)*"/g;
const jsonNumbers = /\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;

/** Whether every number in JSON is exact; one with an exponent is meant to be rounded. */
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
      return { ok: false, expected: 'a valid boolean (use true/false)' };
  }
}

function readJson(text: string, valid: (value: unknown) => boolean, expected: string): Coerced {
  try {
    const value: Json = JSON.parse(text);
    if (!valid(value)) return { ok: false, expected };
    return isExact(text)
      ? { ok: true, value }
      : {
          ok: false,
          expected: `${expected} of numbers that are kept exactly: whole numbers beyond 2^53 - 1 are not exact`,
        };
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
function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Suggests values of an argument; see {@link ArgOptions.complete}. */
export type Completer = NonNullable<ArgOptions['complete']>;

/** How values of an argument are described to a person who types them. */
const valueWords = {
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list, as JSON',
  object: 'an object, as JSON',
  oneOf: (values: readonly string[]) => `one of: ${values.join(', ')}`,
  defaultValue: (value: string) => `default: ${value}`,
} as const;

/** How the limits of an argument are described; nothing where there is none. */
const limitWords = {
  range: (least: number | undefined, most: number | undefined) => {
    if (least !== undefined && most !== undefined) return `from ${least} to ${most}`;
    if (least !== undefined) return `at least ${least}`;
    return most === undefined ? undefined : `at most ${most}`;
  },
  exclusiveRange: (above: number | undefined, below: number | undefined) => {
    if (above !== undefined && below !== undefined) return `above ${above} and below ${below}`;
    if (above !== undefined) return `above ${above}`;
    return below === undefined ? undefined : `below ${below}`;
  },
  multipleOf: (step: number | undefined) => (step === undefined ? undefined : `a multiple of ${step}`),
  count: (
    noun: 'character' | 'item',
    least: number | undefined,
    most: number | undefined,
  ): string | undefined => {
    const nouns = (count: number) => counted(count, noun);
    if (least !== undefined && least === most) return `exactly ${nouns(least)}`;
    // A minimum of one character needs no note.
    if (noun === 'character' && least === 1) return limitWords.count(noun, undefined, most);
    if (least !== undefined && most !== undefined) return `${least} to ${nouns(most)}`;
    if (least !== undefined) return `at least ${nouns(least)}`;
    return most === undefined ? undefined : `at most ${nouns(most)}`;
  },
} as const;

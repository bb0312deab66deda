import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { SchemaCompiler, ValueFault } from '../../formats/json-schema/schema-compiler.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  keysOf,
  pointerOf,
} from '../../graph/json.js';
import { nearestName } from '../../graph/names.js';
import { clip, jsonText, oneLine } from '../../graph/printable-text.js';
import type { Failure } from '../engine/contract.js';
import { thrownText } from './exceptions.js';
import { type DEPTH_LIMIT, findProtoKey, type SIZE_LIMIT, toJson } from './to-json.js';
import { inObject, message, quoted, subject, toolTexts } from './tool-texts.js';

export type CheckedInput =
  /** What `execute` is given: a copy of its own, with the defaults and transforms of the tool's schema. */
  | { readonly ok: true; readonly input: unknown }
  /** `isOwnText`: it says what the JSON Schema asks for, and repeats nothing of the input. */
  | { readonly ok: false; readonly failure: Failure; readonly isOwnText?: true };

export interface InputRules {
  readonly tool: string;
  readonly jsonSchema: JsonSchema;
  /** The tool's own schema, where its decorator has one at run time. */
  readonly standard?: StandardSchemaV1;
}

/**
 * Checks a call's input against the whole JSON Schema, then by the tool's own schema, whose output is what the tool
 * gets. Arguments the JSON Schema does not name are refused, unless it says by `additionalProperties` that it takes
 * them. All problems are reported at once as `E_INPUT_INVALID`; `details` holds them as `{ problems: [{ pointer, message
 * }], missing: [name] }`, `missing` naming required top-level arguments.
 */
export function checkInput(
  input: JsonObject,
  rules: InputRules,
  schemas: SchemaCompiler,
): CheckedInput | Promise<CheckedInput> {
  const copy = receivedJson(input);
  if (!copy.ok) return refuse([copy.problem]);

  let problems: readonly Problem[];
  try {
    const patterns = rules.standard === undefined ? 'all' : 'usable';
    problems = [
      ...schemaProblems(schemas.check(rules.jsonSchema, copy.value, patterns), rules.jsonSchema),
      ...unknownArguments(copy.value, rules.jsonSchema),
    ];
  } catch (error) {
    const text = toolTexts.schemaBroken('input', rules.tool, thrownText(error));
    return { ok: false, failure: { code: 'E_SCHEMA_INVALID', message: message(text) } };
  }
  if (problems.length > 0) return { ...refuse(problems), isOwnText: true };
  return rules.standard === undefined ? { ok: true, input: copy.value } : parse(copy.value, rules.standard);
}

export type ReceivedJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: Problem };

/**
 * A copy of what a caller sent, or why it is refused before any schema looks at it: arguments of tools and of prompts
 * must be JSON of at most {@link SIZE_LIMIT} values, nested at most {@link DEPTH_LIMIT} levels deep, without
 * `__proto__`.
 */
export function receivedJson(input: unknown): ReceivedJson {
  const copy = toJson(input);
  if (!copy.ok) {
    const { pointer, problem } = copy;
    return { ok: false, problem: { pointer, message: toolTexts.other(pointer, `is ${problem}`) } };
  }
  const proto = findProtoKey(copy.value);
  if (proto === undefined) return copy;
  return {
    ok: false,
    problem: { pointer: proto, message: `unknown argument \`__proto__\`${inObject(proto)}` },
  };
}

/**
 * Keywords by which a schema may take properties that its `properties` do not name, or says itself that it does not.
 */
const OPENING = [
  '$dynamicRef',
  '$ref',
  'additionalProperties',
  'allOf',
  'anyOf',
  'dependentSchemas',
  'else',
  'if',
  'oneOf',
  'patternProperties',
  'then',
  'unevaluatedProperties',
];

/** The arguments a schema does not name. What libraries make of a plain object often says nothing of others. */
function unknownArguments(input: Json, schema: JsonSchema): Problem[] {
  const { properties } = schema;
  if (!isJsonObject(input) || !isJsonObject(properties)) return [];
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length === 0 || OPENING.some((keyword) => schema[keyword] !== undefined)) return [];
  const names = Object.keys(properties);
  return unknown.map((name) => ({
    pointer: '',
    message: toolTexts.unknownArgument(name, '', nearestName(name, names)),
  }));
}

async function parse(input: Json, schema: StandardSchemaV1): Promise<CheckedInput> {
  try {
    const result = await schema['~standard'].validate(input);
    return result.issues === undefined
      ? { ok: true, input: result.value }
      : refuse(issueProblems(result.issues));
  } catch (error) {
    return refuse([{ pointer: '', message: toolTexts.validatorThrew(thrownText(error)) }]);
  }
}

function refuse(problems: readonly Problem[]): Extract<CheckedInput, { readonly ok: false }> {
  return {
    ok: false,
    failure: {
      code: 'E_INPUT_INVALID',
      message: message(toolTexts.inputInvalid(problems.map((problem) => problem.message))),
      details: {
        problems: problems.map(({ pointer, message }) => ({ pointer, message })),
        missing: problems.flatMap((p) => (p.missing !== undefined && p.pointer === '' ? [p.missing] : [])),
      },
    },
  };
}

export type CheckedArguments =
  | { readonly ok: true; readonly input: JsonObject }
  /** `E_INPUT_INVALID`, with all problems at once. */
  | { readonly ok: false; readonly failure: Failure };

/**
 * Checks arguments against a whole schema. Nothing is coerced: where a value has the right content and the wrong type,
 * the refusal says what to send.
 *
 * @param secret names of arguments whose values are not repeated.
 */
export async function checkArguments(
  tool: string,
  args: JsonObject,
  schema: JsonSchema,
  schemas: SchemaCompiler,
  secret: readonly string[] = [],
): Promise<CheckedArguments> {
  const checked = await checkInput(args, { tool, jsonSchema: schema }, schemas);
  if (checked.ok) return { ok: true, input: checked.input as JsonObject };
  const { failure } = checked;
  const repairs = pointersIn(failure).flatMap((pointer) => repairOf(args, pointer, schema, schemas, secret));
  if (repairs.length === 0) return { ok: false, failure };
  return {
    ok: false,
    failure: { ...failure, message: oneLine(`${failure.message}. ${repairs.join('; ')}`) },
  };
}

function pointersIn({ details }: Failure): string[] {
  if (!isJsonObject(details) || !Array.isArray(details.problems)) return [];
  const pointers = details.problems.map((problem: Json) =>
    isJsonObject(problem) ? problem.pointer : undefined,
  );
  return [
    ...new Set(pointers.filter((pointer) => typeof pointer === 'string' && pointer !== '')),
  ] as string[];
}

/** The repair of a value that only has the wrong type. */
function repairOf(
  args: JsonObject,
  pointer: string,
  schema: JsonSchema,
  schemas: SchemaCompiler,
  secret: readonly string[],
): string[] {
  const path = keysOf(pointer);
  const wrong = valueAt(args, path);
  const right = wrong === undefined ? undefined : otherType(wrong);
  if (wrong === undefined || right === undefined) return [];
  const repaired = replaced(args, path, right);
  const isRight = !schemas
    .check(schema, repaired)
    .some(({ instancePath }) => instancePath === pointer || instancePath.startsWith(`${pointer}/`));
  return isRight && !secret.includes(path[0] ?? '')
    ? [`send ${clip(jsonText(right))}, not ${clip(jsonText(wrong))}`]
    : [];
}

/** The same in the type it was probably meant in: `5` for `"5"`, `"5"` for `5`. */
function otherType(value: Json): Json | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return undefined;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return undefined;
  }
}

function valueAt(value: Json, path: readonly string[]): Json | undefined {
  let current: Json | undefined = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Object.hasOwn(current, key) ? (current as Readonly<Record<string, Json>>)[key] : undefined;
  }
  return current;
}

function replaced(value: Json, [key, ...rest]: readonly string[], by: Json): Json {
  if (key === undefined) return by;
  if (Array.isArray(value)) {
    return value.map((item: Json, index) => (String(index) === key ? replaced(item, rest, by) : item));
  }
  if (!isJsonObject(value)) return value;
  return { ...value, [key]: replaced(value[key] ?? null, rest, by) };
}

/** One fault of a value: where (JSON pointer, '' for the whole), and in plain words what. */
export interface Problem {
  readonly pointer: string;
  readonly message: string;
  /** Name of a member that is required and not there. */
  readonly missing?: string;
}

const NONE: readonly Problem[] = [];

/** Faults found by a JSON Schema, in plain words, each once. */
export function schemaProblems(errors: readonly ValueFault[], schema: JsonSchema): readonly Problem[] {
  if (errors.length === 0) return NONE;
  const unions = errors.filter((error) => error.keyword === 'anyOf' || error.keyword === 'oneOf');
  const problems: Problem[] = [];
  for (const error of errors) {
    // What each alternative of a union lacks is noise; the union speaks for them.
    if (unions.some((union) => union !== error && error.schemaPath.startsWith(`${union.schemaPath}/`)))
      continue;
    // `if` only says that the branch it chose failed, which has its own error.
    if (error.keyword === 'if') continue;
    // The pattern next to a format says the same, and is harder to read.
    if (error.keyword === 'pattern' && hasFormatError(error, errors)) continue;
    problems.push(unions.includes(error) ? unionProblem(error, errors) : schemaProblem(error, schema));
  }
  return distinct(problems);
}

/** Issues a Standard Schema found. */
export function issueProblems(issues: readonly StandardSchemaV1.Issue[]): Problem[] {
  return distinct(
    issues.map(({ message, path = [] }) => {
      const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
      const pointer = pointerOf(keys);
      return { pointer, message: pointer === '' ? message : `${quoted(pointer)}: ${message}` };
    }),
  );
}

function schemaProblem(error: ValueFault, schema: JsonSchema): Problem {
  const pointer = error.instancePath;
  const { params } = error;
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired': {
      const missing = String(params.missingProperty);
      return { pointer, message: `missing required ${quoted(missing)}${inObject(pointer)}`, missing };
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty);
      const names = pointer === '' && isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
      return { pointer, message: toolTexts.unknownArgument(name, pointer, nearestName(name, names)) };
    }
    case 'type':
      return { pointer, message: toolTexts.mustBe(pointer, typeWords(params.type)) };
    case 'enum':
      return { pointer, message: toolTexts.mustBe(pointer, `one of ${valueWords(params.allowedValues)}`) };
    case 'const':
      return { pointer, message: toolTexts.mustBe(pointer, valueWords([params.allowedValue])) };
    case 'format':
      return { pointer, message: toolTexts.wrongFormat(pointer, String(params.format)) };
    case 'pattern':
      return {
        pointer,
        message: `${subject(pointer)} must match pattern "${oneLine(String(params.pattern), 80)}"`,
      };
    default:
      return {
        pointer,
        message: toolTexts.other(pointer, (error.message ?? 'is not valid').replace('NOT', 'not')),
      };
  }
}

function hasFormatError(pattern: ValueFault, errors: readonly ValueFault[]): boolean {
  return errors.some((error) => error.keyword === 'format' && error.instancePath === pattern.instancePath);
}

/** Alternatives that differ in their type alone are named; for others it is enough that none fits. */
function unionProblem(union: ValueFault, errors: readonly ValueFault[]): Problem {
  const pointer = union.instancePath;
  const arms = errors.filter((error) => error.schemaPath.startsWith(`${union.schemaPath}/`));
  const wanted = arms.map((arm) => {
    if (arm.instancePath !== pointer) return undefined;
    if (arm.keyword === 'type') return typeWords(arm.params.type);
    if (arm.keyword === 'const') return valueWords([arm.params.allowedValue]);
    if (arm.keyword === 'enum') return valueWords(arm.params.allowedValues);
    return undefined;
  });
  const alternatives = wanted.filter((words) => words !== undefined);
  const what =
    alternatives.length === arms.length && alternatives.length > 0
      ? [...new Set(alternatives)].join(' or ')
      : undefined;
  return {
    pointer,
    message:
      what === undefined
        ? `${subject(pointer)} has none of the allowed forms`
        : toolTexts.mustBe(pointer, what),
  };
}

function typeWords(type: unknown): string {
  return (Array.isArray(type) ? type : [type]).join(' or ');
}

function valueWords(values: unknown): string {
  const list = Array.isArray(values) ? values : [values];
  const shown = list.slice(0, 10).map((value: Json) => JSON.stringify(value));
  return `${shown.join(', ')}${list.length > shown.length ? ', …' : ''}`;
}

function distinct(problems: readonly Problem[]): Problem[] {
  const messages = new Set<string>();
  return problems.filter(({ message }) => !messages.has(message) && messages.add(message));
}

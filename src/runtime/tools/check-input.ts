import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { SchemaCompiler, ValueFault } from '../../formats/json-schema/schema-compiler.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  jsonOf,
  keysOf,
  memberOf,
  pointerOf,
} from '../../graph/json.js';
import { uniqueBy } from '../../graph/maps.js';
import { nearestName } from '../../graph/names.js';
import { clip, jsonText } from '../../graph/printable-text.js';
import type { Failure } from '../engine/contract.js';
import { thrownText } from './exceptions.js';
import { issueProblems, type Problem, schemaProblems, unnamedKeys } from './schema-problems.js';
import { type DEPTH_LIMIT, findProtoKey, type SIZE_LIMIT, toJson } from './to-json.js';
import { inObject, message, toolTexts } from './tool-texts.js';

export type CheckedInput =
  /** What `execute` is given: a copy of its own, with the defaults and transforms of the tool's schema. */
  | { readonly ok: true; readonly input: unknown }
  /** `isOwnText`: it says what the JSON Schema asks for, and repeats nothing of the input. */
  | { readonly ok: false; readonly failure: Failure; readonly isOwnText?: true };

export interface InputRules {
  readonly tool: string;
  readonly jsonSchema: JsonSchema;
  /** The tool's own schema, where its decorator has one at run time. */
  readonly standard?: StandardSchemaV1 | undefined;
  /** Names of arguments whose values are not repeated. */
  readonly secret?: readonly string[] | undefined;
}

/**
 * Checks a call's input. The tool's own schema decides where there is one, and its output is what the tool gets; else the
 * JSON Schema does. Arguments that the JSON Schema does not name are refused, unless it says by `additionalProperties`
 * that it takes them. All problems are reported at once as `E_INPUT_INVALID`, in the words of the JSON Schema where it
 * has the same problem; `details` holds them as `{ problems: [{ pointer, message }], missing: [name] }`, `missing` naming
 * required top-level arguments. Where a value has the right content and the wrong type, the message says what to send.
 */
export function checkInput(
  input: JsonObject,
  rules: InputRules,
  schemas: SchemaCompiler,
): CheckedInput | Promise<CheckedInput> {
  const copy = receivedJson(input);
  if (!copy.ok) return refuse([copy.problem]);
  const { jsonSchema, standard } = rules;
  const { value } = copy;
  let faults: readonly ValueFault[];
  try {
    faults = schemas.check(jsonSchema, value, standard === undefined ? 'all' : 'usable');
  } catch (error) {
    const text = toolTexts.schemaBroken('input', rules.tool, thrownText(error));
    return { ok: false, failure: { code: 'E_SCHEMA_INVALID', message: message(text) } };
  }
  const unknown = unknownArguments(value, jsonSchema);
  if (standard === undefined && faults.length + unknown.length === 0) return { ok: true, input: value };
  const refuseInput = (problems: readonly Problem[]): CheckedInput => ({
    ...refuse(problems, (pointer) => repairOf(value as JsonObject, pointer, rules, schemas)),
    isOwnText: true,
  });
  if (standard === undefined) {
    return refuseInput([...schemaProblems(faults, jsonSchema), ...unknown]);
  }
  return parsed(standard, value).then((parsing) => {
    const unnamed = [...schemaProblems(unnamedKeys(faults, jsonSchema), jsonSchema), ...unknown];
    if (parsing.ok) return unnamed.length > 0 ? refuseInput(unnamed) : { ok: true, input: parsing.value };
    const { problems, isOwnText } = inWordsOf(faults, jsonSchema, parsing.problems);
    const all = uniqueBy([...problems, ...unnamed], ({ message }) => message);
    return isOwnText ? refuseInput(all) : refuse(all);
  });
}

/** What the schema of an author makes of a value, or what it finds wrong with it. */
export type Parsing =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export async function parsed(schema: StandardSchemaV1, value: unknown): Promise<Parsing> {
  try {
    const result = await schema['~standard'].validate(value);
    return result.issues === undefined
      ? { ok: true, value: result.value }
      : { ok: false, problems: issueProblems(result.issues) };
  } catch (error) {
    return { ok: false, problems: [{ pointer: '', message: toolTexts.validatorThrew(thrownText(error)) }] };
  }
}

/**
 * The problems that the schema of an author has with a value, each in the words of its JSON Schema where that has a
 * problem with the same value.
 */
export function inWordsOf(
  faults: readonly ValueFault[],
  schema: JsonSchema,
  issues: readonly Problem[],
): { readonly problems: readonly Problem[]; readonly isOwnText: boolean } {
  const candidates = schemaProblems(faults, schema);
  const same = candidates.filter((problem) => issues.some((issue) => isAbout(problem, issue)));
  const others = issues.filter((issue) => !same.some((problem) => isAbout(problem, issue)));
  return { problems: [...same, ...others], isOwnText: others.length === 0 };
}

/** Whether a problem is about the value of an issue, or about a part of it. */
function isAbout({ pointer, missing }: Problem, issue: Problem): boolean {
  const place = missing === undefined ? pointer : `${pointer}${pointerOf([missing])}`;
  return place === issue.pointer || place.startsWith(`${issue.pointer}/`);
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

/** @param repairOf what to send instead of the value at a pointer, which follows the last problem with it. */
function refuse(
  problems: readonly Problem[],
  repairOf: (pointer: string) => string | undefined = () => undefined,
): Extract<CheckedInput, { readonly ok: false }> {
  const last = new Map(problems.map(({ pointer }, index) => [pointer, index]));
  const messages = problems.map(({ pointer, message }, index) => {
    const repair = last.get(pointer) === index ? repairOf(pointer) : undefined;
    return repair === undefined ? message : `${message}: ${repair}`;
  });
  return {
    ok: false,
    failure: {
      code: 'E_INPUT_INVALID',
      message: message(toolTexts.inputInvalid(messages)),
      details: {
        problems: problems.map(({ pointer, message }) => ({ pointer, message })),
        missing: problems.flatMap((p) => (p.missing !== undefined && p.pointer === '' ? [p.missing] : [])),
      },
    },
  };
}

/** The repair of a value that only has the wrong type. */
function repairOf(
  args: JsonObject,
  pointer: string,
  { jsonSchema, secret = [] }: InputRules,
  schemas: SchemaCompiler,
): string | undefined {
  if (pointer === '') return undefined;
  const path = keysOf(pointer);
  const wrong = path.reduce<Json | undefined>(memberOf, args);
  const right = wrong === undefined ? undefined : otherType(wrong);
  if (wrong === undefined || right === undefined) return undefined;
  const repaired = replaced(args, path, right);
  const isRight = !schemas
    .check(jsonSchema, repaired, 'usable')
    .some(({ instancePath }) => instancePath === pointer || instancePath.startsWith(`${pointer}/`));
  return isRight && !secret.includes(path[0] ?? '')
    ? `send ${clip(jsonText(right))}, not ${clip(jsonText(wrong))}`
    : undefined;
}

/** The same in the type it was probably meant in: `5` for `"5"`, `"5"` for `5`. */
function otherType(value: Json): Json | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? jsonOf(value) : undefined;
}

function replaced(value: Json, [key, ...rest]: readonly string[], by: Json): Json {
  if (key === undefined) return by;
  if (Array.isArray(value)) {
    return value.map((item: Json, index) => (String(index) === key ? replaced(item, rest, by) : item));
  }
  if (!isJsonObject(value)) return value;
  return { ...value, [key]: replaced(value[key] ?? null, rest, by) };
}

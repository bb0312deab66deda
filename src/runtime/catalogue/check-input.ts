import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Json, JsonObject, JsonSchema } from '../../graph/json.js';
import type { Failure } from '../engine/contract.js';
import type { SchemaCompiler } from './json-schema.js';
import { issueProblems, type Problem, schemaProblems } from './problems.js';
import { message, texts } from './texts.js';
import { thrownText } from './thrown.js';
import { findProtoKey, toJson } from './to-json.js';

export type CheckedInput =
  /** What `execute` is given: a copy of its own, with the defaults and transforms of the tool's schema. */
  { readonly ok: true; readonly input: unknown } | { readonly ok: false; readonly failure: Failure };

export interface InputRules {
  readonly tool: string;
  readonly jsonSchema: JsonSchema;
  /** The tool's own schema, where its decorator has one at run time. */
  readonly standard?: StandardSchemaV1;
}

/**
 * Checks a call's input against the whole JSON Schema, then by the tool's own schema, whose output is what the tool
 * gets. All problems are reported at once as `E_INPUT_INVALID`; `details` holds them as
 * `{ problems: [{ pointer, message }], missing: [name] }`, `missing` naming required top-level arguments.
 */
export async function checkInput(
  input: JsonObject,
  rules: InputRules,
  schemas: SchemaCompiler,
): Promise<CheckedInput> {
  const copy = toJson(input);
  if (!copy.ok)
    return refuse([{ pointer: copy.pointer, message: texts.other(copy.pointer, `is ${copy.problem}`) }]);
  const proto = findProtoKey(copy.value);
  if (proto !== undefined) return refuse([{ pointer: proto, message: texts.forbiddenKey(proto) }]);

  let problems: Problem[];
  try {
    problems = schemaProblems(schemas.check(rules.jsonSchema, copy.value), rules.jsonSchema);
  } catch (error) {
    const text = texts.schemaBroken('input', rules.tool, thrownText(error));
    return { ok: false, failure: { code: 'E_SCHEMA_INVALID', message: message(text) } };
  }
  if (problems.length > 0) return refuse(problems);
  return rules.standard === undefined
    ? { ok: true, input: copy.value }
    : await parse(copy.value, rules.standard);
}

async function parse(input: Json, schema: StandardSchemaV1): Promise<CheckedInput> {
  try {
    const result = await schema['~standard'].validate(input);
    return result.issues === undefined
      ? { ok: true, input: result.value }
      : refuse(issueProblems(result.issues));
  } catch (error) {
    return refuse([{ pointer: '', message: texts.validatorThrew(thrownText(error)) }]);
  }
}

function refuse(problems: readonly Problem[]): CheckedInput {
  return {
    ok: false,
    failure: {
      code: 'E_INPUT_INVALID',
      message: message(texts.inputInvalid(problems.map((problem) => problem.message))),
      details: {
        problems: problems.map(({ pointer, message }) => ({ pointer, message })),
        missing: problems.flatMap((p) => (p.missing !== undefined && p.pointer === '' ? [p.missing] : [])),
      },
    },
  };
}

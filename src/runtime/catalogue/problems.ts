import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ValueFault } from '../../formats/json-schema/schema-compiler.js';
import { isJsonObject, type Json, type JsonSchema } from '../../graph/json.js';
import { nearestName } from '../../graph/suggest.js';
import { texts } from './texts.js';
import { pointerOf } from './to-json.js';

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
    // The pattern next to a format says the same, and nobody can read it.
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
      return { pointer, message: texts.issue(pointer, message) };
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
      return { pointer, message: texts.missingRequired(missing, pointer), missing };
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty);
      const known = pointer === '' && isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
      return { pointer, message: texts.unknownArgument(name, pointer, nearestName(name, known)) };
    }
    case 'type':
      return { pointer, message: texts.mustBe(pointer, typeWords(params.type)) };
    case 'enum':
      return { pointer, message: texts.mustBe(pointer, `one of ${valueWords(params.allowedValues)}`) };
    case 'const':
      return { pointer, message: texts.mustBe(pointer, valueWords([params.allowedValue])) };
    case 'format':
      return { pointer, message: texts.wrongFormat(pointer, String(params.format)) };
    case 'pattern':
      return { pointer, message: texts.wrongPattern(pointer, String(params.pattern)) };
    default:
      return {
        pointer,
        message: texts.other(pointer, (error.message ?? 'is not valid').replace('NOT', 'not')),
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
  const known = wanted.filter((words) => words !== undefined);
  const what =
    known.length === arms.length && known.length > 0 ? [...new Set(known)].join(' or ') : undefined;
  return {
    pointer,
    message: what === undefined ? texts.noAlternative(pointer) : texts.mustBe(pointer, what),
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
  const seen = new Set<string>();
  return problems.filter(({ message }) => !seen.has(message) && seen.add(message));
}

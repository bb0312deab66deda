import type { StandardSchemaV1 } from '@standard-schema/spec';
import { currentSchema } from '../../formats/json-schema/dialect.js';
import type { ValueFault } from '../../formats/json-schema/schema-compiler.js';
import { isJsonObject, type Json, type JsonSchema, pointerOf, referredValue } from '../../graph/json.js';
import { uniqueBy } from '../../graph/maps.js';
import { nearestName } from '../../graph/names.js';
import { oneLine } from '../../graph/printable-text.js';
import { inObject, quoted, subject, toolTexts } from './tool-texts.js';

/** One fault of a value: where (JSON pointer, '' for the whole), and in plain words what. */
export interface Problem {
  readonly pointer: string;
  readonly message: string;
  /** Name of a member that is required and not there. */
  readonly missing?: string;
}

const NONE: readonly Problem[] = [];

/** Faults found by a JSON Schema, in plain words, each once. */
export function schemaProblems(faults: readonly ValueFault[], schema: JsonSchema): readonly Problem[] {
  if (faults.length === 0) return NONE;
  const unions = unionsIn(faults, schema);
  const problems: Problem[] = [];
  for (const fault of faults) {
    // What each alternative of a union lacks is noise; the union speaks for them.
    if (unions.some(({ arms }) => arms.some((arm) => arm.includes(fault)))) continue;
    // `if` only says that the branch it chose failed, and `propertyNames` that a key did, which has its own fault.
    if (fault.keyword === 'if' || fault.keyword === 'propertyNames') continue;
    // The pattern next to a format says the same, and is harder to read.
    if (fault.keyword === 'pattern' && hasFormatFault(fault, faults)) continue;
    const union = unions.find((each) => each.fault === fault);
    problems.push(...(union === undefined ? [schemaProblem(fault, schema)] : unionProblems(union, schema)));
  }
  return uniqueBy(problems, ({ message }) => message);
}

/** A union without an alternative that fits, with the faults of each. */
interface Union {
  readonly fault: ValueFault;
  readonly arms: readonly (readonly ValueFault[])[];
}

function unionsIn(faults: readonly ValueFault[], written: JsonSchema): readonly Union[] {
  const schema = currentSchema(written);
  return faults.flatMap((fault): Union[] => {
    if (fault.keyword !== 'anyOf' && fault.keyword !== 'oneOf') return [];
    const alternatives = referredValue(fault.schemaPath, schema);
    if (!Array.isArray(alternatives)) return [];
    const arms = alternatives.map((alternative: Json, index) => {
      const paths = [`${fault.schemaPath}/${index}/`];
      const { $ref } = isJsonObject(alternative) ? alternative : {};
      if (typeof $ref === 'string' && $ref !== '#') paths.push(`${$ref}/`);
      return faults.filter(
        (each) =>
          each !== fault &&
          isInside(each.instancePath, fault.instancePath) &&
          paths.some((path) => each.schemaPath.startsWith(path)),
      );
    });
    return [{ fault, arms: arms.filter((arm) => arm.length > 0) }];
  });
}

const isInside = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(`${outer}/`);

/**
 * The faults that are about keys alone which a schema does not name: they remain where the schema of an author, which may
 * drop such keys, accepts the value.
 */
export function unnamedKeys(faults: readonly ValueFault[], schema: JsonSchema): readonly ValueFault[] {
  const unions = unionsIn(faults, schema);
  return faults.filter(
    (fault) =>
      isOfMoreKeys(fault) &&
      unions.every(({ arms }) => {
        const arm = arms.find((each) => each.includes(fault));
        return arm === undefined || arm.every(isOfMoreKeys);
      }),
  );
}

/** Whether a fault is about a key that a schema does not name. */
export function isOfMoreKeys({ keyword }: ValueFault): boolean {
  return keyword === 'additionalProperties' || keyword === 'unevaluatedProperties';
}

export function issueProblems(issues: readonly StandardSchemaV1.Issue[]): Problem[] {
  return uniqueBy(
    issues.map(({ message, path = [] }) => {
      const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
      const pointer = pointerOf(keys);
      return { pointer, message: pointer === '' ? message : `${quoted(pointer)}: ${message}` };
    }),
    ({ message }) => message,
  );
}

function schemaProblem(error: ValueFault, schema: JsonSchema): Problem {
  const pointer = error.instancePath;
  const { params, propertyName } = error;
  if (propertyName !== undefined) return { pointer, message: keyProblem(error, propertyName) };
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

/** A key that a schema does not allow. */
function keyProblem({ keyword, instancePath, params, message = '' }: ValueFault, name: string): string {
  const key = `the key ${quoted(name)}${inObject(instancePath)}`;
  switch (keyword) {
    case 'enum':
      return `${key} must be one of ${valueWords(params.allowedValues)}`;
    case 'const':
      return `${key} must be ${valueWords([params.allowedValue])}`;
    case 'pattern':
      return `${key} must match pattern "${oneLine(String(params.pattern), 80)}"`;
    default:
      return `${key} ${message}`;
  }
}

function hasFormatFault(pattern: ValueFault, faults: readonly ValueFault[]): boolean {
  return faults.some((fault) => fault.keyword === 'format' && fault.instancePath === pattern.instancePath);
}

/**
 * What a union asks for: the allowed values of the property that tells its alternatives apart; what is wrong for the one
 * alternative that this property selects; the types or values of alternatives that differ in these alone. For others it
 * is enough that none fits.
 */
function unionProblems({ fault, arms }: Union, schema: JsonSchema): readonly Problem[] {
  const pointer = fault.instancePath;
  const tags = tagsOf(pointer, arms);
  const [tag] = tags;
  if (tag !== undefined) {
    const others = arms.filter((arm) => !arm.some((each) => isTag(each, tag)));
    const [selected] = others;
    if (selected !== undefined && others.length === 1) return schemaProblems(selected, schema);
    if (others.length === 0)
      return [{ pointer: tag, message: toolTexts.mustBe(tag, allowedWords(arms.flat(), tag)) }];
  }
  const wanted = arms.flat().map((each) => (each.instancePath === pointer ? wordsOf(each) : undefined));
  const words = wanted.filter((each) => each !== undefined);
  const isNamed = words.length === wanted.length && words.length > 0;
  return [
    {
      pointer,
      message: isNamed
        ? toolTexts.mustBe(pointer, [...new Set(words)].join(' or '))
        : `${subject(pointer)} has none of the allowed forms`,
    },
  ];
}

/** The properties that may tell alternatives apart, the one that most of them refuse first. */
function tagsOf(pointer: string, arms: Union['arms']): readonly string[] {
  const counts = new Map<string, number>();
  for (const arm of arms) {
    const places = arm.filter((each) => hasValues(each) && isMember(each.instancePath, pointer));
    for (const place of new Set(places.map(({ instancePath }) => instancePath)))
      counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count >= arms.length - 1 && arms.length > 1)
    .sort(([, a], [, b]) => b - a)
    .map(([place]) => place);
}

const hasValues = ({ keyword }: ValueFault): boolean => keyword === 'const' || keyword === 'enum';

const isTag = (fault: ValueFault, tag: string): boolean => hasValues(fault) && fault.instancePath === tag;

const isMember = (inner: string, outer: string): boolean =>
  inner.startsWith(`${outer}/`) && !inner.slice(outer.length + 1).includes('/');

function allowedWords(faults: readonly ValueFault[], tag: string): string {
  const values = faults.filter((fault) => isTag(fault, tag)).flatMap(allowedValues);
  const distinctValues = [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
  return distinctValues.length === 1 ? valueWords(distinctValues) : `one of ${valueWords(distinctValues)}`;
}

function allowedValues({ keyword, params }: ValueFault): readonly Json[] {
  if (keyword === 'const') return [params.allowedValue as Json];
  return params.allowedValues as readonly Json[];
}

/** What a type or the values of an alternative are, in words. */
function wordsOf(fault: ValueFault): string | undefined {
  if (fault.keyword === 'type') return typeWords(fault.params.type);
  return hasValues(fault) ? valueWords(allowedValues(fault)) : undefined;
}

function typeWords(type: unknown): string {
  return (Array.isArray(type) ? type : [type]).join(' or ');
}

function valueWords(values: unknown): string {
  const list = Array.isArray(values) ? values : [values];
  const shown = list.slice(0, 10).map((value: Json) => JSON.stringify(value));
  return `${shown.join(', ')}${list.length > shown.length ? ', …' : ''}`;
}

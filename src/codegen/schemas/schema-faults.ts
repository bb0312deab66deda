import { mapSubschemas } from '../../formats/json-schema/dialect.js';
import { patternFaults, SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import {
  isJsonObject,
  type Json,
  type JsonSchema,
  keysOf,
  memberOf,
  referredValue,
} from '../../graph/json.js';
import type { SourceLocation } from '../../graph/source-location.js';

/** A schema of a project, and its place. */
export interface SchemaOwner {
  /** As the end of a sentence: "the input schema of tool `t`". */
  readonly owner: string;
  readonly place: SourceLocation;
}

/** Shared, since it is expensive to make. */
const schemas = new SchemaCompiler();

/**
 * Why values cannot be checked against a schema: patterns that cannot be matched (SW6010), and all other faults that the
 * compiler of the run time finds (SW6018). Patterns beside a `format` are left out: a library wrote them, and the format
 * says the same.
 */
export function schemaDiagnostics(schema: JsonSchema, { owner, place }: SchemaOwner): Diagnostic[] {
  const patterns = patternFaults(schema).flatMap(({ pointer, problem }) => {
    const { pattern, isOfFormat } = patternAt(schema, pointer);
    return isOfFormat ? [] : [diagnostic('SW6010', place, { path: pointer, owner, pattern, problem })];
  });
  const others = isPlain(schema, schema) ? [] : schemas.faults(schema, 'usable');
  return [
    ...patterns,
    ...others.map(({ pointer, problem }) => diagnostic('SW6018', place, { owner, pointer, problem })),
  ];
}

const TYPES = new Set<Json>(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

const isText = (value: Json): boolean => typeof value === 'string';
const isNumber = (value: Json): boolean => typeof value === 'number';
const isCount = (value: Json): boolean => Number.isInteger(value) && Number(value) >= 0;
const isList = (value: Json, fits: (item: Json) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(fits) && new Set(value).size === value.length;

type Rule = (value: Json, root: JsonSchema) => boolean;

/** What the values of usual keywords are. */
const RULES: readonly (readonly [keywords: readonly string[], rule: Rule])[] = [
  [['title', 'description', 'format', 'pattern'], isText],
  [['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'], isNumber],
  [['minLength', 'maxLength', 'minItems', 'maxItems'], isCount],
  [['deprecated', 'uniqueItems'], (value) => typeof value === 'boolean'],
  [['const', 'default'], () => true],
  [
    ['$defs', 'properties'],
    (value) => isJsonObject(value) && !Object.values(value).some((part) => Array.isArray(part)),
  ],
  [['allOf', 'anyOf', 'oneOf', 'prefixItems'], (value) => Array.isArray(value) && value.length > 0],
  [
    ['additionalProperties', 'items', 'not', 'propertyNames', 'unevaluatedProperties'],
    (value) => isJsonObject(value) || typeof value === 'boolean',
  ],
  [['enum'], (value) => isList(value, (item) => typeof item !== 'object')],
  [['multipleOf'], (value) => isNumber(value) && Number(value) > 0],
  [['required'], (value) => isList(value, isText)],
  [['type'], (value) => TYPES.has(value) || isList(value, (type) => TYPES.has(type))],
  [['$ref'], (value, root) => isText(value) && referredValue(String(value), root) !== undefined],
];

const PLAIN: ReadonlyMap<string, Rule> = new Map(
  RULES.flatMap(([keywords, rule]) => keywords.map((keyword) => [keyword, rule] as const)),
);

/**
 * Whether a schema has only keywords that zod and types lead to, each with a value of its form: then it compiles. It
 * saves codegen the compiler, which takes as long as a tenth of all else.
 */
export function isPlain(schema: Json, root: JsonSchema): boolean {
  if (!isJsonObject(schema)) return typeof schema === 'boolean';
  let result = Object.entries(schema).every(([keyword, value]) => PLAIN.get(keyword)?.(value, root) === true);
  mapSubschemas(schema, (part) => {
    result &&= isPlain(part, root);
    return part;
  });
  return result;
}

function patternAt(
  schema: JsonSchema,
  pointer: string,
): { readonly pattern: string; readonly isOfFormat: boolean } {
  const keys = keysOf(pointer);
  const nodes: (Json | undefined)[] = [schema];
  for (const key of keys) nodes.push(memberOf(nodes.at(-1), key));
  const value = nodes.at(-1);
  // A pattern is the value of `pattern`, or a key under `patternProperties`.
  if (typeof value !== 'string') return { pattern: keys.at(-1) ?? '', isOfFormat: false };
  const around = keys.at(-3) === 'allOf' ? [nodes.at(-2), nodes.at(-4)] : [nodes.at(-2)];
  return { pattern: value, isOfFormat: around.some((node) => typeof memberOf(node, 'format') === 'string') };
}

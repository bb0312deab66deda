import { canonicalJson } from '../../graph/canonical.js';
import { defined } from '../../graph/defined.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  referredValue,
} from '../../graph/json.js';

const COMBINATORS = ['oneOf', 'anyOf', 'allOf'] as const;

/** A keyword that combines schemas. Some hosts refuse a request with a tool that has one at the top of its input. */
export type Combinator = (typeof COMBINATORS)[number];

export function combinatorsOf(schema: JsonSchema): readonly Combinator[] {
  return COMBINATORS.filter((keyword) => Array.isArray(schema[keyword]));
}

/**
 * An object schema without combinators at its top, with the fields of all its forms, for clients that list it. A field
 * is required where each form requires it. It takes every value that the schema takes, if a form that leaves a field
 * unnamed takes no such field.
 *
 * @returns the schema itself where it has no combinator at its top.
 */
export function flatSchema(schema: JsonSchema): JsonSchema {
  if (combinatorsOf(schema).length === 0) return schema;
  const { oneOf, anyOf, allOf, unevaluatedProperties, additionalProperties, discriminator, ...rest } = schema;
  const { properties, required, isClosed } = fieldsOf(schema, schema, new Set());
  return {
    ...rest,
    properties: Object.fromEntries(
      [...properties].map(([name, forms]) => [name, eitherOf([...forms.values()])]),
    ),
    ...(required.size === 0 ? {} : { required: [...required] }),
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}

/** What the forms of an object say of its fields. */
interface Fields {
  /** The schemas of each field, by their canonical JSON. */
  readonly properties: ReadonlyMap<string, ReadonlyMap<string, Json>>;
  /** The fields of every form. */
  readonly required: ReadonlySet<string>;
  /** Whether no form takes other fields. */
  readonly isClosed: boolean;
  /** Whether a form has a keyword for other fields, which `unevaluatedProperties` around it lets pass. */
  readonly takesOthers: boolean;
}

const OPEN: Fields = { properties: new Map(), required: new Set(), isClosed: false, takesOthers: true };

function fieldsOf(schema: Json, root: JsonSchema, followed: ReadonlySet<Json>): Fields {
  if (!isJsonObject(schema) || followed.has(schema)) return OPEN;
  const inner = new Set([...followed, schema]);
  const formsOf = (keyword: Combinator): readonly Fields[] => {
    const forms = schema[keyword];
    return Array.isArray(forms) ? forms.map((form: Json) => fieldsOf(form, root, inner)) : [];
  };
  const { $ref } = schema;
  const referred = typeof $ref === 'string' ? [fieldsOf(referredValue($ref, root) ?? null, root, inner)] : [];
  const alternatives = [formsOf('oneOf'), formsOf('anyOf')].filter((forms) => forms.length > 0).map(oneFrom);
  const parts = [ownFields(schema), ...referred, ...formsOf('allOf'), ...alternatives];
  const takesOthers = parts.some((part) => part.takesOthers);
  const isSealed = schema.unevaluatedProperties === false && !takesOthers;
  return {
    properties: unionOf(parts),
    required: new Set(parts.flatMap(({ required }) => [...required])),
    isClosed: isSealed || parts.some(({ isClosed }) => isClosed),
    takesOthers,
  };
}

function ownFields(schema: JsonObject): Fields {
  const { properties, required, additionalProperties = false } = schema;
  const named = isJsonObject(properties) ? Object.entries(properties) : [];
  const hasRules = ['patternProperties', 'if', 'dependentSchemas'].some((each) => schema[each] !== undefined);
  return {
    properties: new Map(named.map(([name, form]) => [name, new Map([[canonicalJson(form), form]])])),
    required: new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []),
    isClosed: schema.additionalProperties === false && !hasRules,
    takesOthers: additionalProperties !== false || hasRules,
  };
}

function oneFrom(forms: readonly Fields[]): Fields {
  const [first = OPEN] = forms;
  return {
    properties: unionOf(forms),
    required: new Set(
      [...first.required].filter((name) => forms.every(({ required }) => required.has(name))),
    ),
    isClosed: forms.every(({ isClosed }) => isClosed),
    takesOthers: forms.some(({ takesOthers }) => takesOthers),
  };
}

function unionOf(parts: readonly Fields[]): Fields['properties'] {
  const union = new Map<string, Map<string, Json>>();
  for (const [name, forms] of parts.flatMap(({ properties }) => [...properties]))
    union.set(name, new Map([...(union.get(name) ?? []), ...forms]));
  return union;
}

/** One schema for the values of any of these: constants, such as those of a discriminator, become a list of them. */
function eitherOf(forms: readonly Json[]): Json {
  const [first = true] = forms;
  if (forms.length === 1) return first;
  const lists = forms.map(constantsOf);
  if (lists.includes(undefined)) return { anyOf: [...forms] };
  const values = new Map(lists.flatMap((list = []) => list.map((value) => [canonicalJson(value), value])));
  const [type, ...others] = new Set(forms.map((form) => (form as JsonObject).type));
  return { ...(others.length === 0 ? defined({ type }) : {}), enum: [...values.values()] };
}

/** The values of a schema that says only which they are. */
function constantsOf(form: Json): readonly Json[] | undefined {
  if (!isJsonObject(form)) return undefined;
  const { type: _, const: constant, enum: values, ...others } = form;
  if (Object.keys(others).length > 0) return undefined;
  if (constant !== undefined) return values === undefined ? [constant] : undefined;
  return Array.isArray(values) ? values : undefined;
}

import { isJsonObject, type Json, type JsonSchema, ownProperty, referredValue } from '../graph/json.js';
import type { Node } from '../graph/kinds/node.js';
import type { FedInput } from '../graph/kinds/waits.js';
import { getOrInsert } from '../graph/maps.js';
import type { Graph } from '../graph/model.js';
import { partSchema } from '../graph/part-schema.js';

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

/**
 * The shapes of a value that a JSON Schema allows. Keywords that only narrow further are ignored, so that a value that is
 * reported as impossible is impossible.
 */
export interface SchemaView {
  readonly root: JsonSchema;
  /** Without references and alternatives; `unknown` if any value is allowed. */
  readonly shapes: readonly JsonSchema[] | 'unknown';
}

/** The result of reading a key: a view of it, or the keys that exist. */
export type Step =
  | { readonly kind: 'found'; readonly view: SchemaView }
  | { readonly kind: 'missing'; readonly keys: readonly string[] };

/** Schemas do not change. */
const views = new WeakMap<JsonSchema, SchemaView>();

export function viewOf(schema: JsonSchema): SchemaView {
  return getOrInsert(views, schema, () => ({ root: schema, shapes: expand(schema, schema, new Set()) }));
}

/** Reads a property, an item or a length. Missing means that no value of this schema has it. */
export function stepInto(view: SchemaView, key: string | number): Step {
  const { root, shapes } = view;
  if (shapes === 'unknown') return { kind: 'found', view };
  const parts: SchemaView['shapes'][] = [];
  const keys: string[] = [];
  for (const shape of shapes) {
    for (const type of typesOf(shape) ?? [undefined]) {
      const part = type === undefined ? 'unknown' : readFrom(shape, type, key, root);
      if (part === undefined) keys.push(...keysOf(shape, type));
      else parts.push(part);
    }
  }
  if (parts.length === 0) return { kind: 'missing', keys: [...new Set(keys)] };
  return { kind: 'found', view: { root, shapes: joined(parts) } };
}

/** The view of every item of a list; `undefined` if it is unknown or depends on the index. */
export function itemsIn({ root, shapes }: SchemaView): SchemaView | undefined {
  if (shapes === 'unknown') return undefined;
  const items = joined(
    shapes.map(({ type, prefixItems, items: each }) =>
      type === 'array' && prefixItems === undefined ? expand(each, root, new Set()) : 'unknown',
    ),
  );
  return items === 'unknown' ? undefined : { root, shapes: items };
}

/** The types of a value of this view; `undefined` if they are unknown. */
export function typesIn({ shapes }: SchemaView): ReadonlySet<JsonType> | undefined {
  return shapes === 'unknown' ? undefined : allTypes(shapes.map(typesOf));
}

/** The types of several values; `undefined` if those of one are unknown. */
export function allTypes(
  values: readonly (Iterable<JsonType> | undefined)[],
): ReadonlySet<JsonType> | undefined {
  return values.includes(undefined) ? undefined : new Set(values.flatMap((types) => [...(types ?? [])]));
}

/** The properties that some object of this view names. */
export function propertyNames({ shapes }: SchemaView): readonly string[] {
  if (shapes === 'unknown') return [];
  const names = shapes.flatMap(({ properties }) => (isJsonObject(properties) ? Object.keys(properties) : []));
  return [...new Set(names)];
}

/** Keywords by which a schema may take keys that its `properties` do not name. */
const FURTHER_KEYS = [
  ...['additionalProperties', 'patternProperties', 'unevaluatedProperties', 'propertyNames'],
  ...['allOf', 'if', 'dependentSchemas', 'dependentRequired'],
] as const;

/**
 * The properties that objects of this view name, if they say nothing of others and `key` is not one of them: the schema
 * was not closed, as those of most servers are, and the key may be misspelt. `undefined` if the key is named or welcome.
 *
 * @param view of a whole schema, whose `properties` count beside alternatives and references as well.
 */
export function unnamedBeside(view: SchemaView, key: string): readonly string[] | undefined {
  const { root, shapes } = view;
  const names = propertyNames(view);
  if (shapes === 'unknown' || names.length === 0) return undefined;
  const isWelcome = [root, ...shapes].some(
    (shape) =>
      (isJsonObject(shape.properties) && Object.hasOwn(shape.properties, key)) ||
      textsIn(shape.required).includes(key) ||
      FURTHER_KEYS.some((keyword) => shape[keyword] !== undefined),
  );
  return isWelcome || shapes.some(({ properties }) => properties === undefined) ? undefined : names;
}

/** Each shape of a view by itself, by type; `undefined` if they are unknown. */
export function formsIn({ root, shapes }: SchemaView): readonly SchemaView[] | undefined {
  if (shapes === 'unknown') return undefined;
  return shapes.flatMap((shape) => {
    const types = Array.isArray(shape.type) ? textsIn(shape.type) : [];
    if (types.length < 2) return { root, shapes: [shape] };
    return types.map((type) => ({ root, shapes: [{ ...shape, type }] }));
  });
}

export function requiredKeys({ shapes }: SchemaView): readonly string[] {
  if (shapes === 'unknown') return [];
  const [first, ...others] = shapes.map((shape) => textsIn(shape.required));
  return first?.filter((key) => others.every((keys) => keys.includes(key))) ?? [];
}

export function typeOfJson(value: Json): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'number';
    default:
      return 'object';
  }
}

function expand(
  schema: Json | undefined,
  root: JsonSchema,
  followed: ReadonlySet<string>,
): SchemaView['shapes'] {
  if (schema === false) return [];
  if (!isJsonObject(schema)) return 'unknown';
  if (typeof schema.$ref === 'string') {
    // A recursive reference adds no shape.
    if (followed.has(schema.$ref)) return [];
    const target = referredValue(schema.$ref, root);
    return target === undefined ? 'unknown' : expand(target, root, new Set([...followed, schema.$ref]));
  }
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) {
    return joined(alternatives.map((each: Json) => expand(each, root, followed)));
  }
  return typesOf(schema) === undefined ? 'unknown' : [schema];
}

function joined(parts: readonly SchemaView['shapes'][]): SchemaView['shapes'] {
  return parts.every((part) => part !== 'unknown') ? parts.flat() : 'unknown';
}

function typesOf(shape: JsonSchema): JsonType[] | undefined {
  if (typeof shape.type === 'string') return [shape.type as JsonType];
  if (Array.isArray(shape.type)) return textsIn(shape.type) as JsonType[];
  if (shape.const !== undefined) return [typeOfJson(shape.const)];
  return Array.isArray(shape.enum) ? [...new Set(shape.enum.map(typeOfJson))] : undefined;
}

function readFrom(
  shape: JsonSchema,
  type: JsonType,
  key: string | number,
  root: JsonSchema,
): SchemaView['shapes'] | undefined {
  switch (type) {
    case 'object':
      return readProperty(shape, String(key), root);
    case 'array':
      if (key === 'length') return [{ type: 'integer' }];
      return isIndex(key) ? readItem(shape, Number(key), root) : undefined;
    case 'string':
      if (key === 'length') return [{ type: 'integer' }];
      return isIndex(key) ? [{ type: 'string' }] : undefined;
    default:
      return undefined;
  }
}

function readProperty(shape: JsonSchema, key: string, root: JsonSchema): SchemaView['shapes'] | undefined {
  const { properties, patternProperties, additionalProperties } = shape;
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) {
    return expand(properties[key], root, new Set());
  }
  if (patternProperties !== undefined) return 'unknown';
  return additionalProperties === false ? undefined : expand(additionalProperties, root, new Set());
}

function readItem(shape: JsonSchema, index: number, root: JsonSchema): SchemaView['shapes'] | undefined {
  const prefix = Array.isArray(shape.prefixItems) ? shape.prefixItems : [];
  if (index < prefix.length) return expand(prefix[index], root, new Set());
  return shape.items === false ? undefined : expand(shape.items, root, new Set());
}

function keysOf(shape: JsonSchema, type: JsonType | undefined): string[] {
  if (type === 'object') return isJsonObject(shape.properties) ? Object.keys(shape.properties) : [];
  return type === 'array' || type === 'string' ? ['length'] : [];
}

function isIndex(key: string | number): boolean {
  const index = Number(key);
  return Number.isInteger(index) && index >= 0 && String(index) === String(key);
}

function textsIn(list: Json | undefined): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

/** The schemas of the inputs of tools and workflows, by name. */
export interface InputSchemas {
  readonly tool: (name: string) => JsonSchema | undefined;
  readonly workflow: (name: string) => Graph | undefined;
}

/** The schema of a part of the input of a node; `undefined` if it is unknown. */
export function schemaFed(
  target: Node,
  path: FedInput['path'],
  schemas: InputSchemas,
): JsonSchema | undefined {
  if (target.kind === 'call') {
    const schema = schemas.tool(target.tool);
    return schema && schemaAt(schema, path);
  }
  if (target.kind !== 'workflow') return undefined;
  const [name, ...rest] = path;
  const input = schemas.workflow(target.workflow)?.inputs.find((each) => each.name === name);
  return input && schemaAt(input.schema, rest);
}

/** The schema of a part of a value; `undefined` if it depends on the rest of the value. */
export function schemaAt(root: JsonSchema, path: FedInput['path']): JsonSchema | undefined {
  let schema = resolved(root, root);
  for (const key of path) {
    if (schema === undefined) return undefined;
    schema = resolved(partOf(schema, key), root);
  }
  return schema && partSchema(schema, root);
}

function partOf(
  { properties, additionalProperties, prefixItems, items }: JsonSchema,
  key: string | number,
): Json | undefined {
  if (typeof key === 'number') return (Array.isArray(prefixItems) ? prefixItems[key] : undefined) ?? items;
  const own = isJsonObject(properties) ? ownProperty(properties, key) : undefined;
  return own ?? additionalProperties;
}

function resolved(schema: Json | undefined, root: JsonSchema): JsonSchema | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { $ref } = schema;
  if ($ref === undefined) return schema;
  const target = typeof $ref === 'string' ? referredValue($ref, root) : undefined;
  return isJsonObject(target) && target.$ref === undefined ? target : undefined;
}

import { type Json, type JsonSchema, pointerKey, unreachable } from '../graph/json.js';
import { hasReference, rebased } from '../graph/part-schema.js';
import {
  allTypes,
  formsIn,
  itemsIn,
  type JsonType,
  propertyNames,
  type SchemaView,
  stepInto,
  typeOfJson,
  typesIn,
  viewOf,
} from './schema-view.js';

/**
 * The inferred type of a value. The inference is sound: a missing key or a type holds in every run, and whatever is
 * uncertain is unknown.
 */
export type ValueType =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'schema'; readonly view: SchemaView }
  /** A value of one of these types; an empty set for an absent value. */
  | { readonly kind: 'types'; readonly types: ReadonlySet<JsonType> }
  | { readonly kind: 'list'; readonly item: ValueType }
  /** `isOpen` if it may have more entries. */
  | { readonly kind: 'dict'; readonly entries: ReadonlyMap<string, ValueType>; readonly isOpen: boolean }
  | { readonly kind: 'union'; readonly of: ReadonlySet<ValueType> };

/** The result of reading a key: its type, or the keys that exist. */
export type KeyType =
  | { readonly kind: 'found'; readonly valueType: ValueType }
  | { readonly kind: 'missing'; readonly keys: readonly string[] };

/** The largest number of alternatives; a larger union is unknown. */
const MAX_ALTERNATIVES = 32;

export const UNKNOWN: ValueType = { kind: 'unknown' };

/** The type of an absent value. */
export const ABSENT: ValueType = { kind: 'types', types: new Set() };

export function ofTypes(...types: readonly [JsonType, ...JsonType[]]): ValueType {
  return types.length === 1 ? SINGLE_TYPES[types[0]] : { kind: 'types', types: new Set(types) };
}

function single(type: JsonType): ValueType & { readonly kind: 'types' } {
  return { kind: 'types', types: new Set([type]) };
}

/** Most values are literals or parts of them. */
const SINGLE_TYPES = {
  null: single('null'),
  boolean: single('boolean'),
  integer: single('integer'),
  number: single('number'),
  string: single('string'),
  array: single('array'),
  object: single('object'),
} satisfies Record<JsonType, ValueType>;

/**
 * The union of types; unknown if empty. Absence is dropped from a union: only a value that is always absent is
 * `ABSENT`.
 */
export function unionOf(...alternatives: readonly ValueType[]): ValueType {
  const of = new Set<ValueType>();
  for (const each of alternatives) {
    if (each.kind === 'unknown') return UNKNOWN;
    for (const one of each.kind === 'union' ? each.of : [each]) of.add(one);
  }
  if (of.size > 1) of.delete(ABSENT);
  if (of.size === 0 || of.size > MAX_ALTERNATIVES) return UNKNOWN;
  const [only] = of;
  return of.size === 1 && only !== undefined ? only : { kind: 'union', of };
}

export function ofSchema(schema: JsonSchema): ValueType {
  return { kind: 'schema', view: viewOf(schema) };
}

export function ofJson(value: Json): ValueType {
  if (Array.isArray(value)) return { kind: 'list', item: unionOf(...value.map(ofJson)) };
  if (typeof value !== 'object' || value === null) return ofTypes(typeOfJson(value));
  const entries = new Map(Object.entries(value).map(([key, each]) => [key, ofJson(each)]));
  return { kind: 'dict', entries, isOpen: false };
}

/** Reads a property, an item or a length. */
export function read(valueType: ValueType, key: string | number): KeyType {
  switch (valueType.kind) {
    case 'unknown':
      return typeOfKey(UNKNOWN);
    case 'schema': {
      const step = stepInto(valueType.view, key);
      return step.kind === 'found'
        ? typeOfKey({ kind: 'schema', view: step.view })
        : { kind: 'missing', keys: step.keys };
    }
    case 'types':
      return readAny([...valueType.types].map((type) => readType(type, key)));
    case 'list':
      if (key === 'length') return typeOfKey(ofTypes('integer'));
      return isIndex(key) ? typeOfKey(valueType.item) : { kind: 'missing', keys: ['length'] };
    case 'dict': {
      const entry = valueType.entries.get(String(key));
      if (entry !== undefined) return typeOfKey(valueType.isOpen ? UNKNOWN : entry);
      return valueType.isOpen ? typeOfKey(UNKNOWN) : { kind: 'missing', keys: [...valueType.entries.keys()] };
    }
    case 'union':
      return readAny([...valueType.of].map((each) => read(each, key)));
    default:
      return unreachable(valueType);
  }
}

/** The alternative forms of a value; `undefined` if they are unknown. */
export function alternativesOf(valueType: ValueType): readonly ValueType[] | undefined {
  switch (valueType.kind) {
    case 'unknown':
      return undefined;
    case 'schema':
      return formsIn(valueType.view)?.map((view) => ({ kind: 'schema', view }));
    case 'union': {
      const forms = [...valueType.of].map(alternativesOf);
      return forms.every((each) => each !== undefined) ? forms.flat() : undefined;
    }
    case 'types':
      return [...valueType.types].map((type) => ofTypes(type));
    case 'list':
    case 'dict':
      return [valueType];
    default:
      return unreachable(valueType);
  }
}

/** The types a value may have; `undefined` if they are unknown. */
export function typesOf(valueType: ValueType): ReadonlySet<JsonType> | undefined {
  switch (valueType.kind) {
    case 'unknown':
      return undefined;
    case 'schema':
      return typesIn(valueType.view);
    case 'types':
      return valueType.types;
    case 'list':
      return SINGLE_TYPES.array.types;
    case 'dict':
      return SINGLE_TYPES.object.types;
    case 'union':
      return allTypes([...valueType.of].map(typesOf));
    default:
      return unreachable(valueType);
  }
}

/** The keys that are known of an object, whether it has each of them in every run or not. */
export function keysOf(valueType: ValueType): readonly string[] {
  switch (valueType.kind) {
    case 'schema':
      return propertyNames(valueType.view);
    case 'dict':
      return [...valueType.entries.keys()];
    case 'union':
      return [...new Set([...valueType.of].flatMap(keysOf))];
    case 'unknown':
    case 'types':
    case 'list':
      return [];
    default:
      return unreachable(valueType);
  }
}

/** What is known of the items of a list, whichever of them. */
export function itemOf(valueType: ValueType): ValueType {
  switch (valueType.kind) {
    case 'list':
      return valueType.item;
    case 'schema': {
      const view = itemsIn(valueType.view);
      return view === undefined ? UNKNOWN : { kind: 'schema', view };
    }
    case 'union':
      return unionOf(...[...valueType.of].map(itemOf));
    case 'unknown':
    case 'types':
    case 'dict':
      return UNKNOWN;
    default:
      return unreachable(valueType);
  }
}

function readType(type: JsonType, key: string | number): KeyType {
  switch (type) {
    case 'string':
    case 'array':
      if (key === 'length') return typeOfKey(ofTypes('integer'));
      if (isIndex(key)) return typeOfKey(type === 'string' ? ofTypes('string') : UNKNOWN);
      return { kind: 'missing', keys: ['length'] };
    case 'object':
      return typeOfKey(UNKNOWN);
    case 'null':
    case 'boolean':
    case 'integer':
    case 'number':
      return { kind: 'missing', keys: [] };
    default:
      return unreachable(type);
  }
}

/** Missing only if no alternative has it. Absent values are not reported, since the read may have a `?.`. */
function readAny(reads: readonly KeyType[]): KeyType {
  if (reads.length === 0) return typeOfKey(UNKNOWN);
  const present = reads.flatMap((each) => (each.kind === 'found' ? [each.valueType] : []));
  if (present.length > 0) return typeOfKey(unionOf(...present));
  return {
    kind: 'missing',
    keys: [...new Set(reads.flatMap((each) => (each.kind === 'missing' ? each.keys : [])))],
  };
}

function typeOfKey(valueType: ValueType): KeyType {
  return { kind: 'found', valueType };
}

/** An item that is not there is absent, and no fault. */
function isIndex(key: string | number): boolean {
  return typeof key === 'number' || /^(0|[1-9]\d*)$/.test(key);
}

/**
 * A JSON Schema of what is known of a value; `{}` where nothing is. Nothing is called required: any part of a value may
 * be absent.
 *
 * @param at the position of the schema in a larger one, as a JSON pointer with `#`: its references start there.
 */
export function schemaOf(valueType: ValueType, at: string): JsonSchema {
  switch (valueType.kind) {
    case 'unknown':
      return {};
    case 'schema':
      return schemaOfView(valueType.view, at);
    case 'types': {
      const [only, ...others] = valueType.types;
      if (only === undefined) return { type: 'null' };
      return { type: others.length === 0 ? only : [only, ...others] };
    }
    case 'list': {
      // An item that is absent is stored as null.
      const item = schemaOf(valueType.item, `${at}/items/anyOf/0`);
      const isOpen = Object.keys(item).length === 0 || typesOf(valueType.item)?.has('null') === true;
      return isOpen
        ? { type: 'array', items: schemaOf(valueType.item, `${at}/items`) }
        : { type: 'array', items: { anyOf: [item, { type: 'null' }] } };
    }
    case 'dict': {
      const properties = [...valueType.entries].map(
        ([key, value]) => [key, schemaOf(value, `${at}/properties/${escaped(key)}`)] as const,
      );
      return { type: 'object', properties: Object.fromEntries(properties) };
    }
    case 'union':
      return anyOf([...valueType.of].map((each, index) => schemaOf(each, `${at}/anyOf/${index}`)));
    default:
      return unreachable(valueType);
  }
}

function schemaOfView({ root, shapes }: SchemaView, at: string): JsonSchema {
  if (shapes === 'unknown' || shapes.length === 0) return {};
  if (!hasReference(shapes, /^/)) return anyOf(shapes);
  // What the references lead to comes along.
  const home = `${at}/$defs/root`;
  return { ...anyOf(shapes.map((shape) => rebased(shape, home))), $defs: { root: rebased(root, home) } };
}

function anyOf(schemas: readonly JsonSchema[]): JsonSchema {
  if (schemas.some((schema) => Object.keys(schema).length === 0)) return {};
  const distinct = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]));
  const [only] = distinct.values();
  return distinct.size === 1 && only !== undefined ? only : { anyOf: [...schemas] };
}

/** As a part of a JSON pointer within an address. */
function escaped(key: string): string {
  return encodeURIComponent(pointerKey(key));
}

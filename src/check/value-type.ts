import { isJsonObject, type Json, type JsonSchema, unreachable } from '../graph/json.js';
import {
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
export type Read =
  | { readonly kind: 'found'; readonly known: ValueType }
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
export function read(known: ValueType, key: string | number): Read {
  switch (known.kind) {
    case 'unknown':
      return found(UNKNOWN);
    case 'schema': {
      const step = stepInto(known.view, key);
      return step.kind === 'found'
        ? found({ kind: 'schema', view: step.view })
        : { kind: 'missing', keys: step.known };
    }
    case 'types':
      return readAny([...known.types].map((type) => readType(type, key)));
    case 'list':
      if (key === 'length') return found(ofTypes('integer'));
      return isIndex(key) ? found(known.item) : { kind: 'missing', keys: ['length'] };
    case 'dict': {
      const entry = known.entries.get(String(key));
      if (entry !== undefined) return found(known.isOpen ? UNKNOWN : entry);
      return known.isOpen ? found(UNKNOWN) : { kind: 'missing', keys: [...known.entries.keys()] };
    }
    case 'union':
      return readAny([...known.of].map((each) => read(each, key)));
    default:
      return unreachable(known);
  }
}

/** The forms a value may have, each on its own; nothing where that is not known. */
export function alternativesOf(known: ValueType): readonly ValueType[] | undefined {
  switch (known.kind) {
    case 'unknown':
      return undefined;
    case 'schema':
      return formsIn(known.view)?.map((view) => ({ kind: 'schema', view }));
    case 'union': {
      const forms = [...known.of].map(alternativesOf);
      return forms.every((each) => each !== undefined) ? forms.flat() : undefined;
    }
    case 'types':
      return [...known.types].map((type) => ofTypes(type));
    case 'list':
    case 'dict':
      return [known];
    default:
      return unreachable(known);
  }
}

/** The types a value may have; nothing where that is not known. */
export function typesOf(known: ValueType): ReadonlySet<JsonType> | undefined {
  switch (known.kind) {
    case 'unknown':
      return undefined;
    case 'schema':
      return typesIn(known.view);
    case 'types':
      return known.types;
    case 'list':
      return SINGLE_TYPES.array.types;
    case 'dict':
      return SINGLE_TYPES.object.types;
    case 'union': {
      const types = new Set<JsonType>();
      for (const each of known.of) {
        const own = typesOf(each);
        if (own === undefined) return undefined;
        for (const type of own) types.add(type);
      }
      return types;
    }
    default:
      return unreachable(known);
  }
}

/** The keys that are known of an object, whether it has each of them in every run or not. */
export function keysOf(known: ValueType): readonly string[] {
  switch (known.kind) {
    case 'schema':
      return propertyNames(known.view);
    case 'dict':
      return [...known.entries.keys()];
    case 'union':
      return [...new Set([...known.of].flatMap(keysOf))];
    case 'unknown':
    case 'types':
    case 'list':
      return [];
    default:
      return unreachable(known);
  }
}

/** What is known of the items of a list, whichever of them. */
export function itemOf(known: ValueType): ValueType {
  switch (known.kind) {
    case 'list':
      return known.item;
    case 'schema': {
      const view = itemsIn(known.view);
      return view === undefined ? UNKNOWN : { kind: 'schema', view };
    }
    case 'union':
      return unionOf(...[...known.of].map(itemOf));
    case 'unknown':
    case 'types':
    case 'dict':
      return UNKNOWN;
    default:
      return unreachable(known);
  }
}

function readType(type: JsonType, key: string | number): Read {
  switch (type) {
    case 'string':
    case 'array':
      if (key === 'length') return found(ofTypes('integer'));
      if (isIndex(key)) return found(type === 'string' ? ofTypes('string') : UNKNOWN);
      return { kind: 'missing', keys: ['length'] };
    case 'object':
      return found(UNKNOWN);
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
function readAny(reads: readonly Read[]): Read {
  if (reads.length === 0) return found(UNKNOWN);
  const present = reads.flatMap((each) => (each.kind === 'found' ? [each.known] : []));
  if (present.length > 0) return found(unionOf(...present));
  return {
    kind: 'missing',
    keys: [...new Set(reads.flatMap((each) => (each.kind === 'missing' ? each.keys : [])))],
  };
}

function found(known: ValueType): Read {
  return { kind: 'found', known };
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
export function schemaOf(known: ValueType, at: string): JsonSchema {
  switch (known.kind) {
    case 'unknown':
      return {};
    case 'schema':
      return schemaOfView(known.view, at);
    case 'types': {
      const [only, ...others] = known.types;
      if (only === undefined) return { type: 'null' };
      return { type: others.length === 0 ? only : [only, ...others] };
    }
    case 'list': {
      // An item that is absent is stored as null.
      const item = schemaOf(known.item, `${at}/items/anyOf/0`);
      const isOpen = Object.keys(item).length === 0 || typesOf(known.item)?.has('null') === true;
      return isOpen
        ? { type: 'array', items: schemaOf(known.item, `${at}/items`) }
        : { type: 'array', items: { anyOf: [item, { type: 'null' }] } };
    }
    case 'dict': {
      const properties = [...known.entries].map(
        ([key, value]) => [key, schemaOf(value, `${at}/properties/${escaped(key)}`)] as const,
      );
      return { type: 'object', properties: Object.fromEntries(properties) };
    }
    case 'union':
      return anyOf([...known.of].map((each, index) => schemaOf(each, `${at}/anyOf/${index}`)));
    default:
      return unreachable(known);
  }
}

/** A schema whose references start elsewhere. One with an identity of its own is its own start. */
export function rebased(schema: JsonSchema, at: string): JsonSchema {
  return moved(schema, at) as JsonSchema;
}

function schemaOfView({ root, shapes }: SchemaView, at: string): JsonSchema {
  if (shapes === 'unknown' || shapes.length === 0) return {};
  if (!shapes.some(hasReference)) return anyOf(shapes);
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

function hasReference(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasReference);
  if (!isJsonObject(value)) return false;
  return typeof value.$ref === 'string' || Object.values(value).some(hasReference);
}

function moved(value: Json, at: string): Json {
  if (Array.isArray(value)) return value.map((item: Json) => moved(item, at));
  if (!isJsonObject(value) || typeof value.$id === 'string') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) =>
      key === '$ref' && typeof member === 'string' && member.startsWith('#')
        ? [key, `${at}${member.slice(1)}`]
        : [key, moved(member, at)],
    ),
  );
}

/** As a part of a JSON pointer within an address. */
function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}

import { isJsonObject, type Json, type JsonSchema } from '../graph/json.js';
import { unreachable } from '../graph/unreachable.js';
import { type Known, typesOf } from './known.js';
import type { SchemaView } from './schema-view.js';

/**
 * A JSON Schema of what is known of a value; `{}` where nothing is. Nothing is called required: any part of a value may
 * be absent.
 *
 * @param at where the schema will stand in a larger one, as a JSON pointer with `#`: references inside of it start there.
 */
export function schemaOfKnown(known: Known, at: string): JsonSchema {
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
      const item = schemaOfKnown(known.item, `${at}/items/anyOf/0`);
      const isOpen = Object.keys(item).length === 0 || typesOf(known.item)?.has('null') === true;
      return isOpen
        ? { type: 'array', items: schemaOfKnown(known.item, `${at}/items`) }
        : { type: 'array', items: { anyOf: [item, { type: 'null' }] } };
    }
    case 'dict': {
      const properties = [...known.entries].map(
        ([key, value]) => [key, schemaOfKnown(value, `${at}/properties/${escaped(key)}`)] as const,
      );
      return { type: 'object', properties: Object.fromEntries(properties) };
    }
    case 'either':
      return anyOf([...known.of].map((each, index) => schemaOfKnown(each, `${at}/anyOf/${index}`)));
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

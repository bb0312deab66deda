import { isJsonObject, type Json, type JsonObject, pointerKey } from '../../graph/json.js';

/** Keywords whose value is a schema; that of `items` may be a list of them in older dialects. */
const SCHEMA = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** Keywords whose value is a list of schemas. */
const LIST = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']);
/** Keywords whose value is an object of schemas. In `dependencies` some members are lists of names. */
const NAMED = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/**
 * A schema with each of the schemas directly inside it replaced. The schema itself where all of them stay as they are.
 *
 * @param map receives a schema, and the JSON pointer to it from the schema around it.
 */
export function mapSubschemas(schema: JsonObject, map: (part: Json, pointer: string) => Json): JsonObject {
  const changed: [string, Json][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const mapped = mapKeyword(keyword, value, map);
    if (mapped !== value) changed.push([keyword, mapped]);
  }
  if (changed.length === 0) return schema;
  const byKeyword = new Map(changed);
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, byKeyword.get(keyword) ?? value]),
  );
}

function mapKeyword(keyword: string, value: Json, map: (part: Json, pointer: string) => Json): Json {
  if (LIST.has(keyword) && Array.isArray(value)) {
    const items = value.map((item: Json, index) => map(item, `/${keyword}/${index}`));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (NAMED.has(keyword) && isJsonObject(value)) {
    const members = Object.entries(value).map(([name, member]): [string, Json] => [
      name,
      Array.isArray(member) ? member : map(member, `/${keyword}/${pointerKey(name)}`),
    ]);
    return members.every(([name, member]) => member === value[name]) ? value : Object.fromEntries(members);
  }
  return SCHEMA.has(keyword) ? map(value, `/${keyword}`) : value;
}

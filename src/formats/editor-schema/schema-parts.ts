import type { JsonObject, JsonSchema } from '../../graph/json.js';

export const ref = (definition: string): JsonSchema => ({ $ref: `#/definitions/${definition}` });

/** An object of some keys, and keys of its author's own. */
export function objectOf(
  keys: readonly string[],
  descriptions: Readonly<Record<string, string>>,
  schemas: Readonly<Record<string, JsonSchema>>,
): JsonObject {
  return {
    type: 'object',
    properties: propertiesOf(keys, descriptions, schemas),
    patternProperties: { '^x-': {} },
    additionalProperties: false,
  };
}

export function propertiesOf(
  keys: readonly string[],
  descriptions: Readonly<Record<string, string>>,
  schemas: Readonly<Record<string, JsonSchema>>,
): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, described(schemas[key] ?? {}, descriptions[key])]));
}

/** In draft 7, what is beside a reference does not count. */
function described(schema: JsonSchema, description: string | undefined): JsonSchema {
  if (description === undefined) return schema;
  return schema.$ref === undefined ? { description, ...schema } : { description, allOf: [schema] };
}

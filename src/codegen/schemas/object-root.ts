import { isJsonObject, type Json, type JsonObject, type JsonSchema, ownProperty } from '../../graph/json.js';

/** Follows `#/$defs/name`; any other schema stands for itself. */
export function localTarget(schema: Json, root: JsonObject): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (typeof schema.$ref !== 'string') return schema;
  const name = /^#\/\$defs\/([^/]+)$/.exec(schema.$ref)?.[1];
  const defs = root.$defs;
  const target = name !== undefined && isJsonObject(defs) ? ownProperty(defs, name) : undefined;
  return isJsonObject(target) ? target : undefined;
}

/**
 * MCP wants `type: "object"` written at the root. A union or a reference of which every form is an object gets it;
 * anything else has no form as a tool's schema.
 */
export function objectRoot(schema: JsonObject): JsonSchema | undefined {
  if (schema.type === 'object') return schema;
  return isObjectSchema(schema, schema, 0) ? { type: 'object', ...schema } : undefined;
}

function isObjectSchema(schema: Json | undefined, root: JsonObject, depth: number): boolean {
  if (!isJsonObject(schema) || depth > 16) return false;
  if (schema.type !== undefined) return schema.type === 'object';
  const target = typeof schema.$ref === 'string' ? localTarget(schema, root) : undefined;
  if (target !== undefined) return isObjectSchema(target, root, depth + 1);
  for (const key of ['anyOf', 'oneOf'] as const) {
    const forms = schema[key];
    if (Array.isArray(forms) && forms.length > 0) {
      return forms.every((form: Json) => isObjectSchema(form, root, depth + 1));
    }
  }
  const parts = schema.allOf;
  return Array.isArray(parts) && parts.some((part: Json) => isObjectSchema(part, root, depth + 1));
}

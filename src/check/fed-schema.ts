import { isJsonObject, type Json, type JsonSchema, ownProperty } from '../graph/json.js';
import type { FedInput } from '../graph/kinds/ask.js';
import type { Node } from '../graph/kinds/node.js';
import type { Graph } from '../graph/model.js';

/** The schemas of the inputs of tools and workflows, by name. */
export interface InputSchemas {
  readonly tool: (name: string) => JsonSchema | undefined;
  readonly workflow: (name: string) => Graph | undefined;
}

/** The schema of a part of the input of a node; nothing where it is not known. */
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

/** The schema of a part of a value; nothing where that depends on the rest of the value. */
export function schemaAt(root: JsonSchema, path: FedInput['path']): JsonSchema | undefined {
  let schema = resolved(root, root);
  for (const key of path) {
    if (schema === undefined) return undefined;
    schema = resolved(partOf(schema, key), root);
  }
  if (schema === undefined || schema === root || root.$defs === undefined) return schema;
  return JSON.stringify(schema).includes('"$ref"') ? { ...schema, $defs: root.$defs } : schema;
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
  const name = typeof $ref === 'string' && $ref.startsWith('#/$defs/') ? $ref.slice(8) : undefined;
  const target = name && isJsonObject(root.$defs) ? ownProperty(root.$defs, name) : undefined;
  return isJsonObject(target) && target.$ref === undefined ? target : undefined;
}

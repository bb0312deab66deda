import { defined } from './defined.js';
import { isJsonObject, isWrapped, type Json, type JsonSchema } from './json.js';
import type { Graph } from './model.js';

/** A schema whose references start elsewhere. One with an identity of its own is its own start. */
export function rebased(schema: JsonSchema, at: string): JsonSchema {
  return moved(schema, at) as JsonSchema;
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

/** A part of a schema as a schema of its own, with what its references lead to. */
export function partSchema(part: JsonSchema, root: JsonSchema): JsonSchema {
  const { $defs, definitions } = root;
  const shared = defined({ $defs, definitions });
  if (part === root || !hasReference(part, /^/)) return part;
  if (![part, shared].some((value) => hasReference(value, /^#(?!\/(?:\$defs|definitions)\/)/)))
    return { ...part, ...shared };
  const home = '#/$defs/root';
  return { ...rebased(part, home), $defs: { root: rebased(root, home) } };
}

/** Whether a schema, or one inside it, has a reference of this form. */
export function hasReference(value: Json, form: RegExp): boolean {
  if (Array.isArray(value)) return value.some((item: Json) => hasReference(item, form));
  if (!isJsonObject(value)) return false;
  if (typeof value.$ref === 'string' && form.test(value.$ref)) return true;
  return Object.values(value).some((member) => hasReference(member, form));
}

/** The schema of the value that a step binds, by the output schema of its tool. */
export function boundSchema(outputSchema: JsonSchema): JsonSchema {
  const { properties } = outputSchema;
  const result = isJsonObject(properties) ? properties.result : undefined;
  return isWrapped(outputSchema) && isJsonObject(result) ? partSchema(result, outputSchema) : outputSchema;
}

/** The schema of the arguments of a workflow. One with a default may be left out. */
export function inputsSchema({ inputs }: Pick<Graph, 'inputs'>): JsonSchema {
  const properties = inputs.map(
    ({ name, title, schema, description, default: fallback }): [string, JsonSchema] => [
      name,
      {
        ...rebased(schema, `#/properties/${name}`),
        ...defined({ title }),
        description,
        ...defined({ default: fallback }),
      },
    ],
  );
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: inputs.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

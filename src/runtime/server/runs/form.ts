import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../../../graph/json.js';
import { unreachable } from '../../../graph/unreachable.js';
import { oneLine } from '../../catalogue/encode-text.js';
import type { Action } from '../../engine/contract.js';

/** A question as a form that a client shows to its user. */
export interface Form {
  readonly schema: JsonSchema;
  /** The answer that the filled-in form is. */
  answerOf(content: JsonObject): Json;
}

/** The form of a question; nothing where it is not flat. */
export function formOf(action: Action): Form | undefined {
  switch (action.mode) {
    case 'info':
      // There is nothing to fill in: to accept is the answer.
      return { schema: { type: 'object', properties: {} }, answerOf: () => ({ acknowledged: true }) };
    case 'confirm':
    case 'text':
    case 'choice':
    case 'yield': {
      const schema = flatSchema(action.schema);
      return schema === undefined ? undefined : { schema, answerOf: (content) => content };
    }
    default:
      return unreachable(action.mode);
  }
}

/** What forms of the protocol know about a field, by its type. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'format', 'enum', 'enumNames', 'default'],
  number: ['minimum', 'maximum', 'default'],
  integer: ['minimum', 'maximum', 'default'],
  boolean: ['default'],
};

const FORMATS: readonly Json[] = ['email', 'uri', 'date', 'date-time'];

/** A schema with what the protocol's forms know; nothing where a field is no plain value. */
function flatSchema({ type, properties, required }: JsonSchema): JsonSchema | undefined {
  if (type !== 'object' || !isJsonObject(properties)) return undefined;
  const fields: [string, JsonSchema][] = [];
  for (const [name, schema] of Object.entries(properties)) {
    const field = isJsonObject(schema) ? flatField(schema) : undefined;
    if (field === undefined) return undefined;
    fields.push([name, field]);
  }
  if (fields.length === 0) return undefined;
  return { type, properties: Object.fromEntries(fields), ...(required === undefined ? {} : { required }) };
}

/** Choices as a user reads them, where their values hold what does not show. The values stay: they are the answer. */
function shownNames({ enum: values, enumNames }: JsonSchema): JsonSchema {
  if (!Array.isArray(values) || enumNames !== undefined) return {};
  const names = values.map((value) => oneLine(String(value)));
  return names.every((name, index) => name === values[index]) ? {} : { enumNames: names };
}

/** What a form cannot say, such as a pattern, is checked when the answer comes. */
function flatField(schema: JsonSchema): JsonSchema | undefined {
  const { type } = schema;
  const keywords = typeof type === 'string' ? KEYWORDS[type] : undefined;
  if (
    keywords === undefined ||
    'const' in schema ||
    '$ref' in schema ||
    'anyOf' in schema ||
    'oneOf' in schema
  ) {
    return undefined;
  }
  if (
    Array.isArray(schema.enum) &&
    (type !== 'string' || !schema.enum.every((each) => typeof each === 'string'))
  ) {
    return undefined;
  }
  const kept = ['type', 'title', 'description', ...keywords].flatMap((keyword) => {
    const value = schema[keyword];
    return value === undefined || (keyword === 'format' && !FORMATS.includes(value))
      ? []
      : [[keyword, value] as const];
  });
  return { ...Object.fromEntries(kept), ...shownNames(schema) };
}

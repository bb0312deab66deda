import { defined } from '../../../graph/defined.js';
import type { Json, JsonSchema } from '../../../graph/json.js';
import type { Input } from '../../../graph/model.js';
import { nearestName } from '../../../graph/names.js';
import { inputsSchema } from '../../../graph/part-schema.js';
import type { Located, LocatedEntry, LocatedMap, LocatedText } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import { checkBounds, choicesOf, defaultOf, expectMap, Fields, usableSchema } from '../fields.js';
import { checkName } from './names.js';

/** The types of parameters by the names that authors of several languages give them. */
export const TYPES: Readonly<Record<string, JsonSchema>> = {
  str: { type: 'string' },
  string: { type: 'string' },
  int: { type: 'integer' },
  integer: { type: 'integer' },
  float: { type: 'number' },
  number: { type: 'number' },
  num: { type: 'number' },
  bool: { type: 'boolean' },
  boolean: { type: 'boolean' },
  list: { type: 'array' },
  array: { type: 'array' },
  dict: { type: 'object' },
  object: { type: 'object' },
  map: { type: 'object' },
  any: {},
  date: { type: 'string', format: 'date' },
  datetime: { type: 'string', format: 'date-time' },
};

export const FORMATS = ['date', 'date-time', 'time', 'email', 'uri', 'uuid'] as const;

/** Keywords of JSON Schema, by the keys of parameters. */
const KEYWORDS: Readonly<Record<string, string>> = {
  minimum: 'minimum',
  maximum: 'maximum',
  min_length: 'minLength',
  max_length: 'maxLength',
  min_items: 'minItems',
  max_items: 'maxItems',
  pattern: 'pattern',
};

const BOUNDS = [
  ['minimum', 'maximum'],
  ['min_length', 'max_length'],
  ['min_items', 'max_items'],
] as const;

export const TYPE_KEYS = ['type', 'format', 'enum', 'items', ...Object.keys(KEYWORDS)];
export const PARAMETER_KEYS = [...TYPE_KEYS, 'required', 'default', 'description', 'title', 'secret'];

/** The parameters of a workflow, in the order of writing. */
export function lowerParameters(reports: Reports, params: LocatedMap): Input[] {
  return params.entries.flatMap((entry) => lowerParameter(reports, entry) ?? []);
}

/** The schema of the answer to a question: an object with these keys. */
export function lowerExpected(reports: Reports, expects: LocatedMap): JsonSchema {
  const inputs = lowerParameters(reports, expects);
  return inputsSchema({ inputs: inputs.map(({ default: _, ...input }) => input) });
}

function lowerParameter(reports: Reports, { key, value }: LocatedEntry): Input | undefined {
  const where = `parameter \`${key.value}\``;
  const map = expectMap(reports, value, where);
  if (map === undefined || !checkName(reports, key, 'a parameter')) return undefined;
  const fields = new Fields(reports, map, where, PARAMETER_KEYS);
  const schema = schemaOf(reports, fields);
  const required = fields.boolean('required') ?? false;
  const fallback = defaultOf(reports, fields, { name: key.value, schema, required });
  const title = fields.text('title')?.value;
  const secret = fields.boolean('secret');
  return {
    name: key.value,
    ...defined({ title }),
    description: fields.text('description')?.value ?? wordsOf(key.value),
    schema,
    required: required && fallback === undefined,
    ...defined({ default: fallback }),
    ...(secret === true ? { secret } : {}),
    source: reports.source.placeOf(key),
  };
}

function schemaOf(reports: Reports, fields: Fields): JsonSchema {
  const format = fields.oneOf('format', FORMATS);
  const schema: Record<string, Json> = {
    ...typeOf(reports, fields.text('type'), fields.where),
    ...defined({ format }),
  };
  const choices = choicesOf(reports, fields, schema);
  if (choices !== undefined) schema.enum = choices;
  for (const [key, keyword] of Object.entries(KEYWORDS)) {
    const value = key === 'pattern' ? fields.pattern(key) : fields.number(key);
    if (value !== undefined) schema[keyword] = value;
  }
  for (const [least, most] of BOUNDS) checkBounds(reports, fields, least, most);
  const items = fields.value('items');
  if (items !== undefined) schema.items = itemSchema(reports, items, `the items of ${fields.where}`);
  // A type and a format are known to be right.
  if (Object.keys(schema).every((key) => key === 'type' || key === 'format')) return schema;
  return usableSchema(reports, fields.map, schema, { what: fields.where, expected: 'a type' });
}

function itemSchema(reports: Reports, value: Located, where: string): JsonSchema {
  if (value.kind === 'text') return typeOf(reports, value, where);
  const map = expectMap(reports, value, where);
  return map === undefined ? {} : schemaOf(reports, new Fields(reports, map, where, TYPE_KEYS));
}

function typeOf(reports: Reports, type: LocatedText | undefined, where: string): JsonSchema {
  if (type === undefined) return {};
  const schema = Object.hasOwn(TYPES, type.value) ? TYPES[type.value] : undefined;
  if (schema !== undefined) return schema;
  const types = Object.keys(TYPES);
  const suggestion = nearestName(type.value, types);
  reports.report('SW5021', type, {
    what: `\`type\` of ${where}`,
    value: type.value,
    candidates: types,
    suggestion,
  });
  return {};
}

/** A name of underscores alone has no words. */
function wordsOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.trim() === '' ? name : words;
}

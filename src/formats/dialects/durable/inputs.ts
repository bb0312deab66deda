import { defined } from '../../../graph/defined.js';
import type { Json, JsonSchema } from '../../../graph/json.js';
import type { Input } from '../../../graph/model.js';
import { entryOf, jsonOf, type LocatedEntry, type LocatedMap } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import { checkBounds, defaultOf, expectMap, Fields, usableSchema } from '../fields.js';
import { INPUT, INPUT_TYPES, type InputType, PROPERTY, VALIDATION, VALIDATION_KEYS } from './keys.js';

/** A name that templates use after a dot. */
export const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
export const NAME_RULE = 'letters, digits and `_`, a letter or `_` first';

/** The inputs of a workflow or task, in the order of writing. */
export function lowerInputs(reports: Reports, inputs: LocatedMap | undefined): Input[] {
  return (inputs?.entries ?? []).flatMap((entry) => lowerInput(reports, entry) ?? []);
}

function lowerInput(reports: Reports, { key, value }: LocatedEntry): Input | undefined {
  const name = key.value;
  const where = `input \`${name}\``;
  const map = expectMap(reports, value, where);
  if (map === undefined) return undefined;
  if (!NAME.test(name)) {
    reports.report('SW5010', key, { kind: 'an input', name, rule: NAME_RULE });
    return undefined;
  }
  const fields = new Fields(reports, map, where, Object.keys(INPUT));
  fields.require('type');
  const schema = schemaOf(reports, fields);
  const isRequired = fields.boolean('required') ?? false;
  const fallback = defaultOf(reports, fields, { name, schema, required: isRequired, allowsNull: true });
  // An input without a value is null, and not undefined. [D1]
  const value_ = fallback ?? (isRequired ? undefined : null);
  return {
    name,
    description: fields.text('description')?.value ?? wordsOf(name),
    schema,
    required: isRequired && fallback === undefined,
    ...defined({ default: value_ }),
    source: reports.source.placeOf(key),
  };
}

/** The schema of a value by its `type` and its `validation`. */
function schemaOf(reports: Reports, fields: Fields): JsonSchema {
  const type = fields.oneOf('type', INPUT_TYPES);
  const validation = fields.object('validation');
  const where = `\`validation\` of ${fields.where}`;
  const rules = validation === undefined ? {} : rulesOf(reports, validation, type, where);
  return usable(reports, fields.map, fields.where, { ...defined({ type }), ...rules });
}

/** The schema of the answer to a question for a text. */
export function textSchema(reports: Reports, validation: LocatedMap, where: string): JsonSchema {
  return usable(reports, validation, where, {
    type: 'string',
    ...rulesOf(reports, validation, 'string', where),
  });
}

/** A schema, or any value if the schema has a fault, which is reported. */
export function usable(reports: Reports, at: LocatedMap, what: string, schema: JsonSchema): JsonSchema {
  // A type of inputs alone is known to be right.
  const isType = schema.type === undefined || INPUT_TYPES.some((type) => type === schema.type);
  if (isType && Object.keys(schema).every((key) => key === 'type')) return schema;
  return usableSchema(reports, at, schema, { what, expected: 'rules that a value can keep' });
}

/** The keywords of JSON Schema for the rules of a value. */
const KEYWORDS: Readonly<Record<string, string>> = {
  ...{ min: 'minimum', max: 'maximum', min_length: 'minLength', max_length: 'maxLength' },
  ...{ min_items: 'minItems', max_items: 'maxItems' },
};

const BOUNDS = [
  ['min', 'max'],
  ['min_length', 'max_length'],
  ['min_items', 'max_items'],
] as const;

function rulesOf(
  reports: Reports,
  map: LocatedMap,
  type: InputType | undefined,
  where: string,
): Record<string, Json> {
  const keys = type === undefined ? Object.keys(VALIDATION) : VALIDATION_KEYS[type];
  return rulesIn(reports, new Fields(reports, map, where, keys), where);
}

function rulesIn(reports: Reports, fields: Fields, where: string): Record<string, Json> {
  const rules: Record<string, Json> = {};
  for (const [key, keyword] of Object.entries(KEYWORDS)) {
    const value = fields.number(key);
    if (value !== undefined) rules[keyword] = value;
  }
  for (const [least, most] of BOUNDS) checkBounds(reports, fields, least, most);
  const pattern = fields.pattern('pattern');
  if (pattern !== undefined) rules.pattern = pattern;
  const choices = fields.list('enum');
  if (choices !== undefined) rules.enum = choices.items.map(jsonOf);
  const type = fields.oneOf('item_type', INPUT_TYPES);
  if (type !== undefined) rules.items = { type };
  const required = fields.list('required_keys');
  if (required !== undefined) rules.required = required.items.map(jsonOf);
  const properties = fields.object('properties');
  if (properties === undefined) return rules;
  rules.properties = Object.fromEntries(
    properties.entries.map(({ key, value }) => [key.value, propertySchema(reports, value, key.value, where)]),
  );
  return rules;
}

/** A property has its rules in `validation`, or beside its type. */
function propertySchema(
  reports: Reports,
  value: LocatedEntry['value'],
  name: string,
  where: string,
): JsonSchema {
  const what = `property \`${name}\` of ${where}`;
  const map = expectMap(reports, value, what);
  if (map === undefined) return {};
  const type = typeIn(map);
  const own = ['type', 'description', 'validation'];
  const keys = type === undefined ? Object.keys(PROPERTY) : [...own, ...VALIDATION_KEYS[type]];
  const fields = new Fields(reports, map, what, keys);
  const description = fields.text('description')?.value;
  return { ...schemaOf(reports, fields), ...rulesIn(reports, fields, what), ...defined({ description }) };
}

/** The type of a property, before its keys are read. */
function typeIn(map: LocatedMap): InputType | undefined {
  const value = entryOf(map, 'type')?.value;
  return value?.kind === 'text' ? INPUT_TYPES.find((type) => type === value.value) : undefined;
}

/** The words of a name. A name of underscores alone has no words. */
export function wordsOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').trim();
  return words === '' ? name : words;
}

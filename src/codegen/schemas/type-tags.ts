import { readPattern } from '../../formats/json-schema/pattern.js';
import { isJsonObject, type Json, type JsonSchema, ownProperty } from '../../graph/json.js';
import type { Place } from '../../graph/place.js';
import type { TypeNotes, TypeTag } from '../syntax.js';
import { texts } from './texts.js';

/** A JSDoc tag that says nothing a schema can hold. */
export interface TagFault {
  readonly path: string;
  readonly tag: string;
  /** What is wrong, after "`@minimum` of `input.a`". */
  readonly problem: string;
  readonly place: Place;
  /** Set for a regular expression that is one, and cannot be matched at run time. */
  readonly pattern?: string;
}

/** What is wrong with a tag's text. */
type Problem = Pick<TagFault, 'problem' | 'pattern'>;

/** A tag's text as the value of a keyword. */
type Parsed = { readonly value: Json } | Problem;

interface TagRule {
  readonly parse: (text: string, schema: JsonSchema) => Parsed;
  /** The JSON type the keyword is about. Without it, it stands beside any schema. */
  readonly about?: 'number' | 'string' | 'array';
}

const number = (text: string): Parsed => {
  const value = Number(text);
  return text !== '' && Number.isFinite(value) ? { value } : { problem: texts.mustBe('a number') };
};
const positive = (text: string): Parsed => {
  const parsed = number(text);
  return 'value' in parsed && Number(parsed.value) <= 0 ? { problem: texts.mustBe('above 0') } : parsed;
};
const count = (text: string): Parsed =>
  /^\d{1,15}$/.test(text) ? { value: Number(text) } : { problem: texts.mustBe('a whole number from 0 on') };
const words = (text: string): Parsed => (text === '' ? { problem: texts.mustBe('text') } : { value: text });
const flag = (text: string): Parsed => {
  if (text === '' || text === 'true') return { value: true };
  return text === 'false' ? { value: false } : { problem: texts.mustBe('left empty, `true` or `false`') };
};
const pattern = (text: string): Parsed => {
  try {
    // JSON Schema means regular expressions with the flag `u`.
    new RegExp(text, 'u');
    const read = readPattern(text);
    return read.ok ? words(text) : { problem: read.why, pattern: text };
  } catch (error) {
    return { problem: texts.mustBe(`a regular expression: ${(error as Error).message}`) };
  }
};
const json = (text: string, schema: JsonSchema): Parsed => {
  const types = typesOf(schema);
  const isText = types.length > 0 && types.every((type) => type === 'string');
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return isText && text !== '' ? { value: text } : { problem: texts.mustBe('JSON') };
  }
  // `@default 5` of a text is the text.
  if (isText && typeof value !== 'string') return { value: text };
  const fits = types.length === 0 || types.some((type) => isOfType(value, type));
  return fits ? { value } : { problem: texts.mustBe(`of the type ${types.join(' or ')}`) };
};

const RULES: Readonly<Record<string, TagRule>> = {
  title: { parse: words },
  description: { parse: words },
  default: { parse: json },
  // What is behind it says why, to people.
  deprecated: { parse: () => ({ value: true }) },
  integer: { parse: flag, about: 'number' },
  minimum: { parse: number, about: 'number' },
  maximum: { parse: number, about: 'number' },
  exclusiveMinimum: { parse: number, about: 'number' },
  exclusiveMaximum: { parse: number, about: 'number' },
  multipleOf: { parse: positive, about: 'number' },
  minLength: { parse: count, about: 'string' },
  maxLength: { parse: count, about: 'string' },
  pattern: { parse: pattern, about: 'string' },
  format: { parse: words, about: 'string' },
  minItems: { parse: count, about: 'array' },
  maxItems: { parse: count, about: 'array' },
  uniqueItems: { parse: flag, about: 'array' },
};

/**
 * Puts what JSDoc says into a schema: the text before the tags is its description, and each tag the keyword of its
 * name; `@integer` narrows `number`. In a union a tag goes to the members it is about. Other tags are left alone.
 */
export function tagged(
  schema: JsonSchema,
  notes: TypeNotes | undefined,
  path: string,
): { readonly value: JsonSchema; readonly faults: readonly TagFault[] } {
  if (notes === undefined) return { value: schema, faults: [] };
  const faults: TagFault[] = [];
  let value: JsonSchema =
    notes.description === undefined ? schema : { ...schema, description: notes.description };
  for (const tag of notes.tags) {
    const rule = ownProperty(RULES, tag.name);
    if (rule === undefined) continue;
    const applied = apply(value, tag, rule);
    if ('problem' in applied) {
      faults.push({ path, tag: tag.name, place: tag.place, ...applied });
    } else value = applied.schema;
  }
  return { value, faults };
}

function apply(
  schema: JsonSchema,
  { name, text }: TypeTag,
  { parse, about }: TagRule,
): { readonly schema: JsonSchema } | Problem {
  const parsed = parse(text, schema);
  if ('problem' in parsed) return parsed;
  if (about === undefined) return { schema: { ...schema, [name]: parsed.value } };
  const narrowed = narrow(schema, name, parsed.value, about);
  return narrowed === undefined ? { problem: texts.notAbout(about) } : { schema: narrowed };
}

/** Nothing where no part of the schema is of the type. */
function narrow(
  schema: JsonSchema,
  name: string,
  value: Json,
  about: 'number' | 'string' | 'array',
): JsonSchema | undefined {
  if (Array.isArray(schema.anyOf)) {
    const members = (schema.anyOf as readonly JsonSchema[]).map((member) =>
      narrow(member, name, value, about),
    );
    if (members.every((member) => member === undefined)) return undefined;
    return {
      ...schema,
      anyOf: members.map((member, i) => member ?? (schema.anyOf as readonly Json[])[i] ?? {}),
    };
  }
  const isAbout = schema.type === about || (about === 'number' && schema.type === 'integer');
  if (!isAbout) return undefined;
  if (name !== 'integer') return { ...schema, [name]: value };
  return value === true ? { ...schema, type: 'integer' } : schema;
}

/** The JSON types a value may have; none where that is open. */
function typesOf(schema: JsonSchema): readonly string[] {
  if (typeof schema.type === 'string') return [schema.type];
  if (!Array.isArray(schema.anyOf)) return [];
  const types = schema.anyOf.map((member: Json) => (isJsonObject(member) ? typesOf(member) : []));
  return types.some((each) => each.length === 0) ? [] : [...new Set(types.flat())];
}

function isOfType(value: Json, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

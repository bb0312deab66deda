import { readPattern } from '../../formats/json-schema/regular-expression.js';
import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema, ownProperty } from '../../graph/json.js';
import { append } from '../../graph/maps.js';
import type { SourceLocation } from '../../graph/source-location.js';
import {
  type PropertySyntax,
  printType,
  type TypeNotes,
  type TypeSyntax,
  type TypeTag,
  withoutUndefined,
} from '../syntax.js';
import { objectRoot, type SchemaSide } from './json-schema.js';

/** The JSON Schema of a type, and what in it has none. */
export interface TypeSchema {
  /** Missing where the type is not an object, or has faults. */
  readonly schema?: JsonSchema;
  readonly faults: readonly TypeFault[];
}

export type TypeFault =
  | {
      readonly kind: 'noJsonForm';
      /** `input.a.b[]`: the way from the root, with `[]` for items, `[0]` for one of them and `.*` for any key. */
      readonly path: string;
      /** As an author would write it. */
      readonly type: string;
      /** The declaration of the field that has the type; missing outside the project. */
      readonly place?: SourceLocation;
      /** What to write instead, where that is known. */
      readonly hint?: string;
    }
  | ({ readonly kind: 'tag' } & TagFault);

/**
 * Turns the type of `execute`'s parameter (`input`) or of its result (`output`) into a JSON Schema (draft 2020-12) for
 * an object. Objects are closed, as those of zod are. Recursive types are in `$defs`.
 */
export function schemaOfType(type: TypeSyntax, side: SchemaSide): TypeSchema {
  const present = withoutUndefined(type);
  const root = present.kind === 'recursive' ? present.name : undefined;
  const building: Building = { side, root, defs: new Map(), faults: [], isCutOff: false };
  const schema = build(building, present, side);
  const faults = distinct(building.faults);
  // Of no result there is nothing to say: the value is null then.
  const mayBeMissing = side === 'output' && present !== type;
  const rooted = mayBeMissing || faults.length > 0 ? undefined : objectRoot(withDefs(schema, building.defs));
  return { faults, ...defined({ schema: rooted }) };
}

/** The schema of a value's type. {@link schemaOfType} takes objects only, so the value is a property of one. */
export function schemaOfValue(type: TypeSyntax): TypeSchema {
  const properties = [{ name: 'value', optional: false, type }];
  const { schema, faults } = schemaOfType({ kind: 'object', properties }, 'input');
  if (schema === undefined || !isJsonObject(schema.properties) || !isJsonObject(schema.properties.value))
    return { faults };
  const shared = defined({ $defs: schema.$defs });
  return { schema: { ...schema.properties.value, ...shared }, faults };
}

interface Building {
  readonly side: SchemaSide;
  /** The name of the whole type, which `#` refers to. */
  readonly root: string | undefined;
  readonly defs: Map<string, JsonSchema>;
  readonly faults: TypeFault[];
  /** Set once a type was found to be too large: all that follows was not read either. */
  isCutOff: boolean;
}

function withDefs(schema: JsonSchema, defs: ReadonlyMap<string, JsonSchema>): JsonSchema {
  return defs.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(defs) };
}

function build(building: Building, type: TypeSyntax, path: string): JsonSchema {
  const schema = buildBare(building, type, path);
  const { value, faults } = tagged(schema, type.notes, path);
  building.faults.push(...faults.map((fault) => ({ kind: 'tag', ...fault }) as const));
  return value;
}

function buildBare(building: Building, type: TypeSyntax, path: string): JsonSchema {
  switch (type.kind) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return { type: type.kind };
    case 'literal':
      return { type: typeof type.value, const: type.value };
    case 'template':
      return { type: 'string', pattern: type.pattern };
    case 'array':
      return {
        type: 'array',
        items: isNever(type.items) ? false : build(building, withoutUndefined(type.items), `${path}[]`),
      };
    case 'tuple':
      return tupleSchema(building, type, path);
    case 'object':
      return { ...objectSchema(building, type.properties, path), additionalProperties: false };
    case 'record': {
      // `Record<string, never>` is the usual type of no input.
      const values = isNever(type.values) ? false : build(building, type.values, `${path}.*`);
      const fixed: JsonObject =
        type.properties.length === 0 ? { type: 'object' } : objectSchema(building, type.properties, path);
      return type.keys === 'string' || values === false
        ? { ...fixed, additionalProperties: values }
        : { ...fixed, patternProperties: { '^-?\\d+$': values }, additionalProperties: false };
    }
    case 'union':
      return unionSchema(building, type.members, path);
    case 'recursive': {
      if (path === building.side && type.name === building.root) return build(building, type.type, path);
      building.defs.set(type.name, build(building, type.type, path));
      return refTo(building, type.name);
    }
    case 'ref':
      return refTo(building, type.name);
    case 'unknown':
      return building.side === 'output' ? {} : refuse(building, type, path);
    case 'undefined':
    case 'other':
      return refuse(building, type, path);
    default:
      return type satisfies never;
  }
}

/** True for a type of which there are no values. */
export function isNever(type: TypeSyntax): boolean {
  return type.kind === 'other' && type.text === 'never';
}

function refTo({ root }: Building, name: string): JsonSchema {
  return { $ref: name === root ? '#' : `#/$defs/${name}` };
}

function refuse(building: Building, type: TypeSyntax, path: string): JsonSchema {
  const extent = type.kind === 'other' ? type.extent : undefined;
  const isEcho = extent === 'large' && building.isCutOff;
  if (extent === 'large') building.isCutOff = true;
  if (!isEcho) {
    const text = printType(type);
    const hint =
      extent === undefined ? INSTEAD.find(([pattern]) => pattern.test(text))?.[1] : EXTENTS[extent];
    building.faults.push({
      kind: 'noJsonForm',
      path,
      type: text,
      ...defined({ hint }),
    });
  }
  return {};
}

function objectSchema(building: Building, properties: readonly PropertySyntax[], path: string): JsonObject {
  const schemas = properties.map(({ name, type, place }): [string, JsonSchema] => {
    const before = building.faults.length;
    const schema = build(building, withoutUndefined(type), `${path}${propertyPath(name)}`);
    if (place !== undefined) locate(building.faults, before, place);
    return [name, schema];
  });
  // An absent value is a key left out.
  const required = properties.filter(({ optional, type }) => !optional && withoutUndefined(type) === type);
  return {
    type: 'object',
    properties: Object.fromEntries(schemas),
    ...(required.length === 0 ? {} : { required: required.map(({ name }) => name) }),
  };
}

/** Sets the place of a field on the faults in it that have no place yet. */
function locate(faults: TypeFault[], from: number, place: SourceLocation): void {
  for (const [i, fault] of faults.entries()) {
    if (i >= from && fault.kind === 'noJsonForm') faults[i] = { place, ...fault };
  }
}

function propertyPath(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function tupleSchema(
  building: Building,
  { items, required, rest }: Extract<TypeSyntax, { kind: 'tuple' }>,
  path: string,
): JsonSchema {
  const prefixItems = items.map((item, i) => build(building, withoutUndefined(item), `${path}[${i}]`));
  return {
    type: 'array',
    ...(prefixItems.length === 0 ? {} : { prefixItems }),
    items: rest === undefined ? false : build(building, withoutUndefined(rest), `${path}[]`),
    ...(required === 0 ? {} : { minItems: required }),
  };
}

/** Literals of one type become one `enum`; with other members, all of them go under `anyOf`. */
function unionSchema(building: Building, members: readonly TypeSyntax[], path: string): JsonSchema {
  const enums = new Map<string, (string | number | boolean)[]>();
  const others: JsonSchema[] = [];
  for (const member of members) {
    if (member.kind !== 'literal') {
      if (member.kind !== 'undefined') others.push(build(building, member, path));
      continue;
    }
    append(enums, typeof member.value, member.value);
  }
  const literals = [...enums].map(
    ([type, values]): JsonSchema =>
      values.length === 1 ? { type, const: values[0] ?? null } : { type, enum: values },
  );
  const all = [...literals, ...others];
  const [only] = all;
  return only !== undefined && all.length === 1 ? only : { anyOf: all };
}

/** Describes a fault of a type as a sentence. */
export function problemOf(fault: TypeFault): string {
  switch (fault.kind) {
    case 'noJsonForm':
      return `\`${fault.path}\` is of the type \`${fault.type}\`, which has no JSON form`;
    case 'tag':
      return fault.pattern === undefined
        ? `\`@${fault.tag}\` of \`${fault.path}\` ${fault.problem}`
        : `the pattern \`${fault.pattern}\` at \`${fault.path}\` ${fault.problem}`;
    default:
      return fault satisfies never;
  }
}

/** Removes duplicates: a type that is used several times repeats the faults of its fields. */
function distinct(faults: readonly TypeFault[]): readonly TypeFault[] {
  const existing = new Set<string>();
  return faults.filter((fault) => {
    const key =
      fault.kind === 'tag'
        ? JSON.stringify([fault.tag, fault.place])
        : JSON.stringify([fault.place ?? fault.path, fault.type]);
    if (existing.has(key)) return false;
    existing.add(key);
    return true;
  });
}

/** A JSDoc tag whose text is not a valid value of its keyword. */
interface TagFault {
  readonly path: string;
  readonly tag: string;
  /** What is wrong, after "`@minimum` of `input.a`". */
  readonly problem: string;
  readonly place: SourceLocation;
  /** Set for a regular expression that is one, and cannot be matched at run time. */
  readonly pattern?: string;
}

/** What is wrong with a tag's text. */
type Problem = Pick<TagFault, 'problem' | 'pattern'>;

/** A tag's text as the value of a keyword. */
type Parsed = { readonly value: Json } | Problem;

interface TagRule {
  readonly parse: (text: string, schema: JsonSchema) => Parsed;
  /** The JSON type that the keyword applies to. Without it, it applies to any schema. */
  readonly about?: 'number' | 'string' | 'array';
}

const number = (text: string): Parsed => {
  const value = Number(text);
  return text !== '' && Number.isFinite(value) ? { value } : { problem: mustBe('a number') };
};
const positive = (text: string): Parsed => {
  const parsed = number(text);
  return 'value' in parsed && Number(parsed.value) <= 0 ? { problem: mustBe('above 0') } : parsed;
};
const count = (text: string): Parsed =>
  /^\d{1,15}$/.test(text) ? { value: Number(text) } : { problem: mustBe('a whole number from 0 on') };
const words = (text: string): Parsed => (text === '' ? { problem: mustBe('text') } : { value: text });
const flag = (text: string): Parsed => {
  if (text === '' || text === 'true') return { value: true };
  return text === 'false' ? { value: false } : { problem: mustBe('left empty, `true` or `false`') };
};
const pattern = (text: string): Parsed => {
  try {
    // JSON Schema means regular expressions with the flag `u`.
    new RegExp(text, 'u');
    const reading = readPattern(text);
    return reading.ok ? words(text) : { problem: reading.why, pattern: text };
  } catch (error) {
    return { problem: mustBe(`a regular expression: ${(error as Error).message}`) };
  }
};
const json = (text: string, schema: JsonSchema): Parsed => {
  const types = typesOf(schema);
  const isText = types.length > 0 && types.every((type) => type === 'string');
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return isText && text !== '' ? { value: text } : { problem: mustBe('JSON') };
  }
  // `@default 5` of a text is the text.
  if (isText && typeof value !== 'string') return { value: text };
  const fits = types.length === 0 || types.some((type) => isOfType(value, type));
  return fits ? { value } : { problem: mustBe(`of the type ${types.join(' or ')}`) };
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
function tagged(
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
  return narrowed === undefined
    ? { problem: `is about ${about === 'array' ? 'an' : 'a'} ${about}, which this is not` }
    : { schema: narrowed };
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

const EXTENTS = {
  deep: 'it is nested without end: give the tool a schema, `input: z.object({ … })`',
  large: 'the type has too many parts to be written out: name what the tool needs of it',
} as const;

function mustBe(what: string): string {
  return `must be ${what}`;
}

/** What to write instead of a type without a JSON form. */
const INSTEAD: readonly (readonly [RegExp, string])[] = [
  [/^Date$/, 'take text: `/** @format date-time */ when: string`'],
  [/^bigint$/, 'take a number, or text'],
  [/^(Readonly)?(Weak)?Map\b/, 'take `Record<string, …>`'],
  [/^(Readonly)?(Weak)?Set\b/, 'take a list'],
  [/^(Buffer|Uint8Array|ArrayBuffer)\b/, 'take text in base64: `/** @format byte */ bytes: string`'],
  [/^URL$/, 'take text: `/** @format uri */ url: string`'],
  [/^RegExp$/, 'take its source as text'],
  [/^(any|unknown)$/, 'write its type'],
  [/^Promise\b/, 'take what it resolves to'],
];

import { canonicalJson } from '../../graph/canonical.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  referredValue,
} from '../../graph/json.js';
import { getOrInsert } from '../../graph/maps.js';
import { escapeUnprintable, jsonText } from '../../graph/printable-text.js';

/** What a form of HTML has for a schema. */
export interface Part {
  readonly control: Control;
  /** The schema itself, behind its references: its title, description, default and limits. */
  readonly schema: JsonSchema;
  readonly isNullable: boolean;
}

/** Fields of a form. A schema that no other control can hold is a text in JSON. */
export type Control =
  | { readonly kind: 'text'; readonly as: 'area' | 'text' | 'email' | 'url' | 'date' | 'datetime-local' }
  | { readonly kind: 'number'; readonly isWhole: boolean }
  /** One of several values. A required constant has no field. */
  | { readonly kind: 'choice'; readonly options: readonly Option[]; readonly isConstant: boolean }
  /** Any of several values, in the order of the options. */
  | { readonly kind: 'several'; readonly options: readonly Option[] }
  | { readonly kind: 'list'; readonly item: Part; readonly atLeast: number; readonly atMost: number }
  | { readonly kind: 'object'; readonly members: readonly Member[] }
  | { readonly kind: 'json' };

export interface Option {
  readonly value: Json;
  readonly label: string;
}

export interface Member {
  readonly name: string;
  readonly part: Part;
  readonly isRequired: boolean;
}

/** References that lead to a part, which must not lead to it again: a form is finite. */
interface Scope {
  readonly root: JsonSchema;
  readonly refs: readonly string[];
  /** Parts that the form may still have. */
  readonly budget: { parts: number };
}

/** The most parts of a form: references may multiply them. What is beyond it is a text in JSON. */
const MAX_PARTS = 2_000;

/** Forms by schema: each is read once for the fields of a form, and once for its values. */
const parts = new WeakMap<JsonSchema, Part>();

export function partOf(schema: JsonSchema): Part {
  return getOrInsert(parts, schema, () =>
    readPart(schema, { root: schema, refs: [], budget: { parts: MAX_PARTS } }),
  );
}

function readPart(written: Json, scope: Scope): Part {
  scope.budget.parts -= 1;
  const plain = isJsonObject(written) && scope.budget.parts > 0 ? written : {};
  const { $ref } = plain;
  if (typeof $ref === 'string') {
    const { $ref: _, ...own } = plain;
    const target = scope.refs.includes($ref) ? undefined : referredValue($ref, scope.root);
    return isJsonObject(target)
      ? readPart({ ...target, ...own }, { ...scope, refs: [...scope.refs, $ref] })
      : { control: { kind: 'json' }, schema: own, isNullable: false };
  }
  const { schema, isNullable } = withoutNull(plain);
  if (isNullable && schema.$ref !== undefined) return { ...readPart(schema, scope), isNullable };
  return { control: controlOf(schema, scope), schema, isNullable };
}

/** A schema without `null` among its types, its values or its alternatives. */
function withoutNull(schema: JsonSchema): Pick<Part, 'schema' | 'isNullable'> {
  const { type, enum: values } = schema;
  if (Array.isArray(values) && values.length > 1 && values.includes(null)) {
    const others = values.filter((value: Json) => value !== null);
    return { schema: { ...schema, enum: others }, isNullable: true };
  }
  if (Array.isArray(type) && type.length === 2 && type.includes('null')) {
    const [other = 'null'] = type.filter((name: Json) => name !== 'null');
    return { schema: { ...schema, type: other }, isNullable: values === undefined };
  }
  for (const keyword of ['anyOf', 'oneOf']) {
    const { [keyword]: alternatives, ...own } = schema;
    if (!Array.isArray(alternatives) || alternatives.length !== 2) continue;
    const others = alternatives.filter((each: Json) => !(isJsonObject(each) && each.type === 'null'));
    const [other] = others;
    if (others.length === 1 && isJsonObject(other)) return { schema: { ...other, ...own }, isNullable: true };
  }
  return { schema, isNullable: false };
}

const FORMATS: Readonly<Record<string, 'email' | 'url' | 'date' | 'datetime-local'>> = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
};

/** A text that may be longer than this gets an area of several lines. */
const LINE_LENGTH = 120;

function controlOf(schema: JsonSchema, scope: Scope): Control {
  const options = optionsOf(schema);
  if (options !== undefined) return { kind: 'choice', options, isConstant: schema.const !== undefined };
  const isUnion = ['anyOf', 'oneOf', 'allOf', 'not', 'if'].some((keyword) => schema[keyword] !== undefined);
  if (isUnion) return { kind: 'json' };
  switch (schema.type) {
    case 'string': {
      const { format, maxLength, pattern } = schema;
      const line = pattern !== undefined || (typeof maxLength === 'number' && maxLength <= LINE_LENGTH);
      const special = typeof format === 'string' ? FORMATS[format] : undefined;
      return { kind: 'text', as: special ?? (line || format !== undefined ? 'text' : 'area') };
    }
    case 'number':
    case 'integer':
      return { kind: 'number', isWhole: schema.type === 'integer' };
    case 'array':
      return listOf(schema, scope);
    case 'object':
      return objectOf(schema, scope);
    default:
      return { kind: 'json' };
  }
}

function listOf(schema: JsonSchema, scope: Scope): Control {
  const { items, minItems, maxItems, prefixItems } = schema;
  if (!isJsonObject(items) || prefixItems !== undefined) return { kind: 'json' };
  const item = readPart(items, scope);
  const { control } = item;
  if (control.kind === 'choice' && !item.isNullable && !control.isConstant)
    return { kind: 'several', options: control.options };
  const atLeast = typeof minItems === 'number' ? Math.min(minItems, 100) : 0;
  return { kind: 'list', item, atLeast, atMost: typeof maxItems === 'number' ? maxItems : Infinity };
}

function objectOf({ properties, required, additionalProperties }: JsonSchema, scope: Scope): Control {
  const named = isJsonObject(properties) ? properties : {};
  const names = Object.keys(named);
  const mustHave = Array.isArray(required) ? required : [];
  const isOpen = names.length === 0 && additionalProperties !== false;
  // Names of fields are sent as they are read.
  const isPlain = names.every((name) => escapeUnprintable(name) === name);
  if (isOpen || !isPlain || mustHave.some((name: Json) => typeof name !== 'string' || !names.includes(name)))
    return { kind: 'json' };
  const members = Object.entries(named).map(([name, schema]) => ({
    name,
    part: readPart(schema, scope),
    isRequired: mustHave.includes(name),
  }));
  return { kind: 'object', members };
}

/** The values of a schema that lists them; undefined for another one. */
function optionsOf(schema: JsonSchema): readonly Option[] | undefined {
  const { const: constant, enum: values, enumNames, type } = schema;
  if (constant !== undefined) return [{ value: constant, label: labelOf(constant) }];
  if (Array.isArray(values) && values.length > 0) {
    const names: readonly Json[] = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value: Json, index: number) => ({
      value,
      label: typeof names[index] === 'string' ? names[index] : labelOf(value),
    }));
  }
  if (type === 'boolean') return [true, false].map((value) => ({ value, label: labelOf(value) }));
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(alternatives) || alternatives.length === 0) return undefined;
  const options = alternatives.map((each: Json): Option | undefined => {
    if (!isJsonObject(each) || each.const === undefined) return undefined;
    const { const: value, title } = each;
    return { value, label: typeof title === 'string' ? title : labelOf(value) };
  });
  return options.every((option) => option !== undefined) ? options : undefined;
}

function labelOf(value: Json): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return typeof value === 'string' && value !== '' ? value : jsonText(value);
}

/** The options of a choice that a value is or, for several, the items of it are; undefined where one is not an option. */
export function indexesOf(options: readonly Option[], values: readonly Json[]): number[] | undefined {
  const keys = options.map(({ value }) => canonicalJson(value));
  const indexes = values.map((value) => keys.indexOf(canonicalJson(value)));
  return indexes.includes(-1) ? undefined : indexes;
}

const LOCAL_DATE = /^(?!0000)\d{4}-\d\d-\d\d$/;
const UTC_TIME = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Whether the control of a part shows a value without changing it. Members and items have controls of their own. */
export function canHold({ control, isNullable }: Part, value: Json): boolean {
  if (value === null && isNullable) return true;
  switch (control.kind) {
    case 'text':
      return typeof value === 'string' && canHoldText(control.as, value);
    case 'number':
      return typeof value === 'number' && (!control.isWhole || Number.isInteger(value));
    case 'choice':
      return indexesOf(control.options, [value]) !== undefined;
    case 'several': {
      const indexes = Array.isArray(value) ? indexesOf(control.options, value) : undefined;
      return indexes?.every((index, at) => at === 0 || index > (indexes[at - 1] ?? 0)) === true;
    }
    case 'list':
      return Array.isArray(value) && value.length <= MAX_ROWS;
    case 'object':
      return isJsonObject(value) && hasNoOthers(value, control.members);
    default:
      return false;
  }
}

/** The most rows of a list in a form. A longer list is shown as JSON. */
export const MAX_ROWS = 200;

function hasNoOthers(value: JsonObject, members: readonly Member[]): boolean {
  return Object.keys(value).every((key) => members.some(({ name }) => name === key));
}

function canHoldText(as: Extract<Control, { kind: 'text' }>['as'], text: string): boolean {
  if (as === 'area') return !text.includes('\r') && escapeUnprintable(text, 'keep') === text;
  if (escapeUnprintable(text) !== text) return false;
  if (text === '' || as === 'text') return true;
  if (as === 'date') return LOCAL_DATE.test(text) && isTime(`${text}T00:00:00Z`);
  return as === 'datetime-local' ? UTC_TIME.test(text) && isTime(text) : text.trim() === text;
}

/** Whether a day exists, and its time. */
function isTime(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString() === text.replace('Z', '.000Z');
}

import { isJsonObject, type Json, type JsonSchema, pointerKey, type Value } from '../../graph/json.js';
import { append } from '../../graph/maps.js';
import { jsonText } from '../../graph/printable-text.js';
import { canHold, indexesOf, MAX_ROWS, type Part, partOf } from './controls.js';

/** What a form sends: names and values. `URLSearchParams` fits. */
export type FormFields = Iterable<readonly [name: string, value: string]>;

/** What is wrong with an answer of a form. */
export interface FormFault {
  /** JSON pointer to the value, '' for the whole. */
  readonly pointer: string;
  /** A sentence for the person who filled it in. */
  readonly message: string;
}

export type FormValue =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly faults: readonly FormFault[] };

/** The values of the fields of a form, by the names of the fields. */
export type Fields = ReadonlyMap<string, readonly string[]>;

/** A value within a form. */
export interface Place {
  readonly part: Part;
  /** JSON pointer in the fields. Rows that are empty or removed count. */
  readonly from: string;
  /** JSON pointer in the value, where those rows do not count. */
  readonly to: string;
  /** Whether what is around it cannot be without it. */
  readonly isRequired: boolean;
}

export function rootOf(schema: JsonSchema): Place {
  return { part: partOf(schema), from: '', to: '', isRequired: true };
}

export function memberPlace(
  place: Place,
  { name, part, isRequired }: { name: string; part: Part; isRequired: boolean },
): Place {
  const key = `/${pointerKey(name)}`;
  return { part, from: `${place.from}${key}`, to: `${place.to}${key}`, isRequired };
}

export function rowPlace(place: Place, item: Part, from: number, to: number): Place {
  return { part: item, from: `${place.from}/${from}`, to: `${place.to}/${to}`, isRequired: true };
}

/**
 * The value that a person has filled into the form of a schema. A field that is empty leaves out its member; a row of a list with
 * empty fields only, or one that is removed, does not count.
 *
 * It reads numbers, choices and JSON, and finds what is missing. What else the schema says is for a validator.
 */
export function valueOfForm(schema: JsonSchema, fields: FormFields): FormValue {
  const faults: FormFault[] = [];
  const value = valueAt(rootOf(schema), grouped(fields), faults);
  return faults.length > 0 || value === undefined ? { ok: false, faults } : { ok: true, value };
}

/** Whether a form was sent with a button that adds or removes a row: it is shown again, and its value is not used. */
export function changesRows(fields: FormFields): boolean {
  return [...fields].some(([name]) => name === 'add' || name === 'remove');
}

export function grouped(fields: FormFields): Fields {
  const groups = new Map<string, string[]>();
  for (const [name, value] of fields) {
    append(groups, name, value);
  }
  return groups;
}

export function textAt(fields: Fields, name: string): string {
  return fields.get(name)?.[0] ?? '';
}

/**
 * Whether no field of a place is filled in. The field `present` says that a value is there although its fields are empty: an empty text,
 * list or object, or null.
 */
function isEmpty(place: Place, fields: Fields): boolean {
  return !fields.has(`present${place.from}`) && hasEmptyFields(place, fields);
}

function hasEmptyFields(place: Place, fields: Fields): boolean {
  const { part, from } = place;
  const { control } = part;
  if (fields.has(`json${from}`)) return textAt(fields, `json${from}`).trim() === '';
  switch (control.kind) {
    case 'choice':
      return isConstant(place) || textAt(fields, `value${from}`) === '';
    case 'list':
      return rowsOf(place, control.item, fields).length === 0;
    case 'object':
      return control.members.every((member) => isEmpty(memberPlace(place, member), fields));
    default:
      return textAt(fields, `value${from}`) === '';
  }
}

/** Whether it has its value without a field. */
export function isConstant({ part: { control, isNullable }, isRequired }: Place): boolean {
  return control.kind === 'choice' && control.isConstant && isRequired && !isNullable;
}

/** The rows of a list that count, by their numbers in the fields. */
export function rowsOf(place: Place, item: Part, fields: Fields): number[] {
  const count = Math.min(Number(textAt(fields, `rows${place.from}`)) || 0, MAX_ROWS);
  return Array.from({ length: Math.max(0, Math.floor(count)) }, (_, row) => row).filter((row) => {
    const at = rowPlace(place, item, row, row);
    return !isEmpty(at, fields) && textAt(fields, 'remove') !== at.from;
  });
}

function valueAt(place: Place, fields: Fields, faults: FormFault[]): Value {
  const { part, from, to, isRequired } = place;
  const { control, isNullable } = part;
  const fault = (message: string): undefined => void faults.push({ pointer: to, message });
  const present = fields.get(`present${from}`)?.[0];
  if (hasEmptyFields(place, fields)) {
    if (present === undefined && !isRequired) return undefined;
    if (present === 'null' || (present === undefined && isNullable)) return null;
    if (control.kind === 'several') return [];
    if (present === '' && control.kind === 'text') return '';
    if (control.kind === 'choice' && isConstant(place)) return control.options[0]?.value;
    const hasFields = (control.kind === 'list' || control.kind === 'object') && !fields.has(`json${from}`);
    if (!hasFields) return fault(control.kind === 'choice' ? 'Choose one.' : 'Enter a value.');
  }
  if (fields.has(`json${from}`)) return parsed(textAt(fields, `json${from}`), fault);
  const text = textAt(fields, `value${from}`);
  switch (control.kind) {
    case 'text':
      return textOf(text, control.as);
    case 'number':
      return numberOf(text, control.isWhole, fault);
    case 'choice':
      return control.options[indexOf(text)]?.value ?? fault('Choose one of the options.');
    case 'several': {
      const indexes = [...new Set(fields.get(`value${from}`)?.map(indexOf))].sort((a, b) => a - b);
      const values = indexes.map((index) => control.options[index]?.value);
      return values.every((value) => value !== undefined) ? values : fault('Choose from the options.');
    }
    case 'list':
      return rowsOf(place, control.item, fields).map(
        (row, index) => valueAt(rowPlace(place, control.item, row, index), fields, faults) ?? null,
      );
    case 'object':
      return Object.fromEntries(
        control.members.flatMap((member) => {
          const value = valueAt(memberPlace(place, member), fields, faults);
          return value === undefined ? [] : [[member.name, value]];
        }),
      );
    default:
      return fault('Enter a value.');
  }
}

function indexOf(text: string): number {
  return /^\d{1,6}$/.test(text) ? Number(text) : -1;
}

/** Browsers send line breaks as CRLF, and times of day without a zone and, where they are 0, without seconds. */
function textOf(text: string, as: string): string {
  const lines = text.replaceAll(/\r\n?/g, '\n');
  const time = as === 'datetime-local' && /^(\d{4,}-\d\d-\d\dT\d\d:\d\d)(:\d\d(?:\.\d+)?)?$/.exec(text);
  return time ? `${time[1]}${time[2] ?? ':00'}Z` : lines;
}

function numberOf(text: string, isWhole: boolean, fault: (message: string) => undefined): Value {
  const trimmed = text.trim();
  const value = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (!Number.isFinite(value)) return fault('Enter a number, such as 3 or -2.5.');
  if (isWhole && !Number.isInteger(value)) return fault('Enter a whole number.');
  const isExact = !/^[+-]?\d+$/.test(trimmed) || BigInt(trimmed.replace('+', '')) === BigInt(value);
  return isExact ? value : fault('This number has too many digits to be kept exactly.');
}

function parsed(text: string, fault: (message: string) => undefined): Value {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return fault('Enter JSON: a text in double quotes, a number, true, false, null, [...] or {...}.');
  }
}

/**
 * The fields of a form with a value. Without a value they have the defaults of the schema: of the whole, and of members that are not within
 * something that may be left out.
 */
export function fieldsOf(schema: JsonSchema, value: Value): Fields {
  const fields = new Map<string, string[]>();
  write(rootOf(schema), value, value === undefined, fields);
  return fields;
}

function write(place: Place, given: Value, useDefaults: boolean, fields: Map<string, string[]>): void {
  const { part, from, isRequired } = place;
  const { control, schema } = part;
  const value = given ?? (given === undefined && useDefaults ? schema.default : given);
  if (value === undefined) {
    if (control.kind !== 'object' || !isRequired) return;
    for (const member of control.members) write(memberPlace(place, member), undefined, useDefaults, fields);
    return;
  }
  if (control.kind === 'json' || !canHold(part, value)) {
    fields.set(`json${from}`, [jsonText(value, 2)]);
    return;
  }
  if (value !== null) writeControl(place, value, fields);
  if (hasEmptyFields(place, fields)) fields.set(`present${from}`, [value === null ? 'null' : '']);
}

function writeControl(place: Place, value: Json, fields: Map<string, string[]>): void {
  const { control } = place.part;
  const name = `value${place.from}`;
  if (control.kind === 'choice') {
    if (!isConstant(place)) fields.set(name, (indexesOf(control.options, [value]) ?? []).map(String));
  } else if (control.kind === 'object' && isJsonObject(value)) {
    for (const member of control.members) {
      const own = Object.hasOwn(value, member.name) ? value[member.name] : undefined;
      write(memberPlace(place, member), own, false, fields);
    }
  } else if (Array.isArray(value) && control.kind === 'several') {
    fields.set(name, (indexesOf(control.options, value) ?? []).map(String));
  } else if (Array.isArray(value) && control.kind === 'list') {
    fields.set(`rows${place.from}`, [String(value.length)]);
    for (const [row, item] of value.entries())
      write(rowPlace(place, control.item, row, row), item, false, fields);
  } else if (control.kind === 'text' && control.as === 'datetime-local') {
    fields.set(name, [String(value).replace('Z', '')]);
  } else {
    fields.set(name, [String(value)]);
  }
}

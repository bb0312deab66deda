import { defined } from '../../graph/defined.js';
import type { Edit } from '../../graph/diagnostics/diagnostic.js';
import type { Json, JsonSchema } from '../../graph/json.js';
import type { Range } from '../../graph/kinds/descriptor.js';
import { MAX_DURATION_MS } from '../../graph/limits.js';
import { uniqueBy } from '../../graph/maps.js';
import { type Graph, type Input, TASK_SUPPORT } from '../../graph/model.js';
import { certainName, nearestName } from '../../graph/names.js';
import { readPattern } from '../json-schema/regular-expression.js';
import { SchemaCompiler } from '../json-schema/schema-compiler.js';
import {
  describeLocated,
  jsonOf,
  type Located,
  type LocatedEntry,
  type LocatedList,
  type LocatedMap,
  type LocatedText,
} from '../text/located.js';
import type { Reports } from '../text/reading.js';

/** Reads the keys of an object. Keys that it does not know, and values of other types, are reported. */
export class Fields {
  readonly map: LocatedMap;
  /** The name of the object in messages: ``node `check` ``. */
  readonly where: string;
  readonly #reports: Reports;
  readonly #byName: ReadonlyMap<string, LocatedEntry>;

  /** @param keys Default: any key. */
  constructor(reports: Reports, map: LocatedMap, where: string, keys?: readonly string[]) {
    this.#reports = reports;
    this.map = map;
    this.where = where;
    this.#byName = new Map(map.entries.map((entry) => [entry.key.value, entry]));
    if (keys === undefined) return;
    for (const { key } of map.entries) {
      const name = key.value;
      if (keys.includes(name) || name.startsWith('x-')) continue;
      const suggestion = nearestName(name, keys) ?? keys.find((key) => key === singularOf(name));
      const free = keys.filter((key) => !this.#byName.has(key));
      const details = { edit: renameTo(reports, key, free) };
      reports.report('SW5005', key, { key: name, where, candidates: keys, suggestion }, details);
    }
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  entry(name: string): LocatedEntry | undefined {
    return this.#byName.get(name);
  }

  value(name: string): Located | undefined {
    return this.#byName.get(name)?.value;
  }

  text(name: string): LocatedText | undefined {
    return this.#as(name, 'text', 'text');
  }

  object(name: string): LocatedMap | undefined {
    return this.#as(name, 'map', 'an object');
  }

  list(name: string): LocatedList | undefined {
    return this.#as(name, 'list', 'a list');
  }

  boolean(name: string): boolean | undefined {
    return this.#as(name, 'boolean', '`true` or `false`')?.value;
  }

  /** A regular expression. One that cannot be used is reported. */
  pattern(name: string): string | undefined {
    const source = this.text(name);
    const reading = source && readPattern(source.value);
    if (source === undefined || reading?.ok === true) return source?.value;
    const actual = `\`${source.value}\`, which ${reading?.why}`;
    const what = `\`${name}\` of ${this.where}`;
    this.#reports.report('SW5006', source, { what, expected: 'a usable regular expression', actual });
    return undefined;
  }

  /** A number; the checker knows its range. */
  number(name: string): number | undefined {
    return this.#as(name, 'number', 'a number')?.value;
  }

  /** A number in a range. One outside of it is reported. */
  numberIn(name: string, { text, holds }: Range): number | undefined {
    const number = this.#as(name, 'number', 'a number');
    if (number === undefined || holds(number.value)) return number?.value;
    const what = `\`${name}\` of ${this.where}`;
    this.#reports.report('SW5006', number, { what, expected: text, actual: String(number.value) });
    return undefined;
  }

  /** A text that is one of a few. */
  oneOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if ((choices as readonly string[]).includes(text.value)) return text.value as T;
    const { value } = text;
    const what = `\`${name}\` of ${this.where}`;
    const suggestion = nearestName(value, choices);
    const edit = renameTo(this.#reports, text, choices);
    this.#reports.report('SW5021', text, { what, value, candidates: choices, suggestion }, { edit });
    return undefined;
  }

  task(): Pick<Graph, 'task' | 'taskSupport'> {
    const taskSupport = this.oneOf('task_support', TASK_SUPPORT);
    return { ...(this.boolean('task') === true ? { task: true } : {}), ...defined({ taskSupport }) };
  }

  /** Reports a key that the object needs and does not have. */
  require(name: string): boolean {
    if (this.has(name)) return true;
    this.#reports.report('SW5007', this.#start(), { what: this.where, key: name });
    return false;
  }

  /** Reports a value of another type. */
  mismatch(name: string, value: Located, expected: string): void {
    const what = name === '' ? this.where : `\`${name}\` of ${this.where}`;
    const params = { what, expected, actual: describeLocated(value) };
    const isUnquoted = expected === 'text' && value.kind === 'boolean';
    this.#reports.report(
      'SW5006',
      value,
      params,
      isUnquoted ? { hint: `write \`"${value.value}"\`, in quotes` } : {},
    );
  }

  #start() {
    const { start, end, pointer } = this.map.entries[0]?.key ?? this.map;
    return { start, end, pointer };
  }

  #as<K extends Located['kind']>(
    name: string,
    kind: K,
    expected: string,
  ): Extract<Located, { readonly kind: K }> | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (value.kind === kind) return value as Extract<Located, { readonly kind: K }>;
    this.mismatch(name, value, expected);
    return undefined;
  }
}

/** The edit that corrects a misspelt name, if only one name is near. */
export function renameTo(
  reports: Reports,
  text: LocatedText,
  candidates: readonly string[],
): Edit | undefined {
  const name = certainName(text.value, candidates);
  return name === undefined ? undefined : reports.rename(text, name);
}

/** `retry` for `retries`. */
function singularOf(name: string): string {
  return name.replace(/ies$/, 'y').replace(/s$/, '');
}

export function expectMap(reports: Reports, value: Located, what: string): LocatedMap | undefined {
  if (value.kind === 'map') return value;
  reports.report('SW5006', value, { what, expected: 'an object', actual: describeLocated(value) });
  return undefined;
}

/** A text or a list of texts, each once. */
export function textsOf(reports: Reports, value: Located, what: string): LocatedText[] {
  const items = value.kind === 'list' ? value.items : [value];
  const texts = items.flatMap((item) => {
    if (item.kind === 'text') return [item];
    const expected = 'a name or a list of names';
    reports.report('SW5006', item, { what, expected, actual: describeLocated(item) });
    return [];
  });
  return uniqueBy(texts, (text) => text.value);
}

/** Milliseconds in the units of times. */
export const UNITS: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 },
};
const SHORT = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)$/;
const ISO = /^PT(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?$/;

/** A regular expression of the texts that are times. */
export const DURATION_PATTERN = `${SHORT.source}|${ISO.source}`;

/** A time in milliseconds: a number of the unit, or a text such as `30s` or `PT30S`. */
export function durationOf(
  reports: Reports,
  value: Located,
  what: string,
  unit: 'milliseconds' | 'seconds' = 'milliseconds',
): number | undefined {
  if (value.kind === 'number') return unit === 'seconds' ? value.value * 1_000 : value.value;
  const duration = value.kind === 'text' ? parseDuration(value.value) : undefined;
  if (duration !== undefined) return duration;
  const expected = `${unit}, or a time such as \`30s\``;
  reports.report('SW5006', value, { what, expected, actual: writtenTime(value) });
  return undefined;
}

/** The limit of an attempt in milliseconds: a time above 0, and at most ten years. */
export function timeLimitOf(...[reports, value, what, unit]: Parameters<typeof durationOf>) {
  const limit = durationOf(reports, value, what, unit);
  if (limit === undefined || (limit > 0 && limit <= MAX_DURATION_MS)) return limit;
  const expected = limit > 0 ? 'at most ten years' : 'a time above 0';
  reports.report('SW5006', value, { what, expected, actual: writtenTime(value) });
  return undefined;
}

/** A time as messages show it. */
export function writtenTime(value: Located): string {
  if (value.kind === 'number') return String(value.value);
  return value.kind === 'text' ? `\`${value.value}\`` : describeLocated(value);
}

export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = SHORT.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined) return Number(amount) * (UNITS[unit] ?? 1);
  const parts = ISO.exec(text);
  if (parts === null) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  return ((hours * 60 + minutes) * 60 + seconds) * 1_000;
}

/** Shared, since it is expensive to compile a schema again. */
const schemas = new SchemaCompiler();

/** A schema, or any value if the schema has a fault, which is reported. */
export function usableSchema(
  reports: Reports,
  at: LocatedMap,
  schema: JsonSchema,
  about: { readonly what: string; readonly expected: string },
): JsonSchema {
  const [fault] = schemas.faults(schema);
  if (fault === undefined) return schema;
  reports.report('SW5006', at, { ...about, actual: `\`${fault.pointer}\`: ${fault.problem}` });
  return {};
}

/** Reports bounds that no value can keep. */
export function checkBounds(reports: Reports, fields: Fields, least: string, most: string): void {
  const [from, to] = [fields.value(least), fields.value(most)];
  if (from?.kind !== 'number' || to?.kind !== 'number' || from.value <= to.value) return;
  const params = { expected: `at least \`${least}\`, ${from.value}`, actual: String(to.value) };
  reports.report('SW5006', to, { what: `\`${most}\` of ${fields.where}`, ...params });
}

/** The values of `enum`. Those of another type than that of the schema are reported. */
export function choicesOf(reports: Reports, fields: Fields, { type }: JsonSchema): Json[] | undefined {
  return fields.list('enum')?.items.map((item) => {
    const value = jsonOf(item);
    const [misfit] = type === undefined ? [] : schemas.check({ type }, value);
    if (misfit !== undefined) {
      const actual = `${JSON.stringify(value)} (${misfit.message})`;
      reports.report('SW5006', item, {
        what: `a value of \`enum\` of ${fields.where}`,
        expected: 'of its type',
        actual,
      });
    }
    return value;
  });
}

/** The default of an input. One that does not fit its schema is reported, and one of an input that is required. */
export function defaultOf(
  reports: Reports,
  fields: Fields,
  { name, schema, required, allowsNull }: Pick<Input, 'name' | 'schema' | 'required'> & { allowsNull?: true },
): Json | undefined {
  const located = fields.value('default');
  if (located === undefined) return undefined;
  if (required) reports.report('SW5031', located, { name });
  const value = jsonOf(located);
  const [misfit] = allowsNull && value === null ? [] : schemas.check(schema, value);
  if (misfit === undefined) return value;
  const actual = `${JSON.stringify(value)} (${misfit.message ?? 'it does not fit'})`;
  const what = `\`default\` of ${fields.where}`;
  reports.report('SW5006', located, { what, expected: 'a value of its type', actual });
  return value;
}

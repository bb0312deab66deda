import { defined } from '../../graph/defined.js';
import { diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import { isJsonObject, type Json, ownProperty } from '../../graph/json.js';
import { nearestName } from '../../graph/names.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { DecoratorSyntax, ExpressionSyntax } from '../syntax.js';
import { partsOf, symbolOf } from '../verbs.js';
import {
  DECORATOR_NAMES,
  type DecoratorName,
  isDecoratorName,
  type OptionRule,
  type OptionRules,
  optionRules,
} from './options.js';

export interface OwnDecorator {
  readonly name: DecoratorName;
  readonly syntax: DecoratorSyntax;
}

/** The stepwright decorators of one class or field. */
export interface OwnDecorators {
  readonly found: readonly OwnDecorator[];
  /** Decorators that were most likely meant as stepwright's, and have been reported. */
  readonly misspelt: readonly DecoratorName[];
}

/** Picks this package's decorators. Those of other libraries are left alone, whatever their names are. */
export function ownDecorators(decorators: readonly DecoratorSyntax[], report: Report): OwnDecorators {
  const results: OwnDecorator[] = [];
  const misspelt: DecoratorName[] = [];
  for (const syntax of decorators) {
    const { callee } = syntax;
    if (callee.kind === 'stepwright' && isDecoratorName(callee.name)) {
      results.push({ name: callee.name, syntax });
      continue;
    }
    if (callee.kind !== 'unresolved' && callee.kind !== 'stepwright') continue;
    const intended = isDecoratorName(callee.name) ? callee.name : nearestDecorator(callee.name);
    // An import from this package was meant as a stepwright decorator, however it is spelt.
    if (intended === undefined && callee.kind === 'unresolved') continue;
    if (intended !== undefined) misspelt.push(intended);
    const suggestion = intended === callee.name ? undefined : intended;
    const hint = intended === undefined ? 'stepwright has no decorator of this name' : undefined;
    report(diagnostic('SW1019', syntax.place, { decorator: callee.name, suggestion }, { hint }));
  }
  return { found: results, misspelt };
}

function nearestDecorator(name: string): DecoratorName | undefined {
  const near = nearestName(name, DECORATOR_NAMES);
  return near !== undefined && isDecoratorName(near) ? near : undefined;
}

/** A decorator's options, those with faults left out. */
export interface ReadOptions {
  /** Literals by option. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Every option that was written, literal or not. */
  readonly syntax: Readonly<Record<string, ExpressionSyntax>>;
}

export const NO_OPTIONS: ReadOptions = { values: {}, syntax: {} };

/**
 * Reads the options of a decorator without running any code.
 * @param owner the decorated class or field, for messages.
 */
export function readOptions(
  decorator: DecoratorSyntax,
  name: DecoratorName,
  owner: string,
  report: Report,
): ReadOptions {
  const rules: OptionRules = optionRules[name];
  const [argument, extra] = decorator.args.map(withConstants);
  const mayBeEmpty = !Object.values(rules).some(({ required }) => required);
  const isMissing = argument === undefined || argument.kind === 'undefined';
  if (!decorator.called || extra !== undefined || (isMissing ? !mayBeEmpty : argument.kind !== 'object')) {
    report(diagnostic('SW1014', extra?.place ?? argument?.place ?? decorator.place, { decorator: name }));
    return NO_OPTIONS;
  }
  if (isMissing || argument.kind !== 'object') return NO_OPTIONS;

  const reader: Reader = { owner: name, report };
  const reading = readObject(reader, argument, rules, '');
  for (const option of reading.missing)
    report(diagnostic('SW1005', decorator.place, { name: owner, option }));
  return reading;
}

/**
 * Reads an object of options that a verb takes; undefined where one has a fault or is missing, which is reported.
 * @param verb for messages.
 */
export function readVerbOptions(
  object: ObjectSyntax,
  verb: string,
  rules: OptionRules,
  report: Report,
): ReadOptions | undefined {
  const written = withConstants(object) as ObjectSyntax;
  const { values, syntax, faulty, missing } = readObject({ owner: verb, report }, written, rules, '');
  for (const option of missing) {
    const hint = `add \`${option}\` to the options of \`${verb}\``;
    report(diagnostic('SW1005', object.place, { name: verb, option }, { hint }));
  }
  return faulty.size === 0 && missing.length === 0 ? { values, syntax } : undefined;
}

interface Reader {
  /** The decorator or verb. */
  readonly owner: string;
  readonly report: Report;
}

interface ReadObject extends ReadOptions {
  readonly faulty: ReadonlySet<string>;
  /** Required options that were not written. */
  readonly missing: readonly string[];
  /** Whether each required option is there without a fault. */
  readonly isComplete: boolean;
}

export type ObjectSyntax = Extract<ExpressionSyntax, { kind: 'object' }>;

/** @param prefix the path to this object, with its last dot. */
function readObject(reader: Reader, object: ObjectSyntax, rules: OptionRules, prefix: string): ReadObject {
  const { owner: decorator, report } = reader;
  const values = new Map<string, unknown>();
  const syntax = new Map<string, ExpressionSyntax>();
  const faulty = new Set<string>();
  for (const entry of object.entries) {
    const key = 'key' in entry ? entry.key : undefined;
    const place = placeOfEntry(entry);
    if (key === undefined) {
      const option = 'spread' in entry ? '...' : '[…]';
      const hint = 'spread' in entry ? insteadOf(entry.spread) : undefined;
      report(diagnostic('SW1003', place, { decorator, option: `${prefix}${option}` }, { hint }));
      continue;
    }
    const option = `${prefix}${key}`;
    const rule = ownProperty(rules, key);
    if (rule === undefined) {
      const names = Object.keys(rules);
      const suggestion = nearestName(key, names);
      const existing = names.map((name) => `${prefix}${name}`);
      report(diagnostic('SW1011', place, { decorator, option, suggestion, candidates: existing }));
      faulty.add(key);
      continue;
    }
    const value: ExpressionSyntax =
      'value' in entry ? entry.value : { kind: 'unsupported', place, unsupported: 'a method' };
    // `title: undefined` is an option left out.
    if (value.kind === 'undefined') continue;
    syntax.set(key, value);
    if (rule.accepts === undefined) continue;
    const reading = readValue(reader, value, rule, option);
    if (reading === undefined) faulty.add(key);
    else values.set(key, reading.value);
  }
  const required = Object.keys(rules).filter((option) => rules[option]?.required);
  const missing = required.filter((option) => !syntax.has(option));
  const isComplete = missing.length === 0 && !required.some((option) => faulty.has(option));
  return {
    ...{ values: Object.fromEntries(values), syntax: Object.fromEntries(syntax) },
    ...{ faulty, missing, isComplete },
  };
}

function placeOfEntry(entry: ObjectSyntax['entries'][number]): SourceLocation {
  if ('spread' in entry) return entry.spread.place;
  return 'unsupported' in entry ? entry.place : entry.keyPlace;
}

function readValue(
  reader: Reader,
  value: ExpressionSyntax,
  rule: OptionRule,
  option: string,
): { readonly value: unknown } | undefined {
  if (rule.inner !== undefined && value.kind === 'object')
    return readInner(reader, value, rule.inner, option);
  if (rule.each !== undefined && value.kind === 'object') return readEach(reader, value, rule.each(), option);
  const { owner: decorator, report } = reader;
  const reading = readStatic(value);
  if (!reading.ok) {
    const params = { decorator, option: joinPath(option, reading.path) };
    report(diagnostic('SW1003', reading.place, params, { hint: rule.instead ?? reading.instead }));
    return undefined;
  }
  if (rule.accepts?.(reading.value)) return { value: reading.value };
  report(diagnostic('SW1012', placeOfLiteral(value), { decorator, option, expected: rule.expected }));
  return undefined;
}

/** Where one of them is missing that must be there, the whole has no value. */
function readInner(
  reader: Reader,
  object: ObjectSyntax,
  rules: OptionRules,
  option: string,
): { readonly value: unknown } | undefined {
  const { values, missing, isComplete } = readObject(reader, object, rules, `${option}.`);
  for (const key of missing) {
    const hint = `add \`${key}\` to \`${option}\``;
    reader.report(diagnostic('SW1005', object.place, { name: option, option: key }, { hint }));
  }
  return isComplete ? { value: values } : undefined;
}

function readEach(
  reader: Reader,
  object: ObjectSyntax,
  rules: OptionRules,
  option: string,
): { readonly value: unknown } {
  const values = new Map<string, unknown>();
  const each: OptionRule = { accepts: () => false, expected: 'an object of rules', inner: rules };
  for (const entry of object.entries) {
    if (!('key' in entry) || !('value' in entry)) {
      const params = { decorator: reader.owner, option: `${option}.…` };
      reader.report(diagnostic('SW1003', placeOfEntry(entry), params));
      continue;
    }
    const reading = readValue(reader, entry.value, each, `${option}.${entry.key}`);
    if (reading !== undefined) values.set(entry.key, reading.value);
  }
  return { value: Object.fromEntries(values) };
}

function joinPath(option: string, path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${key}`),
    option,
  );
}

function placeOfLiteral(value: ExpressionSyntax): SourceLocation {
  return value.kind === 'parenthesized' ? placeOfLiteral(value.inner) : value.place;
}

export type StaticRead =
  | { readonly ok: true; readonly value: Json | undefined }
  /** The location of the first part that is not a literal, the path to it, and what to write instead. */
  | {
      readonly ok: false;
      readonly place: SourceLocation;
      readonly path: readonly (string | number)[];
      readonly instead?: string;
    };

/** The value of an expression that consists of literals only. Absent keys are dropped, absent items become null. */
export function readStatic(syntax: ExpressionSyntax): StaticRead {
  return read(syntax, []);
}

function read(syntax: ExpressionSyntax, path: readonly (string | number)[]): StaticRead {
  if (syntax.constantValue !== undefined) return { ok: true, value: syntax.constantValue };
  switch (syntax.kind) {
    case 'literal':
      return { ok: true, value: syntax.value };
    case 'undefined':
      return { ok: true, value: undefined };
    case 'parenthesized':
      return read(syntax.inner, path);
    case 'array': {
      const items: Json[] = [];
      for (const [index, item] of syntax.items.entries()) {
        if (item.spread) return { ok: false, place: item.value.place, path: [...path, index] };
        const value = read(item.value, [...path, index]);
        if (!value.ok) return value;
        items.push(value.value ?? null);
      }
      return { ok: true, value: items };
    }
    case 'object': {
      const entries = new Map<string, Json>();
      for (const entry of syntax.entries) {
        if ('spread' in entry) return { ok: false, place: entry.spread.place, path: [...path, '...'] };
        if ('unsupported' in entry) return { ok: false, place: entry.place, path };
        // In an object literal this key sets the prototype.
        if (entry.key === '__proto__')
          return { ok: false, place: entry.keyPlace, path: [...path, entry.key] };
        const value = read(entry.value, [...path, entry.key]);
        if (!value.ok) return value;
        entries.delete(entry.key);
        if (value.value !== undefined) entries.set(entry.key, value.value);
      }
      return { ok: true, value: Object.fromEntries(entries) };
    }
    default: {
      const instead = insteadOf(syntax);
      return { ok: false, place: syntax.place, path, ...defined({ instead }) };
    }
  }
}

function insteadOf(syntax: ExpressionSyntax): string | undefined {
  switch (syntax.kind) {
    case 'unsupported':
      return syntax.instead;
    case 'identifier':
      return syntax.symbol.kind === 'other' ? syntax.symbol.instead : undefined;
    case 'template':
    case 'binary':
    case 'prefix':
    case 'property':
    case 'element':
      return partsOf(syntax).flatMap((part) => insteadOf(part) ?? [])[0];
    default:
      return undefined;
  }
}

/** An option with the values of constants in the place of their names. */
function withConstants(syntax: ExpressionSyntax): ExpressionSyntax {
  if (syntax.constantValue !== undefined) return writtenOut(syntax.constantValue, syntax.place);
  switch (syntax.kind) {
    case 'literal':
      return syntax.constant === undefined ? syntax : writtenOut(syntax.value, syntax.place);
    case 'parenthesized':
      return { ...syntax, inner: withConstants(syntax.inner) };
    case 'array':
      return { ...syntax, items: syntax.items.flatMap(itemsOf) };
    case 'object':
      return { ...syntax, entries: syntax.entries.flatMap(entriesOf) };
    default:
      return syntax;
  }
}

type ArrayItem = Extract<ExpressionSyntax, { kind: 'array' }>['items'][number];

function itemsOf({ value, spread }: ArrayItem): readonly ArrayItem[] {
  const written = withConstants(value);
  return spread && written.kind === 'array' ? written.items : [{ value: written, spread }];
}

function entriesOf(entry: ObjectSyntax['entries'][number]): ObjectSyntax['entries'] {
  if ('value' in entry) return [{ ...entry, value: withConstants(entry.value) }];
  if (!('spread' in entry)) return [entry];
  const spread = withConstants(entry.spread);
  return spread.kind === 'object' ? spread.entries : [{ spread }];
}

/** A value as an author would write it. */
function writtenOut(value: Json, place: SourceLocation): ExpressionSyntax {
  if (Array.isArray(value)) {
    const items = value.map((item) => ({ value: writtenOut(item, place), spread: false }));
    return { kind: 'array', place, items };
  }
  if (!isJsonObject(value)) return { kind: 'literal', place, value };
  const entries = Object.entries(value).map(([key, part]) => ({
    ...{ key, keyPlace: place },
    value: writtenOut(part, place),
  }));
  return { kind: 'object', place, entries };
}

/** The named options that were given as text. */
export function textOptions<K extends string>(
  options: ReadOptions,
  names: readonly K[],
): { readonly [P in K]?: string } {
  const results: [string, string][] = [];
  for (const name of names) {
    const value = ownProperty(options.values, name);
    if (typeof value === 'string') results.push([name, value]);
  }
  return Object.fromEntries(results) as { readonly [P in K]?: string };
}

/** The location of an option's value, or else of the decorator. */
export function placeOfOption(options: ReadOptions, name: string, fallback: SourceLocation): SourceLocation {
  return ownProperty(options.syntax, name)?.place ?? fallback;
}

/** The classes an option lists, as written; nothing if it is absent or not an array literal. */
export function readClasses(
  decorator: DecoratorName | 'delegate',
  option: string,
  syntax: ExpressionSyntax | undefined,
  report: Report,
): readonly ExpressionSyntax[] | undefined {
  if (syntax === undefined) return undefined;
  if (syntax.kind !== 'array' || syntax.items.some((item) => item.spread)) {
    report(diagnostic('SW1003', syntax.place, { decorator, option }));
    return undefined;
  }
  return syntax.items.map((item) => item.value);
}

/** A class among the options that decorators keep; see `readMetadata`. */
export function classHandle(handle: ExpressionSyntax): { readonly $class: string } {
  return { $class: symbolOf(handle)?.name ?? '' };
}

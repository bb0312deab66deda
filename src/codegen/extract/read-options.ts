import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { ownProperty } from '../../graph/json.js';
import type { Place } from '../../graph/place.js';
import { nearestName } from '../../graph/suggest.js';
import type { DecoratorSyntax, ExpressionSyntax } from '../syntax.js';
import { type DecoratorName, type OptionRule, optionRules } from './options.js';
import { readStatic } from './static.js';

/** A decorator's options, those with faults left out. */
export interface ReadOptions {
  /** Literals by option. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Every option that was written, literal or not. */
  readonly syntax: Readonly<Record<string, ExpressionSyntax>>;
  /** False when a required option is missing or has a fault. */
  readonly complete: boolean;
}

/**
 * Reads the options of a decorator without running any code.
 * @param owner the class or field it stands on, for messages.
 */
export function readOptions(
  decorator: DecoratorSyntax,
  name: DecoratorName,
  owner: string,
  report: (diagnostic: Diagnostic) => void,
): ReadOptions {
  const rules: Readonly<Record<string, OptionRule>> = optionRules[name];
  const [argument, extra] = decorator.args;
  const required = Object.keys(rules).filter((option) => rules[option]?.required);
  const mayBeEmpty = required.length === 0;
  const isMissing = argument === undefined || argument.kind === 'undefined';
  if (!decorator.called || extra !== undefined || (isMissing ? !mayBeEmpty : argument.kind !== 'object')) {
    report(diagnostic('SW1014', extra?.place ?? argument?.place ?? decorator.place, { decorator: name }));
    return { values: {}, syntax: {}, complete: false };
  }
  if (isMissing || argument.kind !== 'object') return { values: {}, syntax: {}, complete: true };

  const reader: Reader = { decorator: name, report };
  const { values, syntax, faulty } = readObject(reader, argument, rules, '');
  const missing = required.filter((option) => !Object.hasOwn(syntax, option));
  for (const option of missing) report(diagnostic('SW1005', decorator.place, { name: owner, option }));
  return { values, syntax, complete: missing.length === 0 && !required.some((option) => faulty.has(option)) };
}

interface Reader {
  readonly decorator: DecoratorName;
  readonly report: (diagnostic: Diagnostic) => void;
}

interface ReadObject {
  readonly values: Readonly<Record<string, unknown>>;
  readonly syntax: Readonly<Record<string, ExpressionSyntax>>;
  readonly faulty: ReadonlySet<string>;
}

type ObjectSyntax = Extract<ExpressionSyntax, { kind: 'object' }>;

/** @param prefix the path to this object, with its last dot. */
function readObject(
  reader: Reader,
  object: ObjectSyntax,
  rules: Readonly<Record<string, OptionRule>>,
  prefix: string,
): ReadObject {
  const { decorator, report } = reader;
  const values = new Map<string, unknown>();
  const syntax = new Map<string, ExpressionSyntax>();
  const faulty = new Set<string>();
  for (const entry of object.entries) {
    if (!('key' in entry)) {
      const option = 'spread' in entry ? '...' : '[…]';
      const place = 'spread' in entry ? entry.spread.place : entry.place;
      report(diagnostic('SW1003', place, { decorator, option: `${prefix}${option}` }));
      continue;
    }
    const option = `${prefix}${entry.key}`;
    const rule = ownProperty(rules, entry.key);
    if (rule === undefined) {
      const suggestion = nearestName(entry.key, Object.keys(rules));
      report(diagnostic('SW1011', entry.keyPlace, { decorator, option, suggestion }));
      continue;
    }
    // `title: undefined` is an option left out.
    if (entry.value.kind === 'undefined') continue;
    syntax.set(entry.key, entry.value);
    if (rule.accepts === undefined) continue;
    const read = readValue(reader, entry.value, rule, option);
    if (read === undefined) faulty.add(entry.key);
    else values.set(entry.key, read.value);
  }
  return { values: Object.fromEntries(values), syntax: Object.fromEntries(syntax), faulty };
}

function readValue(
  reader: Reader,
  value: ExpressionSyntax,
  rule: OptionRule,
  option: string,
): { readonly value: unknown } | undefined {
  if (rule.inner !== undefined && value.kind === 'object') {
    return { value: readObject(reader, value, rule.inner, `${option}.`).values };
  }
  const { decorator, report } = reader;
  const read = readStatic(value);
  if (!read.ok) {
    report(diagnostic('SW1003', read.place, { decorator, option: joinPath(option, read.path) }));
    return undefined;
  }
  if (rule.accepts?.(read.value)) return { value: read.value };
  report(diagnostic('SW1012', placeOfLiteral(value), { decorator, option, expected: rule.expected }));
  return undefined;
}

function joinPath(option: string, path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${key}`),
    option,
  );
}

function placeOfLiteral(value: ExpressionSyntax): Place {
  return value.kind === 'parenthesized' ? placeOfLiteral(value.inner) : value.place;
}

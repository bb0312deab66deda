import { operatorSigns } from '../graph/expression/error.js';
import { isMethodCall } from '../graph/expression/functions.js';
import type { CallExpr, DictExpr, EachExpr, Expr, RefExpr, TextExpr } from '../graph/expression/tree.js';
import { unreachable } from '../graph/json.js';

/**
 * An expression in the notation of JavaScript: `pages[0].title`, `total > 0 && name != null`. For people: operators of
 * different semantics may have the same text.
 */
export function printExpr(expr: Expr): string {
  switch (expr.kind) {
    case 'literal':
      return expr.value === undefined ? 'undefined' : JSON.stringify(expr.value);
    case 'ref':
      return printRef(expr);
    case 'get': {
      const key = expr.key.kind === 'literal' ? expr.key.value : undefined;
      const of = operand(expr.of);
      if (typeof key === 'string' || typeof key === 'number') return of + printKey(key, expr.optional);
      return `${of}${expr.optional ? '?.' : ''}[${printExpr(expr.key)}]`;
    }
    case 'slice': {
      const bounds =
        expr.start === undefined && expr.end !== undefined ? [ZERO, expr.end] : [expr.start, expr.end];
      return `${link(expr.of, expr.optional)}slice(${printAll(bounds)})`;
    }
    case 'compare':
      return [
        operand(expr.left),
        ...expr.ops.map(({ op, right }) => `${operatorSigns[op]} ${operand(right)}`),
      ].join(' ');
    case 'and':
      return expr.items.map(operand).join(' && ');
    case 'or':
      return expr.items.map(operand).join(' || ');
    case 'not':
      // A double negation only converts to a boolean, which the text omits.
      return expr.of.kind === 'not' ? printExpr(expr.of.of) : printNegation(expr.of);
    case 'arithmetic':
      return `${operand(expr.left)} ${operatorSigns[expr.op]} ${operand(expr.right)}`;
    case 'negate':
      return `-${operand(expr.of)}`;
    case 'conditional': {
      if (isPresenceOf(expr.test, expr.then)) return printAlternatives(expr.then, expr.else);
      const otherwise = expr.else === undefined ? 'undefined' : operand(expr.else);
      return `${operand(expr.test)} ? ${operand(expr.then)} : ${otherwise}`;
    }
    case 'list':
      return `[${expr.items.map(({ value, spread }) => (spread ? `...${operand(value)}` : printExpr(value))).join(', ')}]`;
    case 'dict':
      return printDict(expr);
    case 'call':
      return printCall(expr);
    case 'text':
      return printText(expr);
    case 'each':
      return printEach(expr);
    case 'let':
      return `${operand(expr.body)} with ${expr.name} = ${operand(expr.value)}`;
    default:
      return unreachable(expr);
  }
}

const ZERO: Expr = { kind: 'literal', value: 0 };

/** Kinds that bind less tightly than an operator around them. */
const LOOSE: ReadonlySet<Expr['kind']> = new Set([
  'compare',
  'and',
  'or',
  'arithmetic',
  'conditional',
  'let',
]);

/** In brackets, if an operator around it would bind tighter. */
function operand(expr: Expr): string {
  const isLoose =
    LOOSE.has(expr.kind) ||
    (expr.kind === 'call' &&
      (['coalesce', 'isNullish', 'soleEntry'].includes(expr.fn) || /^(?:filter|test)\./.test(expr.fn)));
  const inner = expr.kind === 'not' && expr.of.kind === 'not' ? expr.of.of : (referenceInFile(expr) ?? expr);
  if (inner !== expr) return operand(inner);
  return isLoose ? `(${printExpr(expr)})` : printExpr(expr);
}

function printNegation(of: Expr): string {
  return of.kind === 'call' && of.fn === 'isNullish' ? `${printAll(of.args)} != null` : `!${operand(of)}`;
}

/**
 * `state`, `error` and `run` have a prefix; arguments, steps, items and local names are plain names. How a step settled is
 * written as in workflow classes: `statusOf(page)`, `errorOf(page).code`.
 */
function printRef({ root, path }: RefExpr): string {
  const [name, ...keys] = path;
  const [field, ...rest] = keys;
  if (root === 'nodes' && (field === 'status' || field === 'error'))
    return `${field}Of(${name})${rest.map((key) => printKey(key)).join('')}`;
  const start = root === 'state' || root === 'error' || root === 'run' ? `${root}.${name}` : String(name);
  return start + keys.map((key) => printKey(key)).join('');
}

function printKey(key: string | number, optional?: true): string {
  const isName = typeof key === 'string' && /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(key);
  if (isName) return `${optional ? '?.' : '.'}${key}`;
  return `${optional ? '?.' : ''}[${JSON.stringify(key)}]`;
}

function link(of: Expr, optional?: true): string {
  return `${operand(of)}${optional ? '?.' : '.'}`;
}

function printAll(exprs: readonly (Expr | undefined)[]): string {
  return exprs.flatMap((expr) => (expr === undefined ? [] : printExpr(expr))).join(', ');
}

function printDict({ entries }: DictExpr): string {
  if (entries.length === 0) return '{}';
  const printed = entries.map((entry) => {
    if (!('key' in entry)) return `...${operand(entry.spread)}`;
    const key = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(entry.key)
      ? entry.key
      : JSON.stringify(entry.key);
    const value = printExpr(entry.value);
    return value === key ? key : `${key}: ${value}`;
  });
  return `{ ${printed.join(', ')} }`;
}

function printCall(expr: CallExpr): string {
  const name = expr.fn.replace(/\.(js|py)$/, '');
  const reference = referenceInFile(expr);
  if (reference !== undefined) return printExpr(reference);
  if (expr.fn === 'coalesce') return expr.args.map(operand).join(' ?? ');
  if (expr.fn === 'soleEntry') return `one of ${printAll(expr.args)}`;
  if (expr.fn === 'isNullish') return `${expr.args.map(operand).join(', ')} == null`;
  const template = printTemplateCall(expr);
  if (template !== undefined) return template;
  const [first, ...others] = expr.args;
  if (first === undefined || !isMethodCall(expr)) return `${name}(${printAll(expr.args)})`;
  return `${link(first, expr.optional)}${name}(${printAll(others)})`;
}

/** Functions of templates that only prepare a value for its place. */
const SILENT: ReadonlySet<string> = new Set([
  'text',
  'textOrNothing',
  'value',
  'iterable',
  'float',
  'concat',
]);

/** A call of a template, as templates write it: `name | upper`, `plan is defined`, `text.strip()`. */
function printTemplateCall({ fn, args }: CallExpr): string | undefined {
  const [, kind, name = ''] = /^(function|filter|test|method)\.(\w+)\.py$/.exec(fn) ?? [];
  const [first, ...others] = args;
  if (kind === undefined || first === undefined) return undefined;
  const inBrackets = others.length === 0 ? '' : `(${printAll(others)})`;
  switch (kind) {
    case 'filter':
      return `${first.kind === 'call' ? printExpr(first) : operand(first)} | ${name}${inBrackets}`;
    case 'test':
      return `${operand(first)} is ${name}${inBrackets}`;
    case 'method':
      return `${operand(first)}.${name}(${printAll(others)})`;
    default: {
      if (SILENT.has(name)) return printExpr(first);
      if (name === 'now') return 'now()';
      const key = others.at(-1);
      if (key === undefined || (name !== 'item' && name !== 'stateField')) return undefined;
      return (
        operand(first) +
        (key.kind === 'literal' ? printKey(key.value as string | number) : `[${printExpr(key)}]`)
      );
    }
  }
}

/**
 * The reference of a spec file that an expression consists of. There a missing value reads as null in a condition and in
 * a result, which files do not write and graphs do.
 */
export function referenceInFile(expr: Expr): RefExpr | undefined {
  if (expr.kind !== 'call' || expr.fn !== 'coalesce') return undefined;
  const [value, other, ...more] = expr.args;
  if (value?.kind !== 'ref' || value.find === undefined || more.length > 0) return undefined;
  const isEmpty = other?.kind === 'literal' && (other.value === null || other.value === false);
  return isEmpty ? value : undefined;
}

/** Whether a test asks if this reference finds a value. */
function isPresenceOf(test: Expr, value: Expr): boolean {
  const tested = test.kind === 'call' && test.fn === 'isPresent' ? test.args[0] : undefined;
  if (tested?.kind !== 'ref' || value.kind !== 'ref') return false;
  return tested.root === value.root && printRef(tested) === printRef(value);
}

function printAlternatives(value: Expr, other: Expr | undefined): string {
  return other === undefined ? printExpr(value) : `${operand(value)} ?? ${operand(other)}`;
}

function printText({ parts }: TextExpr): string {
  const printed = parts.map((part) => (typeof part === 'string' ? quoted(part) : `\${${printExpr(part)}}`));
  return `\`${printed.join('')}\``;
}

/** A text inside a template, in one line. */
function quoted(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return escaped.replaceAll(/`|\$(?=\{)/g, '\\$&');
}

function printEach(expr: EachExpr): string {
  const names = expr.indexAs === undefined ? expr.as : `(${expr.as}, ${expr.indexAs})`;
  const body = expr.body.kind === 'dict' ? `(${printExpr(expr.body)})` : printExpr(expr.body);
  return `${link(expr.in, expr.optional)}${expr.mode}(${names} => ${body})`;
}

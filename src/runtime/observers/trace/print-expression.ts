import type {
  ArithmeticOp,
  CompareOp,
  DictEntry,
  EachExpr,
  Expr,
  RefExpr,
  TextExpr,
} from '../../../graph/expression/tree.js';
import { jsonText } from './json-text.js';

/** Longer expressions are no help to a reader. UTF-16 code units. */
const LIMIT = 200;

/**
 * An expression as a reader of a trace may check it: in the notation of JavaScript, where a step goes by its id. Nothing
 * for what cannot be put in a line.
 */
export function printExpression(expr: Expr): string | undefined {
  try {
    const text = print(expr);
    return text.length > LIMIT ? undefined : text;
  } catch (error) {
    if (error instanceof Unprintable) return undefined;
    throw error;
  }
}

/** Ends the printing; never leaves this file. */
class Unprintable extends Error {}

function print(expr: Expr): string {
  switch (expr.kind) {
    case 'literal':
      return expr.value === undefined ? 'undefined' : jsonText(expr.value);
    case 'ref':
      return reference(expr);
    case 'get': {
      const dot = expr.optional ? '?.' : '';
      const { key } = expr;
      if (key.kind !== 'literal') return `${operand(expr.of)}${dot}[${print(key)}]`;
      return `${operand(expr.of)}${segment(key.value, dot)}`;
    }
    case 'slice': {
      const bounds = [expr.start ?? (expr.end === undefined ? undefined : ABSENT), expr.end];
      return method(
        expr.of,
        'slice',
        bounds.filter((bound) => bound !== undefined).map(print),
        expr.optional,
      );
    }
    case 'compare':
      return [
        operand(expr.left),
        ...expr.ops.map(({ op, right }) => `${COMPARE[op] ?? unknown()} ${operand(right)}`),
      ].join(' ');
    case 'and':
    case 'or':
      return expr.items.map(operand).join(expr.kind === 'and' ? ' && ' : ' || ');
    case 'not':
      return `!${operand(expr.of)}`;
    case 'negate':
      return `-${operand(expr.of)}`;
    case 'arithmetic':
      return `${operand(expr.left)} ${ARITHMETIC[expr.op] ?? unknown()} ${operand(expr.right)}`;
    case 'conditional':
      return `${operand(expr.test)} ? ${operand(expr.then)} : ${operand(expr.else ?? ABSENT)}`;
    case 'list':
      return `[${expr.items.map(({ value, spread }) => `${spread ? '...' : ''}${print(value)}`).join(', ')}]`;
    case 'dict':
      return `{ ${expr.entries.map(entry).join(', ')} }`;
    case 'call':
      return call(expr.fn, expr.args, expr.optional);
    case 'text':
      return template(expr);
    case 'each':
      return each(expr);
    case 'let':
      // What a name stands for would have to be told first.
      return unknown();
    default:
      return expr satisfies never;
  }
}

const ABSENT: Expr = { kind: 'literal' };

const COMPARE: Partial<Record<CompareOp, string>> = {
  'eq.strict': '===',
  'ne.strict': '!==',
  'eq.deep': '===',
  'ne.deep': '!==',
  'lt.js': '<',
  'le.js': '<=',
  'gt.js': '>',
  'ge.js': '>=',
};

const ARITHMETIC: Partial<Record<ArithmeticOp, string>> = {
  'add.js': '+',
  sub: '-',
  mul: '*',
  div: '/',
  'mod.js': '%',
  pow: '**',
};

/** Kinds that need no brackets inside others. */
const CLOSED: ReadonlySet<Expr['kind']> = new Set([
  'literal',
  'ref',
  'get',
  'slice',
  'list',
  'dict',
  'text',
  'each',
  'not',
]);

function operand(expr: Expr): string {
  const isClosed = CLOSED.has(expr.kind) || (expr.kind === 'call' && !OPERATORS.has(expr.fn));
  return isClosed ? print(expr) : `(${print(expr)})`;
}

/** Functions that are operators to whoever writes them. */
const OPERATORS: ReadonlySet<string> = new Set(['coalesce', 'isNullish']);

function call(fn: string, args: readonly Expr[], optional: true | undefined): string {
  if (fn === 'coalesce') return args.map(operand).join(' ?? ');
  const [first, ...others] = args;
  if (first === undefined) return unknown();
  if (fn === 'isNullish') return `${operand(first)} == null`;
  const [name, style] = fn.split('.');
  if (name === undefined || style === undefined) return `${fn}(${args.map(print).join(', ')})`;
  return method(first, name, others.map(print), optional);
}

function method(of: Expr, name: string, args: readonly string[], optional: true | undefined): string {
  return `${operand(of)}${optional ? '?.' : '.'}${name}(${args.join(', ')})`;
}

function each({ as, indexAs, in: list, mode, body, optional }: EachExpr): string {
  const names = indexAs === undefined ? as : `(${as}, ${indexAs})`;
  return method(list, mode, [`${names} => ${print(body)}`], optional);
}

function reference({ root, path }: RefExpr): string {
  const isNamed = root !== 'state' && root !== 'error' && root !== 'run';
  const [first, ...rest] = isNamed ? path : [root, ...path];
  return `${String(first)}${rest.map((key) => segment(key)).join('')}`;
}

/** @param optional `?.` where the link is one. */
function segment(key: unknown, optional = ''): string {
  if (typeof key === 'string' && /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(key))
    return `${optional || '.'}${key}`;
  return typeof key === 'string' || typeof key === 'number' ? `${optional}[${jsonText(key)}]` : unknown();
}

function entry(part: DictEntry): string {
  return 'key' in part ? `${jsonText(part.key)}: ${print(part.value)}` : `...${print(part.spread)}`;
}

function template({ parts }: TextExpr): string {
  const shown = parts.map((part) =>
    typeof part === 'string' ? jsonText(part).slice(1, -1).replaceAll('`', '\\`') : `\${${print(part)}}`,
  );
  return `\`${shown.join('')}\``;
}

function unknown(): never {
  throw new Unprintable();
}

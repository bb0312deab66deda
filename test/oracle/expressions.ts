import type { Expr, Truth } from '../../src/graph/expression/tree.js';
import type { Json, JsonObject, Value } from '../../src/graph/json.js';

/** Thrown where an expression has no value. */
export class ExpressionFault extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** The value of the first segment of a reference. */
export type Lookup = (root: string, name: string) => Value;

/** A value while a tree is evaluated: absent parts are still in it. */
type Raw = unknown;

/** Ends a chain of links as absent. */
const ENDED = Symbol('ended');

/** The value of a tree, by the comments of `tree.ts`. Forms that no test of the oracle uses are refused. */
export function evaluateTree(expr: Expr, lookup: Lookup): Value {
  return finished(raw(expr, lookup)) as Value;
}

function raw(expr: Expr, lookup: Lookup): Raw {
  switch (expr.kind) {
    case 'literal':
      return expr.value;
    case 'ref': {
      const [name, ...path] = expr.path;
      return path.reduce<Raw>((value, key) => property(value, key), lookup(expr.root, String(name)));
    }
    case 'get': {
      const value = link(expr, lookup);
      return value === ENDED ? undefined : value;
    }
    case 'compare': {
      let left = raw(expr.left, lookup);
      return expr.ops.every(({ op, right: tree }) => {
        const right = raw(tree, lookup);
        const holds = isEqual(op, left, right);
        left = right;
        return holds;
      });
    }
    case 'and':
    case 'or': {
      let value: Raw;
      for (const [index, item] of expr.items.entries()) {
        value = raw(item, lookup);
        const isLast = index === expr.items.length - 1;
        if (isLast && expr.truth !== 'boolean') break;
        if (isTrue(value, expr.truth) === (expr.kind === 'or')) break;
      }
      return value;
    }
    case 'not':
      return !isTrue(raw(expr.of, lookup), expr.truth);
    case 'conditional': {
      const chosen = isTrue(raw(expr.test, lookup), expr.truth) ? expr.then : expr.else;
      return chosen === undefined ? undefined : raw(chosen, lookup);
    }
    case 'list':
      return expr.items.flatMap(({ value, spread }) => {
        if (spread) throw new Error('the oracle knows no spread items');
        return [raw(value, lookup)];
      });
    case 'dict':
      return Object.fromEntries(
        expr.entries.map((entry) => {
          if (!('key' in entry)) throw new Error('the oracle knows no spread entries');
          return [entry.key, raw(entry.value, lookup)];
        }),
      );
    case 'text':
      if (expr.style !== 'display') throw new Error(`the oracle knows no text of the style ${expr.style}`);
      return expr.parts
        .map((part) => (typeof part === 'string' ? part : displayed(raw(part, lookup))))
        .join('');
    case 'call':
      if (expr.fn === 'coalesce') {
        let value: Raw;
        for (const arg of expr.args) {
          value = raw(arg, lookup);
          if (!isNullish(value)) break;
        }
        return value;
      }
      if (expr.fn === 'isNullish' && expr.args[0] !== undefined) return isNullish(raw(expr.args[0], lookup));
      throw new Error(`the oracle knows no function ${expr.fn}`);
    default:
      throw new Error(`the oracle knows no expression ${expr.kind}`);
  }
}

/** A `get`, as part of its chain: where an optional link meets nothing, the whole chain ends. */
function link(expr: Extract<Expr, { kind: 'get' }>, lookup: Lookup): Raw {
  const of = expr.of.kind === 'get' ? link(expr.of, lookup) : raw(expr.of, lookup);
  if (of === ENDED || (expr.optional && isNullish(of))) return ENDED;
  const key = raw(expr.key, lookup);
  if (typeof key !== 'string' && typeof key !== 'number') throw new ExpressionFault('E_KEY_TYPE');
  return property(of, key);
}

function property(value: Raw, key: string | number): Raw {
  if (typeof value === 'object' && value !== null)
    return Object.hasOwn(value, key) ? (value as Record<string | number, Raw>)[key] : undefined;
  if (typeof value === 'string' && key === 'length') return value.length;
  if (typeof value === 'string' && /^(0|[1-9]\d*)$/.test(String(key))) return value[Number(key)];
  throw new ExpressionFault('E_NOT_AN_OBJECT');
}

function isEqual(op: string, left: Raw, right: Raw): boolean {
  if (op !== 'eq.strict' && op !== 'ne.strict') throw new Error(`the oracle knows no operator ${op}`);
  const isComposite = (value: Raw): boolean => typeof value === 'object' && value !== null;
  if (isComposite(left) && isComposite(right)) throw new ExpressionFault('E_COMPARE_TYPES');
  return (left === right) === (op === 'eq.strict');
}

function isTrue(value: Raw, truth: Truth): boolean {
  if (truth === 'truthy.py') throw new Error('the oracle knows no truth of Python');
  if (truth === 'boolean' && typeof value !== 'boolean') throw new ExpressionFault('E_NOT_A_BOOLEAN');
  return Boolean(value);
}

function isNullish(value: Raw): boolean {
  return value === null || value === undefined;
}

function displayed(value: Raw): string {
  if (value === undefined || value === null || typeof value === 'object')
    throw new ExpressionFault('E_TEXT_VALUE');
  return String(value);
}

/** Absent items become null, absent properties are left out. */
function finished(value: Raw): Raw {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : finished(item)) as Json);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, finished(item)])) as JsonObject;
}

/** The steps a tree refers to: all of them, and those it refers to plainly, whose absence it does not provide for. */
export function stepsIn(expr: Expr): { readonly all: string[]; readonly plain: string[] } {
  const all: string[] = [];
  const plain: string[] = [];
  const walk = (tree: Expr | undefined, guarded: boolean): void => {
    if (tree === undefined) return;
    switch (tree.kind) {
      case 'literal':
        return;
      case 'ref':
        if (tree.root !== 'steps' && tree.root !== 'nodes') return;
        all.push(String(tree.path[0]));
        // How a node settled is there in any case.
        if (!guarded && tree.root === 'steps') plain.push(String(tree.path[0]));
        return;
      case 'get':
        walk(tree.of, guarded || tree.optional === true);
        walk(tree.key, guarded);
        return;
      case 'compare':
        walk(tree.left, guarded);
        for (const { right } of tree.ops) walk(right, guarded);
        return;
      case 'and':
      case 'or':
        tree.items.forEach((item, index) => void walk(item, guarded || index < tree.items.length - 1));
        return;
      case 'not':
        walk(tree.of, guarded);
        return;
      case 'conditional':
        walk(tree.test, true);
        walk(tree.then, guarded);
        walk(tree.else, guarded);
        return;
      case 'list':
        for (const { value } of tree.items) walk(value, guarded);
        return;
      case 'dict':
        for (const entry of tree.entries) walk('key' in entry ? entry.value : entry.spread, guarded);
        return;
      case 'text':
        for (const part of tree.parts) if (typeof part !== 'string') walk(part, guarded);
        return;
      case 'call':
        tree.args.forEach((arg, index) => {
          const isProvided = tree.fn === 'isNullish' || index < tree.args.length - 1;
          walk(arg, guarded || isProvided);
        });
        return;
      default:
        throw new Error(`the oracle knows no expression ${tree.kind}`);
    }
  };
  walk(expr, false);
  return { all, plain };
}

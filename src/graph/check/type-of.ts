import type { CallExpr, DictExpr, EachExpr, Expr, GetExpr, RefExpr } from '../expression/tree.js';
import { unreachable } from '../unreachable.js';
import { ABSENT, either, itemOf, type Known, ofJson, ofTypes, read, typesOf, UNKNOWN } from './known.js';

/** What is known of the values that references start from. */
export interface Names {
  readonly inputs: (name: string) => Known;
  readonly state: (name: string) => Known;
  readonly steps: (name: string) => Known;
  /** The items of the loops around. */
  readonly item: (name: string) => Known;
}

type Locals = ReadonlyMap<string, Known>;

/**
 * What is known of an expression's value where it has one. Any value may be absent besides: that it is, is said only of
 * what is never anything else.
 */
export function typeOf(expr: Expr, names: Names, locals: Locals = new Map()): Known {
  const inside = (part: Expr): Known => typeOf(part, names, locals);
  switch (expr.kind) {
    case 'literal':
      return expr.value === undefined ? ABSENT : ofJson(expr.value);
    case 'ref':
      return typeOfRef(expr, names, locals);
    case 'get':
      return typeOfGet(expr, inside);
    case 'slice': {
      const of = inside(expr.of);
      const types = typesOf(of);
      if (types?.size !== 1) return UNKNOWN;
      return types.has('array') ? { kind: 'list', item: itemOf(of) } : of;
    }
    case 'text':
      return ofTypes('string');
    case 'not':
    case 'compare':
      return ofTypes('boolean');
    case 'and':
    case 'or':
      return either(...expr.items.map(inside));
    case 'arithmetic':
      return expr.op === 'add.js' ? ofTypes('number', 'string') : ofTypes('number');
    case 'negate':
      return ofTypes('number');
    case 'conditional':
      return either(inside(expr.then), expr.else === undefined ? ABSENT : inside(expr.else));
    case 'list':
      return {
        kind: 'list',
        item: either(
          ...expr.items.map(({ value, spread }) => (spread ? itemOf(inside(value)) : inside(value))),
        ),
      };
    case 'dict':
      return typeOfDict(expr, inside);
    case 'call':
      return typeOfCall(expr, inside);
    case 'each':
      return typeOfEach(expr, names, locals);
    case 'let':
      return typeOf(expr.body, names, new Map([...locals, [expr.name, inside(expr.value)]]));
    default:
      return unreachable(expr);
  }
}

function typeOfRef(expr: RefExpr, names: Names, locals: Locals): Known {
  const [name, ...keys] = expr.path;
  let known = typeOfName(expr, String(name), names, locals);
  for (const key of keys) known = readOrAbsent(known, key);
  return known;
}

function typeOfName({ root }: RefExpr, name: string, names: Names, locals: Locals): Known {
  switch (root) {
    case 'inputs':
      return names.inputs(name);
    case 'steps':
      return names.steps(name);
    case 'local':
      return locals.get(name) ?? UNKNOWN;
    case 'error':
      return name === 'attempts' ? ofTypes('integer') : ofTypes('string');
    case 'state':
      return names.state(name);
    case 'item':
      return names.item(name);
    case 'index':
      return ofTypes('integer');
    case 'run':
      return UNKNOWN;
    default:
      return unreachable(root);
  }
}

function typeOfGet(expr: GetExpr, inside: (part: Expr) => Known): Known {
  const key = expr.key.kind === 'literal' ? expr.key.value : undefined;
  return typeof key === 'string' || typeof key === 'number' ? readOrAbsent(inside(expr.of), key) : UNKNOWN;
}

function readOrAbsent(known: Known, key: string | number): Known {
  const step = read(known, key);
  return step.kind === 'found' ? step.known : ABSENT;
}

function typeOfDict(expr: DictExpr, inside: (part: Expr) => Known): Known {
  const entries = new Map<string, Known>();
  let isOpen = false;
  for (const entry of expr.entries) {
    if ('key' in entry) {
      entries.set(entry.key, inside(entry.value));
      continue;
    }
    const poured = inside(entry.spread);
    if (poured.kind !== 'dict' || poured.isOpen) isOpen = true;
    // What is poured in may be absent, and so may each entry of it.
    else
      for (const [key, value] of poured.entries) entries.set(key, either(value, entries.get(key) ?? value));
  }
  return { kind: 'dict', entries, isOpen };
}

function typeOfCall(expr: CallExpr, inside: (part: Expr) => Known): Known {
  switch (expr.fn) {
    case 'coalesce':
      return either(...expr.args.map(inside));
    case 'isNullish':
    case 'includes.js':
    case 'startsWith.js':
    case 'endsWith.js':
      return ofTypes('boolean');
    case 'trim.js':
    case 'toLowerCase.js':
    case 'toUpperCase.js':
    case 'join.js':
    case 'uriComponent':
    case 'uriReserved':
      return ofTypes('string');
    case 'split.js':
      return { kind: 'list', item: ofTypes('string') };
    default:
      return UNKNOWN;
  }
}

function typeOfEach(expr: EachExpr, names: Names, locals: Locals): Known {
  const items = typeOf(expr.in, names, locals);
  const item = itemOf(items);
  switch (expr.mode) {
    case 'map': {
      const inner = new Map([...locals, [expr.as, item]]);
      if (expr.indexAs !== undefined) inner.set(expr.indexAs, ofTypes('integer'));
      return { kind: 'list', item: typeOf(expr.body, names, inner) };
    }
    case 'filter':
      return { kind: 'list', item };
    case 'find':
      return either(item, ABSENT);
    case 'some':
    case 'every':
      return ofTypes('boolean');
    default:
      return unreachable(expr);
  }
}

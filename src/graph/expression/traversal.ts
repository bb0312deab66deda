import { defined } from '../defined.js';
import { unreachable } from '../json.js';
import type { Span } from '../source-location.js';
import type { Expr, GetExpr, RefExpr } from './tree.js';

/** A part of a tree, and whether its position provides for the absence of what it names. */
export interface Child {
  readonly expr: Expr;
  /**
   * True for the test of a condition, every operand of `and`/`or` but the last, every argument of `coalesce` but the
   * last, the argument of `isNullish`, and the subject of an optional link.
   */
  readonly guarded: boolean;
  /** The local names that are known in this part because of the tree it is in. */
  readonly binds?: readonly string[];
}

/** The direct parts of a tree, in written order. */
export function childrenOf(expr: Expr): Child[] {
  switch (expr.kind) {
    case 'literal':
    case 'ref':
      return [];
    case 'get':
      return [subject(expr.of, expr), ...plain(expr.key)];
    case 'slice':
      return [subject(expr.of, expr), ...plain(expr.start, expr.end, expr.step)];
    case 'compare':
      return plain(expr.left, ...expr.ops.map((link) => link.right));
    case 'and':
    case 'or':
      return allButLast(expr.items);
    case 'not':
    case 'negate':
      return plain(expr.of);
    case 'arithmetic':
      return plain(expr.left, expr.right);
    case 'conditional':
      return [{ expr: expr.test, guarded: true }, ...plain(expr.then, expr.else)];
    case 'list':
      return plain(...expr.items.map((item) => item.value));
    case 'dict':
      return plain(...expr.entries.map((entry) => ('key' in entry ? entry.value : entry.spread)));
    case 'call': {
      if (expr.fn === 'coalesce') return allButLast(expr.args);
      const [first, ...others] = expr.args;
      if (first === undefined) return [];
      const isGuarded = expr.fn === 'isNullish' || expr.optional === true;
      return [{ expr: first, guarded: isGuarded }, ...plain(...others)];
    }
    case 'text':
      return plain(...expr.parts.filter((part) => typeof part !== 'string'));
    case 'each':
      return [
        subject(expr.in, expr),
        {
          expr: expr.body,
          guarded: false,
          binds: expr.indexAs === undefined ? [expr.as] : [expr.as, expr.indexAs],
        },
      ];
    case 'let':
      return [...plain(expr.value), { expr: expr.body, guarded: false, binds: [expr.name] }];
    default:
      return unreachable(expr);
  }
}

function subject(expr: Expr, link: { readonly optional?: true }): Child {
  return { expr, guarded: link.optional === true };
}

function plain(...parts: readonly (Expr | undefined)[]): Child[] {
  return parts.filter((part) => part !== undefined).map((expr) => ({ expr, guarded: false }));
}

function allButLast(items: readonly Expr[]): Child[] {
  return items.map((expr, index) => ({ expr, guarded: index < items.length - 1 }));
}

/** One key of a path, and where it is written. */
export interface PathSegment {
  readonly key: string | number;
  readonly at?: Span;
}

/** A reference with everything that is read from it by a known key: `steps.list`, then `pages`, `0`. */
export interface DataPath {
  readonly ref: RefExpr;
  /** All keys after the first segment of the reference, as far as they are known. */
  readonly segments: readonly PathSegment[];
  /** False where a computed key or more follows. */
  readonly complete: boolean;
}

/**
 * Reads a key from a value. It has one spelling: a written key of a reference lengthens the reference's path, and only
 * a key that a path cannot hold, or that is read with `?.`, makes a `get`.
 */
export function readKey(of: Expr, key: Expr, { at, optional }: Pick<GetExpr, 'at' | 'optional'> = {}): Expr {
  const where = defined({ at });
  const plain = optional === true || of.kind !== 'ref' ? undefined : pathKey(key);
  return of.kind === 'ref' && plain !== undefined
    ? { ...of, path: [...of.path, plain], ...where }
    : { kind: 'get', ...where, of, key, ...(optional === true ? { optional } : {}) };
}

/** A key as a segment of a path: a written name or index. */
export function pathKey(key: Expr): string | number | undefined {
  const value = key.kind === 'literal' ? key.value : undefined;
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The path of a reference or of `get`s on one; nothing for other trees. */
export function dataPath(expr: Expr): DataPath | undefined {
  if (expr.kind === 'ref') {
    const segments: PathSegment[] = [];
    for (let index = 1; index < expr.path.length; index += 1)
      segments.push(segment(expr.path[index] as string | number, expr.at));
    return { ref: expr, segments, complete: true };
  }
  if (expr.kind !== 'get') return undefined;
  const base = dataPath(expr.of);
  if (base === undefined || !base.complete) return base;
  const key = expr.key.kind === 'literal' ? expr.key.value : undefined;
  if (typeof key !== 'string' && typeof key !== 'number') return { ...base, complete: false };
  return { ...base, segments: [...base.segments, segment(key, expr.at)] };
}

/** Every data path in a tree, the longest one of each chain. */
export function dataPaths(expr: Expr): DataPath[] {
  const paths: DataPath[] = [];
  collectPaths(expr, paths);
  return paths;
}

function collectPaths(expr: Expr, paths: DataPath[]): void {
  if (expr.kind === 'literal') return;
  if (expr.kind === 'dict') {
    for (const entry of expr.entries) collectPaths('key' in entry ? entry.value : entry.spread, paths);
    return;
  }
  const path = dataPath(expr);
  if (path === undefined) for (const child of childrenOf(expr)) collectPaths(child.expr, paths);
  else {
    paths.push(path);
    for (const key of computedKeys(expr)) collectPaths(key, paths);
  }
}

/** `pages[0].title`, as an author writes it. */
export function formatPath(segments: readonly PathSegment[]): string {
  return segments
    .map(({ key }, index) => {
      if (typeof key === 'number') return `[${key}]`;
      return index === 0 ? key : `.${key}`;
    })
    .join('');
}

function computedKeys(expr: Expr): Expr[] {
  return expr.kind === 'get' ? [...computedKeys(expr.of), expr.key] : [];
}

function segment(key: string | number, at: Span | undefined): PathSegment {
  return at === undefined ? { key } : { key, at };
}

export interface Reference {
  readonly ref: RefExpr;
  /** True where the author provides for its absence (see `Child`): such a reference only orders. */
  readonly guarded: boolean;
}

/** All references of a tree in written order, those of names bound inside it included. */
export function references(expr: Expr): Reference[] {
  const refs: Reference[] = [];
  eachReference(expr, (ref, guarded) => refs.push({ ref, guarded }));
  return refs;
}

/** Visits the references of a tree in written order, without a list of them. */
export function eachReference(
  expr: Expr,
  visit: (ref: RefExpr, guarded: boolean) => void,
  isGuarded = false,
): void {
  switch (expr.kind) {
    case 'literal':
      return;
    case 'ref':
      visit(expr, isGuarded || expr.find === 'optional');
      return;
    case 'dict':
      // The input of every call.
      for (const entry of expr.entries)
        eachReference('key' in entry ? entry.value : entry.spread, visit, isGuarded);
      return;
    default:
      for (const child of childrenOf(expr)) eachReference(child.expr, visit, isGuarded || child.guarded);
  }
}

/** The references of a tree to local names that nothing around them binds. */
export function unboundLocals(expr: Expr): RefExpr[] {
  const unbound: RefExpr[] = [];
  collectUnbound(expr, NONE, unbound);
  return unbound;
}

const NONE: ReadonlySet<string> = new Set();

function collectUnbound(expr: Expr, boundNames: ReadonlySet<string>, unbound: RefExpr[]): void {
  switch (expr.kind) {
    case 'literal':
      return;
    case 'ref':
      if (expr.root === 'local' && !boundNames.has(String(expr.path[0]))) unbound.push(expr);
      return;
    default:
      if (expr.kind === 'dict') {
        for (const entry of expr.entries)
          collectUnbound('key' in entry ? entry.value : entry.spread, boundNames, unbound);
        return;
      }
      for (const { expr: child, binds } of childrenOf(expr)) {
        collectUnbound(child, binds === undefined ? boundNames : new Set([...boundNames, ...binds]), unbound);
      }
  }
}

/** The texts of a list that is written out. */
export function textsOf(list: Expr | undefined): readonly string[] | undefined {
  if (list?.kind === 'literal') {
    const { value } = list;
    return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;
  }
  if (list?.kind !== 'list') return undefined;
  const texts = list.items.map(({ value, spread }) =>
    spread === undefined && value.kind === 'literal' && typeof value.value === 'string'
      ? value.value
      : undefined,
  );
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

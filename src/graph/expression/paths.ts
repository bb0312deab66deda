import type { Span } from '../place.js';
import { childrenOf } from './children.js';
import type { Expr, GetExpr, RefExpr } from './tree.js';

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
  const where = at === undefined ? {} : { at };
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
    const segments = expr.path.slice(1).map((key) => segment(key, expr.at));
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
  const path = dataPath(expr);
  if (path === undefined) return childrenOf(expr).flatMap((child) => dataPaths(child.expr));
  return [path, ...computedKeys(expr).flatMap(dataPaths)];
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

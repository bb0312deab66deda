import { childrenOf } from './children.js';
import type { Expr, RefExpr } from './tree.js';

/** A reference in a tree. */
export interface Reference {
  readonly ref: RefExpr;
  /** True where the author provides for its absence (see `Child`): such a reference only orders. */
  readonly guarded: boolean;
}

/** All references of a tree in written order, those of names bound inside it included. */
export function references(expr: Expr): Reference[] {
  const found: Reference[] = [];
  collect(expr, false, found);
  return found;
}

/** The references of a tree to local names that nothing around them binds. */
export function unboundLocals(expr: Expr): RefExpr[] {
  const found: RefExpr[] = [];
  collectUnbound(expr, NONE, found);
  return found;
}

const NONE: ReadonlySet<string> = new Set();

function collectUnbound(expr: Expr, known: ReadonlySet<string>, found: RefExpr[]): void {
  switch (expr.kind) {
    case 'literal':
      return;
    case 'ref':
      if (expr.root === 'local' && !known.has(String(expr.path[0]))) found.push(expr);
      return;
    default:
      for (const { expr: child, binds } of childrenOf(expr)) {
        collectUnbound(child, binds === undefined ? known : new Set([...known, ...binds]), found);
      }
  }
}

function collect(expr: Expr, guarded: boolean, found: Reference[]): void {
  if (expr.kind === 'literal') return;
  if (expr.kind === 'ref') {
    found.push({ ref: expr, guarded });
    return;
  }
  if (expr.kind === 'dict') {
    // The input of every call: its parts are gone through without a list of them.
    for (const entry of expr.entries) collect('key' in entry ? entry.value : entry.spread, guarded, found);
    return;
  }
  for (const child of childrenOf(expr)) collect(child.expr, guarded || child.guarded, found);
}

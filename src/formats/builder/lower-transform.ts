import { exprSchema } from '../../graph/expression/schema.js';
import type { Expr, RefExpr } from '../../graph/expression/tree.js';
import type { Span } from '../../graph/place.js';
import { constantExpr } from './constants.js';
import { reasons } from './errors.js';
import { fieldKeys, type Path, shownPath } from './names.js';
import { applied, foreignReferences, readPath, type Transform } from './transform.js';

/**
 * What a transform that is a path or an expression makes of a value; nothing where it was reported.
 *
 * @param refuse is told what is wrong with it.
 */
export function transformed(
  transform: Exclude<Transform, (...args: never[]) => unknown>,
  value: RefExpr,
  at: Span,
  refuse: (reason: string) => void,
): Expr | undefined {
  return typeof transform === 'string' || isList(transform)
    ? byPath(transform, value, at, refuse)
    : byExpression(transform, value, at, refuse);
}

/** `Array.isArray` would make any of an expression. */
function isList(transform: Path | Expr): transform is readonly (string | number)[] {
  return Array.isArray(transform);
}

function byPath(path: Path, value: RefExpr, at: Span, refuse: (reason: string) => void): Expr | undefined {
  const keys = fieldKeys(path);
  if (keys !== undefined) return readPath(value, keys, at);
  refuse(reasons.fieldPath(shownPath(path)));
  return undefined;
}

function byExpression(
  transform: Expr,
  value: RefExpr,
  at: Span,
  refuse: (reason: string) => void,
): Expr | undefined {
  // A tree of a program's making may be anything, also a cycle.
  const plain = constantExpr(transform);
  if ('fault' in plain) {
    refuse(reasons.transformShape(plain.fault));
    return undefined;
  }
  const lowered = applied(transform, value, at);
  const parsed = exprSchema.safeParse(lowered);
  if (!parsed.success) {
    const { path = [], message = '' } = parsed.error.issues[0] ?? {};
    refuse(reasons.transformShape(`/${path.map(String).join('/')}: ${message}`));
    return undefined;
  }
  const foreign = foreignReferences(lowered, value);
  for (const name of foreign) refuse(reasons.transformRef(name));
  return foreign.length > 0 ? undefined : lowered;
}

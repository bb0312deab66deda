import type { Expr } from '../../../graph/expression/tree.js';
import { escapeUnprintable } from '../../../graph/unprintable.js';
import { printExpr } from '../../../print/expression.js';

/** Longer expressions are no help to a reader. UTF-16 code units. */
const LIMIT = 200;

/** An expression as a reader of a trace may check it, where a step goes by its id. Nothing for one that is too long. */
export function printExpression(expr: Expr): string | undefined {
  const text = escapeUnprintable(printExpr(expr));
  return text.length > LIMIT ? undefined : text;
}

import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Place, Span } from '../../graph/place.js';
import { nearestName } from '../../graph/suggest.js';

/** What is known of a failure. */
export const ERROR_FIELDS = ['code', 'message', 'attempts', 'node'];

/** `error.code`: what the fallback of `attempt` is given. */
export function lowerErrorField(
  name: string,
  place: Place,
  at: Span,
  report: (diagnostic: Diagnostic) => void,
): Expr | undefined {
  if (ERROR_FIELDS.includes(name)) return field(name, at);
  report(diagnostic('SW3001', place, { name: `error.${name}`, suggestion: nearestName(name, ERROR_FIELDS) }));
  return undefined;
}

/** All of it, as an object. */
export function lowerWholeError(at: Span): Expr {
  return { kind: 'dict', at, entries: ERROR_FIELDS.map((key) => ({ key, value: field(key, at) })) };
}

function field(name: string, at: Span): Expr {
  return { kind: 'ref', root: 'error', path: [name], at };
}

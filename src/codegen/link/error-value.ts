import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import { ERROR_FIELDS } from '../../graph/failure-code.js';
import type { Place, Span } from '../../graph/place.js';
import { nearestName } from '../../graph/suggest.js';

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

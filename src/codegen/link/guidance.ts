import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import { guidanceText } from '../../graph/guidance.js';
import type { Span } from '../../graph/place.js';
import type { ExpressionSyntax } from '../syntax.js';
import { unwrap } from '../verbs.js';
import type { Bindings } from './bindings.js';

/**
 * Turns guidance into text with values in it. `{name}` and `{name.field}` stand for an argument or an earlier step,
 * doubled braces for braces. What is at fault in it is reported and left out.
 */
export function lowerGuidance(
  syntax: ExpressionSyntax,
  bindings: Bindings,
  report: (diagnostic: Diagnostic) => void,
): Expr | undefined {
  const literal = unwrap(syntax);
  // The option's rule has seen to it that this is text.
  if (literal.kind !== 'literal' || typeof literal.value !== 'string') return undefined;
  const text = literal.value;
  const { file, span } = literal.place;
  return guidanceText(
    text,
    span,
    ({ written: name, root, at }) => {
      const binding = root === undefined ? undefined : bindings.find(root);
      if (binding?.kind === 'value') return binding.expr;
      if (binding?.kind === 'faulty') return undefined;
      const { suggestion, hint } = root === undefined || binding !== undefined ? {} : bindings.hintFor(root);
      report(diagnostic('SW3006', { file, span: at }, { name, suggestion }, { hint }));
      return undefined;
    },
    (start, end) => (literal.verbatim ? spanOf(text, start, end, span) : span),
  );
}

/** Where a part of a literal stands whose text is in the source as it is. */
function spanOf(text: string, start: number, end: number, literal: Span): Span {
  return [...positionOf(text, start, literal), ...positionOf(text, end, literal)];
}

function positionOf(
  text: string,
  offset: number,
  [line, column]: Span,
): readonly [line: number, column: number] {
  const before = text.slice(0, offset).split('\n');
  const last = before.at(-1) ?? '';
  // The first line starts after the quote.
  return [line + before.length - 1, before.length === 1 ? column + 1 + last.length : last.length + 1];
}

import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import { guidanceText } from '../../graph/guidance.js';
import type { Span } from '../../graph/place.js';
import type { ExpressionSyntax } from '../syntax.js';
import { symbolOf, unwrap } from '../verbs.js';
import type { Bindings } from './bindings.js';
import type { ExpressionScope } from './scope.js';

/** The text of `prompt`: a tool or a workflow stands as its name, a resource as its address. */
export function lowerPromptText(
  { parts, place }: Extract<ExpressionSyntax, { kind: 'tagged' }>,
  scope: ExpressionScope,
  lower: (part: ExpressionSyntax) => Expr | undefined,
): Expr | undefined {
  const lowered = parts.map((part) => (typeof part === 'string' ? part : lowerPart(part, scope, lower)));
  if (!lowered.every((part) => part !== undefined)) return undefined;
  return { kind: 'text', at: place.span, style: 'display', parts: joined(lowered) };
}

function lowerPart(
  part: ExpressionSyntax,
  { handles }: ExpressionScope,
  lower: (part: ExpressionSyntax) => Expr | undefined,
): string | Expr | undefined {
  const symbol = symbolOf(unwrap(part));
  return symbol?.kind === 'class' || symbol?.kind === 'unresolved' ? handles.text(part) : lower(part);
}

/** Texts side by side as one. */
function joined(parts: readonly (string | Expr)[]): readonly (string | Expr)[] {
  const whole: (string | Expr)[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (typeof part === 'string' && typeof last === 'string') whole[whole.length - 1] = last + part;
    else whole.push(part);
  }
  return whole;
}

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

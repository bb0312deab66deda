import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Place, Span } from '../../graph/place.js';
import type { ExpressionSyntax } from '../syntax.js';
import { unwrap } from '../verbs.js';
import type { Bindings } from './bindings.js';

/** A doubled brace, or a placeholder with what stands in it. */
const PARTS = /\{\{|\}\}|\{([^{}]*)\}/g;

/** A name and a path from it: `task`, `page.lines.0`. */
const PLACEHOLDER = /^[\p{ID_Start}_$][\p{ID_Continue}$]*(?:\.[\p{ID_Continue}$-]+)*$/u;

/**
 * Turns guidance into text with values in it. `{name}` and `{name.field}` stand for an argument or an earlier step,
 * doubled braces for braces.
 * @returns nothing where a placeholder was reported, here or before.
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
  const parts: (string | Expr)[] = [];
  let pending = '';
  let end = 0;
  let isWhole = true;
  const flush = (): void => {
    if (pending !== '') parts.push(pending);
    pending = '';
  };
  for (const match of text.matchAll(PARTS)) {
    pending += text.slice(end, match.index);
    end = match.index + match[0].length;
    if (match[1] === undefined) {
      pending += match[0].slice(1);
      continue;
    }
    flush();
    const place = partPlace(literal, text, match.index, end);
    const value = placeholder(match[1], place, bindings, report);
    if (value === undefined) isWhole = false;
    else parts.push(value);
  }
  pending += text.slice(end);
  flush();
  return isWhole ? { kind: 'text', at: literal.place.span, style: 'display', parts } : undefined;
}

function placeholder(
  written: string,
  place: Place,
  bindings: Bindings,
  report: (diagnostic: Diagnostic) => void,
): Expr | undefined {
  const name = written.trim();
  const [root, ...path] = name.split('.');
  const binding = PLACEHOLDER.test(name) && root !== undefined ? bindings.find(root) : undefined;
  if (binding?.kind === 'faulty') return undefined;
  if (binding?.kind !== 'value') {
    report(diagnostic('SW3006', place, { name }));
    return undefined;
  }
  const at = place.span;
  return path.map(toKey).reduce<Expr>((of, key) => read(of, key, at), { ...binding.expr, at });
}

/** A display never fails for what is not there: beyond the first name everything is optional. */
function read(of: Expr, key: string | number, at: Span): Expr {
  return { kind: 'get', at, of, key: { kind: 'literal', at, value: key }, optional: true };
}

function toKey(segment: string): string | number {
  return /^(?:0|[1-9][0-9]*)$/.test(segment) ? Number(segment) : segment;
}

/** Where a part of a literal's text stands; the whole literal where escapes move it. */
function partPlace(
  literal: Extract<ExpressionSyntax, { kind: 'literal' }>,
  text: string,
  start: number,
  end: number,
): Place {
  if (!literal.verbatim) return literal.place;
  const { file, span } = literal.place;
  const [line, column] = positionOf(text, start, span);
  const [endLine, endColumn] = positionOf(text, end, span);
  return { file, span: [line, column, endLine, endColumn] };
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

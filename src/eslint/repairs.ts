import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Span } from '../graph/source-location.js';
import type { Repair } from './service.js';

/**
 * The repair of a diagnostic, where its place is all that has to change: a comment that silences nothing, and a name
 * that is near another one.
 *
 * @param text - of the file.
 */
export function repairOf({ code, place, params = {} }: Diagnostic, text: string): Repair | undefined {
  if (place === undefined) return undefined;
  if (code === 'SW9013') return { span: wholeLine(place.span, text), text: '', isCertain: true };
  const { suggestion } = params;
  if (typeof suggestion !== 'string') return undefined;
  const current = textAt(place.span, text);
  const names = Object.values(params).filter((value): value is string => typeof value === 'string');
  const wrong = names.find((name) => name !== suggestion && isName(name) && endsWithName(current, name));
  if (wrong === undefined) return undefined;
  const [, , endLine, endColumn] = place.span;
  const end = endColumn - (/['"]$/.test(current) ? 1 : 0);
  return { span: [endLine, end - wrong.length, endLine, end], text: suggestion, isCertain: false };
}

const isName = (name: string): boolean => /^[\w$-]+$/.test(name);

/** Whether a text is a name, in quotes or behind a dot or not. */
function endsWithName(text: string, name: string): boolean {
  return text === name || text.endsWith(`.${name}`) || /^(['"])(.*)\1$/.exec(text)?.[2] === name;
}

function textAt([line, column, endLine, endColumn]: Span, text: string): string {
  return line === endLine ? (linesOf(text)[line - 1] ?? '').slice(column - 1, endColumn - 1) : '';
}

/** The line of a span with its end, where there is nothing else in it. */
function wholeLine(span: Span, text: string): Span {
  const [line, column, endLine, endColumn] = span;
  const lines = linesOf(text);
  const before = lines[line - 1]?.slice(0, column - 1) ?? '';
  const after = lines[endLine - 1]?.slice(endColumn - 1) ?? '';
  if (after.trim() !== '') return span;
  if (before.trim() === '' && endLine < lines.length) return [line, 1, endLine + 1, 1];
  return [line, before.trimEnd().length + 1, endLine, endColumn];
}

const linesOf = (text: string): readonly string[] => text.split(/\r\n|[\n\r\u2028\u2029]/);

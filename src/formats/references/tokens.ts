import type { Json } from '../../graph/json.js';

const TOKEN =
  /\s*(?:(?<number>(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.])|(?<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<word>[A-Za-z_][A-Za-z0-9_]*)|(?<reference>\$\{?)|(?<sign>&&|\|\||\?\?|[=!<>]=|[-+*/%!<>()[\],]))/y;

/** A fault of the text of an expression, which ends its parsing. */
export class ExpressionFault extends Error {
  readonly start: number;
  readonly end: number;

  constructor(start: number, end: number, problem: string) {
    super(problem);
    this.start = start;
    this.end = end;
  }
}

export interface Token {
  readonly kind: 'number' | 'text' | 'word' | 'reference' | 'sign' | 'end';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the token at or after an index of a text, which ends at `limit`.
 *
 * @throws ExpressionFault
 */
export function tokenAt(text: string, index: number, limit: number): Token {
  TOKEN.lastIndex = index;
  const start = index + (/^\s*/.exec(text.slice(index, limit))?.[0].length ?? 0);
  if (start >= limit) return { kind: 'end', text: '', start: limit, end: limit };
  const match = TOKEN.exec(text);
  if (match === null) throw new ExpressionFault(start, start + 1, problemAt(text, start));
  const [kind, value] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? [];
  const end = index + match[0].length;
  return { kind: kind as Token['kind'], text: value ?? '', start: end - (value?.length ?? 0), end };
}

function problemAt(text: string, start: number): string {
  const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
  if (character === "'" || character === '"') return `a text has no ${character} at its end`;
  if (character === '=') return 'a comparison is `==`';
  if (character === '&' || character === '|') return `write \`${character}${character}\``;
  return `\`${character}\` has no meaning in an expression`;
}

/** A number that JSON does not keep as it is written would compare with another one. */
export function numberOf({ text, start, end }: Token): number {
  const value = Number(text);
  if (Number.isFinite(value) && (!/^\d+$/.test(text) || Number.isSafeInteger(value))) return value;
  throw new ExpressionFault(start, end, 'the number is not exact: use one below 2^53');
}

export function unquoted(literal: string): string {
  return literal.slice(1, -1).replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** Words with a value of their own. */
export const CONSTANTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

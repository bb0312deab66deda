import type { Json } from '../../graph/json.js';
import { escapeUnprintable } from '../../graph/printable-text.js';

/** A name in the emitted code, printed as it is. */
export class Identifier {
  constructor(readonly name: string) {}
}

/** What can be printed as a TypeScript expression: JSON, and names in it. */
export type Literal = Json | Identifier | readonly Literal[] | LiteralObject;

/** Properties whose value is undefined are left out. */
export interface LiteralObject {
  readonly [key: string]: Literal | undefined;
}

/** Values that fit into this many columns are printed on one line. */
const WIDTH = 110;

/**
 * Prints a value as a TypeScript expression: the same text for the same value, on every machine.
 *
 * @param indent - spaces before the line that the expression starts on.
 * @param column - columns that are taken on that line already.
 */
export function printLiteral(value: Literal, indent = 0, column = indent): string {
  const short = printFlat(value);
  // One column is kept for the comma behind it.
  if (column + short.length < WIDTH) return short;
  if (typeof value === 'string') return printLines(value, indent);
  if (typeof value !== 'object' || value === null || value instanceof Identifier) return short;
  const inner = indent + 2;
  const pad = ' '.repeat(inner);
  const end = `\n${' '.repeat(indent)}`;
  if (isList(value)) {
    if (value.length === 0) return short;
    const items = value.map((item) => `${pad}${printLiteral(item, inner)},`);
    return `[\n${items.join('\n')}${end}]`;
  }
  const members = membersOf(value).map(([key, member]) => {
    const name = `${pad}${printKey(key)}:`;
    const text = printLiteral(member, inner, name.length + 1);
    return text.startsWith('\n') ? `${name}${text},` : `${name} ${text},`;
  });
  return members.length === 0 ? short : `{\n${members.join('\n')}${end}}`;
}

/** A string literal that no editor, linter or terminal reads as something else. */
export function printString(text: string): string {
  const double = escapeUnprintable(JSON.stringify(text));
  if (text.includes("'")) return double;
  return `'${double.slice(1, -1).replace(/\\./g, (part) => (part === '\\"' ? '"' : part))}'`;
}

function printFlat(value: Literal): string {
  if (value instanceof Identifier) return value.name;
  if (typeof value === 'string') return printString(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(printFlat).join(', ')}]`;
  const members = membersOf(value).map(([key, member]) => `${printKey(key)}: ${printFlat(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** Long text with line breaks is printed as one literal per line, so that a changed line is one line of a diff. */
function printLines(text: string, indent: number): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  if (lines.length < 2) return printString(text);
  const pad = `\n${' '.repeat(indent + 2)}`;
  return lines.map((line) => pad + printString(line)).join(' +');
}

/** `__proto__: x` would set the prototype; in brackets it is a property like any other. */
function printKey(key: string): string {
  if (key === '__proto__') return "['__proto__']";
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : printString(key);
}

function membersOf(object: LiteralObject): readonly (readonly [string, Literal])[] {
  return Object.entries(object).filter((member): member is [string, Literal] => member[1] !== undefined);
}

function isList(value: readonly Literal[] | LiteralObject): value is readonly Literal[] {
  return Array.isArray(value);
}

/** Compares by UTF-16 code units: the same on every machine, whatever its locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

import type { Json, JsonObject } from '../../graph/json.js';
import { escapeUnprintable } from '../../graph/printable-text.js';

/** A name in the emitted code, printed as it is. */
export class Identifier {
  constructor(readonly name: string) {}
}

/** JSON in the emitted code whose text is parsed at run time: a compiler sees the tag alone. */
export class JsonText {
  /**
   * @param tag - the function that parses the text, and its type arguments.
   * @param leading - the keys that come first in every object.
   * @param end - what is written behind it.
   */
  constructor(
    readonly tag: string,
    readonly value: Json,
    readonly leading: readonly string[] = [],
    readonly end = '',
  ) {}
}

/** An expression of several lines that was printed for its place before. */
export class Printed {
  constructor(readonly text: string) {}
}

/** What can be printed as a TypeScript expression: JSON, and names in it. */
export type Literal = Json | Identifier | JsonText | Printed | readonly Literal[] | LiteralObject;

/** Properties with the value undefined are left out. */
export interface LiteralObject {
  readonly [key: string]: Literal | undefined;
}

/**
 * Prints a value as a TypeScript expression: the same text for the same value, on every machine.
 *
 * @param indent - spaces before the line that the expression starts on.
 * @param column - columns that are taken on that line already.
 */
export function printLiteral(value: Literal, indent = 0, column = indent): string {
  return new Printer().print(value, indent, column);
}

class Printer {
  /** Each collection on one line: one that does not fit is asked for again inside every other one. */
  readonly #lines = new Map<object, string | undefined>();

  print(value: Literal, indent: number, column = indent): string {
    if (value instanceof JsonText) {
      const { tag, value: json, leading, end } = value;
      return `${tag}\`${printJsonText(json, { indent, column: column + tag.length + 2, leading })}\`${end}`;
    }
    if (value instanceof Printed) return value.text;
    if (!isCollection(value)) {
      const text = printScalar(value);
      return typeof value === 'string' && column + text.length >= WIDTH ? printLines(value, indent) : text;
    }
    const line = this.#lineOf(value);
    // One column is kept for the comma behind it.
    if (line !== undefined && line.length < WIDTH - column) return line;
    const inner = indent + 2;
    const pad = ' '.repeat(inner);
    const end = `\n${' '.repeat(indent)}`;
    // Added up and never joined: the texts of a large registry are copied once, when it is written.
    let text = '';
    if (isList(value)) {
      for (const item of value) text += `\n${pad}${this.print(item, inner)},`;
      return `[${text}${end}]`;
    }
    for (const [key, member] of membersOf(value)) {
      const name = `${pad}${printKey(key)}:`;
      const printed = this.print(member, inner, name.length + 1);
      // Only a text may begin on a line of its own. What is added up is not looked into: that would copy it.
      const isBelow = typeof member === 'string' && printed.startsWith('\n');
      text += `\n${name}${isBelow ? '' : ' '}${printed},`;
    }
    return `{${text}${end}}`;
  }

  /** A value on one line; undefined where no line has room for it. */
  #lineOf(value: Literal): string | undefined {
    if (value instanceof JsonText) {
      const text = printJsonLine(value.value, value.leading);
      return text === undefined ? undefined : `${value.tag}\`${text}\`${value.end}`;
    }
    if (value instanceof Printed) return undefined;
    if (!isCollection(value)) return printScalar(value);
    if (this.#lines.has(value)) return this.#lines.get(value);
    const line = this.#joined(value);
    this.#lines.set(value, line);
    return line;
  }

  #joined(value: readonly Literal[] | LiteralObject): string | undefined {
    const members: readonly (readonly [string, Literal])[] = isList(value)
      ? value.map((item) => ['', item])
      : membersOf(value).map(([key, member]) => [`${printKey(key)}: `, member]);
    if (members.length === 0) return isList(value) ? '[]' : '{}';
    let text = isList(value) ? '[' : '{ ';
    for (const [index, [head, member]] of members.entries()) {
      const line = this.#lineOf(member);
      if (line === undefined) return undefined;
      text += index === 0 ? `${head}${line}` : `, ${head}${line}`;
      if (text.length >= WIDTH) return undefined;
    }
    return text + (isList(value) ? ']' : ' }');
  }
}

/**
 * A value for `as const` under `isolatedDeclarations`: what is not a literal states its type.
 *
 * @param typeOf - the type of JSON, by the function that parses its text.
 */
export function withTypes(value: Literal, typeOf: (tag: string) => string): Literal {
  if (value instanceof Printed) return value;
  if (value instanceof Identifier) {
    const { name } = value;
    return new Identifier(`${name} as ${name.includes('.') ? 'string' : `typeof ${name}`}`);
  }
  if (value instanceof JsonText)
    return new JsonText(value.tag, value.value, value.leading, ` as ${typeOf(value.tag)}`);
  // Several texts with a plus between them are not a literal.
  if (typeof value === 'string') return new Identifier(printString(value));
  if (!isCollection(value)) return value;
  if (isList(value)) return value.map((item) => withTypes(item, typeOf));
  return Object.fromEntries(membersOf(value).map(([key, member]) => [key, withTypes(member, typeOf)]));
}

/** A string literal that no editor, linter or terminal reads as something else. */
export function printString(text: string): string {
  const double = escapeUnprintable(JSON.stringify(text));
  if (text.includes("'")) return double;
  return `'${double.slice(1, -1).replace(/\\./g, (part) => (part === '\\"' ? '"' : part))}'`;
}

type Scalar = Exclude<Literal, JsonText | Printed | readonly Literal[] | LiteralObject> | Identifier;

function printScalar(value: Scalar): string {
  if (value instanceof Identifier) return value.name;
  return typeof value === 'string' ? printString(value) : JSON.stringify(value);
}

function isCollection(value: Literal): value is readonly Literal[] | LiteralObject {
  const isOther = value instanceof Identifier || value instanceof JsonText || value instanceof Printed;
  return typeof value === 'object' && value !== null && !isOther;
}

/** Long text with line breaks is printed as one literal per line, so that a changed line is one line of a diff. */
function printLines(text: string, indent: number): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  if (lines.length < 2) return printString(text);
  const pad = `\n${' '.repeat(indent + 2)}`;
  return lines.map((line) => pad + printString(line)).join(' +');
}

/** `__proto__: x` would set the prototype; in brackets it is a property like any other. */
export function printKey(key: string): string {
  if (key === '__proto__') return "['__proto__']";
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : printString(key);
}

function membersOf(object: LiteralObject): readonly (readonly [string, Literal])[] {
  return Object.entries(object).filter((member): member is [string, Literal] => member[1] !== undefined);
}

function isList(value: readonly Literal[] | LiteralObject): value is readonly Literal[] {
  return Array.isArray(value);
}

/** Values that fit into this many columns are printed on one line. */
export const WIDTH = 110;

/** Where a text begins, and how its objects are ordered. */
interface JsonLayout {
  /** Spaces before the line that the text starts on. */
  readonly indent: number;
  /** Columns that are taken on that line already. */
  readonly column: number;
  /** The keys that come first in every object, in this order; all others keep theirs. */
  readonly leading: readonly string[];
}

/**
 * Prints JSON for a template of TypeScript, whose raw text it is: what ends a template, or begins an expression in it,
 * is escaped.
 *
 * Each value is visited once on the way up, where it is printed on one line as far as one has room for it, and once on
 * the way down if it takes several: registries are mostly such text.
 */
function printJsonText(value: Json, { indent, column, leading }: JsonLayout): string {
  return layOut(value, pieceOf(value, leading), { indent, column, leading });
}

/** The text on one line; undefined where no line has room for it. */
function printJsonLine(value: Json, leading: readonly string[]): string | undefined {
  const piece = pieceOf(value, leading);
  return typeof piece === 'string' ? piece : undefined;
}

/** A collection that no line has room for, in parts. */
interface Broken {
  /** Empty texts for items, keys with their colons for members. */
  readonly heads: readonly string[];
  readonly values: readonly Json[];
  readonly pieces: readonly Piece[];
}

/** The text of a value on one line, or its parts. */
type Piece = string | Broken;

function pieceOf(value: Json, leading: readonly string[]): Piece {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = partsOf(value, leading);
  const { heads, pieces } = parts;
  if (pieces.length === 0) return isList(value) ? '[]' : '{}';
  let text = isList(value) ? '[' : '{ ';
  for (let index = 0; index < pieces.length; index += 1) {
    const piece = pieces[index] as Piece;
    if (typeof piece !== 'string') return parts;
    text += index === 0 ? (heads[index] as string) + piece : `, ${heads[index]}${piece}`;
    if (text.length >= WIDTH) return parts;
  }
  return text + (isList(value) ? ']' : ' }');
}

function partsOf(value: readonly Json[] | JsonObject, leading: readonly string[]): Broken {
  const heads: string[] = [];
  const values: Json[] = [];
  const pieces: Piece[] = [];
  const add = (head: string, member: Json): void => {
    heads.push(head);
    values.push(member);
    pieces.push(pieceOf(member, leading));
  };
  if (isList(value)) for (const item of value) add('', item);
  else for (const key of orderedKeys(value, leading)) add(`${quoted(key)}: `, value[key] as Json);
  return { heads, values, pieces };
}

function orderedKeys(object: JsonObject, leading: readonly string[]): readonly string[] {
  const present = Object.keys(object).filter((key) => object[key] !== undefined);
  if (leading.length === 0) return present;
  const first = leading.filter((key) => Object.hasOwn(object, key) && object[key] !== undefined);
  return first.length === 0 ? present : [...first, ...present.filter((key) => !leading.includes(key))];
}

function layOut(value: Json, piece: Piece, { indent, column, leading }: JsonLayout): string {
  if (typeof value !== 'object' || value === null) return piece as string;
  // One column is kept for the comma behind it.
  if (typeof piece === 'string' && piece.length < WIDTH - column) return piece;
  const { heads, values, pieces } = typeof piece === 'string' ? partsOf(value, leading) : piece;
  if (pieces.length === 0) return piece as string;
  const inner = indent + 2;
  const pad = `\n${' '.repeat(inner)}`;
  let text = isList(value) ? '[' : '{';
  for (let index = 0; index < pieces.length; index += 1) {
    const head = heads[index] as string;
    const member = layOut(values[index] as Json, pieces[index] as Piece, {
      ...{ indent: inner, leading },
      column: inner + head.length,
    });
    text += `${index === 0 ? '' : ','}${pad}${head}${member}`;
  }
  return `${text}\n${' '.repeat(indent)}${isList(value) ? ']' : '}'}`;
}

function quoted(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return escapeUnprintable(JSON.stringify(text)).replaceAll('`', '\\u0060').replaceAll('${', '\\u0024{');
}

/** Printable ASCII without quotation marks, dollar signs, backslashes and backticks. */
const PLAIN = /^[ !#%-[\]-_a-~]*$/;

import type { Json, JsonObject } from '../../graph/json.js';
import { escapeUnprintable } from '../../graph/printable-text.js';

/** Values that fit into this many columns are printed on one line. */
export const WIDTH = 110;

/** Where a text begins, and how its objects are ordered. */
export interface JsonLayout {
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
export function printJsonText(value: Json, { indent, column, leading }: JsonLayout): string {
  return layOut(value, pieceOf(value, leading), { indent, column, leading });
}

/** The text on one line; undefined where no line has room for it. */
export function printJsonLine(value: Json, leading: readonly string[]): string | undefined {
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

function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}

function quoted(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return escapeUnprintable(JSON.stringify(text)).replaceAll('`', '\\u0060').replaceAll('${', '\\u0024{');
}

/** Printable ASCII without quotation marks, dollar signs, backslashes and backticks. */
const PLAIN = /^[ !#%-[\]-_a-~]*$/;

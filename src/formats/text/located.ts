import { defined } from '../../graph/defined.js';
import { type Json, keysOf, pointerKey } from '../../graph/json.js';
import type { SourceLocation, Span } from '../../graph/source-location.js';

/** A value of a spec file, and where it is written. YAML, JSON and XML are read into this one form. */
export type Located = LocatedText | LocatedScalar | LocatedList | LocatedMap;

interface LocatedBase {
  /** UTF-16 offsets in the text of the file; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** The JSON pointer of the value. */
  readonly pointer: string;
}

export interface LocatedText extends LocatedBase {
  readonly kind: 'text';
  readonly value: string;
  /** The offset in the file of a character of the value; the start of the value where that is not known. */
  readonly offsetAt: (index: number) => number;
}

/** A number, a boolean or null. */
export type LocatedScalar =
  | WrittenValue<'number', number>
  | WrittenValue<'boolean', boolean>
  | WrittenValue<'null', null>;

interface WrittenValue<K, V> extends LocatedBase {
  readonly kind: K;
  readonly value: V;
  /** As it is written: `1.0` and `1` are one number. */
  readonly source: string;
}

export interface LocatedList extends LocatedBase {
  readonly kind: 'list';
  readonly items: readonly Located[];
}

/** An object, in the order of writing. Its keys are unique. */
export interface LocatedMap extends LocatedBase {
  readonly kind: 'map';
  readonly entries: readonly LocatedEntry[];
}

export interface LocatedEntry {
  readonly key: LocatedText;
  readonly value: Located;
}

export function entryOf(map: LocatedMap, name: string): LocatedEntry | undefined {
  return map.entries.find(({ key }) => key.value === name);
}

/** A value as JSON, without references. */
export function jsonOf(located: Located): Json {
  switch (located.kind) {
    case 'list':
      return located.items.map(jsonOf);
    case 'map':
      return Object.fromEntries(located.entries.map(({ key, value }) => [key.value, jsonOf(value)]));
    default:
      return located.value;
  }
}

/** The texts in a value, without keys. */
export function textsWithin(located: Located): readonly LocatedText[] {
  if (located.kind === 'text') return [located];
  if (located.kind === 'list') return located.items.flatMap(textsWithin);
  return located.kind === 'map' ? located.entries.flatMap(({ value }) => textsWithin(value)) : [];
}

/** The value at a JSON pointer below a value, or else the nearest value around that place. */
export function locatedAt(located: Located, pointer: string): Located {
  let target = located;
  for (const key of keysOf(pointer)) {
    const next =
      target.kind === 'map'
        ? entryOf(target, key)?.value
        : target.kind === 'list'
          ? target.items[Number(key)]
          : undefined;
    if (next === undefined) break;
    target = next;
  }
  return target;
}

/** The kind of a value in messages: `a list`, `nothing`. */
export function describeLocated(value: Located): string {
  switch (value.kind) {
    case 'text':
      return 'text';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'a boolean';
    case 'null':
      return 'nothing';
    case 'list':
      return value.items.length === 0 ? 'an empty list' : 'a list';
    case 'map':
      return value.entries.length === 0 ? 'an empty object' : 'an object';
    default:
      return value satisfies never;
  }
}

/** A segment of a JSON pointer (RFC 6901). */
export function pointerTo(parent: string, key: string | number): string {
  if (typeof key === 'number' || !/[~/]/.test(key)) return `${parent}/${key}`;
  return `${parent}/${pointerKey(key)}`;
}

/** The text of a file, by lines. */
export class SourceText {
  readonly file: string;
  readonly text: string;
  #lineStarts: readonly number[] | undefined;

  /** @param text without a byte order mark. */
  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
  }

  /** The location of a range of offsets. */
  place(start: number, end: number = start, pointer?: string): SourceLocation {
    return { file: this.file, span: this.span(start, end), ...defined({ pointer }) };
  }

  placeOf({ start, end, pointer }: LocatedBase): SourceLocation {
    return this.place(start, end, pointer);
  }

  span(start: number, end: number = start): Span {
    const [line, column] = this.#position(start);
    // Most ranges end in the line that they begin in.
    const next = this.#lineStarts?.[line] ?? this.text.length + 1;
    if (start <= end && end < next) return [line, column, line, column + end - start];
    const [endLine, endColumn] = this.#position(Math.max(start, end));
    return [line, column, endLine, endColumn];
  }

  #position(offset: number): readonly [number, number] {
    this.#lineStarts ??= lineStartsOf(this.text);
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return [low + 1, offset - (this.#lineStarts[low] ?? 0) + 1];
  }
}

export function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let index = text.indexOf('\n'); index !== -1; index = text.indexOf('\n', index + 1))
    starts.push(index + 1);
  return starts;
}

/** Maps a character of a value to its offset in the file. */
export type Offsets = (index: number) => number;

/** For a value whose characters are written one by one. */
export function plainOffsets(start: number): Offsets {
  return (index) => start + index;
}

/**
 * For a value that is written in pieces, such as escapes, that differ from the characters of the value.
 *
 * @param pieces a list of the written form, in order: the length of each, and how many characters of the value it makes.
 */
export function pieceOffsets(
  start: number,
  pieces: () => Iterable<readonly [written: number, value: number]>,
): Offsets {
  let offsets: number[] | undefined;
  return (index) => {
    offsets ??= collect(start, pieces());
    return offsets[Math.min(index, offsets.length - 1)] ?? start;
  };
}

function collect(start: number, pieces: Iterable<readonly [number, number]>): number[] {
  const offsets: number[] = [];
  let at = start;
  for (const [sourceLength, value] of pieces) {
    for (let index = 0; index < value; index += 1) offsets.push(sourceLength === value ? at + index : at);
    at += sourceLength;
  }
  offsets.push(at);
  return offsets;
}

/** The pieces of a text by a pattern of its escapes. */
export function* piecesOf(
  source: string,
  sequence: RegExp,
  lengthOf: (sequence: string) => number,
): Generator<readonly [number, number]> {
  let last = 0;
  for (const { 0: match, index } of source.matchAll(sequence)) {
    if (index > last) yield [index - last, index - last];
    yield [match.length, lengthOf(match)];
    last = index + match.length;
  }
  if (last < source.length) yield [source.length - last, source.length - last];
}

/** The offsets of a part of a text. */
export function rangeIn(
  located: LocatedText,
  { start, end }: { readonly start: number; readonly end: number },
) {
  const from = located.offsetAt(start);
  return { start: from, end: Math.max(located.offsetAt(end), from), pointer: located.pointer };
}

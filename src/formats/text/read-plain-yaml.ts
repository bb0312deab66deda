import { type Located, type LocatedEntry, type LocatedText, pointerTo, type SourceText } from './located.js';
import { pieceOffsets, piecesOf, plainOffsets } from './offsets.js';
import { MapEntries, type ReadText, Reports } from './reading.js';

/**
 * Reads YAML that is written plainly: nested maps and lists, values and brackets within one line, comments. That is what
 * most spec files are, and it takes a fraction of what a parser of all of YAML takes. Whatever else is written, or wrong,
 * is left to that parser: then the result is `undefined`. What is read here is exactly what the parser reads.
 */
export function readPlainYaml(source: SourceText): ReadText | undefined {
  if (OTHER_BLANKS.test(source.text)) return undefined;
  const reports = new Reports(source);
  try {
    const root = new PlainReading(source.text, reports).read();
    return { diagnostics: reports.diagnostics, ...(reports.hasErrors ? {} : { root }) };
  } catch (error) {
    if (error !== NOT_PLAIN) throw error;
    return undefined;
  }
}

/** Thrown where a text goes beyond what is read here. */
const NOT_PLAIN = Symbol('not plain');

/** Blanks that have rules of their own. */
const OTHER_BLANKS = /[\t\r\ufeff]/;

/** A key, from its first character to the value behind it. */
const KEY = /([A-Za-z_$][A-Za-z0-9_$.-]{0,99}):(?: +|(?=\n|$))/y;
const ITEM = /- +(?=[^ \n#])/y;
/** A value outside of brackets, up to a comment or the end of its line. */
const PLAIN = /(?:[^\s\-?:,[\]{}#&*!|>'"%@`]|-(?=\d))[^\n]*/y;
/** A value within brackets, with the blanks behind it. */
const PLAIN_IN_FLOW = /(?:[^\s\-?:,[\]{}#&*!|>'"%@`]|-(?=\d))[^,[\]{}:#\n]*/y;
const DOUBLE_QUOTED = /"[^"\\\n]*"/y;
const SINGLE_QUOTED = /'[^'\n]*'(?!')/y;
const BLANKS = / */y;
/** What may be behind a value on its line. */
const LINE_END = /(?: *| +#[^\n]*)(?:\n|$)/y;
const EMPTY_LINE = /(?:\n|( *)#[^\n]*(?:\n|$))/y;

const NOTHING = /(?!)/g;
const BLANK_END = / +$/;
const COMMENT = / +#/;
/** Words that mean something in some spelling. */
const WORD = /^(?:true|false|null)$/i;
const MAY_BE_NUMBER = /^(?:~|[-+]?\.)/;
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

class PlainReading {
  readonly #text: string;
  readonly #reports: Reports;
  #index = 0;
  /** The column of the first character of the line; -1 at the end of the text. */
  #column = -1;

  constructor(text: string, reports: Reports) {
    this.#text = text;
    this.#reports = reports;
  }

  read(): Located {
    this.#nextLine();
    if (this.#column !== 0) throw NOT_PLAIN;
    const root = this.#block(0, '');
    if (this.#index < this.#text.length) throw NOT_PLAIN;
    return root;
  }

  /** Goes to the first character of the next line that has a value. */
  #nextLine(): void {
    let comment: number | undefined;
    for (let found = this.#match(EMPTY_LINE); found !== undefined; found = this.#match(EMPTY_LINE)) {
      if (found[1] === undefined) continue;
      // Comments of other columns may belong to the lines before them.
      if (comment !== undefined && comment !== found[1].length) throw NOT_PLAIN;
      comment = found[1].length;
    }
    const start = this.#index;
    this.#match(BLANKS);
    this.#column = this.#index < this.#text.length ? this.#index - start : -1;
    if (this.#column === -1 && this.#index > start) throw NOT_PLAIN;
    if (comment !== undefined && comment !== Math.max(this.#column, 0)) throw NOT_PLAIN;
  }

  /** The map or list that begins here. */
  #block(column: number, pointer: string): Located {
    return this.#text[this.#index] === '-' ? this.#list(column, pointer) : this.#map(column, pointer);
  }

  #map(column: number, pointer: string): Located {
    const start = this.#index;
    const map = new MapEntries(this.#reports);
    let end = start;
    do {
      const key = this.#key(pointer);
      if (this.#match(LINE_END) === undefined) {
        map.add(key, this.#inline(PLAIN, key.pointer));
        end = this.#endLine(column);
        continue;
      }
      this.#nextLine();
      const isListBelow = this.#column === column && this.#text[this.#index] === '-';
      if (this.#column <= column && !isListBelow) throw NOT_PLAIN;
      const value = this.#block(this.#column, key.pointer);
      map.add(key, value);
      end = value.end;
      if (this.#column > column) throw NOT_PLAIN;
    } while (this.#column === column);
    return { kind: 'map', entries: map.entries, start, end, pointer };
  }

  #list(column: number, pointer: string): Located {
    const start = this.#index;
    const items: Located[] = [];
    let end = start;
    do {
      const dash = this.#index;
      if (this.#match(ITEM) === undefined) throw NOT_PLAIN;
      const inner = pointerTo(pointer, items.length);
      KEY.lastIndex = this.#index;
      if (KEY.test(this.#text)) {
        const item = this.#map(column + this.#index - dash, inner);
        items.push(item);
        end = item.end;
        if (this.#column > column) throw NOT_PLAIN;
      } else {
        items.push(this.#inline(PLAIN, inner));
        end = this.#endLine(column);
      }
    } while (this.#column === column && this.#text[this.#index] === '-');
    return { kind: 'list', items, start, end, pointer };
  }

  /** Ends the line of a value of a collection, and returns where. */
  #endLine(column: number): number {
    if (this.#match(LINE_END) === undefined) throw NOT_PLAIN;
    const end = this.#index;
    this.#nextLine();
    // It would go on with the value.
    if (this.#column > column) throw NOT_PLAIN;
    return end;
  }

  #key(pointer: string): LocatedText {
    const start = this.#index;
    const value = this.#match(KEY)?.[1];
    if (value === undefined || WORD.test(value)) throw NOT_PLAIN;
    return {
      kind: 'text',
      value,
      start,
      end: start + value.length,
      pointer: pointerTo(pointer, value),
      offsetAt: plainOffsets(start),
    };
  }

  /** A value within this line. */
  #inline(plain: RegExp, pointer: string): Located {
    const start = this.#index;
    switch (this.#text[start]) {
      case '[':
        return this.#flowList(pointer);
      case '{':
        return this.#flowMap(pointer);
      case '"':
        return this.#quoted(DOUBLE_QUOTED, pointer);
      case "'":
        return this.#quoted(SINGLE_QUOTED, pointer);
      default:
        return this.#plain(plain, pointer);
    }
  }

  #flowList(pointer: string): Located {
    const start = this.#index;
    const items: Located[] = [];
    this.#inBrackets(']', () => items.push(this.#inline(PLAIN_IN_FLOW, pointerTo(pointer, items.length))));
    return { kind: 'list', items, start, end: this.#index, pointer };
  }

  #flowMap(pointer: string): Located {
    const start = this.#index;
    const map = new MapEntries(this.#reports);
    this.#inBrackets('}', () => {
      const key = this.#key(pointer);
      map.add(key, this.#inline(PLAIN_IN_FLOW, key.pointer));
    });
    return { kind: 'map', entries: map.entries as LocatedEntry[], start, end: this.#index, pointer };
  }

  /** Reads what is between brackets, with a comma between one and the next. */
  #inBrackets(close: string, read: () => void): void {
    this.#index += 1;
    this.#match(BLANKS);
    if (this.#take(close)) return;
    for (;;) {
      read();
      this.#match(BLANKS);
      if (this.#take(close)) return;
      if (!this.#take(',')) throw NOT_PLAIN;
      this.#match(BLANKS);
    }
  }

  #quoted(pattern: RegExp, pointer: string): Located {
    const start = this.#index;
    const written = this.#match(pattern)?.[0];
    if (written === undefined) throw NOT_PLAIN;
    const value = written.slice(1, -1);
    // The index behind the last character is that of the quote.
    const offsetAt = pieceOffsets(start + 1, () => piecesOf(value, NOTHING, () => 1));
    return { kind: 'text', value, start, end: this.#index, pointer, offsetAt };
  }

  #plain(pattern: RegExp, pointer: string): Located {
    const start = this.#index;
    const line = this.#match(pattern)?.[0];
    if (line === undefined) throw NOT_PLAIN;
    const comment = line.search(COMMENT);
    const written = (comment === -1 ? line : line.slice(0, comment)).replace(BLANK_END, '');
    const end = start + written.length;
    this.#index = end;
    if (written.endsWith(':') || written.includes(': ')) throw NOT_PLAIN;
    const place = { start, end, pointer };
    if (NUMBER.test(written)) return { kind: 'number', value: Number(written), written, ...place };
    if (written === 'true' || written === 'false')
      return { kind: 'boolean', value: written === 'true', written, ...place };
    if (written === 'null') return { kind: 'null', value: null, written, ...place };
    // Other spellings of numbers and words.
    if (WORD.test(written) || MAY_BE_NUMBER.test(written) || !Number.isNaN(Number(written))) throw NOT_PLAIN;
    return { kind: 'text', value: written, ...place, offsetAt: plainOffsets(start) };
  }

  #take(character: string): boolean {
    if (this.#text[this.#index] !== character) return false;
    this.#index += 1;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#index;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#index = pattern.lastIndex;
    return found;
  }
}

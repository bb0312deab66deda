import { type Located, type LocatedText, pointerTo, type SourceText } from './located.js';
import { plainOffsets } from './offsets.js';
import { MapEntries, type ReadText, Reports } from './reading.js';
import { Anchors } from './yaml-anchors.js';
import {
  type BlockLines,
  blockText,
  isInexact,
  joinedLines,
  literalOffsets,
  plainValue,
  quotedOffsets,
  unescaped,
} from './yaml-scalars.js';

/**
 * Reads the YAML that spec files are written in: maps and lists, by indentation or in brackets, texts of all styles,
 * comments. It takes a fraction of what a parser of all of YAML takes. Whatever else is written, or wrong, is left to that
 * parser: then the result is `undefined`. What is read here is exactly what the parser reads.
 */
export function readPlainYaml(source: SourceText): ReadText | undefined {
  if (BYTE_ORDER_MARK.test(source.text)) return undefined;
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

const BYTE_ORDER_MARK = /\ufeff/;

const DOCUMENT_START = /---(?: *| +#[^\n]*)\r?\n/y;
/** A key, from its first character to the value behind it. */
const KEY = /([A-Za-z_$/\u00c0-\u1fff][\w$./ \u00c0-\u1fff-]{0,99}(?<! )):(?: +|(?=\r?\n|$))/y;
const QUOTED_KEY = /("(?:[^"\\\n]|\\.){0,100}"|'(?:[^'\n]|''){0,100}'):(?: +|(?=\r?\n|$))/y;
/** In brackets, no blank is needed behind a key in quotes. */
const QUOTED_KEY_IN_FLOW = /("(?:[^"\\\n]|\\.){0,100}"|'(?:[^'\n]|''){0,100}'): */y;
const DASH = /-(?: +|(?=\r?\n|$))/y;
/** A value outside of brackets, up to a comment or the end of its line. */
const PLAIN = /(?:[^\s\-?:,[\]{}#&*!|>'"%@`]|-(?=[^\s,[\]{}]))[^\r\n]*/y;
/** A value within brackets, with the blanks behind it. */
const PLAIN_IN_FLOW =
  /(?:[^\s\-?:,[\]{}#&*!|>'"%@`]|-(?=[^\s,[\]{}]))(?:[^,[\]{}:#\r\n]+|:(?=[^\s,[\]{}])|(?<=\S)#)*/y;
/** The next line of a value, with the line breaks before it. */
const MORE_OF_PLAIN = / *((?:\r?\n *)*)\r?\n( *)(?=[^ \r\n#])([^\r\n]*)/y;
const DOUBLE_QUOTED = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const SINGLE_QUOTED = /'[^']*(?:''[^']*)*'/y;
const ESCAPED_BREAK = /\\[ \t]*\r?\n/;
const INDENT_IN_QUOTES = /\n( *)(?=[^ \r\n])/g;
const BLOCK_HEADER = /([|>])(?:([+-])([1-9]?)|([1-9])?([+-]?))(?: *| +#[^\n]*)\r?\n/y;
const BLOCK_LINE = /( *)([^\r\n]*)\r?(?:\n|$)/y;
const ANCHOR = /&([\w-]+)(?: +|(?=\r?\n))/y;
const ALIAS = /\*([\w-]+)(?=[\s,\]}]|$)/y;
const BLANKS = / */y;
/** What may be behind a value on its line. */
const LINE_END = /(?: *| +#[^\n]*)(?:\r?\n|$)/y;
/** The rest of a line whose value is below it. Blanks before it are read with what is before them. */
const NO_VALUE = /(?:#[^\n]*)?(?:\r?\n|$)/y;
const EMPTY_LINE = / *(?:#[^\n]*)?(?:\r?\n|$)/y;
/** Here the parser wants a blank before each comment. */
const EMPTY_LINES_IN_FLOW = /(?:(?: +#[^\n]*| *)\r?\n)*( *)/y;

/** Words that mean something as a key. */
const WORD = /^(?:true|false|null)$/i;

class PlainReading {
  readonly #text: string;
  readonly #reports: Reports;
  readonly #anchors = new Anchors();
  #index = 0;
  /** The column of the first character of the line; -1 at the end of the text. */
  #column = -1;
  /** Where the last value ends. */
  #end = 0;
  /** The column that lines within brackets are behind, and how many brackets are open. */
  #flowColumn = -1;
  #flowDepth = 0;

  constructor(text: string, reports: Reports) {
    this.#text = text;
    this.#reports = reports;
  }

  read(): Located {
    this.#nextLine();
    if (this.#column === 0 && this.#match(DOCUMENT_START) !== undefined) this.#nextLine();
    if (this.#column !== 0) throw NOT_PLAIN;
    const root = this.#block(0, '');
    if (this.#index < this.#text.length) throw NOT_PLAIN;
    // The parser reports a fault of a value with each of its aliases.
    if (this.#anchors.hasCopies && this.#reports.diagnostics.length > 0) throw NOT_PLAIN;
    return root;
  }

  /** Goes to the first character of the next line that has a value. */
  #nextLine(): void {
    const { length } = this.#text;
    while (this.#index < length && this.#match(EMPTY_LINE) !== undefined);
    const start = this.#index;
    this.#match(BLANKS);
    this.#column = this.#index < length ? this.#index - start : -1;
  }

  /** The map or list that begins here. */
  #block(column: number, pointer: string): Located {
    return this.#isAtDash() ? this.#list(column, pointer) : this.#map(column, pointer);
  }

  #isAtDash(): boolean {
    if (this.#text[this.#index] !== '-') return false;
    const next = this.#text[this.#index + 1];
    return next === ' ' || next === '\r' || next === '\n' || next === undefined;
  }

  #map(column: number, pointer: string): Located {
    const start = this.#index;
    const map = new MapEntries(this.#reports);
    do {
      const key = this.#key(pointer, QUOTED_KEY);
      map.add(key, this.#value(column, true, key.pointer));
      if (this.#column > column) throw NOT_PLAIN;
    } while (this.#column === column && !this.#isAtDash());
    return { kind: 'map', entries: map.entries, start, end: this.#end, pointer };
  }

  #list(column: number, pointer: string): Located {
    const start = this.#index;
    const items: Located[] = [];
    do {
      const dash = this.#index;
      if (this.#match(DASH) === undefined) throw NOT_PLAIN;
      const inner = pointerTo(pointer, items.length);
      items.push(this.#item(column, column + this.#index - dash, inner));
      if (this.#column > column) throw NOT_PLAIN;
    } while (this.#column === column && this.#isAtDash());
    return { kind: 'list', items, start, end: this.#end, pointer };
  }

  /** An item of a list: a collection may begin on the line of its dash. */
  #item(column: number, inner: number, pointer: string): Located {
    if (this.#isAtDash()) return this.#list(inner, pointer);
    return this.#isAtKey() ? this.#map(inner, pointer) : this.#value(column, false, pointer);
  }

  #isAtKey(): boolean {
    const first = this.#text[this.#index];
    const pattern = first === '"' || first === "'" ? QUOTED_KEY : KEY;
    pattern.lastIndex = this.#index;
    return pattern.test(this.#text);
  }

  /** The value behind a key or a dash: on its line, or in the lines below that are indented more. */
  #value(column: number, isOfKey: boolean, pointer: string): Located {
    const start = this.#index;
    if (this.#text[start] === '&') return this.#anchored(() => this.#value(column, isOfKey, pointer));
    if (this.#match(NO_VALUE) === undefined) {
      const value = this.#inline(column, pointer);
      return value === undefined ? this.#blockText(column, pointer) : this.#endOfLine(value, start, column);
    }
    this.#nextLine();
    const isListBelow = isOfKey && this.#column === column && this.#isAtDash();
    if (this.#column > column || isListBelow) return this.#block(this.#column, pointer);
    this.#end = start;
    return { kind: 'null', value: null, written: '', start, end: start, pointer };
  }

  /** Ends the line of a value that begins at an offset. A plain text may go on in the next ones. */
  #endOfLine(value: Located, start: number, column: number): Located {
    const end = this.#index;
    this.#end = end;
    if (this.#match(LINE_END) === undefined) throw NOT_PLAIN;
    this.#nextLine();
    if (this.#column <= column) return value;
    if (/["'[{*]/.test(this.#text[start] ?? '')) throw NOT_PLAIN;
    this.#index = end;
    const text = this.#moreOfPlain(this.#text.slice(start, end), column);
    const place = { start, end: this.#index, pointer: value.pointer };
    return this.#endOfLine({ kind: 'text', value: text, ...place, offsetAt: () => start }, start, column);
  }

  #anchored(read: () => Located): Located {
    const name = this.#match(ANCHOR)?.[1];
    // The anchor of a key, one more list, an alias or another anchor.
    const isOther = /[#*&]/.test(this.#text[this.#index] ?? '') || this.#isAtDash() || this.#isAtKey();
    if (name === undefined || isOther || !this.#anchors.open(name)) throw NOT_PLAIN;
    const value = read();
    if (value.kind === 'null' && value.written === '') throw NOT_PLAIN;
    this.#anchors.close(name, value);
    return value;
  }

  #alias(pointer: string): Located {
    const name = this.#match(ALIAS)?.[1];
    const value = name === undefined ? undefined : this.#anchors.copy(name, pointer);
    if (value === undefined) throw NOT_PLAIN;
    return value;
  }

  #key(pointer: string, quoted: RegExp): LocatedText {
    const start = this.#index;
    const first = this.#text[start];
    const isQuoted = first === '"' || first === "'";
    const written = this.#match(isQuoted ? quoted : KEY)?.[1];
    if (written === undefined || WORD.test(written)) throw NOT_PLAIN;
    const value = isQuoted ? unquoted(written) : written;
    return {
      kind: 'text',
      value,
      start,
      end: start + written.length,
      pointer: pointerTo(pointer, value),
      offsetAt: isQuoted ? quotedOffsets(start, written) : plainOffsets(start),
    };
  }

  /** A value that begins on this line; `undefined` for a block text. */
  #inline(column: number, pointer: string): Located | undefined {
    switch (this.#text[this.#index]) {
      case '[':
      case '{':
        this.#flowColumn = column;
        return this.#flow(pointer);
      case '"':
        return this.#quoted(DOUBLE_QUOTED, column, pointer);
      case "'":
        return this.#quoted(SINGLE_QUOTED, column, pointer);
      case '*':
        return this.#alias(pointer);
      case '|':
      case '>':
        return undefined;
      default:
        return this.#plain(PLAIN, pointer);
    }
  }

  #inFlow(pointer: string): Located {
    switch (this.#text[this.#index]) {
      case '[':
      case '{':
        return this.#flow(pointer);
      case '"':
        return this.#quoted(DOUBLE_QUOTED, this.#flowColumn, pointer);
      case "'":
        return this.#quoted(SINGLE_QUOTED, this.#flowColumn, pointer);
      case '*':
        return this.#alias(pointer);
      case '&':
        return this.#anchored(() => this.#inFlow(pointer));
      default:
        return this.#plain(PLAIN_IN_FLOW, pointer);
    }
  }

  #flow(pointer: string): Located {
    const start = this.#index;
    if (this.#text[start] === '[') {
      const items: Located[] = [];
      this.#inBrackets(']', () => items.push(this.#inFlow(pointerTo(pointer, items.length))));
      return { kind: 'list', items, start, end: this.#index, pointer };
    }
    const map = new MapEntries(this.#reports);
    this.#inBrackets('}', () => {
      const key = this.#key(pointer, QUOTED_KEY_IN_FLOW);
      map.add(key, this.#inFlow(key.pointer));
    });
    return { kind: 'map', entries: map.entries, start, end: this.#index, pointer };
  }

  /** Reads what is between brackets, with a comma between one and the next, and one behind the last perhaps. */
  #inBrackets(close: string, read: () => void): void {
    this.#index += 1;
    this.#flowDepth += 1;
    this.#flowBlanks(close);
    while (!this.#take(close)) {
      read();
      this.#flowBlanks(close);
      if (this.#take(close)) break;
      if (!this.#take(',')) throw NOT_PLAIN;
      this.#flowBlanks(close);
    }
    this.#flowDepth -= 1;
  }

  /** Passes blanks, line breaks and comments between brackets. The last bracket may be as far left as what holds it. */
  #flowBlanks(close: string): void {
    const [all = '', indent = ''] = this.#match(EMPTY_LINES_IN_FLOW) ?? [];
    if (all.length === indent.length) return;
    const least = this.#text[this.#index] === close && this.#flowDepth === 1 ? 0 : 1;
    if (indent.length < this.#flowColumn + least) throw NOT_PLAIN;
  }

  #quoted(pattern: RegExp, column: number, pointer: string): Located {
    const start = this.#index;
    const written = this.#match(pattern)?.[0];
    if (written === undefined) throw NOT_PLAIN;
    const place = { start, end: this.#index, pointer };
    if (!written.includes('\n'))
      return { kind: 'text', value: unquoted(written), ...place, offsetAt: quotedOffsets(start, written) };
    // A break that is escaped, and blanks that are, are left to the parser.
    if (ESCAPED_BREAK.test(written)) throw NOT_PLAIN;
    for (const [, indent = ''] of written.matchAll(INDENT_IN_QUOTES))
      if (indent.length <= column) throw NOT_PLAIN;
    return { kind: 'text', value: unquoted(joinedLines(written)), ...place, offsetAt: () => start };
  }

  #plain(pattern: RegExp, pointer: string): Located {
    const start = this.#index;
    const line = this.#match(pattern)?.[0];
    if (line === undefined) throw NOT_PLAIN;
    const written = this.#textOf(line);
    const end = start + written.length;
    this.#index = end;
    const known = plainValue(written);
    if (known === undefined)
      return { kind: 'text', value: written, start, end, pointer, offsetAt: plainOffsets(start) };
    if (typeof known.value === 'number' && isInexact(known.value)) throw NOT_PLAIN;
    return { kind: known.kind, value: known.value, written, start, end, pointer } as Located;
  }

  /** The text of a line, without a comment behind it. */
  #textOf(line: string): string {
    let end = line.indexOf(' #');
    if (end === -1) end = line.length;
    while (line[end - 1] === ' ') end -= 1;
    const written = line.slice(0, end);
    if (written.endsWith(':') || written.includes(': ') || line.includes('\t')) throw NOT_PLAIN;
    return written;
  }

  /** The value of a plain text with its next lines. */
  #moreOfPlain(first: string, column: number): string {
    let value = first;
    let isMore = false;
    for (;;) {
      MORE_OF_PLAIN.lastIndex = this.#index;
      const [all = '', gap = '', indent = '', line = ''] = MORE_OF_PLAIN.exec(this.#text) ?? [];
      // Behind a comment, a text does not go on.
      if (all === '' && !isMore) throw NOT_PLAIN;
      if (all === '' || indent.length <= column) return value;
      isMore = true;
      const written = this.#textOf(line);
      const breaks = gap.split('\n').length - 1;
      value += (breaks === 0 ? ' ' : '\n'.repeat(breaks)) + written;
      this.#index += all.length - line.length + written.length;
    }
  }

  /** A block text, whose lines are behind a column. */
  #blockText(column: number, pointer: string): Located {
    const start = this.#index;
    const [all, style = '', before = '', digit, other, behind = ''] = this.#match(BLOCK_HEADER) ?? [];
    if (all === undefined) throw NOT_PLAIN;
    const explicit = Number(digit || other || 0);
    const chomping = before || behind;
    const found = this.#blockLines(column, explicit, chomping === '+');
    this.#end = this.#index;
    const value = blockText(style, chomping, found);
    const written = this.#text.slice(start, this.#end);
    const offsetAt = style === '|' ? literalOffsets(start, written) : () => start;
    this.#nextLine();
    return { kind: 'text', value, start, end: this.#end, pointer, offsetAt };
  }

  /** Goes behind the last line of a block text, or behind the empty lines at its end as well if these count. */
  #blockLines(column: number, explicit: number, keepsEmpty: boolean): BlockLines {
    const lines: string[] = [];
    let indent = explicit === 0 ? undefined : column + explicit;
    let last = 0;
    let end = this.#index;
    let widest = 0;
    while (this.#index < this.#text.length) {
      const from = this.#index;
      const [, blanks = '', rest = ''] = this.#match(BLOCK_LINE) ?? [];
      if (rest === '') {
        // Blanks that reach into the text are a part of it.
        widest = Math.max(widest, blanks.length);
        if (this.#text[this.#index - 1] !== '\n') throw NOT_PLAIN;
        lines.push('');
        continue;
      }
      if (blanks.length < (indent ?? column + 1)) {
        this.#index = from;
        break;
      }
      indent ??= blanks.length;
      lines.push(blanks.slice(indent) + rest);
      last = lines.length;
      end = this.#index;
    }
    if (last === 0 || indent === undefined || widest > indent) throw NOT_PLAIN;
    if (!keepsEmpty) this.#index = end;
    return { lines: lines.slice(0, last), emptyAtEnd: lines.length - last };
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

/** The text in quotes. */
function unquoted(written: string): string {
  const inner = written.slice(1, -1);
  const text = written.startsWith("'") ? inner.replaceAll("''", "'") : unescaped(inner);
  if (text === undefined) throw NOT_PLAIN;
  return text;
}

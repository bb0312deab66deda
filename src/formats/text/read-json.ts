import { defined } from '../../graph/defined.js';
import type { SourceLocation } from '../../graph/source-location.js';
import {
  type Located,
  type LocatedEntry,
  type LocatedText,
  pieceOffsets,
  piecesOf,
  plainOffsets,
  pointerTo,
  type SourceText,
} from './located.js';
import {
  MapEntries,
  overLimit,
  type ReadText,
  type Refusal,
  type RepeatedKey,
  Reports,
  type TextLimits,
} from './reading.js';

/** Reads JSON (RFC 8259), strictly. The first fault of syntax ends the reading; repeated keys are all reported. */
export function readJson(source: SourceText, limits: TextLimits, repeatedKey?: RepeatedKey): ReadText {
  const reports = new Reports(source);
  try {
    const root = new JsonReading(source.text, limits, reports, repeatedKey).document();
    return { diagnostics: reports.diagnostics, ...(reports.isComplete ? defined({ root }) : {}) };
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    if (fault.refusal !== undefined) reports.refuse(fault.refusal);
    else
      reports.report(
        'SW5002',
        { start: fault.offset, end: fault.offset + 1 },
        { format: 'JSON', problem: fault.message },
      );
    return { diagnostics: reports.diagnostics };
  }
}

interface LenientJson {
  /** Missing for an empty text, and with a fault. */
  readonly root?: Located;
  /** The first fault of syntax. */
  readonly faults: readonly { readonly message: string; readonly place: SourceLocation }[];
}

/** Reads JSON of any size with comments and trailing commas. The last of two members of one name counts. */
export function readLenientJson(source: SourceText): LenientJson {
  try {
    const root = new JsonReading(source.text, NO_LIMITS, new Reports(source), undefined, true).document();
    return { faults: [], ...defined({ root }) };
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    return { faults: [{ message: fault.message, place: source.place(fault.offset, fault.offset + 1) }] };
  }
}

/** Ends the reading. */
class JsonFault extends Error {
  readonly offset: number;
  readonly refusal: Refusal | undefined;

  constructor(offset: number, problem: string, refusal?: Refusal) {
    super(problem);
    this.offset = offset;
    this.refusal = refusal;
  }
}

const SPACES = /[ \t\n\r]*/y;
const SPACES_AND_COMMENTS = /(?:[ \t\n\r]+|\/\/[^\n\r]*|\/\*[\s\S]*?\*\/)*/y;
/** The depth is that of the stack. */
const NO_LIMITS: TextLimits = {
  ...{ length: Number.POSITIVE_INFINITY, depth: 1_000, tokens: Number.POSITIVE_INFINITY },
  ...{ aliases: 0, expanded: 0, attributes: 0 },
};
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /[A-Za-z_$][\w$]*/y;
const ESCAPE = /\\(?:u[0-9A-Fa-f]{4}|.)/g;
const WORDS: ReadonlyMap<string, true | false | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** The entries of a map, of which the last of two with one name counts. */
class LastEntries {
  readonly #byName = new Map<string, LocatedEntry>();

  get entries(): readonly LocatedEntry[] {
    return [...this.#byName.values()];
  }

  add(key: LocatedText, value: Located): void {
    this.#byName.set(key.value, { key, value });
  }
}

class JsonReading {
  readonly #text: string;
  readonly #limits: TextLimits;
  readonly #reports: Reports;
  readonly #repeatedKey: RepeatedKey | undefined;
  readonly #isLenient: boolean;
  #index = 0;
  #depth = 0;
  #tokens = 0;

  constructor(
    text: string,
    limits: TextLimits,
    reports: Reports,
    repeatedKey?: RepeatedKey,
    isLenient = false,
  ) {
    this.#isLenient = isLenient;
    this.#text = text;
    this.#limits = limits;
    this.#reports = reports;
    this.#repeatedKey = repeatedKey;
  }

  /** Undefined for an empty text of a lenient reading. */
  document(): Located | undefined {
    this.#spaces();
    if (this.#isLenient && this.#index === this.#text.length) return undefined;
    const root = this.#value('');
    this.#spaces();
    if (this.#index < this.#text.length) throw this.#unexpected('nothing more');
    return root;
  }

  #value(pointer: string): Located {
    this.#spaces();
    this.#tokens += 1;
    if (this.#tokens > this.#limits.tokens) this.#stop('tokens', this.#limits.tokens);
    const start = this.#index;
    switch (this.#text[start]) {
      case '{':
      case '[': {
        this.#depth += 1;
        if (this.#depth > this.#limits.depth) this.#stop('levels of nesting', this.#limits.depth);
        const located = this.#text[start] === '{' ? this.#map(pointer) : this.#list(pointer);
        this.#depth -= 1;
        return located;
      }
      case '"':
        return this.#string(pointer);
      default:
        return this.#scalar(pointer);
    }
  }

  #map(pointer: string): Located {
    const start = this.#index;
    const map = this.#isLenient ? new LastEntries() : new MapEntries(this.#reports, this.#repeatedKey);
    this.#items('}', () => {
      if (this.#text[this.#index] !== '"') throw this.#unexpected('a key in double quotes');
      const key = this.#string(pointer);
      this.#spaces();
      if (this.#text[this.#index] !== ':') throw this.#unexpected('`:`');
      this.#index += 1;
      const inner = pointerTo(pointer, key.value);
      map.add({ ...key, pointer: inner }, this.#value(inner));
    });
    return { kind: 'map', entries: map.entries, start, end: this.#index, pointer };
  }

  #list(pointer: string): Located {
    const start = this.#index;
    const items: Located[] = [];
    this.#items(']', () => void items.push(this.#value(pointerTo(pointer, items.length))));
    return { kind: 'list', items, start, end: this.#index, pointer };
  }

  /** Reads what is between brackets, with commas between the items. */
  #items(close: string, item: () => void): void {
    this.#index += 1;
    this.#spaces();
    if (this.#text[this.#index] === close) {
      this.#index += 1;
      return;
    }
    for (;;) {
      this.#spaces();
      if (this.#isLenient && this.#text[this.#index] === close) {
        this.#index += 1;
        return;
      }
      item();
      this.#spaces();
      const next = this.#text[this.#index];
      if (next !== ',' && next !== close) throw this.#unexpected(`\`,\` or \`${close}\``);
      this.#index += 1;
      if (next === close) return;
    }
  }

  #string(pointer: string): LocatedText {
    const start = this.#index;
    let end = start + 1;
    let hasEscapes = false;
    for (; this.#text[end] !== '"'; end += 1) {
      const code = this.#text.charCodeAt(end);
      if (Number.isNaN(code)) throw new JsonFault(start, 'the text has no `"` at its end');
      if (code < 0x20) throw new JsonFault(end, 'a text must be on one line, with `\\n` for a line break');
      if (code === 0x5c) {
        hasEscapes = true;
        end += 1;
      }
    }
    end += 1;
    this.#index = end;
    const inner = this.#text.slice(start + 1, end - 1);
    const value = hasEscapes ? this.#unescaped(start, end) : inner;
    const offsetAt = hasEscapes
      ? pieceOffsets(start + 1, () => piecesOf(inner, ESCAPE, () => 1))
      : plainOffsets(start + 1);
    return { kind: 'text', value, start, end, pointer, offsetAt };
  }

  #unescaped(start: number, end: number): string {
    try {
      return JSON.parse(this.#text.slice(start, end)) as string;
    } catch {
      throw new JsonFault(start, 'the text has an escape that JSON does not have');
    }
  }

  #scalar(pointer: string): Located {
    const start = this.#index;
    const literal = this.#match(NUMBER);
    if (literal !== '') {
      const end = this.#index;
      const value = this.#reports.number(Number(literal), literal, { start, end });
      return { kind: 'number', value, source: literal, start, end, pointer };
    }
    const word = this.#match(WORD);
    const value = WORDS.get(word);
    if (value === undefined) {
      this.#index = start;
      throw this.#unexpected('a value');
    }
    const end = this.#index;
    if (value === null) return { kind: 'null', value, source: word, start, end, pointer };
    return { kind: 'boolean', value, source: word, start, end, pointer };
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#index;
    const [match = ''] = pattern.exec(this.#text) ?? [];
    this.#index += match.length;
    return match;
  }

  #spaces(): void {
    this.#match(this.#isLenient ? SPACES_AND_COMMENTS : SPACES);
  }

  #stop(what: string, limit: number): never {
    throw new JsonFault(
      this.#index,
      `it has more than ${limit} ${what}`,
      overLimit(this.#index, what, limit),
    );
  }

  #unexpected(wanted: string): JsonFault {
    const next = this.#text.codePointAt(this.#index);
    const shown = next === undefined ? 'the end of the file' : `\`${String.fromCodePoint(next)}\``;
    return new JsonFault(this.#index, `expected ${wanted}, and found ${shown}`);
  }
}

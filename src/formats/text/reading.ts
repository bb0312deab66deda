import {
  type Diagnostic,
  type DiagnosticCode,
  type DiagnosticDetails,
  type DiagnosticParams,
  diagnostic,
  type Edit,
} from '../../graph/diagnostics/diagnostic.js';
import type { Span } from '../../graph/source-location.js';
import type { Located, LocatedEntry, LocatedText, SourceText } from './located.js';

/** The value of a text. Without a root there is an error among the diagnostics. */
export interface ReadText {
  readonly root?: Located;
  readonly diagnostics: readonly Diagnostic[];
}

export type Reader = (
  source: SourceText,
  limits: TextLimits,
  repeatedKey?: RepeatedKey,
) => ReadText | Promise<ReadText>;

/** The meaning of a key that an object has twice, if it has one: which of the two has another name. */
export type RepeatedKey = (
  first: LocatedEntry,
  second: LocatedEntry,
) => { readonly entry: LocatedEntry; readonly name: string } | undefined;

/** Keys with a meaning of their own in an object of JavaScript, or in YAML. */
const REFUSED_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype', '<<']);

/** Collects the diagnostics of a file. */
export class Reports {
  readonly source: SourceText;
  readonly #all: Diagnostic[] = [];
  #refusedNumbers = 0;

  constructor(source: SourceText) {
    this.source = source;
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#all;
  }

  get hasErrors(): boolean {
    return this.#all.some(({ severity }) => severity === 'error');
  }

  /** Whether each value of the text was read: a number that is refused hides no other fault of the file. */
  get isComplete(): boolean {
    return this.#all.filter(({ severity }) => severity === 'error').length === this.#refusedNumbers;
  }

  /** The value of a number. Reports one that is not exact; 0 takes the place of `.inf` and `.nan`. */
  number(value: number, source: string, at: Pick<Located, 'start' | 'end'>): number {
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      const before = this.#all.length;
      this.report('SW5003', at, { what: `the number ${source}`, instead: `quote it: \`"${source}"\`` });
      // An alias reads its number again.
      this.#refusedNumbers += this.#all.length - before;
    }
    return Number.isFinite(value) ? value : 0;
  }

  /** Reports a fault at a value, or at a range of offsets. A value that was refused has no second one. */
  report<C extends DiagnosticCode>(
    code: C,
    at: Pick<Located, 'start' | 'end'> & { readonly pointer?: string },
    params: DiagnosticParams<C>,
    details?: DiagnosticDetails,
  ): void {
    const place = this.source.place(at.start, at.end, at.pointer);
    const isRefused = this.#all.some(
      (each) => each.code === 'SW5003' && String(each.place?.span) === String(place.span),
    );
    if (!isRefused) this.#all.push(diagnostic(code, place, params, details));
  }

  reportAt<C extends DiagnosticCode>(
    code: C,
    span: Span,
    params: DiagnosticParams<C>,
    details?: DiagnosticDetails,
  ): void {
    this.#all.push(diagnostic(code, { file: this.source.file, span }, params, details));
  }

  /** The edit that replaces a range of offsets. */
  edit(at: Pick<Located, 'start' | 'end'>, text: string): Edit {
    return { span: this.source.span(at.start, at.end), text };
  }

  /** The edit that writes another name in the place of a text; undefined for a text of several lines. */
  rename({ start, end }: Pick<Located, 'start' | 'end'>, name: string): Edit | undefined {
    const text = this.source.text.slice(start, end);
    if (/\n|^[|>*&!]/.test(text) || /["'\\]/.test(name)) return undefined;
    const quote = /^["']/.exec(text)?.[0] ?? (/^[A-Za-z_][\w-]*$/.test(name) ? '' : '"');
    return this.edit({ start, end }, `${quote}${name}${quote}`);
  }

  /** Adds diagnostics of another part of the product. */
  add(diagnostics: readonly Diagnostic[]): void {
    this.#all.push(...diagnostics);
  }

  refuse({ offset, why }: Refusal): void {
    const at = { start: offset, end: offset + 1 };
    if (why.kind === 'limit') this.report('SW5001', at, { what: why.what, limit: why.limit });
    else this.report('SW5003', at, { what: why.what, instead: why.instead });
  }
}

/** Collects the entries of a map, and reports keys that are written twice or mean something else. */
export class MapEntries {
  readonly #reports: Reports;
  readonly #repeatedKey: RepeatedKey | undefined;
  readonly #byName = new Map<string, LocatedEntry>();
  readonly entries: LocatedEntry[] = [];

  constructor(reports: Reports, repeatedKey?: RepeatedKey) {
    this.#reports = reports;
    this.#repeatedKey = repeatedKey;
  }

  /** @param name the key as messages show it. */
  add(key: LocatedText, value: Located, name = key.value): void {
    const first = this.#byName.get(key.value);
    if (first !== undefined) {
      if (this.#renamed(first, { key, value })) return;
      const related = [{ message: 'first written here', place: this.#reports.source.placeOf(first.key) }];
      this.#reports.report('SW5004', key, { key: name }, { related });
      return;
    }
    const entry = { key, value };
    this.#byName.set(key.value, entry);
    if (REFUSED_KEYS.has(key.value)) {
      const instead = key.value === '<<' ? 'write the keys out' : 'use another name';
      this.#reports.report('SW5003', key, { what: `the key \`${key.value}\``, instead });
    } else this.entries.push(entry);
  }

  #renamed(first: LocatedEntry, second: LocatedEntry): boolean {
    const meaning = this.#repeatedKey?.(first, second);
    if (meaning === undefined || this.#byName.has(meaning.name)) return false;
    const { entry, name } = meaning;
    const { key } = entry;
    const edit = this.#reports.rename(key, name);
    this.#reports.report('SW5036', key, { key: key.value, name }, { edit });
    const renamed = { key: { ...key, value: name }, value: entry.value };
    this.#byName.set(name, renamed);
    this.#byName.set(key.value, entry === first ? second : first);
    this.entries.splice(
      this.entries.indexOf(first),
      1,
      ...(entry === first ? [renamed, second] : [first, renamed]),
    );
    return true;
  }
}

/** The limits of a spec file. A text beyond them is refused before values are made of it. */
export interface TextLimits {
  /** Length in UTF-16 code units. */
  readonly length: number;
  /** Values inside each other. */
  readonly depth: number;
  /** Scalars, keys and brackets of YAML and JSON, or elements of XML. */
  readonly tokens: number;
  /** Aliases of YAML. */
  readonly aliases: number;
  /** Values behind aliases, counted each time. */
  readonly expanded: number;
  /** Attributes of one element of XML. */
  readonly attributes: number;
}

export const FILE_LIMITS: TextLimits = {
  length: 1_048_576,
  depth: 64,
  tokens: 200_000,
  aliases: 50,
  expanded: 20_000,
  attributes: 64,
};

export const UNTRUSTED_LIMITS: TextLimits = { ...FILE_LIMITS, length: 262_144 };

/** Limits of XML: it is read more slowly. */
export const XML_LIMITS: TextLimits = { ...UNTRUSTED_LIMITS, tokens: 20_000 };

/** Why a text is refused, at an offset. */
export interface Refusal {
  readonly offset: number;
  /** `nesting`, with `limit`, or a construct, with its reason. */
  readonly why:
    | { readonly kind: 'limit'; readonly what: string; readonly limit: number }
    | { readonly kind: 'construct'; readonly what: string; readonly instead: string };
}

export function overLimit(offset: number, what: string, limit: number): Refusal {
  return { offset, why: { kind: 'limit', what, limit } };
}

export function refused(offset: number, what: string, instead: string): Refusal {
  return { offset, why: { kind: 'construct', what, instead } };
}

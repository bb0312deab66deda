import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';
import { MASKED } from '../../graph/printable-text.js';
import type { Failure } from '../engine/contract.js';

export interface MaskOptions {
  /** How many UTF-16 code units a secret has at least that is searched for. Default: {@link SHORT_SECRET}. */
  readonly shortest?: number;
  /** Called once with each text that is masked from now on. Default: none. */
  readonly onText?: (text: string) => void;
}

/**
 * Secrets with fewer UTF-16 code units cannot be searched for, since every text holds an `a`: they are masked where they
 * are a whole value or text. See `CallMask` for what a call makes of them.
 */
export const SHORT_SECRET = 4;

/**
 * How long a text may be searched, in comparisons: so many, and so many for each of its code units. Only a text that
 * nearly repeats a long secret over and over, such as a run of one letter, takes longer: it is masked as a whole.
 */
const SEARCH = { always: 1_000_000, perUnit: 32 } as const;

/** Masks what must not be shown. */
export interface Masking {
  /** True where there is nothing to mask. */
  readonly isEmpty: boolean;
  text(text: string): string;
  json(value: Json): Json;
}

/**
 * Keeps certain values out of whatever is shown: traces, logs, messages of failures. A secret of at least
 * {@link SHORT_SECRET} characters is masked everywhere, a shorter one only as a whole value. Secrets may be added
 * at any time, each at the cost of its own size, and how many there are makes no difference to what masking costs.
 */
export class Mask implements Masking {
  readonly #long = new PrefixTree();
  // Most runs have no secret: what there is none of takes no place.
  #short: Set<string> | undefined;
  /** What was added. Values never change. */
  #texts: Set<string> | undefined;
  #values: WeakSet<object> | undefined;

  readonly #shortest: number;
  readonly #onText: ((text: string) => void) | undefined;

  /** @param secrets values to mask, as {@link add}. */
  constructor(secrets: Iterable<Json> = [], { shortest = SHORT_SECRET, onText }: MaskOptions = {}) {
    this.#shortest = shortest;
    this.#onText = onText;
    for (const secret of secrets) this.add(secret);
  }

  /** True where there is nothing to mask. */
  get isEmpty(): boolean {
    return this.#short === undefined && this.#long.isEmpty;
  }

  /**
   * Masks a value from now on; of lists and objects every text and number they hold. `true`, `false` and `null` are in
   * too many places to be secrets.
   */
  add(value: Json): void {
    const open: Json[] = [value];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (typeof next === 'string') this.#addText(next);
      else if (typeof next === 'number') this.#addText(String(next));
      else if (typeof next === 'object' && next !== null) {
        this.#values ??= new WeakSet();
        if (this.#values.has(next)) continue;
        this.#values.add(next);
        for (const member of Object.values(next)) open.push(member);
      }
    }
  }

  #addText(text: string): void {
    this.#texts ??= new Set();
    if (this.#texts.has(text)) return;
    this.#texts.add(text);
    this.#onText?.(text);
    for (const form of formsOf(text)) {
      if (form.length >= (form === text ? this.#shortest : SHORT_SECRET)) this.#long.add(form);
    }
    if (text === '' || text.length >= this.#shortest) return;
    this.#short ??= new Set();
    this.#short.add(text);
  }

  /**
   * A text with secrets masked, in each of their encodings. Texts may have been shortened before: the rest of a secret in
   * front of a `…` counts.
   */
  text(text: string): string {
    if (this.isEmpty) return text;
    const decoded = decodedText(text);
    if (this.#isShort(text) || this.#isShort(decoded?.text)) return MASKED;
    const most = this.#long.comparisons + SEARCH.always + SEARCH.perUnit * text.length;
    const spans = this.#spansIn(text, most);
    if (decoded !== undefined) {
      for (const [start, end] of this.#spansIn(decoded.text, most))
        spans.push([decoded.starts[start] ?? 0, decoded.starts[end] ?? text.length]);
      spans.sort(([one], [other]) => one - other);
    }
    if (this.#long.comparisons > most) return MASKED;
    let shown = '';
    let rest = 0;
    for (const [start, end] of spans) {
      // Secrets that overlap, or follow at once, are masked as one.
      if (rest === 0 || start > rest) shown += `${text.slice(rest, start)}${MASKED}`;
      rest = Math.max(rest, end);
    }
    return shown + text.slice(rest);
  }

  #isShort(text: string | undefined): boolean {
    return text !== undefined && this.#short?.has(text) === true;
  }

  /** Where secrets are in a text, in their order. @param most how many comparisons are enough. */
  #spansIn(text: string, most: number): [number, number][] {
    const spans: [number, number][] = [];
    if (this.#long.isEmpty) return spans;
    for (let at = 0; at < text.length && this.#long.comparisons <= most; at += 1) {
      const end = this.#long.endAt(text, at, CUT, SHORT_SECRET);
      if (end > at) spans.push([at, end]);
    }
    return spans;
  }

  /** A value with secrets masked, at any depth. */
  json(value: Json): Json {
    if (this.isEmpty) return value;
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.text(String(value)) === String(value) ? value : MASKED;
    if (Array.isArray(value)) return value.map((item: Json) => this.json(item));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [this.text(key), this.json(member)]),
    );
  }
}

/** A failure without secrets. Its code stays: it is for programs, and one that a tool threw was looked at there. */
export function maskedFailure(failure: Failure, mask: Masking): Failure {
  if (mask.isEmpty) return failure;
  const { message, details } = failure;
  return {
    ...failure,
    message: mask.text(message),
    ...(details === undefined ? {} : { details: mask.json(details) }),
  };
}

/** The values of these members, for a {@link Mask}. */
export function valuesOf(object: JsonObject, names: readonly string[] = []): Json[] {
  return names.flatMap((name) => (Object.hasOwn(object, name) ? [object[name] ?? null] : []));
}

/** An object whose members of these names are masked, whatever they hold. */
export function maskMembers(object: JsonObject, names: readonly string[] = []): JsonObject {
  if (names.length === 0) return object;
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, names.includes(key) ? MASKED : value]),
  );
}

/** A node: what leads to it from the node above, and what may follow. */
interface TreeNode {
  run: string;
  isEnd: boolean;
  /** By the first code unit of their runs. */
  next?: Map<number, TreeNode>;
}

/**
 * Texts by their prefixes. Adding one costs its length; looking one up costs as much as it agrees with the text at hand,
 * however many there are.
 */
class PrefixTree {
  readonly #root: TreeNode = { run: '', isEnd: false };
  /** How many code units were compared to look texts up, so far. */
  comparisons = 0;

  get isEmpty(): boolean {
    return this.#root.next === undefined;
  }

  add(text: string): void {
    let node = this.#root;
    for (let at = 0; at < text.length; ) {
      const code = text.charCodeAt(at);
      const next = node.next?.get(code);
      if (next === undefined) {
        node.next ??= new Map();
        node.next.set(code, { run: text.slice(at), isEnd: true });
        return;
      }
      const common = commonLength(next.run, text, at);
      if (common < next.run.length) split(next, common);
      at += common;
      node = next;
    }
    node.isEnd = true;
  }

  /**
   * Where the longest of the texts ends that begins at a place of `text`; the place itself where none does. The
   * beginning of one counts as well if it has at least `least` code units and `mark` comes next.
   *
   * @param mark the code unit that a shortened text ends with.
   */
  endAt(text: string, at: number, mark: string, least: number): number {
    let end = at;
    let node = this.#root;
    let inRun = 0;
    for (let place = at; ; place += 1) {
      this.comparisons += 1;
      const isAtNode = inRun === node.run.length;
      const code = text.charCodeAt(place);
      if ((isAtNode && node.isEnd) || (text[place] === mark && place - at >= least)) end = place;
      if (isAtNode) {
        const next = node.next?.get(code);
        if (next === undefined) return end;
        node = next;
        inRun = 1;
      } else if (node.run.charCodeAt(inRun) === code) inRun += 1;
      else return end;
    }
  }
}

function commonLength(run: string, text: string, at: number): number {
  let length = 1;
  while (length < run.length && run.charCodeAt(length) === text.charCodeAt(at + length)) length += 1;
  return length;
}

/** Puts a node in the middle of a run. */
function split(node: TreeNode, at: number): void {
  const { run, isEnd, next } = node;
  const rest: TreeNode = { run: run.slice(at), isEnd, ...defined({ next }) };
  node.run = run.slice(0, at);
  node.isEnd = false;
  node.next = new Map([[run.charCodeAt(at), rest]]);
}

/** A text without its escapes, and where its code units come from. */
interface DecodedText {
  readonly text: string;
  /** Where each code unit begins in the text that was decoded; the last entry is the end of that text. */
  readonly starts: readonly number[];
}

/** Ends a text that was shortened. */
const CUT = '…';

/** Texts with an escape, a `+`, or white space other than single spaces. */
const ENCODED = /[%\\+]|\s\s|[^\S ]/;

/** A byte in percent-encoding, encoded again any number of times. @param high its possible first digits. */
const byte = (high: string): string => `%(?:25)*[${high}][\\da-fA-F]`;
/** How often percent-encoding is undone that was encoded again byte by byte. */
const PASSES = 3;
const MORE = byte('89abAB');

/** A character in percent-encoding; or what shortening left of one, or of an escape of JSON. */
const PERCENT = new RegExp(
  [
    `((?:${byte('c-fC-F')}(?:${MORE}){0,2})?(?:%(?:25)*[\\da-fA-F]?)(?=…)|${byte('c-fC-F')}(?:${MORE}){0,2}(?=…))`,
    `${byte('cCdD')}${MORE}`,
    `${byte('eE')}(?:${MORE}){2}`,
    `${byte('fF')}(?:${MORE}){3}`,
    byte('89a-fA-F'),
    byte('0-7'),
  ].join('|'),
  'g',
);

/**
 * An escape of JSON, its backslashes doubled any number of times; or what shortening left of one. How many backslashes
 * belong to the text itself is unclear: all are left out.
 */
const JSON_ESCAPE =
  /\\+(?:((?:u[\da-fA-F]{0,3}|u\{[\da-fA-F]{0,6})?(?=…))|u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|(["'/nrtbf]))?/g;

/** White space, also as form encoding and single lines write it. */
const SPACE = /[+\s]+/g;

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/**
 * Undoes percent-encoding, form encoding and escapes of JSON, however often they were applied, and makes one space of
 * each run of white space.
 *
 * @returns undefined for a text without any of them.
 */
function decodedText(text: string): DecodedText | undefined {
  if (!ENCODED.test(text)) return undefined;
  const starts = Array.from({ length: text.length + 1 }, (_, index) => index);
  let plain: DecodedText = { text, starts };
  // Digits of a percent-encoding are encoded themselves where each byte is.
  for (let pass = 0; pass < PASSES; pass += 1) plain = rewritten(plain, PERCENT, percentDecoded);
  const unescaped = rewritten(plain, JSON_ESCAPE, jsonUnescaped);
  return rewritten(unescaped, SPACE, () => ' ');
}

/**
 * The texts to search for, in a text and in its {@link decodedText}, to find a secret in each of its encodings: as it
 * is, decoded, and the part of its base64 that does not depend on what is beside it.
 */
function formsOf(secret: string): Iterable<string> {
  const spellings = new Set([secret, JSON.stringify(secret).slice(1, -1)]);
  const forms = new Set([secret]);
  for (const form of [secret, ...[...spellings].flatMap(base64Forms)]) {
    forms.add(form);
    // A percent sign at the end belongs to what follows it.
    forms.add((decodedText(form)?.text ?? form).trim().replace(/%+$/, ''));
  }
  return forms;
}

/** In both alphabets, behind 0, 1 and 2 bytes of something else. */
function base64Forms(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  return [0, 1, 2].flatMap((before) => {
    const binary = '\0'.repeat(before) + Array.from(bytes, (each) => String.fromCharCode(each)).join('');
    // Each character has six bits: those at the ends that share a byte with something else are left out.
    const form = btoa(binary).slice(Math.ceil((before * 4) / 3), Math.floor((binary.length * 4) / 3));
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** By hand: `decodeURIComponent` throws for what is not UTF-8, which takes long where there is much of it. */
function percentDecoded([encoded, cut]: RegExpExecArray): string {
  if (cut !== undefined) return '';
  const digits = encoded.match(/[\da-fA-F]{2}(?=%|$)/g) ?? [];
  const [first = 0, ...others] = digits.map((each) => Number.parseInt(each, 16));
  const lead = others.length === 0 ? first : first & (0x7f >> (others.length + 1));
  return characterOf(others.reduce((code, each) => (code << 6) | (each & 0x3f), lead)) ?? '\ufffd';
}

function jsonUnescaped([, cut, point, unit, short]: RegExpExecArray): string {
  if (cut !== undefined) return '';
  if (short !== undefined) return CONTROLS[short] ?? short;
  const code = Number.parseInt(point ?? unit ?? '', 16);
  return characterOf(code) ?? '';
}

function characterOf(code: number): string | undefined {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : undefined;
}

/** Replaces each match of a pattern; all code units of a replacement begin where the match does. */
function rewritten(
  { text, starts }: DecodedText,
  pattern: RegExp,
  replacement: (match: RegExpExecArray) => string,
): DecodedText {
  let result = '';
  const origins: number[] = [];
  let rest = 0;
  for (const match of text.matchAll(pattern)) {
    const shown = replacement(match);
    result += text.slice(rest, match.index) + shown;
    for (; rest < match.index; rest += 1) origins.push(starts[rest] ?? 0);
    for (let unit = 0; unit < shown.length; unit += 1) origins.push(starts[match.index] ?? 0);
    rest = match.index + match[0].length;
  }
  if (rest === 0) return { text, starts };
  result += text.slice(rest);
  for (; rest <= text.length; rest += 1) origins.push(starts[rest] ?? 0);
  return { text: result, starts: origins };
}

import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';
import { MASKED } from '../../graph/printable-text.js';
import type { Failure } from '../engine/contract.js';
import { CUT, decodedText, formsOf } from './encodings.js';

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

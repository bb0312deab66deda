import type { Expr } from '../../../graph/expression/tree.js';
import { isJsonObject, type Json } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { oneLine } from '../../catalogue/one-line.js';
import { texts } from './texts.js';

/** Shorter secrets are masked where they stand alone, not inside other text: every text holds an `a`. */
const MIN_PART = 4;

/** Keeps the values of secret inputs out of everything a trace shows, wherever tools and texts carry them. */
export class Secrets {
  readonly #names: ReadonlySet<string>;
  readonly #values: readonly string[];

  constructor(graph: Graph, given: readonly (readonly [name: string, text: string])[]) {
    this.#names = new Set(graph.inputs.filter((input) => input.secret === true).map((input) => input.name));
    const values = given.filter(([name]) => this.#names.has(name)).map(([, text]) => text);
    for (const { secret, default: value } of graph.inputs) {
      if (secret === true && value !== undefined)
        values.push(typeof value === 'string' ? value : JSON.stringify(value));
    }
    // Failure messages are brought onto one line before they get here.
    const forms = new Set(values.flatMap((text) => [text, oneLine(text)]).filter((text) => text !== ''));
    // A secret that holds another one is replaced first.
    this.#values = [...forms].sort((a, b) => b.length - a.length);
  }

  /** True for a reference to a secret input. */
  isSecret(expr: Expr): boolean {
    return expr.kind === 'ref' && expr.root === 'inputs' && this.#names.has(String(expr.path[0]));
  }

  hasName(input: string): boolean {
    return this.#names.has(input);
  }

  /** A text with secrets masked. */
  text(text: string): string {
    let masked = text;
    for (const value of this.#values) {
      if (masked === value) return texts.masked;
      if (value.length >= MIN_PART) masked = masked.replaceAll(value, texts.masked);
    }
    return masked;
  }

  /** A value with secrets masked. `expr` is what it was computed from, where that is known. */
  json(value: Json, expr?: Expr): Json {
    if (expr !== undefined && this.isSecret(expr)) return texts.masked;
    if (this.#names.size === 0) return value;
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.#values.includes(String(value)) ? texts.masked : value;
    if (Array.isArray(value)) return value.map((item: Json, index) => this.json(item, itemOf(expr, index)));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [this.text(key), this.json(member, entryOf(expr, key))]),
    );
  }
}

function itemOf(expr: Expr | undefined, index: number): Expr | undefined {
  if (expr?.kind !== 'list' || expr.items.some((item) => item.spread)) return undefined;
  return expr.items[index]?.value;
}

function entryOf(expr: Expr | undefined, key: string): Expr | undefined {
  if (expr?.kind !== 'dict') return undefined;
  for (const entry of expr.entries.toReversed()) if ('key' in entry && entry.key === key) return entry.value;
  return undefined;
}

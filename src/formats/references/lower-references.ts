import { defined } from '../../graph/defined.js';
import type { DictEntry, DictExpr, Expr, RefExpr, RefRoot } from '../../graph/expression/tree.js';
import { nearestName } from '../../graph/names.js';
import { type Located, type LocatedText, rangeIn } from '../text/located.js';
import type { Reports } from '../text/reading.js';
import { lowerPart, parseExpression } from './expression.js';
import { FUNCTIONS } from './functions.js';
import { parseReferences, type ReferenceToken, type TextPart } from './parse-references.js';

/** How a missing value is treated: as an error, or as absent. */
type Find = NonNullable<RefExpr['find']>;

/** Makes expression trees of values with `$references` in them. A fault is reported, and its value is absent. */
export class ReferenceLowering {
  readonly #reports: Reports;
  readonly #scope: ReferenceScope;

  constructor(reports: Reports, scope: ReferenceScope) {
    this.#reports = reports;
    this.#scope = scope;
  }

  /** A value with references at any depth; keys have none. */
  value(located: Located): Expr {
    switch (located.kind) {
      case 'text':
        return this.#whole(located);
      case 'list': {
        const items = located.items.map((item) => ({ value: this.value(item) }));
        return { kind: 'list', items, at: this.#span(located) };
      }
      case 'map':
        return this.dict(located);
      default:
        return { kind: 'literal', value: located.value, at: this.#span(located) };
    }
  }

  /** An object, whose values may have references. */
  dict(located: Located & { readonly kind: 'map' }): DictExpr {
    const entries = located.entries.map(
      ({ key, value }): DictEntry => ({
        key: key.value,
        value: this.value(value),
      }),
    );
    return { kind: 'dict', entries, at: this.#span(located) };
  }

  /** A text, also where it is one reference alone. */
  text(located: LocatedText): Expr {
    const parts = parseReferences(located.value);
    if (parts.every((part) => typeof part === 'string')) return this.#literal(located, parts);
    return this.#template(located, parts);
  }

  reference(located: LocatedText, token: ReferenceToken, find: Find): Expr {
    const at = this.#spanIn(located, token);
    const { name, keys } = token;
    const resolved = this.#scope.resolve(name, keys);
    switch (resolved.kind) {
      case 'value': {
        const path = [...resolved.path, ...keys.slice(resolved.length)];
        return { kind: 'ref', root: resolved.root, path, find, at };
      }
      case 'either':
        return either(resolved.nodes, name, keys, find, at);
      case 'unknown':
        this.#reports.report('SW5013', rangeIn(located, token), {
          name: resolved.name ?? name,
          suggestion: resolved.suggestion,
        });
        return { kind: 'literal', at };
      case 'withoutValue': {
        const ref = located.value.slice(token.start, token.end);
        this.#reports.report('SW5020', rangeIn(located, token), { ref, why: resolved.why });
        return { kind: 'literal', at };
      }
      default:
        return resolved satisfies never;
    }
  }

  #whole(located: LocatedText): Expr {
    const parts = parseReferences(located.value);
    const [only] = parts;
    if (parts.length > 1) {
      reportComputedText(located, this.#reports);
      return this.#template(located, parts);
    }
    if (only === undefined || typeof only === 'string') return this.#literal(located, parts);
    return this.partOf(located, only);
  }

  /** The value of a part of a text, which keeps its type. */
  partOf(located: LocatedText, part: Exclude<TextPart, string>): Expr {
    if ('inner' in part) return this.#expression(located, part.inner);
    if ('problem' in part || part.filter !== undefined) return this.#template(located, [part]);
    return this.reference(located, part, part.isOptional ? 'optional' : 'strict');
  }

  #literal(located: LocatedText, parts: readonly TextPart[]): Expr {
    return { kind: 'literal', value: parts.join(''), at: this.#span(located) };
  }

  #template(located: LocatedText, parts: readonly TextPart[]): Expr {
    const lowered = parts.map((part) => (typeof part === 'string' ? part : this.#part(located, part)));
    return { kind: 'text', style: 'strict', parts: lowered, at: this.#span(located) };
  }

  #part(located: LocatedText, part: Exclude<TextPart, string>): Expr {
    if ('problem' in part) {
      const ref = located.value.slice(part.start, part.end);
      this.#reports.report('SW5020', rangeIn(located, part), { ref, why: part.problem });
      return { kind: 'literal' };
    }
    if ('inner' in part) return this.#expression(located, part.inner);
    const { isOptional, filter } = part;
    const at = this.#spanIn(located, part);
    const value = this.reference(located, part, isOptional ? 'optional' : 'strict');
    const empty: Expr = { kind: 'literal', value: '' };
    const shown: Expr = isOptional ? { kind: 'call', fn: 'coalesce', args: [value, empty], at } : value;
    if (filter === undefined) return shown;
    const fn = FILTERS.get(filter);
    if (fn === undefined) {
      const filters = [...FILTERS.keys()];
      const start = part.filterStart ?? part.start;
      this.#reports.report('SW5021', rangeIn(located, { start, end: start + filter.length }), {
        what: 'a filter',
        value: filter,
        candidates: filters,
        suggestion: nearestName(filter, filters),
      });
      return shown;
    }
    if (fn === 'toJson') return { kind: 'call', fn, args: [value], at };
    return { kind: 'call', fn, args: [{ kind: 'text', style: 'strict', parts: [shown], at }], at };
  }

  #expression(located: LocatedText, inner: { readonly start: number; readonly end: number }): Expr {
    return lowerPart(located, inner, 'value', this, this.#reports) ?? { kind: 'literal' };
  }

  #span(located: Located) {
    return this.#reports.source.span(located.start, located.end);
  }

  #spanIn(located: LocatedText, token: { readonly start: number; readonly end: number }) {
    const { start, end } = rangeIn(located, token);
    return this.#reports.source.span(start, end);
  }
}

/** The functions of the filters behind `|` in braces. */
const FILTERS: ReadonlyMap<string, string> = new Map([
  ['uri', 'uriComponent'],
  ['json', 'toJson'],
]);

/** A call of a method, as languages have it, on a reference. */
const METHOD =
  /(\$\{?[A-Za-z_][\w.[\]]*?\}?)\.(filter|map|find|some|every|reduce|sort|join|slice|includes|length|size|sum|first)\s*\(/;

/** Signs that text between references does not have by chance. */
const SIGNS = /[*(]|==|!=|[<>]|&&|\|\||\?\?|(?:^|\s)\d[\d.]* [-+/%] | [-+/%] \d[\d.]*(?=\s|$)/;

/** SW5035: a text that looks like an expression, with what to write instead. */
function reportComputedText(text: LocatedText, reports: Reports): void {
  const instead = methodIn(text.value) ?? expressionIn(text, reports);
  if (instead !== undefined) reports.report('SW5035', text, { text: text.value, instead });
}

function methodIn(text: string): string | undefined {
  const [, subject = '', name = ''] = METHOD.exec(text) ?? [];
  if (subject === '') return undefined;
  const of = `$${subject.replace(/[${}]/g, '')}`;
  const body =
    name === 'map' ? `, $item.…` : name === 'join' ? ", ', '" : name === 'filter' ? ', $item.… == …' : '';
  if (FUNCTIONS.has(name)) return `write \`\${${name}(${of}${body})}\``;
  return `write \`\${…}\` with one of the functions ${[...FUNCTIONS.keys()].map((each) => `\`${each}\``).join(', ')}`;
}

function expressionIn(text: LocatedText, reports: Reports): string | undefined {
  const { value } = text;
  if (!value.includes('$') || value.includes('{') || !SIGNS.test(value)) return undefined;
  const part = { start: 0, end: value.length };
  const expr = parseExpression(text, part, 'value', { reference: () => ({ kind: 'literal' }) }, reports);
  return 'problem' in expr ? undefined : `write \`\${${value}}\``;
}

/** The result of whichever of several nodes has run, as a local value from which the keys are read. */
function either(
  nodes: readonly string[],
  name: string,
  keys: readonly (string | number)[],
  find: Find,
  at: Expr['at'],
): Expr {
  const where = defined({ at });
  const refs = nodes.map(
    (id): Expr => ({ kind: 'ref', root: 'steps', path: [id], find: 'optional', ...where }),
  );
  const value = refs.reduceRight(
    (rest, ref): Expr => ({
      kind: 'conditional',
      truth: 'boolean',
      test: { kind: 'call', fn: 'isPresent', args: [ref], ...where },
      // biome-ignore lint/suspicious/noThenProperty: the name is the model's, and no such object is awaited
      then: ref,
      else: rest,
      ...where,
    }),
  );
  const body: Expr = { kind: 'ref', root: 'local', path: [name, ...keys], find, ...where };
  return { kind: 'let', name, value, body, ...where };
}

/** The meaning of a name behind `$`. */
export type Resolution =
  /** A value of the graph. `taken` counts the keys behind the name that the reference has used already. */
  | {
      readonly kind: 'value';
      readonly root: RefRoot;
      readonly path: readonly [string, ...(string | number)[]];
      readonly length: number;
    }
  /** The result of whichever of these nodes has run. */
  | { readonly kind: 'either'; readonly nodes: readonly string[] }
  /** `name` is what is not known, if it is more than the name behind `$`. */
  | { readonly kind: 'unknown'; readonly name?: string; readonly suggestion?: string | undefined }
  /** A name that has no value at this place. */
  | { readonly kind: 'withoutValue'; readonly why: string };

/** The names that a text may refer to. */
export interface ReferenceScope {
  /** @param keys the keys behind the name. */
  resolve(name: string, keys: readonly (string | number)[]): Resolution;
}

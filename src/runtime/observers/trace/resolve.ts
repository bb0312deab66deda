import {
  Budget,
  type EvaluationScope,
  ExpressionError,
  evaluate,
} from '../../../graph/expression/evaluate.js';
import { references } from '../../../graph/expression/references.js';
import type { Expr, RefExpr, RefRoot, TextExpr } from '../../../graph/expression/tree.js';
import type { Json, JsonObject, Value } from '../../../graph/json.js';
import { jsonText } from '../../catalogue/encode-text.js';
import { texts } from './texts.js';

/** What one expression of a hand-off may cost. See `Budget` for the unit. */
const EXPRESSION_BUDGET = 1_000_000;

/** What is known of a value when a run has stopped. */
export type Supply =
  /** It is there; that of a step that was skipped is absent. */
  | 'known'
  /** A call of the hand-off will produce it, or whoever follows the hand-off knows it. */
  | 'promised'
  /** It can never exist. */
  | 'never';

/** A value a run did not get to, worked out from what is known and promised. */
export interface Derived {
  readonly value: Value;
  /** Placeholders stand in it. */
  readonly symbolic: boolean;
  /** The steps and inputs it is made of. */
  readonly sources: readonly string[];
}

export type Resolved =
  | { readonly ok: true; readonly value: Value; readonly symbolic: boolean }
  /** It needs what can never exist, or has no value. */
  | { readonly ok: false };

/** What expressions see where they stand. References go by their root and the first segment of their path. */
export interface Surroundings {
  /** The value of what is known. */
  lookup(root: RefRoot, name: string): Value;
  supply(ref: RefExpr): Supply;
  /** What was worked out. */
  derived(ref: RefExpr): Derived | undefined;
  /** The inputs behind a value that must not be shown; nothing for one that may. */
  secretSources(ref: RefExpr): readonly string[] | undefined;
  /** What a reader calls it. */
  name(ref: RefExpr): string;
}

/** Evaluates the expressions of steps that did not run, with placeholders for what is not known yet. */
export class Resolver {
  readonly #around: Surroundings;
  readonly #scope: EvaluationScope;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#scope = { lookup: (root, name) => around.lookup(root, String(name)) };
  }

  resolve(expr: Expr): Resolved {
    const refs = references(expr).map(({ ref }) => ref);
    if (refs.some((ref) => this.#around.supply(ref) === 'never')) return { ok: false };
    if (refs.some((ref) => this.#isSymbolic(ref))) return this.#placeholder(expr, refs);
    try {
      return { ok: true, value: evaluate(expr, this.#scope, new Budget(EXPRESSION_BUDGET)), symbolic: false };
    } catch (error) {
      if (error instanceof ExpressionError) return { ok: false };
      throw error;
    }
  }

  /** The steps and inputs an expression is made of, those of computed values in place of these themselves. */
  sourcesOf(expr: Expr): string[] {
    return this.#sources(references(expr).map(({ ref }) => ref));
  }

  #sources(refs: readonly RefExpr[]): string[] {
    const sources = refs.flatMap((ref) => {
      const { root } = ref;
      if (root === 'local' || root === 'index' || root === 'error' || root === 'run') return [];
      const secret = this.#around.secretSources(ref) ?? [];
      return this.#around.derived(ref)?.sources ?? (secret.length > 0 ? secret : [this.#around.name(ref)]);
    });
    return [...new Set(sources)];
  }

  #isSymbolic(ref: RefExpr): boolean {
    return this.#around.supply(ref) === 'promised' || this.#around.secretSources(ref) !== undefined;
  }

  #placeholder(expr: Expr, refs: readonly RefExpr[]): Resolved {
    switch (expr.kind) {
      case 'list':
        if (expr.items.some((item) => item.spread)) return this.#computed(refs);
        return this.#all(
          expr.items.map((item) => item.value),
          (values) => values.map((value) => value ?? null),
        );
      case 'dict': {
        const keys = expr.entries.map((entry) => ('key' in entry ? entry.key : undefined));
        if (keys.includes(undefined)) return this.#computed(refs);
        return this.#all(
          expr.entries.flatMap((entry) => ('key' in entry ? [entry.value] : [])),
          (values) => present(keys.map((key, index) => [key ?? '', values[index]])),
        );
      }
      case 'text':
        return this.#text(expr);
      case 'conditional': {
        const test = this.resolve(expr.test);
        if (!test.ok || test.symbolic || typeof test.value !== 'boolean') return this.#computed(refs);
        const chosen = test.value ? expr.then : expr.else;
        return chosen === undefined ? { ok: true, value: undefined, symbolic: false } : this.resolve(chosen);
      }
      default: {
        const path = pathOf(expr);
        return path === undefined ? this.#computed(refs) : this.#named(path, refs);
      }
    }
  }

  #computed(refs: readonly RefExpr[]): Resolved {
    return symbol(texts.computed(this.#sources(refs)));
  }

  #named(ref: RefExpr, refs: readonly RefExpr[]): Resolved {
    const { root, path } = ref;
    const rest = path.slice(1);
    const derived = this.#around.derived(ref);
    if (root === 'inputs' && derived === undefined) return symbol(texts.promptArgument(path.join('.')));
    // What a tool made of a secret derives from no input: it is named as what it is.
    if ((this.#around.secretSources(ref) ?? []).length > 0) return this.#computed(refs);
    if (derived !== undefined) {
      const value = valueAt(derived.value, rest);
      return value === undefined ? this.#computed(refs) : { ok: true, value, symbolic: true };
    }
    const name = this.#around.name(ref);
    switch (root) {
      case 'steps':
        return symbol(rest.length === 0 ? texts.output(name) : texts.field(rest.join('.'), name));
      case 'item':
        return symbol(rest.length === 0 ? texts.item(name) : texts.itemField(rest.join('.'), name));
      case 'index':
        return symbol(texts.itemPlace(name));
      default:
        return this.#computed(refs);
    }
  }

  #text(expr: TextExpr): Resolved {
    return this.#all(
      expr.parts.map((part) =>
        typeof part === 'string' ? { kind: 'literal', value: part } : { ...expr, parts: [part] },
      ),
      (values) => values.map(asText).join(''),
      (part, index) => {
        const own = expr.parts[index];
        return part.kind === 'text' && typeof own === 'object' ? own : part;
      },
    );
  }

  /** Resolves every part; `unwrapped` names what a part that cannot be evaluated stands for. */
  #all(
    parts: readonly Expr[],
    combine: (values: readonly Value[]) => Json,
    unwrapped: (part: Expr, index: number) => Expr = (part) => part,
  ): Resolved {
    const values: Value[] = [];
    for (const [index, part] of parts.entries()) {
      const symbolic = references(part).some(({ ref }) => this.#isSymbolic(ref));
      const resolved = this.resolve(symbolic ? unwrapped(part, index) : part);
      if (!resolved.ok) return resolved;
      values.push(resolved.value);
    }
    return { ok: true, value: combine(values), symbolic: true };
  }
}

/** The reference an expression with a fixed path is: `steps.a.pages[0]`, with `ref` alone or with `get`s around it. */
function pathOf(expr: Expr): RefExpr | undefined {
  if (expr.kind === 'ref') return expr;
  if (expr.kind !== 'get' || expr.key.kind !== 'literal') return undefined;
  const { value: key } = expr.key;
  const base = pathOf(expr.of);
  if (base === undefined || (typeof key !== 'string' && typeof key !== 'number')) return undefined;
  return { kind: 'ref', root: base.root, path: [...base.path, key] };
}

/** What stands at a path, as far as it is written out. */
function valueAt(value: Value, [key, ...rest]: RefExpr['path']): Value {
  if (key === undefined || typeof value !== 'object' || value === null)
    return key === undefined ? value : undefined;
  return Object.hasOwn(value, key) ? valueAt((value as JsonObject)[key], rest) : undefined;
}

function symbol(text: string): Resolved {
  return { ok: true, value: text, symbolic: true };
}

function asText(value: Value): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : jsonText(value);
}

function present(entries: readonly (readonly [string, Value])[]): Json {
  return Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

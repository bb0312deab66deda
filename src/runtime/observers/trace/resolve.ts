import {
  Budget,
  type EvaluationScope,
  ExpressionError,
  evaluate,
} from '../../../graph/expression/evaluate.js';
import { references } from '../../../graph/expression/references.js';
import type { Expr, RefExpr, TextExpr } from '../../../graph/expression/tree.js';
import { type Json, ownProperty, type Value } from '../../../graph/json.js';
import type { RunState } from '../../engine/contract.js';
import { jsonText } from './json-text.js';
import { texts } from './texts.js';

/** What one expression of a hand-off may cost. See `Budget` for the unit. */
const EXPRESSION_BUDGET = 1_000_000;

/** What is known of a step's value when a run has stopped. */
export type Supply =
  /** It is in the state; a step that was skipped reads as absent. */
  | 'known'
  /** A call of the hand-off will produce it. */
  | 'promised'
  /** It can never exist. */
  | 'never';

/** A computed value a run did not get to, worked out from what is known and promised. */
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

/** Evaluates the expressions of steps that did not run, with placeholders for what is not known yet. */
export class Resolver {
  readonly #scope: EvaluationScope;

  constructor(
    state: RunState,
    readonly derived: ReadonlyMap<string, Derived>,
    readonly supply: (step: string) => Supply,
    /** Inputs that a hand-off names instead of showing: secrets, and required ones that are missing. */
    readonly isSymbolicInput: (name: string) => boolean,
    /** The inputs behind the value of a step that a hand-off must not show. Default: it may show all. */
    readonly secretSources: (ref: RefExpr) => readonly string[] | undefined = () => undefined,
  ) {
    this.#scope = {
      lookup(root, name) {
        if (root === 'inputs') return ownProperty(state.input, String(name));
        if (root !== 'steps') return undefined;
        const known = derived.get(String(name));
        return known === undefined ? ownProperty(state.outputs, String(name)) : known.value;
      },
    };
  }

  resolve(expr: Expr): Resolved {
    const refs = references(expr).map(({ ref }) => ref);
    const isLost = refs.some((ref) => ref.root === 'steps' && this.supply(first(ref)) === 'never');
    if (isLost) return { ok: false };
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
      if (ref.root !== 'steps' && ref.root !== 'inputs') return [];
      const derived = ref.root === 'steps' ? this.derived.get(first(ref)) : undefined;
      return derived?.sources ?? this.secretSources(ref) ?? [first(ref)];
    });
    return [...new Set(sources)];
  }

  #isSymbolic(ref: RefExpr): boolean {
    if (ref.root === 'steps')
      return this.supply(first(ref)) === 'promised' || this.secretSources(ref) !== undefined;
    return ref.root === 'inputs' && this.isSymbolicInput(first(ref));
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

  #named({ root, path: [name = '', ...rest] }: FixedPath, refs: readonly RefExpr[]): Resolved {
    if (root === 'inputs') return symbol(texts.promptArgument([name, ...rest].join('.')));
    if (this.secretSources({ kind: 'ref', root, path: [name, ...rest] }) !== undefined)
      return this.#computed(refs);
    const derived = this.derived.get(String(name));
    if (derived !== undefined) {
      return rest.length === 0 ? { ok: true, value: derived.value, symbolic: true } : this.#computed(refs);
    }
    return symbol(rest.length === 0 ? texts.output(String(name)) : texts.field(rest.join('.'), String(name)));
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

/** A reference with a fixed path: `steps.a.pages[0]`, written with `ref` alone or with `get`s around it. */
interface FixedPath {
  readonly root: RefExpr['root'];
  readonly path: readonly (string | number)[];
}

function pathOf(expr: Expr): FixedPath | undefined {
  if (expr.kind === 'ref') return expr;
  if (expr.kind !== 'get' || expr.key.kind !== 'literal') return undefined;
  const { value: key } = expr.key;
  const base = pathOf(expr.of);
  if (base === undefined || (typeof key !== 'string' && typeof key !== 'number')) return undefined;
  return { root: base.root, path: [...base.path, key] };
}

function symbol(text: string): Resolved {
  return { ok: true, value: text, symbolic: true };
}

function first(ref: RefExpr): string {
  return String(ref.path[0]);
}

function asText(value: Value): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : jsonText(value);
}

function present(entries: readonly (readonly [string, Value])[]): Json {
  return Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

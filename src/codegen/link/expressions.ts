import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { CompareOp, DictEntry, DictExpr, Expr, Truth } from '../../graph/expression/tree.js';
import type { Place, Span } from '../../graph/place.js';
import type { ExpressionSyntax } from '../syntax.js';
import { type CallSyntax, unwrap, verbOf } from '../verbs.js';
import type { Bindings } from './bindings.js';
import { describe, hintFor, hintForVerb } from './describe.js';

type SyntaxOf<K extends ExpressionSyntax['kind']> = Extract<ExpressionSyntax, { kind: K }>;

/** What an expression may use. */
export interface ExpressionScope {
  readonly bindings: Bindings;
  readonly report: (diagnostic: Diagnostic) => void;
  /** Gives a `read(…)` inside an expression a node of its own; without it, reads are refused here. */
  readonly hoist?: Hoist;
}

/** @param path where the value goes, by keys and indexes from the outermost expression. */
export type Hoist = (read: CallSyntax, path: readonly (string | number)[]) => Expr | undefined;

/** JavaScript's truth: what the conditions of TypeScript mean. */
const TRUTH: Truth = 'truthy.js';

/** Turns syntax into the expression tree. Nothing comes back where a part of it was reported, here or before. */
export function lowerExpression(syntax: ExpressionSyntax, scope: ExpressionScope): Expr | undefined {
  return new Lowering(scope).lower(syntax, []);
}

/** A condition as a boolean, which is what a node's `when` must be. */
export function lowerCondition(syntax: ExpressionSyntax, scope: ExpressionScope): Expr | undefined {
  const { hoist: _, ...strict } = scope;
  const condition = lowerExpression(syntax, strict);
  if (condition === undefined || isBoolean(condition)) return condition;
  return negate(negate(condition));
}

/** The opposite of a condition. */
export function negate(of: Expr): Expr {
  return { kind: 'not', truth: TRUTH, of, ...(of.at === undefined ? {} : { at: of.at }) };
}

/** Holds when all conditions hold; nothing for no condition. */
export function allOf(conditions: readonly Expr[]): Expr | undefined {
  const [only] = conditions;
  return conditions.length <= 1 ? only : { kind: 'and', truth: TRUTH, items: conditions };
}

/** An expression that is a dictionary: an object literal as it is, anything else poured into one. */
export function lowerDict(syntax: ExpressionSyntax, scope: ExpressionScope): DictExpr | undefined {
  const lowered = lowerExpression(syntax, scope);
  if (lowered === undefined || lowered.kind === 'dict') return lowered;
  return { kind: 'dict', at: syntax.place.span, entries: [{ spread: lowered }] };
}

const COMPARISONS: Readonly<Record<string, CompareOp>> = {
  '===': 'eq.strict',
  '!==': 'ne.strict',
  '<': 'lt.js',
  '<=': 'le.js',
  '>': 'gt.js',
  '>=': 'ge.js',
};

type Path = readonly (string | number)[];

class Lowering {
  readonly #scope: ExpressionScope;
  /** Above 0 where a value may turn out not to be needed. */
  #maybe = 0;

  constructor(scope: ExpressionScope) {
    this.#scope = scope;
  }

  lower(syntax: ExpressionSyntax, path: Path): Expr | undefined {
    const at = syntax.place.span;
    switch (syntax.kind) {
      case 'literal':
        return { kind: 'literal', at, value: syntax.value };
      case 'undefined':
        return { kind: 'literal', at };
      case 'parenthesized':
        return this.lower(syntax.inner, path);
      case 'template':
        return this.#template(syntax, path);
      case 'property':
        return this.#property(syntax, path);
      case 'element':
        return this.#element(syntax, path);
      case 'object':
        return this.#object(syntax, path);
      case 'array':
        return this.#array(syntax, path);
      case 'binary':
        return this.#binary(syntax, path);
      case 'prefix':
        return this.#prefix(syntax, path);
      case 'conditional':
        return this.#conditional(syntax, path);
      case 'call':
        return this.#call(syntax, path);
      case 'identifier':
      case 'this':
      case 'tagged':
      case 'arrow':
      case 'unsupported':
        return this.#refuse(syntax);
      default:
        return syntax satisfies never;
    }
  }

  #refuse(
    syntax: ExpressionSyntax,
    what = describe(syntax),
    hint = hintFor(syntax, this.#scope.bindings),
  ): undefined {
    this.#scope.report(diagnostic('SW2001', syntax.place, { what }, { hint }));
    return undefined;
  }

  #all(syntaxes: readonly ExpressionSyntax[], path: Path): readonly Expr[] | undefined {
    const lowered = syntaxes.map((syntax) => this.lower(syntax, path));
    return lowered.every((expr) => expr !== undefined) ? lowered : undefined;
  }

  /** Lowers what is evaluated in some cases only, so that no read may be moved out of it. */
  #lazily(syntax: ExpressionSyntax): Expr | undefined {
    this.#maybe++;
    const lowered = this.lower(syntax, []);
    this.#maybe--;
    return lowered;
  }

  #template({ parts, place }: SyntaxOf<'template'>, path: Path): Expr | undefined {
    const lowered = parts.map((part) => (typeof part === 'string' ? part : this.lower(part, path)));
    if (!lowered.every((part) => part !== undefined)) return undefined;
    return { kind: 'text', at: place.span, style: 'js', parts: lowered };
  }

  #property(syntax: SyntaxOf<'property'>, path: Path): Expr | undefined {
    if (syntax.symbol !== undefined) return this.#refuse(syntax);
    if (unwrap(syntax.object).kind === 'this') return this.#binding(syntax);
    const of = this.#chain(syntax.object, path);
    if (of === undefined) return undefined;
    return get(of, syntax.name, { kind: 'literal', at: syntax.namePlace.span, value: syntax.name }, syntax);
  }

  #element(syntax: SyntaxOf<'element'>, path: Path): Expr | undefined {
    const index = unwrap(syntax.index);
    const isName = index.kind === 'literal' && typeof index.value === 'string';
    if (unwrap(syntax.object).kind === 'this' && isName)
      return this.#field(String(index.value), index.place, syntax.place.span);
    const of = this.#chain(syntax.object, path);
    const key = this.#lazily(syntax.index);
    if (of === undefined || key === undefined) return undefined;
    return get(of, constantKey(key), key, syntax);
  }

  /** The object of an access. Parentheses end an optional chain, and so does a function of one argument in the tree. */
  #chain(object: ExpressionSyntax, path: Path): Expr | undefined {
    const of = this.lower(object, path);
    const isEnded = object.kind === 'parenthesized' && of !== undefined && hasOptional(of);
    return isEnded ? { kind: 'call', at: object.place.span, fn: 'coalesce', args: [of] } : of;
  }

  #binding(syntax: SyntaxOf<'property'>): Expr | undefined {
    return this.#field(syntax.name, syntax.namePlace, syntax.place.span);
  }

  #field(name: string, namePlace: Place, at: Span): Expr | undefined {
    const binding = this.#scope.bindings.resolve(name, namePlace);
    switch (binding?.kind) {
      case undefined:
      case 'faulty':
        return undefined;
      case 'value':
        return { ...binding.expr, at };
      case 'end': {
        const hint = 'the run has ended before anything can use it';
        this.#scope.report(
          diagnostic('SW2001', namePlace, { what: `the result of the run (\`${name}\`)` }, { hint }),
        );
        return undefined;
      }
      default:
        return binding satisfies never;
    }
  }

  #object({ entries, place }: SyntaxOf<'object'>, path: Path): Expr | undefined {
    let isWhole = true;
    const lowered: DictEntry[] = [];
    for (const entry of entries) {
      if ('unsupported' in entry) {
        const { unsupported: what, instead: hint } = entry;
        this.#scope.report(diagnostic('SW2001', entry.place, { what }, { hint }));
        isWhole = false;
      } else if ('spread' in entry) {
        const spread = this.lower(entry.spread, path);
        if (spread === undefined) isWhole = false;
        else lowered.push({ spread });
      } else if (entry.key === '__proto__') {
        const params = { what: 'the key `__proto__`' };
        this.#scope.report(diagnostic('SW2001', entry.keyPlace, params, { hint: 'choose another key' }));
        isWhole = false;
      } else {
        const value = this.lower(entry.value, [...path, entry.key]);
        if (value === undefined) isWhole = false;
        else lowered.push({ key: entry.key, value });
      }
    }
    return isWhole ? { kind: 'dict', at: place.span, entries: lowered } : undefined;
  }

  #array({ items, place }: SyntaxOf<'array'>, path: Path): Expr | undefined {
    const lowered = items.map(({ value, spread }, index) => {
      const item = this.lower(value, [...path, index]);
      return item === undefined ? undefined : { value: item, ...(spread ? { spread } : {}) };
    });
    if (!lowered.every((item) => item !== undefined)) return undefined;
    return { kind: 'list', at: place.span, items: lowered };
  }

  #binary(syntax: SyntaxOf<'binary'>, path: Path): Expr | undefined {
    const { operator, left, right } = syntax;
    const at = syntax.place.span;
    switch (operator) {
      case '??':
      case '&&':
      case '||': {
        const first = this.lower(left, path);
        const second = this.#lazily(right);
        if (first === undefined || second === undefined) return undefined;
        if (operator === '??') return { kind: 'call', at, fn: 'coalesce', args: [first, second] };
        return { kind: operator === '&&' ? 'and' : 'or', at, truth: TRUTH, items: [first, second] };
      }
      case '==':
      case '!=':
        return this.#looseEquality(syntax, path);
      default: {
        const op = COMPARISONS[operator];
        if (op === undefined) return this.#refuse(syntax);
        const [first, second] = this.#all([left, right], path) ?? [];
        if (first === undefined || second === undefined) return undefined;
        return { kind: 'compare', at, left: first, ops: [{ op, right: second }] };
      }
    }
  }

  /** `x == null` asks for null and absent at once; every other loose comparison converts. */
  #looseEquality({ operator, left, right, place }: SyntaxOf<'binary'>, path: Path): Expr | undefined {
    const asked = isNullLiteral(right) ? left : isNullLiteral(left) ? right : undefined;
    if (asked === undefined) {
      this.#scope.report(diagnostic('SW2002', place, { operator, instead: `${operator}=` }));
      this.#all([left, right], path);
      return undefined;
    }
    const of = this.lower(asked, path);
    if (of === undefined) return undefined;
    const isNullish: Expr = { kind: 'call', at: place.span, fn: 'isNullish', args: [of] };
    return operator === '==' ? isNullish : negate(isNullish);
  }

  #prefix(syntax: SyntaxOf<'prefix'>, path: Path): Expr | undefined {
    if (syntax.operator !== '!') return this.#refuse(syntax);
    const of = this.lower(syntax.operand, path);
    return of === undefined ? undefined : { kind: 'not', at: syntax.place.span, truth: TRUTH, of };
  }

  #conditional(syntax: SyntaxOf<'conditional'>, path: Path): Expr | undefined {
    const test = this.lower(syntax.test, path);
    const then = this.#lazily(syntax.then);
    const otherwise = this.#lazily(syntax.else);
    if (test === undefined || then === undefined || otherwise === undefined) return undefined;
    const at = syntax.place.span;
    return { kind: 'conditional', at, truth: TRUTH, test, then, else: otherwise };
  }

  #call(syntax: CallSyntax, path: Path): Expr | undefined {
    const verb = verbOf(syntax);
    if (verb === undefined) return this.#refuse(syntax);
    if (verb === 'read' && this.#maybe === 0 && this.#scope.hoist !== undefined) {
      return this.#scope.hoist(syntax, path);
    }
    this.#scope.report(diagnostic('SW2003', syntax.callee.place, { verb }, { hint: hintForVerb(verb) }));
    return undefined;
  }
}

/** Reads a key. A constant key of a plain reference lengthens its path. */
function get(
  of: Expr,
  constant: string | number | undefined,
  key: Expr,
  { place, optional }: SyntaxOf<'property' | 'element'>,
): Expr {
  const at = place.span;
  if (of.kind === 'ref' && constant !== undefined && !optional)
    return { ...of, at, path: [...of.path, constant] };
  return { kind: 'get', at, of, key, ...(optional ? { optional } : {}) };
}

/** The key as a path segment: a name or an index. */
function constantKey(key: Expr): string | number | undefined {
  const value = key.kind === 'literal' ? key.value : undefined;
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function hasOptional(expr: Expr): boolean {
  return expr.kind === 'get' && (expr.optional === true || hasOptional(expr.of));
}

function isNullLiteral(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  return inner.kind === 'undefined' || (inner.kind === 'literal' && inner.value === null);
}

/** Whether an expression is a boolean whatever its parts are. */
function isBoolean(expr: Expr): boolean {
  switch (expr.kind) {
    case 'compare':
    case 'not':
      return true;
    case 'literal':
      return typeof expr.value === 'boolean';
    case 'call':
      return expr.fn === 'isNullish';
    case 'and':
    case 'or':
      return expr.items.every(isBoolean);
    case 'conditional':
      return isBoolean(expr.then) && expr.else !== undefined && isBoolean(expr.else);
    default:
      return false;
  }
}

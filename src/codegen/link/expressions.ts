import { defined } from '../../graph/defined.js';
import { diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import { readKey } from '../../graph/expression/traversal.js';
import type { DictEntry, DictExpr, Expr, GetExpr } from '../../graph/expression/tree.js';
import { MAX_EXPRESSION_DEPTH } from '../../graph/limits.js';
import { didYouMean, ERROR_FIELDS, nearestName } from '../../graph/names.js';
import type { SourceLocation, Span } from '../../graph/source-location.js';
import type { ExpressionSyntax } from '../syntax.js';
import {
  bodyOf,
  type CallSyntax,
  calleeName,
  functionOf,
  HOISTED_VERBS,
  isPromptText,
  outcomeCalls,
  stepVerbOf,
  symbolOf,
  unwrap,
  verbOf,
} from '../verbs.js';
import { conditionHint, describe, hintFor, hintForVerb, print } from './describe.js';
import { callsVerb } from './handles.js';
import { lowerJinja, lowerLink, lowerPromptText, lowerSettled } from './interpolation.js';
import type { Binding } from './nodes.js';
import {
  ARITHMETIC,
  COMPARISONS,
  hasOptional,
  hintForMethod,
  isBoolean,
  isNullLiteral,
  type Method,
  methodOf,
  negate,
  promiseFault,
  TRUTH,
} from './operators-and-methods.js';
import { type ExpressionScope, type Local, lowerArrow, type SyntaxOf } from './scope.js';

/** Turns syntax into the expression tree. Nothing comes back where a part of it was reported, here or before. */
export function lowerExpression(syntax: ExpressionSyntax, scope: ExpressionScope): Expr | undefined {
  return new Lowering(scope).lower(syntax, []);
}

/** A condition as a boolean, which is what a node's `when` must be. */
export function lowerCondition(syntax: ExpressionSyntax, scope: ExpressionScope): Expr | undefined {
  const { hoist: _, ...strict } = scope;
  const isTemplate = verbOf(unwrap(syntax)) === 'jinja';
  const condition = lowerExpression(syntax, isTemplate ? { ...strict, template: 'condition' } : strict);
  if (condition === undefined || isTemplate || isBoolean(condition)) return condition;
  return negate(negate(condition));
}

/** An expression that is a dictionary: an object literal as it is, anything else poured into one. */
export function lowerDict(syntax: ExpressionSyntax, scope: ExpressionScope): DictExpr | undefined {
  const lowered = lowerExpression(syntax, scope);
  if (lowered === undefined || lowered.kind === 'dict') return lowered;
  return { kind: 'dict', at: syntax.place.span, entries: [{ spread: lowered }] };
}

type Path = readonly (string | number)[];

class Lowering {
  readonly #scope: ExpressionScope;
  /** Above 0 where a value may turn out not to be needed. */
  #maybe = 0;

  constructor(scope: ExpressionScope) {
    this.#scope = scope;
  }

  lower(syntax: ExpressionSyntax, path: Path): Expr | undefined {
    const lowered = this.#lowerKind(syntax, path);
    if (syntax.truth === undefined) return lowered;
    const hint = conditionHint(syntax, syntax.truth);
    this.#scope.report(diagnostic('SW2005', syntax.place, { what: syntax.truth }, { hint }));
    return undefined;
  }

  #lowerKind(syntax: ExpressionSyntax, path: Path): Expr | undefined {
    const at = syntax.place.span;
    const argument = this.#scope.given?.get(syntax);
    if (argument !== undefined) return { ...argument, at };
    switch (syntax.kind) {
      case 'literal':
        return { kind: 'literal', at, value: syntax.value };
      case 'undefined':
        return { kind: 'literal', at };
      case 'parenthesized': {
        const { hidesAbsence } = syntax;
        if (hidesAbsence !== undefined)
          this.#scope.report(diagnostic('SW2010', hidesAbsence, { what: print(syntax.inner) }));
        const inner = this.lower(syntax.inner, path);
        // A value of its own, whose forms the checker leaves to the author.
        return syntax.isClaim && inner ? { kind: 'call', at, fn: 'coalesce', args: [inner] } : inner;
      }
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
        return this.#identifier(syntax);
      case 'tagged':
        return isPromptText(syntax)
          ? lowerPromptText(syntax, this.#scope, (part) => this.lower(part, path))
          : this.#refuse(syntax);
      case 'unsupported':
        if (syntax.tooDeep === undefined) return this.#refuse(syntax);
        this.#scope.report(diagnostic('SW9016', syntax.tooDeep, { limit: MAX_EXPRESSION_DEPTH }));
        return undefined;
      case 'this':
      case 'arrow':
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
    const named = symbolOf(syntax.kind === 'call' ? syntax.callee : syntax);
    if (!this.#scope.handles.isExcused(named))
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

  #local(syntax: ExpressionSyntax): Local | undefined {
    const inner = unwrap(syntax);
    return inner.kind === 'identifier' ? this.#scope.locals?.get(inner.name) : undefined;
  }

  #identifier(syntax: SyntaxOf<'identifier'>): Expr | undefined {
    const local = this.#scope.locals?.get(syntax.name);
    if (local === undefined) return this.#refuse(syntax, undefined, this.#hintForName(syntax));
    return local.kind === 'error'
      ? lowerWholeError(syntax.place.span)
      : this.#bound(local, syntax.name, syntax.place, syntax.place.span);
  }

  /** A name that cannot be resolved was perhaps one that an arrow binds. */
  #hintForName(syntax: SyntaxOf<'identifier'>): string | undefined {
    const exists = syntax.symbol.kind !== 'unresolved';
    const near = exists ? undefined : nearestName(syntax.name, this.#scope.locals?.keys() ?? []);
    return didYouMean(near) ?? hintFor(syntax, this.#scope.bindings);
  }

  #property(syntax: SyntaxOf<'property'>, path: Path): Expr | undefined {
    if (syntax.symbol !== undefined) return this.#refuse(syntax);
    if (unwrap(syntax.object).kind === 'this')
      return this.#field(syntax.name, syntax.namePlace, syntax.place.span);
    if (this.#local(syntax.object)?.kind === 'error')
      return lowerErrorField(syntax.name, syntax.namePlace, syntax.place.span, this.#scope.report);
    const of = this.#chain(syntax.object, path);
    if (of === undefined) return undefined;
    const key: Expr = { kind: 'literal', at: syntax.namePlace.span, value: syntax.name };
    return readKey(of, key, linkOf(syntax));
  }

  #element(syntax: SyntaxOf<'element'>, path: Path): Expr | undefined {
    const index = unwrap(syntax.index);
    const name = index.kind === 'literal' && typeof index.value === 'string' ? index.value : undefined;
    const at = syntax.place.span;
    if (name !== undefined && unwrap(syntax.object).kind === 'this')
      return this.#field(name, index.place, at);
    if (name !== undefined && this.#local(syntax.object)?.kind === 'error')
      return lowerErrorField(name, index.place, at, this.#scope.report);
    const of = this.#chain(syntax.object, path);
    const key = this.#lazily(syntax.index);
    if (of === undefined || key === undefined) return undefined;
    return readKey(of, key, linkOf(syntax));
  }

  /** The object of an access. Parentheses end an optional chain; in the tree a function that is not a method does. */
  #chain(object: ExpressionSyntax, path: Path): Expr | undefined {
    const of = this.lower(object, path);
    const isEnded = object.kind === 'parenthesized' && of !== undefined && hasOptional(of);
    return isEnded ? { kind: 'call', at: object.place.span, fn: 'coalesce', args: [of] } : of;
  }

  #field(name: string, namePlace: SourceLocation, at: Span): Expr | undefined {
    return this.#bound(this.#scope.bindings.resolve(name, namePlace), name, namePlace, at);
  }

  #bound(binding: Binding | undefined, name: string, place: SourceLocation, at: Span): Expr | undefined {
    switch (binding?.kind) {
      case undefined:
      case 'faulty':
        return undefined;
      case 'value':
        return { ...binding.expr, at };
      case 'end': {
        const hint = 'the run has ended before anything can use it';
        const what = `the result of the run (\`${name}\`)`;
        this.#scope.report(diagnostic('SW2001', place, { what }, { hint }));
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
        const comparison = COMPARISONS.get(operator);
        const arithmetic = ARITHMETIC.get(operator);
        if (comparison === undefined && arithmetic === undefined) return this.#refuse(syntax);
        const [first, second] = this.#all([left, right], path) ?? [];
        if (first === undefined || second === undefined) return undefined;
        if (arithmetic !== undefined)
          return { kind: 'arithmetic', at, op: arithmetic, left: first, right: second };
        return comparison && { kind: 'compare', at, left: first, ops: [{ op: comparison, right: second }] };
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
    const { operator, operand, place } = syntax;
    if (operator === '+') {
      const hint = 'leave it out: a number is one already, and text is made a number by a tool';
      this.#scope.report(diagnostic('SW2002', place, { operator, instead: '' }, { hint }));
      this.lower(operand, path);
      return undefined;
    }
    if (operator !== '!' && operator !== '-') return this.#refuse(syntax);
    const of = this.lower(operand, path);
    if (of === undefined) return undefined;
    return operator === '-'
      ? { kind: 'negate', at: place.span, of }
      : { kind: 'not', at: place.span, truth: TRUTH, of };
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
    if (verb === 'get') return lowerField(syntax, this.#scope.handles);
    if (verb === 'statusOf' || verb === 'errorOf') return lowerSettled(verb, syntax, this.#scope);
    if (verb === 'jinja') return this.#jinja(syntax, path);
    if (verb === 'link') return lowerLink(syntax, this.#scope, (part) => this.lower(part, path));
    if (verb !== undefined) {
      const isHoisted = HOISTED_VERBS.some((each) => each === verb);
      if (isHoisted && this.#maybe === 0 && this.#scope.hoist !== undefined)
        return this.#scope.hoist(syntax, path);
      this.#scope.report(diagnostic('SW2003', syntax.callee.place, { verb }, { hint: hintForVerb(verb) }));
      return undefined;
    }
    const named = functionOf(syntax);
    if (named !== undefined)
      return callsVerb(named, syntax.callee.place, this.#scope.report) ? undefined : this.#refuse(syntax);
    const promise = promiseFault(syntax);
    if (promise !== undefined) {
      this.#scope.report(promise);
      return undefined;
    }
    const callee = unwrap(syntax.callee);
    if (callee.kind !== 'property' || callee.symbol !== undefined) return this.#refuse(syntax);
    const method = methodOf(callee.name);
    const object = unwrap(callee.object);
    if (callee.name === 'forEach' && this.#isLoopOverSteps(syntax.args[0], object)) return undefined;
    const isOfValue = object.kind !== 'identifier' || this.#local(object) !== undefined;
    if (method === undefined || !isOfValue || syntax.optional)
      return this.#refuse(syntax, undefined, isOfValue ? hintForMethod(callee.name) : undefined);
    return this.#method(syntax, callee, method, path);
  }

  /** Templates in a template are values of it. */
  #jinja(syntax: CallSyntax, path: Path): Expr | undefined {
    const { template = 'value', ...scope } = this.#scope;
    const inner = template === 'value' ? this : new Lowering(scope);
    return lowerJinja(syntax, scope, template, (part) => inner.lower(part, path));
  }

  #method(
    syntax: CallSyntax,
    { object, name, optional: isOptional }: SyntaxOf<'property'>,
    method: Method,
    path: Path,
  ): Expr | undefined {
    const subject = this.#chain(object, path);
    const link = { at: syntax.place.span, ...(isOptional ? { optional: true as const } : {}) };
    if (method.kind === 'each') {
      const [arrow, extra] = syntax.args;
      if (this.#isLoopOverSteps(arrow, object)) return undefined;
      if (arrow === undefined || extra !== undefined)
        return this.#refuseArguments(syntax, name, '1 argument');
      const lowered = lowerArrow(arrow, name, this.#scope, (body, locals) => this.#inside(body, locals));
      if (subject === undefined || lowered === undefined) return undefined;
      const each = { kind: 'each', ...link, in: subject, ...lowered } as const;
      if (method.mode !== 'map') return { ...each, mode: method.mode, truth: TRUTH };
      const mapped: Expr = { ...each, mode: method.mode };
      return method.isFlat ? { kind: 'call', at: link.at, fn: 'flat.js', args: [mapped] } : mapped;
    }
    if (method.kind === 'at') return this.#at(syntax, name, subject, path, link);
    const args = this.#all(syntax.args, path);
    const min = method.kind === 'slice' ? 0 : method.min;
    if (syntax.args.length < min || syntax.args.length > method.max) {
      const range = min === method.max ? `${min}` : `${min} to ${method.max}`;
      return this.#refuseArguments(syntax, name, `${range} ${method.max === 1 ? 'argument' : 'arguments'}`);
    }
    if (subject === undefined || args === undefined) return undefined;
    if (method.kind === 'function') return { kind: 'call', ...link, fn: method.fn, args: [subject, ...args] };
    const [start, end] = args;
    return { kind: 'slice', style: 'js', ...link, of: subject, ...defined({ start, end }) };
  }

  /** An item by its position, from the end where that is negative: one that is written out as the first item of a slice. */
  #at(
    syntax: CallSyntax,
    name: string,
    of: Expr | undefined,
    path: Path,
    link: Pick<GetExpr, 'optional'> & { readonly at: Span },
  ): Expr | undefined {
    const [index, extra] = syntax.args;
    if (index === undefined || extra !== undefined) return this.#refuseArguments(syntax, name, '1 argument');
    const literal = unwrap(index);
    const start = literal.kind === 'literal' ? literal.value : undefined;
    if (typeof start !== 'number' || !Number.isInteger(start)) {
      const [position] = this.#all([index], path) ?? [];
      if (of === undefined || position === undefined) return undefined;
      return { kind: 'call', ...link, fn: 'at.js', args: [of, position] };
    }
    const number = (value: number): Expr => ({ kind: 'literal', at: index.place.span, value });
    if (of === undefined) return undefined;
    if (start >= 0) return readKey(of, number(start), link);
    const end = start === -1 ? {} : { end: number(start + 1) };
    const slice: Expr = { kind: 'slice', style: 'js', ...link, of, start: number(start), ...end };
    return readKey(slice, number(0), { at: link.at });
  }

  /** Reports an arrow that would make a step of each item. */
  #isLoopOverSteps(arrow: ExpressionSyntax | undefined, list: ExpressionSyntax): boolean {
    const body = bodyOf(arrow);
    const verb = body && outcomeCalls(body).find((call) => stepVerbOf(call) !== undefined);
    if (verb === undefined) return false;
    const name = calleeName(verb);
    const hint = `write \`forEach(${print(list)}, (item) => ${name}(…))\` as a step of its own`;
    this.#scope.report(diagnostic('SW2003', verb.callee.place, { verb: name }, { hint }));
    return true;
  }

  #refuseArguments(syntax: CallSyntax, name: string, takes: string): undefined {
    const value = syntax.args.length;
    return this.#refuse(
      syntax,
      `\`.${name}\` with ${value} ${value === 1 ? 'argument' : 'arguments'}`,
      `it takes ${takes}`,
    );
  }

  /** The body of an arrow, where its names are known. Its reads would be one for each item. */
  #inside(body: ExpressionSyntax, locals: ReadonlyMap<string, Local>): Expr | undefined {
    const { hoist: _, ...scope } = this.#scope;
    return lowerExpression(body, { ...scope, locals });
  }
}

/** Where an access is written, and whether it is one with `?.`. */
function linkOf({ place, optional }: SyntaxOf<'property' | 'element'>): Pick<GetExpr, 'at' | 'optional'> {
  return optional ? { at: place.span, optional } : { at: place.span };
}

/** `error.code`: what the fallback of `attempt` is given. */
function lowerErrorField(name: string, place: SourceLocation, at: Span, report: Report): Expr | undefined {
  if (ERROR_FIELDS.includes(name)) return field(name, at);
  report(diagnostic('SW3001', place, { name: `error.${name}`, suggestion: nearestName(name, ERROR_FIELDS) }));
  return undefined;
}

function lowerWholeError(at: Span): Expr {
  return { kind: 'dict', at, entries: ERROR_FIELDS.map((key) => ({ key, value: field(key, at) })) };
}

function field(name: string, at: Span): Expr {
  return { kind: 'ref', root: 'error', path: [name], at };
}

/** `get(State)`: what the field holds when the expression is evaluated. */
function lowerField(
  { args: [handle], callee, place }: CallSyntax,
  handles: ExpressionScope['handles'],
): Expr | undefined {
  const state = handles.state(handle, 'get', callee.place);
  return state && { kind: 'ref', at: place.span, root: 'state', path: [state.name] };
}

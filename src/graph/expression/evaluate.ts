import { type Json, unreachable, type Value } from '../json.js';
import { MAX_EXPRESSION_DEPTH } from '../limits.js';
import type { Span } from '../source-location.js';
import { type Budget, describePath, describeSource, expressionError } from './error.js';
import { Allocations, type EagerFunction, type LazyFunction } from './function.js';
import { describeArity, expressionFunctions, isMethodCall, missedKind, takesArguments } from './functions.js';
import { calculate, compare, negated } from './operators.js';
import { sliceOf } from './python/operators.js';
import type {
  ArithmeticExpr,
  CallExpr,
  CompareExpr,
  DictExpr,
  EachExpr,
  Expr,
  GetExpr,
  ListExpr,
  LogicExpr,
  RefExpr,
  RefRoot,
  SliceExpr,
  TextExpr,
} from './tree.js';
import {
  argumentType,
  describeKind,
  isNullish,
  isTrue,
  isUnknown,
  readPart,
  readProperty,
  toText,
  type Unknown,
  unknownIn,
  unknownOf,
  unknownText,
} from './value.js';

export { Budget, EXPRESSION_BUDGET, ExpressionError } from './error.js';

/** Where references get their values. */
export interface EvaluationScope {
  /** The value of an input, step or field; absent (`undefined`) when it has none. */
  lookup(root: RefRoot, name: string | number): Value;
}

/** Ends a chain of links as absent; never leaves this file. */
const CHAIN_ENDED = Symbol('chain ended');

interface Evaluation {
  readonly scope: EvaluationScope;
  readonly budget: Budget;
  readonly allocations: Allocations;
  /** The names that are bound around the tree, the innermost first. */
  readonly locals: Local | undefined;
}

interface Local {
  readonly name: string;
  readonly value: Value;
  readonly outer: Local | undefined;
}

/** A part that `?.` may end together with all that follows it. */
type Link = GetExpr | SliceExpr | EachExpr | CallExpr;

/**
 * Evaluates a tree. Pure: the same tree, scope and budget give the same value. Parts of the scope's data may be
 * shared with the result, so neither may be changed afterwards.
 * @throws ExpressionError where the expression has no value, and `E_BUDGET` when the budget is used up.
 */
export function evaluate(expr: Expr, scope: EvaluationScope, budget: Budget): Value {
  const allocations = new Allocations(budget);
  return allocations.finish(visit(expr, { scope, budget, allocations, locals: undefined }, 0), expr.at);
}

function visit(expr: Expr, evaluation: Evaluation, depth: number): Value {
  enter(expr, evaluation, depth);
  switch (expr.kind) {
    case 'literal':
      return expr.value;
    case 'ref':
      return reference(expr, evaluation);
    case 'get':
    case 'slice':
    case 'each':
    case 'call': {
      const value = chain(expr, evaluation, depth);
      return value === CHAIN_ENDED ? undefined : value;
    }
    case 'compare':
      return comparison(expr, evaluation, depth);
    case 'and':
    case 'or':
      return logic(expr, evaluation, depth);
    case 'not': {
      const of = visit(expr.of, evaluation, depth + 1);
      return isUnknown(of) ? unknownOf(of) : !isTrue(of, expr.truth, expr.at);
    }
    case 'arithmetic': {
      const left = visit(expr.left, evaluation, depth + 1);
      const right = visit(expr.right, evaluation, depth + 1);
      if (isUnknown(left) || isUnknown(right)) return unknownOf(left, right);
      if (left === undefined || right === undefined)
        checkOperand(expr, left === undefined ? expr.left : expr.right);
      return calculate(expr.op, left, right, evaluation, expr.at);
    }
    case 'negate': {
      const of = visit(expr.of, evaluation, depth + 1);
      return isUnknown(of) ? unknownOf(of) : negated(of, expr.at);
    }
    case 'conditional': {
      const test = visit(expr.test, evaluation, depth + 1);
      const chosen = isTrue(test, expr.truth, expr.at) ? expr.then : expr.else;
      const value = chosen === undefined ? undefined : visit(chosen, evaluation, depth + 1);
      return isUnknown(test) ? unknownOf(test, value) : value;
    }
    case 'list':
      return list(expr, evaluation, depth);
    case 'dict':
      return dict(expr, evaluation, depth);
    case 'text':
      return textOf(expr, evaluation, depth);
    case 'let': {
      const value = visit(expr.value, evaluation, depth + 1);
      return visit(expr.body, bind(evaluation, expr.name, value), depth + 1);
    }
    default:
      return unreachable(expr);
  }
}

/** Names a missing operand of Jinja by its path: the operators of JavaScript have words of their own. */
function checkOperand({ op, at }: ArithmeticExpr, operand: Expr): void {
  if (!op.endsWith('.py')) return;
  const path = describeSource(operand, '');
  if (path !== '') throw expressionError('E_UNDEFINED', { what: path }, at);
}

function textOf({ parts, at }: TextExpr, evaluation: Evaluation, depth: number): Value {
  const { budget } = evaluation;
  let text = '';
  let before: (string | Unknown)[] | undefined;
  for (const part of parts) {
    const value = typeof part === 'string' ? part : visit(part, evaluation, depth + 1);
    if (typeof value === 'string') {
      budget.charge(1 + value.length, (typeof part === 'string' ? undefined : part.at) ?? at);
      text += value;
    } else if (isUnknown(value)) {
      before = [...(before ?? []), text, value];
      text = '';
    } else text += partText(part, value, at, budget);
  }
  return before === undefined ? text : unknownText([...before, text]);
}

/** The text of a part that is not one. */
function partText(part: Expr | string, value: Value, at: Span | undefined, budget: Budget): string {
  const own = typeof part === 'string' ? undefined : part.at;
  return toText(value, () => describeSource(part, 'a value'), budget, own ?? at);
}

/** Every tree node pays its unit, and none may be too deep. */
function enter(expr: Expr, { budget }: Evaluation, depth: number): void {
  budget.charge(1, expr.at);
  if (depth >= MAX_EXPRESSION_DEPTH) {
    throw expressionError('E_DEPTH', { what: 'the expression', limit: MAX_EXPRESSION_DEPTH }, expr.at);
  }
}

function bind({ scope, budget, allocations, locals }: Evaluation, name: string, value: Value): Evaluation {
  return { scope, budget, allocations, locals: { name, value, outer: locals } };
}

function reference(expr: RefExpr, evaluation: Evaluation): Value {
  const { root, path, at } = expr;
  const [name] = path;
  if (name === undefined) throw expressionError('E_UNSUPPORTED', { what: `\`${root}\` as a whole` }, at);
  evaluation.budget.charge(path.length - 1, at);
  let value = root === 'local' ? local(name, expr, evaluation) : evaluation.scope.lookup(root, name);
  if (expr.find !== undefined) return valueOfReference(expr, value);
  let around: Value;
  for (let place = 1; place < path.length; place += 1) {
    const of = value;
    const list = around;
    const why = (): string =>
      of === undefined && Array.isArray(list)
        ? `, since ${describePath(root, path.slice(0, place - 1))} is ${describeList(list)}`
        : '';
    value = readProperty(of, path[place] ?? '', () => describePath(root, path.slice(0, place)), at, why);
    around = of;
  }
  return value;
}

/** Reads what a strict or an optional reference names, from the value of its first segment. */
function valueOfReference({ root, path, find, at }: RefExpr, start: Value): Value {
  let value = start;
  for (let place = 1; place < path.length; place += 1) {
    const key = path[place] ?? '';
    const of = value;
    value = readPart(of, key);
    if (value !== undefined) continue;
    if (find === 'optional') return undefined;
    const details = {
      ref: describePath(root, path),
      key: String(key),
      of: describePath(root, path.slice(0, place)),
      actual: root === 'nodes' && place === 1 ? 'a node that did not fail' : describeList(of),
    };
    throw expressionError('E_REF_MISSING', details, at);
  }
  // An input that the caller left out is absent, and its key is left out as well.
  if (value === undefined && find === 'strict' && root !== 'inputs')
    throw expressionError('E_REF_MISSING', { ref: describePath(root, path) }, at);
  return value;
}

function describeList(value: Value): string {
  if (!Array.isArray(value)) return describeKind(value);
  return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
}

function local(name: string | number, expr: RefExpr, { locals }: Evaluation): Value {
  for (let each = locals; each !== undefined; each = each.outer) if (each.name === name) return each.value;
  throw expressionError('E_UNKNOWN_NAME', { name: String(name) }, expr.at);
}

function chain(expr: Link, evaluation: Evaluation, depth: number): Value | typeof CHAIN_ENDED {
  switch (expr.kind) {
    case 'get': {
      const of = subject(expr.of, expr, evaluation, depth);
      return of === CHAIN_ENDED ? of : get(expr, of, evaluation, depth);
    }
    case 'slice': {
      const of = subject(expr.of, expr, evaluation, depth);
      return of === CHAIN_ENDED ? of : slice(expr, of, evaluation, depth);
    }
    case 'each': {
      const items = subject(expr.in, expr, evaluation, depth);
      return items === CHAIN_ENDED ? items : each(expr, items, evaluation, depth);
    }
    case 'call':
      return call(expr, evaluation, depth);
    default:
      return unreachable(expr);
  }
}

/** What a link starts from. A chain that has ended before, or ends here, goes on to its end as it is. */
function subject(of: Expr, link: Link, evaluation: Evaluation, depth: number): Value | typeof CHAIN_ENDED {
  let value: Value | typeof CHAIN_ENDED;
  if (isLink(of)) {
    enter(of, evaluation, depth + 1);
    value = chain(of, evaluation, depth + 1);
    if (value === CHAIN_ENDED) return CHAIN_ENDED;
  } else {
    value = visit(of, evaluation, depth + 1);
  }
  return link.optional && isNullish(value) ? CHAIN_ENDED : value;
}

function isLink(expr: Expr): expr is Link {
  if (expr.kind === 'call') return isMethodCall(expr);
  return expr.kind === 'get' || expr.kind === 'slice' || expr.kind === 'each';
}

function get(expr: GetExpr, of: Value, evaluation: Evaluation, depth: number): Value {
  const key = visit(expr.key, evaluation, depth + 1);
  if (isUnknown(key)) return unknownOf(of, key);
  if (typeof key !== 'string' && typeof key !== 'number') {
    throw expressionError('E_KEY_TYPE', { actual: describeKind(key) }, expr.key.at ?? expr.at);
  }
  return readProperty(of, key, () => describeSource(expr.of), expr.at);
}

function slice(expr: SliceExpr, of: Value, evaluation: Evaluation, depth: number): Value {
  let unknown: Value;
  const bound = (part: Expr | undefined): number | undefined => {
    const given = part === undefined ? undefined : visit(part, evaluation, depth + 1);
    // A bound that is null is not there.
    const value = given === null && expr.style === 'py' ? undefined : given;
    if (isUnknown(value)) {
      unknown = unknownOf(unknown, value);
      return undefined;
    }
    if (value === undefined || typeof value === 'number') return value;
    throw argumentType('slice', 'numbers', value, part?.at ?? expr.at);
  };
  if (isUnknown(of)) return unknownOf(of);
  if (typeof of !== 'string' && !Array.isArray(of))
    throw argumentType('slice', 'text or a list', of, expr.at);
  const [start, end] = [bound(expr.start), bound(expr.end)];
  const step = expr.style === 'py' ? bound(expr.step) : undefined;
  if (unknown !== undefined) return unknown;
  if (expr.style === 'py') return sliceOf(of, { start, end, step }, { ...evaluation, at: expr.at });
  if (typeof of !== 'string') return evaluation.allocations.list(of.slice(start, end), expr.at);
  const part = of.slice(start, end);
  evaluation.budget.charge(part.length, expr.at);
  return part;
}

function each(expr: EachExpr, items: Value, evaluation: Evaluation, depth: number): Value {
  if (isUnknown(items)) return unknownOf(items);
  if (!Array.isArray(items)) throw argumentType(expr.mode, 'a list', items, expr.at);
  const body = (item: Value, index: number): Value => {
    evaluation.budget.charge(1, expr.at);
    const inside = bind(evaluation, expr.as, item);
    const whole = expr.indexAs === undefined ? inside : bind(inside, expr.indexAs, index);
    return visit(expr.body, whole, depth + 1);
  };
  if (expr.mode === 'map') return evaluation.allocations.list(items.map(body), expr.at);
  let unknown: Value;
  const holds = (item: Value, index: number): boolean => {
    const value = body(item, index);
    if (isUnknown(value)) unknown = unknownOf(unknown, value);
    return isTrue(value, expr.truth, expr.at);
  };
  const value = matching(expr, items, holds, evaluation);
  return unknown ?? value;
}

function matching(
  expr: EachExpr,
  items: readonly Value[],
  holds: (item: Value, index: number) => boolean,
  { allocations }: Evaluation,
): Value {
  switch (expr.mode) {
    case 'filter':
      return allocations.list(items.filter(holds), expr.at);
    case 'find':
      return items.find(holds);
    case 'some':
      return items.some(holds);
    case 'every':
      return items.every(holds);
    default:
      throw new Error(`the mode \`${expr.mode}\` matches nothing`);
  }
}

function comparison(expr: CompareExpr, evaluation: Evaluation, depth: number): Value {
  let left = visit(expr.left, evaluation, depth + 1);
  for (const link of expr.ops) {
    const right = visit(link.right, evaluation, depth + 1);
    if (isUnknown(left) || isUnknown(right)) return unknownOf(left, right);
    if (!compare(link.op, left, right, evaluation.budget, expr.at)) return false;
    left = right;
  }
  return true;
}

function logic(expr: LogicExpr, evaluation: Evaluation, depth: number): Value {
  const decides = expr.kind === 'or';
  let value: Value;
  for (const [index, item] of expr.items.entries()) {
    value = visit(item, evaluation, depth + 1);
    if (isUnknown(value)) return unknownOf(value);
    const isLast = index === expr.items.length - 1;
    // The last operand is the value, whatever it counts as; with `boolean` it must be one all the same.
    if (isLast && expr.truth !== 'boolean') return value;
    if (isTrue(value, expr.truth, item.at ?? expr.at) === decides) return value;
  }
  return value;
}

function list(expr: ListExpr, evaluation: Evaluation, depth: number): Json {
  const items: Value[] = [];
  for (const item of expr.items) {
    const value = visit(item.value, evaluation, depth + 1);
    if (!item.spread) {
      items.push(value);
      continue;
    }
    if (isUnknown(value)) return unknownOf(value) ?? null;
    if (!Array.isArray(value)) {
      throw expressionError('E_NOT_A_LIST', { actual: describeKind(value) }, item.value.at ?? expr.at);
    }
    evaluation.budget.charge(value.length, expr.at);
    for (const poured of value) items.push(poured);
  }
  return evaluation.allocations.list(items, expr.at);
}

function dict(expr: DictExpr, evaluation: Evaluation, depth: number): Json {
  const object: Record<string, Value> = {};
  for (const entry of expr.entries) {
    evaluation.budget.charge(1, expr.at);
    if ('key' in entry) {
      setProperty(object, entry.key, visit(entry.value, evaluation, depth + 1));
      continue;
    }
    const value = visit(entry.spread, evaluation, depth + 1);
    if (isNullish(value)) continue;
    if (isUnknown(value)) return unknownOf(value) ?? null;
    if (typeof value !== 'object' || Array.isArray(value)) {
      const details = { key: '...', of: describeSource(entry.spread), actual: describeKind(value) };
      throw expressionError('E_NOT_AN_OBJECT', details, entry.spread.at ?? expr.at);
    }
    const own = Object.entries(value);
    evaluation.budget.charge(own.length, expr.at);
    for (const [key, poured] of own) setProperty(object, key, poured);
  }
  return evaluation.allocations.object(object, expr.at);
}

/** Defines an own property, `__proto__` included; assignment would set the prototype. */
function setProperty(object: Record<string, Value>, key: string, value: Value): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function call(expr: CallExpr, evaluation: Evaluation, depth: number): Value | typeof CHAIN_ENDED {
  const fn = expressionFunctions.get(expr.fn);
  if (fn === undefined) throw expressionError('E_UNKNOWN_FUNCTION', { fn: expr.fn }, expr.at);
  const count = expr.args.length;
  if (!takesArguments(fn, count))
    throw expressionError('E_ARITY', { fn: fn.name, takes: describeArity(fn), count }, expr.at);
  if (fn.lazy) return callLazily(fn, expr, evaluation, depth);
  const args: Value[] = [];
  let unknown: Value;
  let index = 0;
  for (const arg of expr.args) {
    const isSubject = fn.method !== undefined && index === 0;
    const value = isSubject ? subject(arg, expr, evaluation, depth) : visit(arg, evaluation, depth + 1);
    if (value === CHAIN_ENDED) return CHAIN_ENDED;
    if (isUnknownArgument(value)) unknown = unknownOf(unknown, ...unknownIn(value));
    else checkArgument(fn, index, value, arg.at ?? expr.at);
    args.push(value);
    index += 1;
  }
  if (unknown !== undefined) return unknown;
  const { budget, allocations } = evaluation;
  return fn.apply(args, { budget, allocations, at: expr.at, written: expr.args });
}

function callLazily(fn: LazyFunction, { args, at }: CallExpr, evaluation: Evaluation, depth: number): Value {
  evaluation.budget.charge(fn.cost(args.length), at);
  const value = fn.apply(args.map((arg) => () => visit(arg, evaluation, depth + 1)));
  return isUnknown(value) ? unknownOf(value) : value;
}

/** A function looks at the items of a list as well. */
function isUnknownArgument(value: Value): boolean {
  return isUnknown(value) || (Array.isArray(value) && value.some((item) => isUnknown(item)));
}

function checkArgument(fn: EagerFunction, index: number, value: Value, at: Span | undefined): void {
  const kind = fn.takes[index] ?? 'any';
  const missed = missedKind(value, kind);
  if (missed !== undefined) throw argumentType(fn.name, missed, value, at);
}

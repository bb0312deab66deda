import type { Json, Value } from '../json.js';
import { unreachable } from '../unreachable.js';
import type { Budget } from './budget.js';
import { compare } from './compare.js';
import { expressionError } from './error.js';
import { describeArity, expressionFunctions, takesArguments } from './functions.js';
import { toText } from './text.js';
import type {
  CallExpr,
  CompareExpr,
  DictExpr,
  Expr,
  GetExpr,
  ListExpr,
  LogicExpr,
  RefExpr,
  RefRoot,
} from './tree.js';
import { describeKind, isNullish, isTrue, readProperty } from './value.js';

export { Budget } from './budget.js';
export { ExpressionError, type ExpressionErrorCode } from './error.js';

/** Trees nested deeper than this are refused. */
export const MAX_EXPRESSION_DEPTH = 128;

/** Where references get their values. */
export interface EvaluationScope {
  /** The value of an input, step or field; absent (`undefined`) when it has none. */
  lookup(root: RefRoot, name: string | number): Value;
}

/** Ends a chain of `get`s as absent; never leaves this file. */
const CHAIN_ENDED = Symbol('chain ended');

interface Evaluation {
  readonly scope: EvaluationScope;
  readonly budget: Budget;
}

/**
 * Evaluates a tree. Pure: the same tree, scope and budget give the same value. Parts of the scope's data may be
 * shared with the result, so neither may be changed afterwards.
 * @throws ExpressionError where the expression has no value, and `E_BUDGET` when the budget is used up.
 */
export function evaluate(expr: Expr, scope: EvaluationScope, budget: Budget): Value {
  return visit(expr, { scope, budget }, 0);
}

function visit(expr: Expr, evaluation: Evaluation, depth: number): Value {
  enter(expr, evaluation, depth);
  switch (expr.kind) {
    case 'literal':
      return expr.value;
    case 'ref':
      return reference(expr, evaluation);
    case 'get': {
      const value = chain(expr, evaluation, depth);
      return value === CHAIN_ENDED ? undefined : value;
    }
    case 'compare':
      return comparison(expr, evaluation, depth);
    case 'and':
    case 'or':
      return logic(expr, evaluation, depth);
    case 'not':
      return !isTrue(visit(expr.of, evaluation, depth + 1), expr.truth, expr.at);
    case 'conditional': {
      const chosen = isTrue(visit(expr.test, evaluation, depth + 1), expr.truth, expr.at)
        ? expr.then
        : expr.else;
      return chosen === undefined ? undefined : visit(chosen, evaluation, depth + 1);
    }
    case 'list':
      return list(expr, evaluation, depth);
    case 'dict':
      return dict(expr, evaluation, depth);
    case 'call':
      return call(expr, evaluation, depth);
    case 'text': {
      let text = '';
      for (const part of expr.parts) {
        const value = typeof part === 'string' ? part : visit(part, evaluation, depth + 1);
        text += toText(value, expr.style, evaluation.budget, expr.at);
      }
      return text;
    }
    case 'slice':
    case 'arithmetic':
    case 'negate':
    case 'each':
    case 'let':
      throw expressionError('E_UNSUPPORTED', { what: `\`${expr.kind}\`` }, expr.at);
    default:
      return unreachable(expr);
  }
}

/** Every tree node pays its unit, and none may stand too deep. */
function enter(expr: Expr, { budget }: Evaluation, depth: number): void {
  budget.charge(1, expr.at);
  if (depth >= MAX_EXPRESSION_DEPTH) {
    throw expressionError('E_DEPTH', { what: 'the expression', limit: MAX_EXPRESSION_DEPTH }, expr.at);
  }
}

function reference(expr: RefExpr, { scope, budget }: Evaluation): Value {
  const [name, ...rest] = expr.path;
  if (name === undefined)
    throw expressionError('E_UNSUPPORTED', { what: `\`${expr.root}\` as a whole` }, expr.at);
  budget.charge(rest.length, expr.at);
  let value = scope.lookup(expr.root, name);
  for (const [index, key] of rest.entries()) {
    value = readProperty(value, key, () => describePath(expr.root, expr.path.slice(0, index + 1)), expr.at);
  }
  return value;
}

function chain(expr: GetExpr, evaluation: Evaluation, depth: number): Value | typeof CHAIN_ENDED {
  let value: Value | typeof CHAIN_ENDED;
  if (expr.of.kind === 'get') {
    enter(expr.of, evaluation, depth + 1);
    value = chain(expr.of, evaluation, depth + 1);
    if (value === CHAIN_ENDED) return CHAIN_ENDED;
  } else {
    value = visit(expr.of, evaluation, depth + 1);
  }
  if (expr.optional && isNullish(value)) return CHAIN_ENDED;
  const key = visit(expr.key, evaluation, depth + 1);
  if (typeof key !== 'string' && typeof key !== 'number') {
    throw expressionError('E_KEY_TYPE', { found: describeKind(key) }, expr.key.at ?? expr.at);
  }
  return readProperty(value, key, () => describeSource(expr.of), expr.at);
}

function comparison(expr: CompareExpr, evaluation: Evaluation, depth: number): boolean {
  let left = visit(expr.left, evaluation, depth + 1);
  for (const link of expr.ops) {
    const right = visit(link.right, evaluation, depth + 1);
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
    const isLast = index === expr.items.length - 1;
    // The last operand is the value, whatever it counts as; with `boolean` it must be one all the same.
    if (isLast && expr.truth !== 'boolean') return value;
    if (isTrue(value, expr.truth, item.at ?? expr.at) === decides) return value;
  }
  return value;
}

function list(expr: ListExpr, evaluation: Evaluation, depth: number): Json {
  const items: Json[] = [];
  for (const item of expr.items) {
    const value = visit(item.value, evaluation, depth + 1);
    if (!item.spread) {
      items.push(value ?? null);
      continue;
    }
    if (!Array.isArray(value)) {
      throw expressionError('E_NOT_A_LIST', { found: describeKind(value) }, item.value.at ?? expr.at);
    }
    evaluation.budget.charge(value.length, expr.at);
    for (const each of value) items.push(each ?? null);
  }
  return items;
}

function dict(expr: DictExpr, evaluation: Evaluation, depth: number): Json {
  // Absent values stay until the end: a later absent one takes an earlier value away.
  const entries = new Map<string, Value>();
  for (const entry of expr.entries) {
    evaluation.budget.charge(1, expr.at);
    if ('key' in entry) {
      entries.set(entry.key, visit(entry.value, evaluation, depth + 1));
      continue;
    }
    const value = visit(entry.spread, evaluation, depth + 1);
    if (isNullish(value)) continue;
    if (typeof value !== 'object' || Array.isArray(value)) {
      const details = { key: '...', of: describeSource(entry.spread), found: describeKind(value) };
      throw expressionError('E_NOT_AN_OBJECT', details, entry.spread.at ?? expr.at);
    }
    const own = Object.entries(value);
    evaluation.budget.charge(own.length, expr.at);
    for (const [key, each] of own) entries.set(key, each);
  }
  const present: [string, Json][] = [];
  for (const [key, value] of entries) if (value !== undefined) present.push([key, value]);
  // Defines own properties, `__proto__` included; assignment would set the prototype.
  return Object.fromEntries(present);
}

function call(expr: CallExpr, evaluation: Evaluation, depth: number): Value {
  const fn = expressionFunctions.get(expr.fn);
  if (fn === undefined) throw expressionError('E_UNKNOWN_FUNCTION', { fn: expr.fn }, expr.at);
  const given = expr.args.length + (expr.named?.length ?? 0);
  if (expr.named?.length || !takesArguments(fn, given)) {
    throw expressionError('E_ARITY', { fn: fn.name, takes: describeArity(fn), given }, expr.at);
  }
  if (fn.lazy) {
    evaluation.budget.charge(fn.cost(given), expr.at);
    return fn.apply(expr.args.map((arg) => () => visit(arg, evaluation, depth + 1)));
  }
  const args = expr.args.map((arg) => visit(arg, evaluation, depth + 1));
  evaluation.budget.charge(fn.cost(args), expr.at);
  return fn.apply(args);
}

/** `steps.list.pages`, for sentences. */
function describePath(root: RefRoot, path: readonly (string | number)[]): string {
  return `\`${[root, ...path].join('.')}\``;
}

function describeSource(expr: Expr): string {
  const keys: (string | number)[] = [];
  let at = expr;
  while (at.kind === 'get' && at.key.kind === 'literal') {
    keys.unshift(String(at.key.value));
    at = at.of;
  }
  return at.kind === 'ref' ? describePath(at.root, [...at.path, ...keys]) : 'the value before it';
}

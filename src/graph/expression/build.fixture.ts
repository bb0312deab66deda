import type { Value } from '../json.js';
import { Budget, type EvaluationScope, ExpressionError, evaluate } from './evaluate.js';
import type {
  ArithmeticOp,
  CallExpr,
  EachExpr,
  Expr,
  GetExpr,
  QuestionExpr,
  RefExpr,
  SliceExpr,
} from './tree.js';

/** A literal; absent without a value. */
export function literal(...value: [] | [Exclude<Value, undefined>]): Expr {
  return value.length === 0 ? { kind: 'literal' } : { kind: 'literal', value: value[0] };
}

/** `ref('inputs', 'task')`, `ref('steps', 'list', 'pages', 0)`. */
export function ref(root: RefExpr['root'], ...path: (string | number)[]): RefExpr {
  return { kind: 'ref', root, path };
}

export function get(of: Expr, key: string | number | Expr, optional = false): GetExpr {
  const keyExpr = typeof key === 'object' ? key : literal(key);
  return { kind: 'get', of, key: keyExpr, ...(optional ? { optional: true } : {}) };
}

export function call(fn: string, ...args: Expr[]): Expr {
  return { kind: 'call', fn, args };
}

export function text(style: 'js' | 'display' | 'strict', ...parts: (string | Expr)[]): Expr {
  return { kind: 'text', style, parts };
}

export function dict(entries: Readonly<Record<string, Expr>>): Expr {
  return { kind: 'dict', entries: Object.entries(entries).map(([key, value]) => ({ key, value })) };
}

/** `local('x', 'title')`: a name that `each` or `bound` binds, and on into its value. */
export function local(...path: (string | number)[]): RefExpr {
  return ref('local', ...path);
}

/** A method of the value before the dot; `method('trim.js', of)`. */
export function method(fn: string, of: Expr, ...args: Expr[]): CallExpr {
  return { kind: 'call', fn, args: [of, ...args] };
}

/** `items.map((as, indexAs) => body)`. */
export function map(items: Expr, as: string, body: Expr, indexAs?: string): EachExpr {
  return { kind: 'each', mode: 'map', as, in: items, body, ...(indexAs === undefined ? {} : { indexAs }) };
}

/** `items.filter((as, indexAs) => body)`, and so on. */
export function ask(
  mode: QuestionExpr['mode'],
  items: Expr,
  as: string,
  body: Expr,
  indexAs?: string,
): EachExpr {
  const names = indexAs === undefined ? { as } : { as, indexAs };
  return { kind: 'each', mode, truth: 'truthy.js', ...names, in: items, body };
}

export function slice(of: Expr, start?: Expr, end?: Expr): SliceExpr {
  const bounds = { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
  return { kind: 'slice', style: 'js', of, ...bounds };
}

export function arithmetic(left: Expr, op: ArithmeticOp, right: Expr): Expr {
  return { kind: 'arithmetic', op, left, right };
}

/** A name for a value in a body. */
export function bound(name: string, value: Expr, body: Expr): Expr {
  return { kind: 'let', name, value, body };
}

/** A list; arrays of one are spread. */
export function list(...items: (Expr | [Expr])[]): Expr {
  return {
    kind: 'list',
    items: items.map((item) => (Array.isArray(item) ? { value: item[0], spread: true } : { value: item })),
  };
}

/** The same link behind `?.`. */
export function optional<T extends GetExpr | CallExpr | EachExpr | SliceExpr>(link: T): T {
  return { ...link, optional: true };
}

/** A scope of plain data. */
export function scopeOf(data: {
  readonly inputs?: Readonly<Record<string, Value>>;
  readonly steps?: Readonly<Record<string, Value>>;
}): EvaluationScope {
  return {
    lookup(root, name) {
      const values = root === 'inputs' ? data.inputs : data.steps;
      return values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
    },
  };
}

/** Evaluates with plenty of budget. */
export function run(expr: Expr, data: Parameters<typeof scopeOf>[0] = {}): Value {
  return evaluate(expr, scopeOf(data), new Budget(1_000_000));
}

/** What evaluation throws: code and sentence. */
export function fault(
  expr: Expr,
  data?: Parameters<typeof run>[1],
): { code: string; message: string; at: unknown } {
  try {
    run(expr, data);
  } catch (error) {
    if (error instanceof ExpressionError) return { code: error.code, message: error.message, at: error.at };
    throw error;
  }
  throw new Error('nothing was thrown');
}

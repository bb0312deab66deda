import type { Value } from '../json.js';
import { Budget, type EvaluationScope, evaluate } from './evaluate.js';
import type { Expr, GetExpr, RefExpr } from './tree.js';

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

export function text(style: 'js' | 'display', ...parts: (string | Expr)[]): Expr {
  return { kind: 'text', style, parts };
}

export function dict(entries: Readonly<Record<string, Expr>>): Expr {
  return { kind: 'dict', entries: Object.entries(entries).map(([key, value]) => ({ key, value })) };
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

import { Budget, type EvaluationScope, ExpressionError, evaluate } from '../../graph/expression/evaluate.js';
import { inlineText } from '../../graph/expression/inline.js';
import type { Expr } from '../../graph/expression/tree.js';
import { describeKind, isNullish, isTrue } from '../../graph/expression/value.js';
import { isJsonObject, type Json, type JsonObject, ownProperty, type Value } from '../../graph/json.js';
import type { Failure, RunState } from './contract.js';
import { failures } from './failures.js';

/** What the expressions of one `start` or `advance` may cost together. See `Budget` for the unit. */
export const ADVANCE_BUDGET = 1_000_000;

/** What an expression gave: its value, or the failure of the node it belongs to. */
export type Evaluated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

/** Evaluates the expressions of a run against its state, within one budget. */
export class Evaluation {
  readonly #scope: EvaluationScope;
  readonly #budget: Budget;

  constructor(state: RunState, units: number) {
    this.#budget = new Budget(units);
    this.#scope = {
      lookup(root, name) {
        if (root === 'inputs') return ownProperty(state.input, String(name));
        if (root === 'steps') return ownProperty(state.outputs, String(name));
        return undefined;
      },
    };
  }

  /** Any value, absent included. */
  value(expr: Expr): Evaluated<Value> {
    return this.#guard(() => evaluate(expr, this.#scope, this.#budget));
  }

  /** Any value, where references to `error` read `error`. */
  fallback(expr: Expr, error: JsonObject): Evaluated<Value> {
    const scope: EvaluationScope = {
      lookup: (root, name) =>
        root === 'error' ? ownProperty(error, String(name)) : this.#scope.lookup(root, name),
    };
    return this.#guard(() => evaluate(expr, scope, this.#budget));
  }

  /** A condition: true or false, where null and absent count as false. */
  condition(expr: Expr): Evaluated<boolean> {
    return this.#guard(() => {
      const value = evaluate(expr, this.#scope, this.#budget);
      return !isNullish(value) && isTrue(value, 'boolean', expr.at);
    });
  }

  /** Text, named `what` where it turns out to be something else. */
  text(expr: Expr, what: string): Evaluated<string> {
    const evaluated = this.value(expr);
    if (!evaluated.ok) return evaluated;
    const { value } = evaluated;
    if (typeof value === 'string') return { ok: true, value };
    return { ok: false, failure: failures.notText(what, describeKind(value)) };
  }

  /** Text for a reader: the author's own stays as it is, every value in it is brought onto one short line. */
  guidance(expr: Expr): Evaluated<string> {
    if (expr.kind === 'literal') return this.text(expr, 'guidance');
    let text = '';
    for (const part of expr.kind === 'text' ? expr.parts : [expr]) {
      if (typeof part === 'string') {
        text += part;
        continue;
      }
      const value = this.text(expr.kind === 'text' ? { ...expr, parts: [part] } : part, 'guidance');
      if (!value.ok) return value;
      text += inlineText(value.value);
    }
    return { ok: true, value: text };
  }

  /** A list, named `what` where it turns out to be something else. */
  list(expr: Expr, what: string): Evaluated<readonly Json[]> {
    const evaluated = this.value(expr);
    if (!evaluated.ok) return evaluated;
    const { value } = evaluated;
    if (Array.isArray(value)) return { ok: true, value };
    return { ok: false, failure: failures.notList(what, describeKind(value)) };
  }

  /** An object, named `what` where it turns out to be something else. */
  object(expr: Expr, what: string): Evaluated<JsonObject> {
    const evaluated = this.value(expr);
    if (!evaluated.ok) return evaluated;
    const { value } = evaluated;
    if (isJsonObject(value)) return { ok: true, value };
    return { ok: false, failure: failures.notObject(what, describeKind(value)) };
  }

  #guard<T>(compute: () => T): Evaluated<T> {
    try {
      return { ok: true, value: compute() };
    } catch (error) {
      if (error instanceof ExpressionError) {
        return { ok: false, failure: { code: error.code, message: error.message } };
      }
      throw error;
    }
  }
}

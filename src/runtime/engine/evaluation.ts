import { defined } from '../../graph/defined.js';
import { expressionError } from '../../graph/expression/error.js';
import {
  type Budget,
  type EvaluationScope,
  ExpressionError,
  evaluate,
} from '../../graph/expression/evaluate.js';
import type { Expr, RefRoot } from '../../graph/expression/tree.js';
import { describeKind, isNullish, isTrue } from '../../graph/expression/value.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  ownProperty,
  unreachable,
  type Value,
} from '../../graph/json.js';
import { inlineText } from '../../graph/printable-text.js';
import { bindsName, visibleKey } from '../../plan/instances.js';
import type { Failure } from './events.js';
import { failures } from './failures.js';
import { fieldOf } from './fields.js';
import { type NodeRecord, type ScopeRecord, visibleNode } from './records.js';
import type { RunState } from './state.js';

/** The result of an expression: its value, or a failure of its node. */
export type Evaluated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

/** The failure that a fallback node handles, as its expressions read it; undefined for other nodes. */
export function errorOf({ details }: NodeRecord): JsonObject | undefined {
  const [selection] = details.selections;
  if (selection?.why !== 'fallback') return undefined;
  return failureOf(selection.by);
}

function failureOf({ planned, attempt, details }: NodeRecord): JsonObject | undefined {
  const { failure, reached = attempt } = details;
  if (failure === undefined) return undefined;
  return { code: failure.code, message: failure.message, attempts: reached, node: planned.node.id };
}

/**
 * How a node settled, as references to `nodes` read it. A node that has not begun is in a part that never did: it is
 * skipped. One that has not settled is absent; the checker refuses such references.
 */
export function settledNode(node: NodeRecord | undefined): JsonObject | undefined {
  if (node === undefined) return NEVER_BEGAN;
  if (!node.isSettled) return undefined;
  const error = failureOf(node);
  return { status: node.status, ...defined({ error }) };
}

const NEVER_BEGAN: JsonObject = { status: 'skipped' };

interface EvaluationOptions {
  /** What references to `error` read: the failure that a fallback replaces. */
  readonly error?: JsonObject | undefined;
  /** The time of the event that is handled: what `run.now` reads. */
  readonly at?: number | undefined;
  /** The fields of the state that may be read. Default: all. */
  readonly reads?: readonly string[] | undefined;
}

/** Evaluates expressions against the state of a run as the nodes of one scope see it. */
export class Evaluation implements EvaluationScope {
  readonly #state: RunState;
  readonly #budget: Budget;
  readonly #scope: ScopeRecord;
  readonly #options: EvaluationOptions;

  constructor(state: RunState, budget: Budget, scope: ScopeRecord, options: EvaluationOptions = {}) {
    this.#state = state;
    this.#budget = budget;
    this.#scope = scope;
    this.#options = options;
  }

  lookup(root: RefRoot, name: string | number): Value {
    const { error, at, reads } = this.#options;
    if (root === 'run') return name === 'now' ? at : undefined;
    const field = String(name);
    if (root === 'state' && reads?.includes(field) === false) throw expressionError('E_ACCESS', { field });
    return lookup(this.#state, this.#scope, error, root, field);
  }

  /** Whether a node of the workflow, by its id, has succeeded. */
  hasSucceeded(id: string): boolean {
    return visibleNode(this.#scope, id)?.status === 'succeeded';
  }

  /** A copy in which references to `error` read this one. */
  withError(error: JsonObject): Evaluation {
    return new Evaluation(this.#state, this.#budget, this.#scope, { ...this.#options, error });
  }

  /** Any value, absent included. */
  value(expr: Expr): Evaluated<Value> {
    try {
      return { ok: true, value: evaluate(expr, this, this.#budget) };
    } catch (error) {
      return faultOf(error);
    }
  }

  /** A condition: null and absent count as false. */
  condition(expr: Expr): Evaluated<boolean> {
    try {
      const value = evaluate(expr, this, this.#budget);
      return { ok: true, value: !isNullish(value) && isTrue(value, 'boolean', expr.at) };
    } catch (error) {
      return faultOf(error);
    }
  }

  /** Text. The failure of another value names it `what`. */
  text(expr: Expr, what: string): Evaluated<string> {
    const evaluated = this.value(expr);
    if (!evaluated.ok) return evaluated;
    const { value } = evaluated;
    if (typeof value === 'string') return { ok: true, value };
    return { ok: false, failure: failures.notText(what, describeKind(value)) };
  }

  /** Text for a reader: the author's text unchanged, with every value in it as one short line. */
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

  /** A list. The failure of another value names it `what`. */
  list(expr: Expr, what: string): Evaluated<readonly Json[]> {
    const evaluated = this.value(expr);
    if (!evaluated.ok) return evaluated;
    const { value } = evaluated;
    if (Array.isArray(value)) return { ok: true, value };
    return { ok: false, failure: failures.notList(what, describeKind(value)) };
  }

  /** An object. The failure of another value names it `what`. */
  object(expr: Expr, what: string): Evaluated<JsonObject> {
    const evaluated = this.value(expr);
    if (!evaluated.ok) return evaluated;
    const { value } = evaluated;
    if (isJsonObject(value)) return { ok: true, value };
    return { ok: false, failure: failures.notObject(what, describeKind(value)) };
  }
}

/** A transition, as its expressions see it. */
interface Reading {
  readonly state: RunState;
  readonly budget: Budget;
  readonly at: number;
}

/** Evaluates expressions as the nodes of a scope see the run. */
export function readerIn({ state, budget, at }: Reading, scope: ScopeRecord): Evaluation {
  return new Evaluation(state, budget, scope, { at });
}

/**
 * Evaluates expressions as a node sees the run: the fields of the state that it may read, and of a fallback node the failure
 * that it handles, as `error`.
 */
export function readerOf({ state, budget, at }: Reading, node: NodeRecord): Evaluation {
  const { reads } = node.planned.node;
  return new Evaluation(state, budget, node.scope, { at, error: errorOf(node), reads });
}

/** The failure of an expression. @throws any other error: it is a bug */
function faultOf(error: unknown): Evaluated<never> {
  if (!(error instanceof ExpressionError)) throw error;
  return { ok: false, failure: { code: error.code, message: error.message } };
}

function lookup(
  state: RunState,
  scope: ScopeRecord,
  error: JsonObject | undefined,
  root: RefRoot,
  name: string,
): Value {
  switch (root) {
    case 'inputs':
      return ownProperty(
        scope.workflow.node === undefined ? state.input : (scope.workflow.node.container?.input ?? {}),
        name,
      );
    case 'steps':
      return visibleNode(scope, name)?.output;
    case 'nodes': {
      const key = state.settledBefore === undefined ? undefined : visibleKey(scope, name);
      const before = key === undefined ? undefined : state.settledBefore?.(key);
      return before ?? settledNode(visibleNode(scope, name));
    }
    case 'item':
    case 'index':
      return loopValue(scope, root, name);
    case 'state':
      return fieldOf(state, scope.workflow, name);
    case 'error':
      return error === undefined ? undefined : ownProperty(error, name);
    case 'local':
    case 'run':
      return undefined;
    default:
      return unreachable(root);
  }
}

/** The values of the items before one, absent ones as null. */
function resultsBefore({ container }: NodeRecord, part: number): Json[] {
  return Array.from({ length: Math.max(0, part) }, (_, index) => container?.values[index]?.value ?? null);
}

/** The item or the index of the nearest loop that uses this name, or its results before the item. */
function loopValue(scope: ScopeRecord, root: 'item' | 'index', name: string): Value {
  for (let inner = scope; inner.container !== undefined; inner = inner.container.scope) {
    const { container, part } = inner;
    const { node } = container.planned;
    if (node.kind === 'workflow') return undefined;
    if (!bindsName(node, root, name)) continue;
    if (root === 'item' && node.kind === 'foreach' && node.resultsAs === name)
      return resultsBefore(container, part);
    if (root === 'item') return container.container?.items?.[part];
    return part < 0 ? container.container?.anyIndex : part;
  }
  return undefined;
}

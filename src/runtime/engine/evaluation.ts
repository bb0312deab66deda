import {
  type Budget,
  type EvaluationScope,
  ExpressionError,
  evaluate,
} from '../../graph/expression/evaluate.js';
import { inlineText } from '../../graph/expression/inline.js';
import type { Expr, RefRoot } from '../../graph/expression/tree.js';
import { describeKind, isNullish, isTrue } from '../../graph/expression/value.js';
import { isJsonObject, type Json, type JsonObject, ownProperty, type Value } from '../../graph/json.js';
import { unreachable } from '../../graph/unreachable.js';
import { nodeKey } from '../../plan/node-key.js';
import type { Failure, RunState } from './contract.js';
import { failures } from './failures.js';
import { type Instances, type ScopeInstance, visibleKey, type WorkflowInstance } from './instances.js';
import type { NodeRow } from './state.js';

/** What an expression gave: its value, or the failure of the node it belongs to. */
export type Evaluated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

/** The failure that a node takes over for, as its expressions read it: nothing unless a fallback selected the node. */
export function errorOf(
  key: string,
  rowOf: (key: string) => NodeRow | undefined,
  instances: Instances,
): JsonObject | undefined {
  const selection = rowOf(key)?.selections?.[0];
  if (selection?.why !== 'fallback') return undefined;
  const { failure, reached = 0 } = rowOf(selection.by) ?? {};
  if (failure === undefined) return undefined;
  const { id } = instances.find(selection.by).planned.node;
  return { code: failure.code, message: failure.message, attempts: reached, node: id };
}

/** Evaluates expressions against the state of a run as the nodes of one scope see it. */
export class Evaluation implements EvaluationScope {
  readonly #state: RunState;
  readonly #budget: Budget;
  readonly #place: ScopeInstance;
  readonly #error: JsonObject | undefined;

  /** @param error what references to `error` read: the failure that something stands in for. */
  constructor(state: RunState, budget: Budget, place: ScopeInstance, error?: JsonObject) {
    this.#state = state;
    this.#budget = budget;
    this.#place = place;
    this.#error = error;
  }

  lookup(root: RefRoot, name: string | number): Value {
    return lookup(this.#state, this.#place, this.#error, root, String(name));
  }

  /** Whether a node, by its key, has succeeded. */
  hasSucceeded(key: string): boolean {
    return ownProperty(this.#state.nodes, key)?.status === 'succeeded';
  }

  /** The same, where references to `error` read this one. */
  withError(error: JsonObject): Evaluation {
    return new Evaluation(this.#state, this.#budget, this.#place, error);
  }

  /** Any value, absent included. */
  value(expr: Expr): Evaluated<Value> {
    try {
      return { ok: true, value: evaluate(expr, this, this.#budget) };
    } catch (error) {
      return faultOf(error);
    }
  }

  /** A condition: true or false, where null and absent count as false. */
  condition(expr: Expr): Evaluated<boolean> {
    try {
      const value = evaluate(expr, this, this.#budget);
      return { ok: true, value: !isNullish(value) && isTrue(value, 'boolean', expr.at) };
    } catch (error) {
      return faultOf(error);
    }
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
}

/** The failure of an expression. @throws what is none of its faults but ours */
function faultOf(error: unknown): Evaluated<never> {
  if (!(error instanceof ExpressionError)) throw error;
  return { ok: false, failure: { code: error.code, message: error.message } };
}

function lookup(
  state: RunState,
  place: ScopeInstance,
  error: JsonObject | undefined,
  root: RefRoot,
  name: string,
): Value {
  switch (root) {
    case 'inputs':
      return ownProperty(inputsOf(state, place), name);
    case 'steps': {
      const key = visibleKey(place, name);
      return key === undefined ? undefined : ownProperty(state.outputs, key);
    }
    case 'item':
    case 'index':
      return loopValue(state, place, root, name);
    case 'state': {
      const row = ownProperty(state.fields, name);
      return row === undefined ? initialOf(place, name) : row.value;
    }
    case 'error':
      return error === undefined ? undefined : ownProperty(error, name);
    case 'run':
    case 'local':
      return undefined;
    default:
      return unreachable(root);
  }
}

function inputsOf(state: RunState, { workflow }: ScopeInstance): JsonObject {
  if (workflow.node === undefined) return state.input;
  return ownProperty(state.inputs, workflow.node.key) ?? {};
}

/** The item or the place of the nearest loop around that calls it so. */
function loopValue(state: RunState, place: ScopeInstance, root: 'item' | 'index', name: string): Value {
  const { plan, workflow, indices } = place;
  for (let depth = plan.loops.length - 1; depth >= 0; depth -= 1) {
    const node = plan.loops[depth]?.node;
    const index = indices[depth];
    if (node?.kind !== 'foreach' || index === undefined) continue;
    if (root === 'index' && node.indexAs === name) return index;
    if (root === 'item' && node.as === name) {
      return ownProperty(state.items, nodeKey(workflow.prefix, node.id, indices.slice(0, depth)))?.[index];
    }
  }
  return undefined;
}

/** A field nobody has written reads as its workflow declares it. */
function initialOf({ workflow }: ScopeInstance, name: string): Value {
  for (
    let each: WorkflowInstance | undefined = workflow;
    each !== undefined;
    each = each.node?.scope.workflow
  ) {
    const field = each.plan.graph.state?.find((declared) => declared.name === name);
    if (field !== undefined) return field.initial;
  }
  return undefined;
}

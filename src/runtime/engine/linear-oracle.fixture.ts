import { Budget, ExpressionError, evaluate } from '../../graph/expression/evaluate.js';
import { references } from '../../graph/expression/traversal.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json, JsonObject, Value } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import type { Graph } from '../../graph/model.js';
import type { Failure } from './contract.js';

/** How a tool, resource or function answers an attempt (counted from 1) when its node gets that far. */
export type Behaviour = (node: string, attempt: number) => Answer;

type Answer = { readonly value: Json } | 'fails' | 'refuses';

/** What every failure of a tool, resource or function says. */
export const BROKE: Failure = { code: 'E_TOOL', message: 'broke' };

/** What is left of a run when it is over. */
export interface Outcome {
  readonly status: 'succeeded' | 'failed';
  readonly result?: Json;
  /** The node whose failure the run ended with. */
  readonly failedNode?: string;
  /** By node: its status, with the reason of a skip. */
  readonly nodes: Readonly<Record<string, string>>;
  /** By node: what it gave, or its fallback did. */
  readonly outputs: ReadonlyMap<string, Json>;
}

/**
 * What a linear graph means, told directly: one node after the other, by recursion over the list. Knows nothing of
 * events, commands and rows.
 */
export function linearOutcome(graph: Graph, input: JsonObject, behaviour: Behaviour): Outcome {
  const strategy = graph.errorStrategy;
  const failFast = strategy?.kind !== 'collect' && (graph.failFast ?? true);
  const nodes = new Map<string, string>();
  const outputs = new Map<string, Json>();
  const state: { failedNode?: string } = {};

  const read = (expr: Expr, error: JsonObject = {}): Value => {
    const named = (values: JsonObject, name: string) =>
      Object.hasOwn(values, name) ? values[name] : undefined;
    const lookup = (root: string, name: string | number) => {
      if (root === 'steps') return outputs.get(String(name));
      return named(root === 'error' ? error : input, String(name));
    };
    return evaluate(expr, { lookup }, new Budget(1_000_000));
  };

  /** The first node that failed is the run's, unless an `error` node speaks. */
  function failed(node: Node): void {
    nodes.set(node.id, 'failed');
    if (node.kind === 'error') state.failedNode = node.id;
    else state.failedNode ??= node.id;
  }

  function rest(list: readonly Node[], reason: string): undefined {
    for (const { id } of list) nodes.set(id, `skipped(${reason})`);
    return undefined;
  }

  /** Runs the list from its head on. Gives the value of the `return` it came to. */
  function run([node, ...others]: readonly Node[], before: string): { value: Value } | undefined {
    if (node === undefined) return undefined;
    const needs = plainSteps(node);
    const cutBy = strategy?.kind === 'collect' ? [...needs, ...askedSteps(node)] : needs;
    const ahead = strategy?.kind === 'collect' ? [] : [before];
    const cutOff = [...ahead, ...cutBy.map((id) => nodes.get(id))].some(
      (status) => status === 'failed' || status === 'skipped(upstream_failed)',
    );
    if (cutOff) {
      nodes.set(node.id, 'skipped(upstream_failed)');
      return run(others, 'skipped(upstream_failed)');
    }
    try {
      if (node.when !== undefined) {
        const condition = read(node.when) ?? false;
        if (typeof condition !== 'boolean') throw new ExpressionError('E_NOT_A_BOOLEAN', 'not a boolean');
        if (!condition) {
          nodes.set(node.id, 'skipped(condition_false)');
          return run(others, 'skipped(condition_false)');
        }
      }
    } catch {
      // An `error` node that was not reached does not end the run.
      nodes.set(node.id, 'failed');
      state.failedNode ??= node.id;
      return failFast ? rest(others, 'upstream_failed') : run(others, 'failed');
    }
    switch (node.kind) {
      case 'error':
        failed(node);
        return rest(others, 'run_ended');
      case 'return':
        try {
          const value = read(node.value);
          nodes.set(node.id, 'succeeded');
          if (value !== undefined) outputs.set(node.id, value);
          rest(others, 'run_ended');
          return { value };
        } catch {
          failed(node);
        }
        break;
      default: {
        const given = work(node);
        if (given !== undefined) {
          nodes.set(node.id, 'succeeded');
          if (given.value !== undefined) outputs.set(node.id, given.value);
          return run(others, 'succeeded');
        }
        failed(node);
      }
    }
    return failFast ? rest(others, 'upstream_failed') : run(others, 'failed');
  }

  /** All attempts of a node, and its fallback value where they fail. */
  function work(node: Node): { value: Value } | undefined {
    try {
      const given = tryOften(node);
      return 'value' in given ? given : applyFallbackValue(node, BROKE, given.attempts);
    } catch (fault) {
      return fault instanceof ExpressionError ? applyFallbackValue(node, fault, 0) : undefined;
    }
  }

  function tryOften(node: Node): { value: Value } | { attempts: number } {
    if (node.kind === 'compute') {
      const value = read(node.value);
      if (node.function === undefined) return { value };
    }
    if (node.kind === 'call') read(node.input);
    if (node.kind === 'resource') read(node.uri);
    const common = strategy?.kind === 'retry' && node.kind !== 'compute' ? strategy.retry : undefined;
    const attempts = 1 + ((node.retry ?? common)?.extra ?? 0);
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const given = behaviour(node.id, attempt);
      // Only a tool's input is checked before the tool is reached.
      if (given === 'refuses' && node.kind === 'call') return { attempts: attempt - 1 };
      if (typeof given !== 'string') return given;
    }
    return { attempts };
  }

  function applyFallbackValue(
    { id, onError }: Node,
    { code, message }: Pick<Failure, 'code' | 'message'>,
    attempts: number,
  ): { value: Value } | undefined {
    if (onError === undefined || !('value' in onError)) return undefined;
    try {
      return { value: read(onError.value, { code, message, attempts, node: id }) };
    } catch {
      return undefined;
    }
  }

  const returned = run(graph.nodes, 'succeeded');
  const statuses = Object.fromEntries(nodes);
  if (state.failedNode !== undefined)
    return { status: 'failed', failedNode: state.failedNode, nodes: statuses, outputs };
  const result = returned === undefined ? null : returned.value;
  return { status: 'succeeded', ...(result === undefined ? {} : { result }), nodes: statuses, outputs };
}

/** Steps a node's own value reads without providing for their absence. */
function plainSteps(node: Node): string[] {
  const value =
    node.kind === 'call'
      ? node.input
      : node.kind === 'resource'
        ? node.uri
        : node.kind === 'error'
          ? node.message
          : node.kind === 'return' || node.kind === 'compute'
            ? node.value
            : undefined;
  if (value === undefined) return [];
  return references(value)
    .filter(({ ref, guarded }) => ref.root === 'steps' && !guarded)
    .map(({ ref }) => String(ref.path[0]));
}

/** Steps a condition asks about; a check that ends the run is not even asked about what failed. */
function askedSteps({ kind, when }: Node): string[] {
  if (when === undefined) return [];
  return references(when)
    .filter(({ ref, guarded }) => ref.root === 'steps' && (kind === 'error' || !guarded))
    .map(({ ref }) => String(ref.path[0]));
}

/** Decides beforehand what each node's tool does: two in three succeed at once, some after a failure or two. */
export function behaviourOf(graph: Graph, luck: Iterator<number>): Behaviour {
  const results: readonly Json[] = [null, true, 'text', { ok: true }, { ok: false }];
  const decided = new Map(graph.nodes.map(({ id }) => [id, luck.next().value as number]));
  return (node, attempt): Answer => {
    const number = decided.get(node) ?? 0;
    if (number === 9) return 'refuses';
    if (number === 8 || number - 5 > attempt) return 'fails';
    return { value: results[number % results.length] ?? null };
  };
}

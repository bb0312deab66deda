import { Budget, ExpressionError, evaluate } from '../../graph/expression/evaluate.js';
import { references } from '../../graph/expression/references.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json, JsonObject, Value } from '../../graph/json.js';
import type { Graph, Node } from '../../graph/model.js';

/** What a tool or resource gives when its node gets that far; none for a failure. */
export type Behaviour = (node: string) => { readonly value: Json } | undefined;

/** What is left of a run when it is over. */
export interface Outcome {
  readonly status: 'succeeded' | 'failed';
  readonly result?: Json;
  /** The node whose failure the run ended with. */
  readonly failedNode?: string;
  /** By node: its status, with the reason of a skip. */
  readonly nodes: Readonly<Record<string, string>>;
}

/**
 * What a linear graph means, told directly: one node after the other, by recursion over the list. Knows nothing of
 * events, commands and rows.
 */
export function linearOutcome(graph: Graph, input: JsonObject, behaviour: Behaviour): Outcome {
  const failFast = graph.failFast ?? true;
  const nodes = new Map<string, string>();
  const outputs = new Map<string, Json>();
  const state: { failedNode?: string } = {};

  const read = (expr: Expr): Value =>
    evaluate(
      expr,
      {
        lookup: (root, name) =>
          root === 'steps'
            ? outputs.get(String(name))
            : Object.hasOwn(input, name)
              ? input[name as string]
              : undefined,
      },
      new Budget(1_000_000),
    );

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
    const cutOff = [before, ...plainSteps(node).map((id) => nodes.get(id))].some(
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
          rest(others, 'run_ended');
          return { value };
        } catch {
          failed(node);
        }
        break;
      default: {
        const given = attempt(node);
        if (given !== undefined) {
          nodes.set(node.id, 'succeeded');
          outputs.set(node.id, given.value);
          return run(others, 'succeeded');
        }
        failed(node);
      }
    }
    return failFast ? rest(others, 'upstream_failed') : run(others, 'failed');
  }

  function attempt(node: Node): { value: Json } | undefined {
    try {
      if (node.kind === 'call') read(node.input);
      if (node.kind === 'resource') read(node.uri);
    } catch {
      return undefined;
    }
    return behaviour(node.id);
  }

  const returned = run(graph.nodes, 'succeeded');
  const statuses = Object.fromEntries(nodes);
  if (state.failedNode !== undefined)
    return { status: 'failed', failedNode: state.failedNode, nodes: statuses };
  const result = returned === undefined ? null : returned.value;
  return { status: 'succeeded', ...(result === undefined ? {} : { result }), nodes: statuses };
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
          : node.kind === 'return'
            ? node.value
            : undefined;
  if (value === undefined) return [];
  return references(value)
    .filter(({ ref, guarded }) => ref.root === 'steps' && !guarded)
    .map(({ ref }) => String(ref.path[0]));
}

import { Budget } from '../../graph/expression/evaluate.js';
import { isJsonObject, type JsonObject, ownProperty } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/plan.js';
import type { RunState } from '../engine/contract.js';
import { Evaluation } from '../engine/evaluation.js';
import { Instances, type NodeInstance, type ScopeInstance } from '../engine/instances.js';
import { stepsNamedBy } from '../engine/undo.js';

/** What the input of one compensation may cost. See `Budget`. */
const BUDGET = 1_000_000;

/** A call that was to be undone and was not: what it did still stands. */
export interface StandingCall {
  /** The node's key. */
  readonly step: string;
  /** The tool that undoes it. */
  readonly tool: string;
  /** What that is called with. Missing where it cannot be evaluated. */
  readonly input?: JsonObject;
}

/** What undoing came to in a run that is over. */
export interface Undone {
  /** Steps at the top of which something was undone: all they did, or a part of it. In declaration order. */
  readonly steps: readonly string[];
  /** The last to succeed first. */
  readonly standing: readonly StandingCall[];
}

/** Reads from the state of a run that is over what was undone in it, and what still stands though it was to be undone. */
export function undoneIn(graph: Graph, state: RunState): Undone {
  const instances = new Instances(planOf(graph));
  const calls: Completed[] = [];
  const collect = (scope: ScopeInstance, wasToBeUndone: boolean): void => {
    if (!scope.plan.isUndoable || ownProperty(state.scopes, scope.key) === undefined) return;
    for (const planned of scope.plan.nodes) {
      const node = instances.node(scope, planned);
      const { completed, undone = false } = ownProperty(state.nodes, node.key) ?? {};
      if (completed !== undefined) calls.push({ node, completed, undone, wasToBeUndone });
      const { first, next } = ownProperty(state.containers, node.key) ?? { first: 0, next: 0 };
      const inside = wasToBeUndone || wasRolledBack(instances, node, state);
      for (let part = first; part < next; part += 1) collect(instances.part(node, part), inside);
    }
  };
  collect(instances.root, wasUndoneAsAWhole(state));
  const tops = new Set(calls.filter(({ undone }) => undone).map(({ node }) => topOf(node)));
  return {
    steps: graph.nodes.flatMap(({ id }) => (tops.has(id) ? [id] : [])),
    standing: calls
      .filter(({ undone, wasToBeUndone }) => wasToBeUndone && !undone)
      .sort((one, other) => other.completed - one.completed)
      .flatMap(({ node }) => standingCall(node, state)),
  };
}

/** A call that succeeded, and says how it is undone. */
interface Completed {
  readonly node: NodeInstance;
  readonly completed: number;
  readonly undone: boolean;
  readonly wasToBeUndone: boolean;
}

/** Only a run that was cancelled so, and had anything to undo, has a report. */
function wasUndoneAsAWhole({ run: { status, failure } }: RunState): boolean {
  return (
    status === 'cancelled' && isJsonObject(failure?.details) && failure.details.compensation !== undefined
  );
}

/**
 * Whether a node is a `parallel` that undoes what its branches did, and one of them failed. It may have succeeded all the
 * same: with a fallback.
 */
function wasRolledBack(instances: Instances, node: NodeInstance, { scopes }: RunState): boolean {
  const { node: model, parts } = node.planned;
  if (model.kind !== 'parallel' || model.onPartialFailure !== 'rollback') return false;
  return parts.some((_, part) => ownProperty(scopes, instances.part(node, part).key)?.failure !== undefined);
}

function topOf({ key, scope: { container } }: NodeInstance): string {
  return container === undefined ? key : topOf(container);
}

function standingCall({ key, planned, scope }: NodeInstance, state: RunState): StandingCall[] {
  const { compensate: compensation } = planned.node;
  if (compensation === undefined) return [];
  const hasHappened = stepsNamedBy({ compensation, scope }).every(
    (step) => step !== undefined && ownProperty(state.nodes, step)?.status === 'succeeded',
  );
  if (!hasHappened) return [];
  const { tool } = compensation;
  const input = new Evaluation(state, new Budget(BUDGET), scope).object(compensation.input, 'input');
  return [{ step: key, tool, ...(input.ok ? { input: input.value } : {}) }];
}

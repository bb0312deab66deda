import type { Expr } from '../../graph/expression/tree.js';
import type {
  CallNode,
  ComputeNode,
  ErrorNode,
  OnError,
  ResourceNode,
  Retry,
  ReturnNode,
} from '../../graph/model.js';
import type { Place } from '../../graph/place.js';
import type { Binding } from './bindings.js';
import { allOf, onlyIf } from './operators.js';

/** The part of a node that its verb decides. */
export type NodeCore =
  | Pick<CallNode, 'kind' | 'tool' | 'input'>
  | Pick<ResourceNode, 'kind' | 'resource' | 'uri'>
  | Pick<ComputeNode, 'kind' | 'value' | 'function'>
  | Pick<ErrorNode, 'kind' | 'message'>
  | Pick<ReturnNode, 'kind' | 'value'>;

/** How the attempts of a node go. */
export interface Attempts {
  readonly retry?: Retry;
  readonly timeoutMs?: number;
}

/** A node that a step makes. */
export interface StepNode extends Attempts {
  readonly id: string;
  readonly core: NodeCore;
  /** What has to hold for it to run, from the outside in. */
  readonly conditions: readonly Expr[];
  readonly onError?: OnError;
  /** Where it is written; the step's own node points at the field. */
  readonly source: Place;
  /** Set for a read that was moved out of an expression: it waits for what its step waits for. */
  readonly hoisted?: true;
  /** Set for a value that was moved out of what names stand for; see `settle`. */
  readonly settled?: true;
}

/** What a step, or a part of one, comes to. */
export interface StepOutcome {
  /** In the order they run; the last one that is not settled has the id of the part. */
  readonly nodes: readonly StepNode[];
  /** What its name stands for, where these conditions decide whether it runs at all. */
  readonly bind: (conditions: readonly Expr[]) => Binding;
}

/** The value of a node, by its id. */
export function nodeValue(id: string): Expr {
  return { kind: 'ref', root: 'steps', path: [id] };
}

/** The text of a resource node; absent for one that was skipped, where that can be. */
export function resourceText(id: string, mayBeSkipped: boolean): Expr {
  const key: Expr = { kind: 'literal', value: 'text' };
  return { kind: 'get', of: nodeValue(id), key, ...(mayBeSkipped ? { optional: true } : {}) };
}

/** A name that stands for an expression, and for nothing where the conditions do not hold. */
export function boundTo(expr: Expr): StepOutcome['bind'] {
  return (conditions) => ({ kind: 'value', expr: onlyIf(conditions, expr) });
}

/** A name that stands for a node's value: absent by itself where the node was skipped. */
export function boundToNode(id: string): StepOutcome['bind'] {
  return () => ({ kind: 'value', expr: nodeValue(id) });
}

/** The same, done only where a condition holds. */
export function guarded(outcome: StepOutcome, condition: Expr): StepOutcome {
  return {
    nodes: outcome.nodes.map((node) => ({ ...node, conditions: [condition, ...node.conditions] })),
    bind: (conditions) => outcome.bind([...conditions, condition]),
  };
}

/** The `when` of a node. */
export function conditionOf({ conditions }: StepNode): { readonly when?: Expr } {
  const when = allOf(conditions);
  return when === undefined ? {} : { when };
}

import { readKey } from '../../graph/expression/paths.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Compensation, JoinRule, Node, OnError, Retry } from '../../graph/model.js';
import type { Place } from '../../graph/place.js';
import type { Binding } from './bindings.js';
import { allOf, onlyIf } from './operators.js';

/** What every node has, whatever its verb. */
type Common =
  | 'id'
  | 'title'
  | 'guidance'
  | 'embed'
  | 'summary'
  | 'after'
  | 'join'
  | 'when'
  | 'reads'
  | 'output';
type Carried = 'retry' | 'timeoutMs' | 'onError' | 'compensate' | 'executor' | 'source';

type CoreOf<N> = N extends Node ? Omit<N, Common | Carried> : never;

/** The part of a node that its verb decides. */
export type NodeCore = CoreOf<Node>;

/** How the attempts of a node go. */
export interface Attempts {
  readonly retry?: Retry;
  readonly timeoutMs?: number;
}

/** What a node waits for, and when it then runs. */
export interface NodeOrder {
  readonly after: readonly string[];
  readonly join: JoinRule;
}

/** A node that a step makes. */
export interface StepNode extends Attempts {
  readonly id: string;
  readonly core: NodeCore;
  /** What has to hold for it to run, from the outside in. */
  readonly conditions: readonly Expr[];
  readonly onError?: OnError;
  readonly compensate?: Compensation;
  /** Where it is written; the step's own node points at the field. */
  readonly source: Place;
  /** Set for a read that was moved out of an expression: it waits for what its step waits for. */
  readonly hoisted?: true;
  /** Set for a value that was moved out of what names stand for; see `settle`. */
  readonly settled?: true;
  /** Set for a node that runs only when another one's failure selects it: nothing waits for it. */
  readonly selected?: true;
  /** Its order, where that is not the one of writing. */
  readonly order?: NodeOrder;
}

/** What a step, or a part of one, comes to. */
export interface StepOutcome {
  /** In the order they run; the last one that is neither settled nor selected has the id of the part. */
  readonly nodes: readonly StepNode[];
  /** What its name stands for, where these conditions decide whether it runs at all. */
  readonly bind: (conditions: readonly Expr[]) => Binding;
  /** The value of its one node for which its name stands for a given one. Missing where it is that one itself. */
  readonly standIn?: (value: Expr) => Expr;
}

/** The value of a node, by its id. */
export function nodeValue(id: string): Expr {
  return { kind: 'ref', root: 'steps', path: [id] };
}

/** A name that stands for an expression, and for nothing where the conditions do not hold. */
export function boundTo(expr: Expr): StepOutcome['bind'] {
  return (conditions) => ({ kind: 'value', expr: onlyIf(conditions, expr) });
}

/** A name that stands for a node's value: absent by itself where the node was skipped. */
export function boundToNode(id: string): StepOutcome['bind'] {
  return () => ({ kind: 'value', expr: nodeValue(id) });
}

/** A name that stands for a property of a node's value, which is absent where the node was skipped. */
export function boundToProperty(id: string, key: string): StepOutcome['bind'] {
  return (conditions) => ({ kind: 'value', expr: propertyOf(id, key, conditions.length > 0) });
}

/** A property of a node's value; absent for one that was skipped, where that can be. */
export function propertyOf(id: string, key: string, mayBeSkipped: boolean): Expr {
  return readKey(nodeValue(id), { kind: 'literal', value: key }, mayBeSkipped ? { optional: true } : {});
}

/** A name that stands for nothing. */
export const boundToNothing = boundTo({ kind: 'literal' });

/** The same, done only where a condition holds. */
export function guarded(outcome: StepOutcome, condition: Expr): StepOutcome {
  return {
    ...outcome,
    // Who is selected by a failure needs no condition: without it there is no failure.
    nodes: outcome.nodes.map((node) =>
      node.selected ? node : { ...node, conditions: [condition, ...node.conditions] },
    ),
    bind: (conditions) => outcome.bind([...conditions, condition]),
  };
}

/** The node that has the id of its step. */
export function ownNode(nodes: readonly StepNode[]): StepNode | undefined {
  return nodes.findLast(({ settled, selected }) => settled === undefined && selected === undefined);
}

/** What of a node the whole of its step decides. */
export type NodeDetails = Pick<Node, 'title' | 'guidance' | 'summary'>;

/** A node as the graph has it. */
export function finishNode(
  { id, core, conditions, retry, timeoutMs, onError, compensate, source }: StepNode,
  { after, join }: NodeOrder,
  details: NodeDetails = {},
): Node {
  const when = allOf(conditions);
  return {
    ...core,
    id,
    ...details,
    after,
    join,
    ...(when === undefined ? {} : { when }),
    ...(retry === undefined ? {} : { retry }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(onError === undefined ? {} : { onError }),
    ...(compensate === undefined ? {} : { compensate }),
    executor: 'server',
    source,
  };
}

/** The nodes of a scope, one after the other. */
export function inSequence(nodes: readonly StepNode[]): readonly Node[] {
  let before: readonly string[] = [];
  return nodes.map((node) => {
    const after = node.selected ? [] : before;
    if (!node.selected) before = [node.id];
    return finishNode(node, node.order ?? { after, join: 'none_failed' });
  });
}

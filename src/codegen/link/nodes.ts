import type { RetryOptions } from '../../decorators/workflow.js';
import { defined } from '../../graph/defined.js';
import { childrenOf, readKey, references } from '../../graph/expression/traversal.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Compensation, JoinRule, Node, OnError, Retry, Scope } from '../../graph/kinds/node.js';
import { retryFromAttempts } from '../../graph/kinds/node.js';
import type { ErrorStrategy } from '../../graph/model.js';
import { freeName } from '../../graph/names.js';
import { bodiesOf, expressionsOf, withBodies } from '../../graph/nodes.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { ExpressionSyntax } from '../syntax.js';
import {
  bodyOf,
  type CallSyntax,
  endsAtOnce,
  isOneNode,
  makesSteps,
  onlySide,
  optionOf,
  partsOf,
  stepVerbOf,
  unwrap,
} from '../verbs.js';
import { allOf, onlyIf } from './operators-and-methods.js';

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
  | 'writes'
  | 'output';
type Carried = 'retry' | 'timeoutMs' | 'onError' | 'compensate' | 'executor' | 'source';

type CoreOf<N> = N extends Node ? Omit<N, Common | Carried> : never;

/** The part of a node that its verb decides. */
export type NodeCore = CoreOf<Node>;

/** The retries and the timeout of a node. */
export interface Attempts {
  readonly retry?: Retry;
  readonly timeoutMs?: number;
}

/** What a node waits for, and when it then runs. */
export interface NodeOrder {
  readonly after: readonly string[];
  readonly join: JoinRule;
}

export interface StepNode extends Attempts {
  readonly id: string;
  readonly core: NodeCore;
  /** What has to hold for it to run, from the outside in. */
  readonly conditions: readonly Expr[];
  readonly onError?: OnError;
  readonly compensate?: Compensation;
  /** Who executes it. Default: the server. */
  readonly executor?: 'client';
  /** The field of state that its value is written to. */
  readonly writes?: string;
  /** Where it is written; the step's own node points at the field. */
  readonly source: SourceLocation;
  /** Set for a read that was moved out of an expression: it waits for what its step waits for. */
  readonly hoisted?: true;
  /** Set for the value of a name that was moved to a node; see `settle`. */
  readonly settled?: true;
  /** Set for a node that runs only when another one's failure selects it: nothing waits for it. */
  readonly selected?: true;
  /** What it waits for besides, of a later link of a chain. */
  readonly alsoAfter?: readonly string[];
  /** Its order, where that is not the one of writing. */
  readonly order?: NodeOrder;
}

/** The meaning of a workflow's field once it has been linked. */
export type Binding =
  | { readonly kind: 'value'; readonly expr: Expr }
  /** Ends its workflow: nothing that comes after sees a value. */
  | { readonly kind: 'end' }
  /** Its own fault has been reported, so that using it is none. */
  | { readonly kind: 'faulty' };

/** The nodes of a step, or of a part of one, and its value. */
export interface StepOutcome {
  /** In the order they run; the last one that is neither settled nor selected has the id of the part. */
  readonly nodes: readonly StepNode[];
  /** The meaning of its name, if it runs only where these conditions hold. */
  readonly bind: (conditions: readonly Expr[]) => Binding;
  /** The value that its one node needs so that its name has a given value. Absent if both are the same. */
  readonly standIn?: (value: Expr) => Expr;
}

export function nodeValue(id: string): Expr {
  return { kind: 'ref', root: 'steps', path: [id] };
}

/** Binds a name to an expression, which is absent where the conditions do not hold. */
export function boundTo(expr: Expr): StepOutcome['bind'] {
  return (conditions) => ({ kind: 'value', expr: onlyIf(conditions, expr) });
}

/** Binds a name to a node's value, which is absent where the node was skipped. */
export function boundToNode(id: string): StepOutcome['bind'] {
  return () => ({ kind: 'value', expr: nodeValue(id) });
}

/** Binds a name to a property of a node's value, which is absent where the node was skipped. */
export function boundToProperty(id: string, key: string): StepOutcome['bind'] {
  return (conditions) => ({ kind: 'value', expr: propertyOf(id, key, conditions.length > 0) });
}

/** A property of a node's value; absent for one that was skipped, where that can be. */
export function propertyOf(id: string, key: string, mayBeSkipped: boolean): Expr {
  return readKey(nodeValue(id), { kind: 'literal', value: key }, mayBeSkipped ? { optional: true } : {});
}

/** Binds a name to an absent value. */
export const boundToNothing = boundTo({ kind: 'literal' });

/** An outcome that happens only where a condition holds. */
export function guarded(outcome: StepOutcome, condition: Expr): StepOutcome {
  return {
    ...outcome,
    // A node that a failure selects needs no condition: without the condition there is no failure.
    nodes: outcome.nodes.map((node) =>
      node.selected ? node : { ...node, conditions: [condition, ...node.conditions] },
    ),
    bind: (conditions) => outcome.bind([...conditions, condition]),
  };
}

export function ownNode(nodes: readonly StepNode[]): StepNode | undefined {
  return nodes.findLast(({ settled, selected }) => settled === undefined && selected === undefined);
}

/** The properties of a node that its step decides. */
export type NodeDetails = Pick<Node, 'title' | 'guidance' | 'summary'>;

export function finishNode(
  { id, core, conditions, retry, timeoutMs, onError, compensate, executor, writes, source }: StepNode,
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
    ...defined({ when, retry, timeoutMs, onError, compensate, writes }),
    executor: executor ?? 'server',
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

/** The most parts of an expression that replaces each use of a name. */
const MAX_PARTS = 32;

/**
 * Moves a large expression, and one that reads state, from a name to a node of its own. Every use of a name repeats
 * its expression: names that use each other would double the graph with every step, and a field of state might have
 * changed between two uses.
 *
 * @param nextId gives the id of that node.
 */
export function settle(outcome: StepOutcome, nextId: () => string, source: SourceLocation): StepOutcome {
  const bound = outcome.bind([]);
  if (bound.kind !== 'value' || (isSmall(bound.expr) && !readsState(bound.expr))) return outcome;
  const id = nextId();
  const node: StepNode = {
    id,
    core: { kind: 'compute', value: bound.expr },
    conditions: [],
    source,
    settled: true,
  };
  return { nodes: [...outcome.nodes, node], bind: boundToNode(id) };
}

/** Whether an expression may have another value later on, because a step in between sets a field of state. */
export function readsState(expr: Expr): boolean {
  return references(expr).some(({ ref }) => ref.root === 'state');
}

function isSmall(expr: Expr): boolean {
  let parts = 0;
  const open = [expr];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    parts++;
    if (parts > MAX_PARTS) return false;
    open.push(...childrenOf(next).map((child) => child.expr));
  }
  return true;
}

/** Removes settled values that nothing uses. Nodes that waited for one wait for its predecessors. */
export function withoutIdle(nodes: readonly Node[], settled: ReadonlySet<string>): readonly Node[] {
  if (settled.size === 0) return nodes;
  const used = new Set<string>();
  const before = new Map<string, readonly string[]>();
  const use = (expr: Expr): void => {
    for (const { ref } of references(expr)) if (ref.root === 'steps') used.add(String(ref.path[0]));
  };
  // A value is used by what comes after it, which is known by the time it is looked at.
  const visit = ({ nodes: inside, value }: Scope): void => {
    if (value !== undefined) use(value);
    for (const node of [...inside].reverse()) {
      if (settled.has(node.id) && !used.has(node.id)) {
        before.set(node.id, node.after);
        continue;
      }
      expressionsOf(node).forEach(use);
      for (const { scope } of bodiesOf(node).reverse()) visit(scope);
    }
  };
  visit({ nodes });
  const waitedFor = (id: string): readonly string[] => before.get(id)?.flatMap(waitedFor) ?? [id];
  const prune = (inside: readonly Node[]): readonly Node[] =>
    inside
      .filter(({ id }) => !before.has(id))
      .map((node) => ({
        ...withBodies(node, (scope) => ({ ...scope, nodes: prune(scope.nodes) })),
        after: node.after.flatMap(waitedFor),
      }));
  return before.size === 0 ? nodes : prune(nodes);
}

/** The option `retry` as the graph has it. Its values have been checked with the options. */
export function retryOf(options: unknown): Retry | undefined {
  if (typeof options !== 'object' || options === null) return undefined;
  return retryFromAttempts(options as RetryOptions);
}

/** The option `errorStrategy` as the graph has it; nothing where it was left out. */
export function errorStrategyOf(option: unknown): ErrorStrategy | undefined {
  if (option === 'failFast' || option === 'collect') return { kind: option };
  if (typeof option !== 'object' || option === null || !('retry' in option)) return undefined;
  const retry = retryOf(option.retry);
  return retry && { kind: 'retry', retry };
}

/** The ids of a graph's nodes while they are made. */
export class NodeIds {
  readonly #taken: Set<string>;
  readonly #settled = new Set<string>();

  /** @param written ids that authors have given, which nothing derived may take. */
  constructor(written: Iterable<string>) {
    this.#taken = new Set(written);
  }

  /** The id, or the first of `id-2`, `id-3`, … that no other node has; from now on it is taken. */
  next(base: string): string {
    const id = freeName(base, (each) => this.#taken.has(each), '-');
    this.#taken.add(id);
    return id;
  }

  /** An id for the value of a name that was moved to a node; see `settle`. */
  nextSettled(base: string): string {
    const id = this.next(base);
    this.#settled.add(id);
    return id;
  }

  /** The ids of all such values. */
  get settled(): ReadonlySet<string> {
    return this.#settled;
  }
}

export function idPart(key: string | number): string {
  return String(key).replace(/[^\p{ID_Continue}$-]/gu, '-');
}

/** The id of a step's own node that the options of its call give, wherever the call is in the initializer. */
export function writtenId(initializer: ExpressionSyntax): string | undefined {
  const inner = unwrap(initializer);
  switch (inner.kind) {
    case 'conditional': {
      const side = onlySide(inner);
      return side && writtenId(side);
    }
    case 'binary':
      return inner.operator === '??' && makesSteps(inner.right) ? writtenId(inner.right) : undefined;
    case 'property':
    case 'element':
      return writtenId(inner.object);
    case 'call':
      return writtenIdOf(inner);
    default:
      return undefined;
  }
}

function writtenIdOf(call: CallSyntax): string | undefined {
  switch (stepVerbOf(call)) {
    case 'call': {
      const transform = optionOf(call, 'transform');
      // With a function by name as `transform`, the id is that of the node before.
      return transform === undefined || transform.kind === 'arrow' ? idIn(call) : undefined;
    }
    case 'ask.confirm': {
      const approved = optionOf(call, 'approves');
      return approved?.kind === 'call' ? writtenIdOf(approved) : undefined;
    }
    case 'run':
    case 'shell':
    case 'delegate':
      return idIn(call);
    case 'attempt': {
      const [step, fallback] = call.args;
      const body = bodyOf(fallback);
      // Where other steps take over, the step is inside another node.
      const isInside = body !== undefined && makesSteps(body) && !endsAtOnce(body);
      return step === undefined || isInside || !isOneNode(step) ? undefined : writtenId(step);
    }
    case 'chain': {
      const body = bodyOf(call.args.at(-1));
      return body && writtenId(body);
    }
    default:
      return undefined;
  }
}

/** Every id that is written in the options of a call, however deep. */
export function writtenIds(initializer: ExpressionSyntax): readonly string[] {
  const own =
    initializer.kind === 'call' && stepVerbOf(initializer) !== undefined ? idIn(initializer) : undefined;
  return [...(own === undefined ? [] : [own]), ...partsOf(initializer).flatMap(writtenIds)];
}

function idIn(call: CallSyntax): string | undefined {
  const id = optionOf(call, 'id');
  return id?.kind === 'literal' && typeof id.value === 'string' ? id.value : undefined;
}

/** What a step settles as: as its one node does, or as none. */
export type Settling =
  | { readonly kind: 'node'; readonly id: string }
  /** Why nothing says how the whole step settles. */
  | { readonly kind: 'none'; readonly why: string; readonly hint: string };

const VALUE: Settling = {
  kind: 'none',
  why: 'a value, which is computed where it is used',
  hint: 'name the step that the value comes from',
};

export function settlingOf(nodes: readonly StepNode[]): Settling {
  const own = nodes.filter(({ hoisted, settled, selected }) => !hoisted && !settled && !selected);
  const [only, ...others] = own;
  if (only === undefined) return VALUE;
  if (others.length > 0)
    return {
      kind: 'none',
      why: 'a step of several nodes',
      hint: 'make each of its calls a step, and name one of them',
    };
  const { kind } = only.core;
  if (kind === 'error' || kind === 'return')
    return {
      kind: 'none',
      why: 'a step that ends the workflow',
      hint: 'read its value: a later step runs only if it has one',
    };
  return { kind: 'node', id: only.id };
}

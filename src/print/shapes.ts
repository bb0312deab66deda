import type { Expr } from '../graph/expression/tree.js';
import type { Node, Scope } from '../graph/kinds/node.js';
import type { BranchNode } from '../graph/model.js';
import type { PlannedNode } from '../plan/plan.js';
import { nodesBefore } from '../plan/reachability.js';

/** Steps that are tried, and the steps that run if one of them fails. */
export interface Attempt {
  readonly tried: readonly Node[];
  /** The step whose failure selects the alternative. */
  readonly risky: Node;
  readonly otherwise: readonly Node[];
}

/** The body of a branch whose only case always holds: it only groups steps. */
export function soleBody(node: Node): Scope | undefined {
  if (node.kind !== 'branch' || node.else !== undefined) return undefined;
  const [only, ...others] = node.cases;
  if (only === undefined || others.length > 0 || !('body' in only)) return undefined;
  return only.when.kind === 'literal' && only.when.value === true ? only.body : undefined;
}

/**
 * The attempt that a branch consists of, if it is one: a step selects another when it fails, the steps after that wait for
 * it, and no other steps follow.
 */
export function attemptOf(node: Node): Attempt | undefined {
  const body = soleBody(node);
  return body === undefined ? undefined : attemptIn(body);
}

function attemptIn({ nodes }: Scope): Attempt | undefined {
  const risky = nodes.filter(({ onError }) => onError !== undefined && 'fallbackNode' in onError);
  const [only, ...others] = risky;
  if (only === undefined || others.length > 0) return undefined;
  const place = nodes.findIndex(({ id }) => id === fallbackOf(only));
  const [first, ...rest] = nodes.slice(Math.max(0, place));
  const isRight = place > 0 && nodes[place - 1] === only && first?.after.length === 0;
  if (!isRight || first === undefined || leadsElsewhere(nodes)) return undefined;
  const otherwise = new Set([first.id]);
  for (const { id, after } of rest) {
    if (after.length === 0 || !after.every((before) => otherwise.has(before))) return undefined;
    otherwise.add(id);
  }
  return { tried: nodes.slice(0, place), risky: only, otherwise: [first, ...rest] };
}

/**
 * The value of an attempt in two parts: of the tried steps, and of the alternative. `undefined` for a value of another
 * form.
 */
export function valuesOf({ risky }: Attempt, value: Expr): readonly [Expr, Expr] | undefined {
  if (value.kind !== 'conditional' || value.else === undefined || value.test.kind !== 'compare')
    return undefined;
  const { left: subject, ops } = value.test;
  const [op, ...others] = ops;
  const isThere =
    subject.kind === 'ref' &&
    subject.root === 'steps' &&
    subject.path.length === 1 &&
    subject.path[0] === risky.id &&
    others.length === 0 &&
    op?.op === 'ne.strict' &&
    op.right.kind === 'literal' &&
    op.right.value === undefined;
  return isThere ? [value.then, value.else] : undefined;
}

export function fallbackOf({ onError }: Node): string | undefined {
  return onError !== undefined && 'fallbackNode' in onError ? onError.fallbackNode : undefined;
}

/** Whether a node of a list has a `goto`. */
function leadsElsewhere(nodes: readonly Node[]): boolean {
  return nodes.some((node) => {
    if (node.kind === 'goto') return true;
    return node.kind === 'branch' && armsOf(node).some((arm) => 'goto' in arm);
  });
}

/** The arms of a branch, `else` last. */
export function armsOf({ cases, else: otherwise }: BranchNode) {
  return [...cases, ...(otherwise === undefined ? [] : [otherwise])];
}

/** The dependencies of a node, without reads that other dependencies already imply. */
export function sourcesOf({ after, sources }: PlannedNode): readonly PlannedNode[] {
  const dataSources = sources.filter((source) => !after.includes(source));
  if (dataSources.length === 0 || sources.length === 1) return sources;
  const first = Math.min(...dataSources.map(({ index }) => index));
  const before = nodesBefore(sources, ({ index }) => index >= first);
  return sources.filter((source) => after.includes(source) || !before.has(source));
}

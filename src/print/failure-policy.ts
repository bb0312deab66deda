import { kinds } from '../graph/kinds/kinds.js';
import type { Node } from '../graph/kinds/node.js';
import { isFailFast } from '../graph/limits.js';
import type { Graph } from '../graph/model.js';
import { failsByItem, fallbackValue, nodesOf } from '../graph/nodes.js';
import { clipText } from '../graph/printable-text.js';
import { rollsBack } from '../plan/plan.js';
import { printExpr } from './expression.js';
import { attemptOf, fallbackOf, soleBody } from './shapes.js';

/** The longest value or message that a policy quotes, in UTF-16 code units. */
const QUOTED_LIMIT = 80;

/** How many steps of the same policy are named. */
const NAMED_STEPS = 3;

const UNDONE = 'what was done is undone';

/** What a step is called in a text. */
type NameOf = (node: Node) => string;

/**
 * What happens when something fails, in one line: the attempts and the fallback of each step that has its own, then what
 * holds for the rest. `pay: up to 4 attempts, then fails with "Paid nothing"; otherwise stops at the first failure`.
 */
export function failurePolicy(graph: Graph, nameOf: NameOf = ({ id }) => id): string {
  const nodes = nodesOf(graph);
  const stepsOf = new Map<string, string[]>();
  for (const node of nodes) {
    const policy = policyOf(node, nodes, nameOf);
    if (policy !== undefined) stepsOf.set(policy, [...(stepsOf.get(policy) ?? []), nameOf(node)]);
  }
  const { errorStrategy } = graph;
  const all =
    errorStrategy?.kind === 'retry' ? [`each call: ${upToAttempts(errorStrategy.retry.extra)}`] : [];
  const own = [...all, ...[...stepsOf].map(([policy, ids]) => `${named(ids)}: ${policy}`)];
  const rest = restOf(graph);
  return [...own, own.length === 0 ? rest : `otherwise ${rest}`].join('; ');
}

/** What happens when a node fails, where that is not the same for all: its attempts, and what comes after the last. */
function policyOf(node: Node, nodes: readonly Node[], nameOf: NameOf): string | undefined {
  const { retry } = node;
  const handling = handlingOf(node, nodes, nameOf);
  if (retry === undefined || retry.extra === 0) return handling?.isFailure ? undefined : handling?.text;
  const attempts = upToAttempts(retry.extra);
  return handling === undefined ? attempts : `${attempts}, then ${handling.text}`;
}

interface Handling {
  readonly text: string;
  /** Whether it only words the failure. */
  readonly isFailure?: true;
}

function handlingOf(node: Node, nodes: readonly Node[], nameOf: NameOf): Handling | undefined {
  if (node.kind === 'parallel' && node.onPartialFailure === 'continue')
    return { text: 'goes on if one branch succeeds' };
  if (node.kind === 'foreach' && !failsByItem(node))
    return { text: `goes on, with ${node.onItemError === 'continue' ? 'null' : 'the error'} for the item` };
  if (rollsBack(node)) return { text: UNDONE };
  const value = fallbackValue(node);
  return value === undefined
    ? fallbackHandling(node, nodes, nameOf)
    : { text: `${quoted(printExpr(value))} instead` };
}

/** What takes over from a failed node: a failure of its own, steps, or what undoes. */
function fallbackHandling(node: Node, nodes: readonly Node[], nameOf: NameOf): Handling | undefined {
  const id = fallbackOf(node);
  if (id === undefined) return undefined;
  const around = nodes.map(attemptOf).find((attempt) => attempt?.risky.id === node.id);
  const steps = around?.otherwise ?? nodes.filter((each) => each.id === id);
  const [end] = steps.flatMap((each) => endOf(each) ?? []);
  if (end?.kind === 'error') return { text: `fails with ${quoted(printExpr(end.message))}`, isFailure: true };
  if (end !== undefined) return { text: UNDONE };
  const shown = steps.filter(({ kind }) => kinds[kind].isStep).map(nameOf);
  return { text: `${shown.length === 0 ? id : named(shown)} instead` };
}

type Ending = Extract<Node, { kind: 'error' | 'compensate' }>;

/** The failure in which fallback steps always end: a `fail`, or one that only undoes. */
function endOf(node: Node): Ending | undefined {
  if (node.when !== undefined) return undefined;
  if (node.kind === 'error' || node.kind === 'compensate') return node;
  for (const inner of soleBody(node)?.nodes ?? []) {
    const end = endOf(inner);
    if (end !== undefined) return end;
  }
  return undefined;
}

function restOf(graph: Graph): string {
  const rest = unlessUndone(graph);
  return graph.onFailure === undefined ? rest : `${rest}; when it fails, ${UNDONE}`;
}

function unlessUndone(graph: Graph): string {
  if (graph.task === true) return 'waits for its result, or for another attempt';
  if (graph.errorStrategy?.kind === 'collect')
    return 'steps that do not depend on it go on, and all failures are reported';
  return isFailFast(graph) ? 'stops at the first failure' : 'steps that do not depend on it go on';
}

function upToAttempts(extra: number): string {
  return `up to ${extra + 1} attempts`;
}

function quoted(text: string): string {
  return clipText(text, QUOTED_LIMIT);
}

function named(ids: readonly string[]): string {
  if (ids.length <= NAMED_STEPS) return ids.join(', ');
  return `${ids.slice(0, NAMED_STEPS).join(', ')} and ${ids.length - NAMED_STEPS} more`;
}

import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { ExpressionSyntax } from '../syntax.js';
import { isChain } from '../verbs.js';
import type { StepNode, StepOutcome } from './outcome.js';

/** The step with a value that stands in for its own when it has failed for good. */
export function withFallback({ nodes, bind }: StepOutcome, value: Expr): StepOutcome {
  return {
    nodes: nodes.map((node) => (node.hoisted ? node : { ...node, onError: { value: standIn(node, value) } })),
    bind,
  };
}

/** What the fallback gives, in the form of the node's own value. */
function standIn({ core }: StepNode, value: Expr): Expr {
  if (core.kind !== 'resource') return value;
  const at = value.at === undefined ? {} : { at: value.at };
  return { kind: 'dict', ...at, entries: [{ key: 'text', value }] };
}

/** Why one value cannot stand for all that a step gives; nothing where it can. */
export function fallbackFault({ nodes, bind }: StepOutcome, step: ExpressionSyntax): Diagnostic | undefined {
  const [node, second] = nodes.filter(({ hoisted }) => hoisted === undefined);
  const refuse = (verb: string, hint: string) => diagnostic('SW2003', step.place, { verb }, { hint });
  if (node === undefined || node.core.kind === 'error' || node.core.kind === 'return') {
    const verb = node?.core.kind === 'return' ? 'done' : 'fail';
    return refuse(verb, 'nothing stands in for the end of a run: leave `attempt` out');
  }
  if (node.onError !== undefined) return refuse('attempt', 'one fallback is enough: nothing is left to fail');
  const bound = bind([]);
  // A name that stands for more than the node's value would do to the fallback what is meant for the output.
  const isWhole = bound.kind === 'value' && (node.core.kind === 'resource' || isValueOf(bound.expr, node.id));
  if (second === undefined && isWhole) return undefined;
  if (isChain(step)) return refuse('chain', 'put `attempt` around one step of the chain, or around each');
  const what = 'a `transform` inside of `attempt`';
  const hint = 'let the fallback give what the tool gives, and transform the value where it is used';
  return diagnostic('SW2001', step.place, { what }, { hint });
}

function isValueOf(expr: Expr, id: string): boolean {
  return expr.kind === 'ref' && expr.root === 'steps' && expr.path.length === 1 && expr.path[0] === id;
}

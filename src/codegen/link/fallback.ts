import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import { bodyOf, isRequirement, makesSteps, neverGives } from '../outcomes.js';
import type { ExpressionSyntax } from '../syntax.js';
import { partsOf, stepVerbOf, unwrap } from '../verbs.js';
import type { StepOutcome } from './outcome.js';

/** The step with a value that stands in for its own when it has failed for good. */
export function withFallback({ nodes, bind, standIn }: StepOutcome, value: Expr): StepOutcome {
  const onError = { value: standIn === undefined ? value : standIn(value) };
  return { nodes: nodes.map((node) => (node.hoisted ? node : { ...node, onError })), bind };
}

/** Why nothing can stand in for a step; nothing where something can. */
export function fallbackFault(step: ExpressionSyntax): Diagnostic | undefined {
  const refuse = (verb: string, hint: string) => diagnostic('SW2003', step.place, { verb }, { hint });
  const inner = unwrap(step);
  if (neverGives(inner) || isRequirement(inner)) {
    const verb = stepVerbOf(inner) === 'done' ? 'done' : 'fail';
    return refuse(verb, 'nothing stands in for the end of a run: leave `attempt` out');
  }
  if (isCertain(inner))
    return refuse('attempt', 'nothing can fail in this value: write a step, or leave `attempt` out');
  if (inner.kind !== 'call' || stepVerbOf(inner) !== 'attempt') return undefined;
  const fallback = bodyOf(inner.args[1]);
  if (fallback === undefined || makesSteps(fallback)) return undefined;
  return refuse('attempt', 'one fallback is enough: nothing is left to fail');
}

/** Whether a value is written out, or has a name: an expression that computes something may fail. */
function isCertain(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  switch (inner.kind) {
    case 'literal':
    case 'undefined':
      return true;
    case 'property':
      return unwrap(inner.object).kind === 'this';
    case 'array':
    case 'object':
      return partsOf(inner).every(isCertain);
    default:
      return false;
  }
}

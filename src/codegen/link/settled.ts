import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import { type CallSyntax, unwrap } from '../verbs.js';
import { print } from './describe.js';
import type { ExpressionScope } from './scope.js';

/** `statusOf(this.step)` and `errorOf(this.step)`: how an earlier step settled. */
export function lowerSettled(
  verb: 'statusOf' | 'errorOf',
  { args: [step], callee, place }: CallSyntax,
  { bindings, report }: ExpressionScope,
): Expr | undefined {
  const refuse = (actual: string, hint?: string): undefined => {
    const params = { taker: `\`${verb}\``, takes: 'an earlier step, such as `this.step`', actual };
    report(diagnostic('SW2008', step?.place ?? callee.place, params, { hint }));
    return undefined;
  };
  const inner = step && unwrap(step);
  if (inner === undefined) return refuse('nothing');
  if (inner.kind !== 'property' || unwrap(inner.object).kind !== 'this') return refuse(`\`${print(inner)}\``);
  const binding = bindings.resolve(inner.name, inner.namePlace);
  if (binding === undefined) return undefined;
  const settling = bindings.settlingOf(inner.name);
  // What is faulty has been reported.
  if (settling === undefined) return binding.kind === 'faulty' ? undefined : refuse('an argument');
  if (settling.kind === 'none') return refuse(settling.why, settling.hint);
  const field = verb === 'statusOf' ? 'status' : 'error';
  return { kind: 'ref', at: place.span, root: 'nodes', path: [settling.id, field] };
}

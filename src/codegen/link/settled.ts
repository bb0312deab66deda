import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import { type CallSyntax, unwrap } from '../verbs.js';
import { print } from './describe.js';
import type { StepNode } from './nodes.js';
import type { ExpressionScope } from './scope.js';

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

/** How a step with these nodes settles. */
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

/** `statusOf(this.step)` and `errorOf(this.step)`: how an earlier step settled. */
export function lowerSettled(
  verb: 'statusOf' | 'errorOf',
  { args: [step], callee, place }: CallSyntax,
  { bindings, report }: ExpressionScope,
): Expr | undefined {
  const refuse = (given: string, hint?: string): undefined => {
    const params = { taker: `\`${verb}\``, takes: 'an earlier step, such as `this.step`', given };
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

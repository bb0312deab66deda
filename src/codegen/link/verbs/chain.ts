import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { ExpressionSyntax } from '../../syntax.js';
import { type CallSyntax, symbolOf, unwrap } from '../../verbs.js';
import { readArrow } from '../arrows.js';
import type { Binding } from '../bindings.js';
import type { StepOutcome } from '../outcome.js';
import { linkNamed } from './function.js';
import { type Linker, type PartOptions, refuse } from './linker.js';

/** `chain(step, (value) => next, …)`: one node after the other, each given the value of the one before. */
export function linkChain(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const { prefix, scope } = linker;
  const [first, ...rest] = args;
  if (first === undefined) {
    const hint = 'write `chain(call(…), (value) => call(…))`';
    return refuse(linker, callee.place, 'a `chain` without steps', hint);
  }
  const partAt = (index: number): PartOptions => {
    const own = `${prefix}.${index + 1}`;
    return { id: index === rest.length ? scope.id : scope.ids.next(own), prefix: own };
  };
  const outcomes = [linker.part(first, partAt(0))];
  for (const [index, each] of rest.entries()) {
    const value = outcomes.at(-1)?.bind([]) ?? ({ kind: 'faulty' } as const);
    outcomes.push(linkNext(linker, each, partAt(index + 1), value));
  }
  const last = outcomes.at(-1);
  if (last === undefined || !outcomes.every((outcome) => outcome !== undefined)) return undefined;
  const early = outcomes.slice(0, -1).findIndex((outcome) => outcome.bind([]).kind === 'end');
  if (early !== -1) {
    const hint = 'nothing follows the end of the run: make it the last one';
    scope.report(diagnostic('SW2003', (args[early] ?? first).place, { verb: 'done' }, { hint }));
    return undefined;
  }
  return { nodes: outcomes.flatMap(({ nodes }) => nodes), bind: last.bind };
}

/** A link of a chain: an arrow that gives a step, or an exported function. */
function linkNext(
  linker: Linker,
  syntax: ExpressionSyntax,
  part: PartOptions,
  value: Binding,
): StepOutcome | undefined {
  const symbol = symbolOf(unwrap(syntax));
  if (symbol?.kind === 'function') {
    const { id, source } = linker.scope;
    const own = { ...linker.scope, id: part.id, source: part.id === id ? source : syntax.place };
    const args = value.kind === 'value' ? [value.expr] : [];
    const called = linkNamed(linker, symbol, syntax, args, own);
    return value.kind === 'value' ? called : undefined;
  }
  const arrow = readArrow(syntax, 'chain', 1, linker.scope.report);
  return arrow && linker.part(arrow.body, { ...part, locals: linker.withLocals(arrow, value) });
}

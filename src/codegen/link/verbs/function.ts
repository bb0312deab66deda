import type { Expr } from '../../../graph/expression/tree.js';
import type { FunctionSymbol } from '../../syntax.js';
import type { CallSyntax } from '../../verbs.js';
import { lowerExpression } from '../expressions.js';
import { boundToNode, type NodeCore, type StepOutcome } from '../outcome.js';
import type { Linker } from './linker.js';

/** An exported function: the host calls it with the values of its arguments. */
export function linkFunction(
  linker: Linker,
  symbol: FunctionSymbol,
  { args, callee: { place } }: CallSyntax,
): StepOutcome | undefined {
  const reference = linker.scope.functions.refer(symbol, place);
  const values = args.map((arg) => lowerExpression(arg, linker.arguments));
  if (reference === undefined || !values.every((value) => value !== undefined)) return undefined;
  const value: Expr = { kind: 'list', at: place.span, items: values.map((each) => ({ value: each })) };
  return linker.outcome({ kind: 'compute', value, function: reference }, linker.limit());
}

/** A function that is given by its name, and called with values that are known. */
export function linkNamed(
  linker: Linker,
  symbol: FunctionSymbol,
  { place }: Pick<CallSyntax, 'place'>,
  args: readonly Expr[],
  { id, source } = linker.scope,
): StepOutcome | undefined {
  const reference = linker.scope.functions.refer(symbol, place);
  if (reference === undefined) return undefined;
  const at = place.span;
  const value: Expr = { kind: 'list', at, items: args.map((arg) => ({ value: { ...arg, at } })) };
  const core: NodeCore = { kind: 'compute', value, function: reference };
  return linker.outcome(core, { ...linker.limit(), id, source }, boundToNode(id));
}

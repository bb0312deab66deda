import type { Expr, LiteralExpr } from '../../../graph/expression/tree.js';
import type { BranchCase } from '../../../graph/model.js';
import type { CallSyntax } from '../../verbs.js';
import { lowerExpression } from '../expressions.js';
import { TRUTH } from '../operators.js';
import type { StepOutcome } from '../outcome.js';
import { branchOf } from './branch.js';
import { type Entry, type Linker, readArms, refuse } from './linker.js';

/** `match(value, arms)`: a case for each value there is. */
export function linkMatch(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [value, arms] = args;
  const example = 'match(value, { first: call(…), second: undefined })';
  if (value === undefined)
    return refuse(linker, callee.place, 'a `match` without a value', `write \`${example}\``);
  const of = lowerExpression(value, linker.values);
  const read = readArms(linker, arms, callee.place, 'the arms', example);
  if (read === undefined) return undefined;
  if (read.entries.length === 0 && read.isWhole)
    return refuse(linker, (arms ?? callee).place, 'a `match` without arms', `write \`${example}\``);
  const cases = read.entries.map((entry): BranchCase | undefined => {
    const body = linker.body(entry.value, entry.key);
    return of && body && { id: entry.key, when: isValue(of, entry), body };
  });
  if (!read.isWhole || !cases.every((each) => each !== undefined)) return undefined;
  return branchOf(
    linker,
    cases,
    read.entries.map((entry) => entry.value),
  );
}

/** Whether the value is the one a key stands for. A key does not tell a number from the text of it. */
function isValue(of: Expr, { key, keyPlace }: Entry): Expr {
  const at = keyPlace.span;
  const values = String(Number(key)) === key && Number.isFinite(Number(key)) ? [key, Number(key)] : [key];
  const items = values.map((value): Expr => {
    const right: LiteralExpr = { kind: 'literal', at, value };
    return { kind: 'compare', at, left: of, ops: [{ op: 'eq.strict', right }] };
  });
  const [only] = items;
  return items.length === 1 && only !== undefined ? only : { kind: 'or', at, truth: TRUTH, items };
}

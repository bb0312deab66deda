import type { Expr } from '../../../graph/expression/tree.js';
import type { Arm, BranchCase } from '../../../graph/model.js';
import { neverGives, onlySide, uses } from '../../outcomes.js';
import type { ExpressionSyntax } from '../../syntax.js';
import { unwrap } from '../../verbs.js';
import { lowerCondition } from '../expressions.js';
import { boundToNode, boundToNothing, type StepOutcome } from '../outcome.js';
import type { SyntaxOf } from '../scope.js';
import type { Linker } from './linker.js';

/** `condition ? step : step`: a case for each condition, and what is left. */
export function linkBranch(linker: Linker, syntax: SyntaxOf<'conditional'>): StepOutcome | undefined {
  const cases: (BranchCase | undefined)[] = [];
  let last: ExpressionSyntax = syntax;
  for (let count = 1; last.kind === 'conditional'; count++) {
    // `a ? undefined : …` is a condition of one step, and stays one inside of the last arm.
    if (count > 1 && onlySide(last) === last.else) break;
    const id = count === 1 ? 'then' : `then-${count}`;
    const when = lowerCondition(last.test, linker.values);
    const body = linker.body(last.then, id);
    cases.push(when && body && { id, when, body });
    last = unwrap(last.else);
  }
  const body = linker.body(last, 'else');
  if (body === undefined || !cases.every((each) => each !== undefined)) return undefined;
  return branchOf(linker, cases, [syntax], { id: 'else', body });
}

/**
 * The node for some arms.
 * @param arms what its value comes from, as written.
 */
export function branchOf(
  linker: Linker,
  cases: readonly BranchCase[],
  arms: readonly ExpressionSyntax[],
  otherwise?: Arm,
): StepOutcome {
  const core = { kind: 'branch', cases, ...(otherwise === undefined ? {} : { else: otherwise }) } as const;
  return linker.outcome(core, linker.attempts(), bindOf(linker.scope.id, arms));
}

/** Where all arms end the run, nothing comes after it. */
function bindOf(id: string, arms: readonly ExpressionSyntax[]): StepOutcome['bind'] {
  if (!arms.every(neverGives)) return boundToNode(id);
  return arms.some((arm) => uses(arm, 'done')) ? () => ({ kind: 'end' }) : boundToNothing;
}

/** What holds always. */
export const ALWAYS: Expr = { kind: 'literal', value: true };

import type { BranchNode } from '../../../graph/model.js';
import { soleBody } from '../../../print/shapes.js';
import { constructTexts } from './construct-texts.js';
import { SingleLog } from './container-log.js';
import { printExpression } from './print-expression.js';
import type { StepFact } from './step-log.js';

/** Which arm a branch takes and why no other, where there is one; then what happens in it. */
export class BranchLog extends SingleLog {
  protected override tell(fact: StepFact): void {
    if (fact.kind !== 'branchTaken' || this.node.kind !== 'branch') return;
    if (soleBody(this.node) !== undefined) return;
    const next = fact.goto === undefined ? '' : constructTexts.goesOnWith(fact.goto);
    this.say('assistant', 'branch', `${decision(this.node, fact.arm)}${next}`, {
      'stepwright/arm': fact.arm,
    });
  }

  protected override succeeded(): void {
    this.closeParts();
  }
}

function decision(node: BranchNode, taken: string): string {
  const place = node.cases.findIndex(({ id }) => id === taken);
  const isElse = place < 0;
  const before = isElse ? node.cases : node.cases.slice(0, place);
  const after = isElse
    ? []
    : [...node.cases.slice(place + 1), ...(node.else === undefined ? [] : [node.else])];
  const chosen = node.cases[place];
  const head =
    chosen === undefined
      ? constructTexts.takenElse(node.id, taken)
      : constructTexts.taken(node.id, taken, printExpression(chosen.when));
  return [
    head,
    ...before.map(({ id, when }) => constructTexts.notTaken(id, printExpression(when))),
    ...(after.length === 0 ? [] : [constructTexts.notLookedAt(after.map(({ id }) => id))]),
  ].join('');
}

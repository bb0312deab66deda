import { unreachable } from '../../graph/unreachable.js';
import { compensated } from './nodes/compensate.js';
import { itemEnded } from './nodes/foreach.js';
import { branchEnded, rolledBack } from './nodes/parallel.js';
import type { NodeRecord, ScopeRecord } from './records.js';
import { finishRun, runUndone } from './run-end.js';
import { closeContainer, closePart, failedWith, outcomeOf } from './scopes.js';
import type { Ended, Transition } from './transition.js';
import { goOnUndoing } from './undo.js';

/** Tells one end to whoever waits for it. Ends are told one after the other, however deep they lead. */
export function tellNext(transition: Transition): boolean {
  const ended = transition.first.pop() ?? shiftOf(transition.ended);
  if (ended === undefined) return false;
  switch (ended.kind) {
    case 'scope':
      scopeEnded(transition, ended.scope);
      return true;
    case 'rollback':
      rolledBack(transition, ended.of);
      return true;
    case 'goOn': {
      const { by, hasTurn } = ended;
      // It may have been aborted as well.
      if (transition.state.undoing.get(by?.key ?? '') !== undefined) goOnUndoing(transition, by, hasTurn);
      return true;
    }
    case 'undone': {
      const { by, report, hasHalted } = ended;
      if (by === undefined) runUndone(transition, report);
      else if (by.planned.node.kind === 'compensate') {
        // An abort may have come first.
        if (by.status === 'running') compensated(transition, by, report, hasHalted);
      } else rolledBack(transition, by, report);
      return true;
    }
    default:
      return unreachable(ended);
  }
}

/** An empty list is not touched: most often it is. */
function shiftOf(ended: Ended[]): Ended | undefined {
  return ended.length === 0 ? undefined : ended.shift();
}

function scopeEnded(transition: Transition, scope: ScopeRecord): void {
  const { container } = scope;
  if (container === undefined) {
    finishRun(transition);
    return;
  }
  const { node } = container.planned;
  if (node.kind === 'parallel') branchEnded(transition, container, node, scope);
  else if (node.kind === 'foreach') itemEnded(transition, container, node, scope);
  else onlyPartEnded(transition, container, scope);
}

/** A branch and a `workflow` node end as what they ran does, unless their time was up. */
function onlyPartEnded(transition: Transition, node: NodeRecord, scope: ScopeRecord): void {
  const outcome = outcomeOf(transition, scope);
  const { failure, final } = closePart(transition, node, scope, outcome);
  closeContainer(transition, node, failure === undefined ? outcome : failedWith(failure, final));
}

import { unreachable } from '../../graph/unreachable.js';
import { closeContainer, closePart, failedWith } from './containers.js';
import type { NodeInstance, ScopeInstance } from './instances.js';
import { compensated } from './nodes/compensate.js';
import { itemEnded } from './nodes/foreach.js';
import { branchEnded, rolledBack } from './nodes/parallel.js';
import { finishRun, runUndone } from './run-end.js';
import { outcomeOf } from './scopes.js';
import type { Turn } from './turn.js';

/** Tells one end to whoever waits for it. Ends are told one after the other, however deep they lead. */
export function tellNext(turn: Turn): boolean {
  if (turn.ended.length === 0) return false;
  const ended = turn.ended.shift();
  if (ended === undefined) return false;
  switch (ended.kind) {
    case 'scope':
      scopeEnded(turn, ended.scope);
      return true;
    case 'rollback':
      rolledBack(turn, ended.of);
      return true;
    case 'undone': {
      const { by, report, hasHalted } = ended;
      if (by === undefined) runUndone(turn, report);
      else if (by.planned.node.kind === 'compensate') compensated(turn, by, report, hasHalted);
      else rolledBack(turn, by, report);
      return true;
    }
    default:
      return unreachable(ended);
  }
}

function scopeEnded(turn: Turn, scope: ScopeInstance): void {
  const { container } = scope;
  if (container === undefined) {
    finishRun(turn);
    return;
  }
  const { node } = container.planned;
  if (node.kind === 'parallel') branchEnded(turn, container, node, scope);
  else if (node.kind === 'foreach') itemEnded(turn, container, node, scope);
  else onlyPartEnded(turn, container, scope);
}

/** A branch and a `workflow` node end as what they ran does, unless their time was up. */
function onlyPartEnded(turn: Turn, container: NodeInstance, scope: ScopeInstance): void {
  const outcome = outcomeOf(turn, scope);
  const { failure, final } = closePart(turn, container, scope, outcome);
  closeContainer(turn, container, failure === undefined ? outcome : failedWith(failure, final));
}

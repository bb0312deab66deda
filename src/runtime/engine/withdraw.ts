import { abandonCall, abandonTimer, delayId, timerId } from './commands.js';
import type { Failure } from './contract.js';
import type { Turn } from './turn.js';
import { compensationReturned } from './undo.js';
import { abandon, noteUnknown } from './unknown.js';

/**
 * Gives up what an attempt still waits for: its answer, its time, the delay before the next one. A call that was in
 * flight has failed with `failure`, and one that was not made yet has done nothing.
 */
export function withdraw(turn: Turn, attempt: string, failure: Failure): void {
  const { recorder } = turn;
  const command = recorder.tables.commands.get(attempt);
  if (command?.kind === 'startTimer') abandonTimer(turn, attempt);
  else if (command !== undefined) abandonCall(turn, attempt);
  abandonTimer(turn, timerId(attempt));
  abandonTimer(turn, delayId(attempt));
  if (command?.kind !== 'callTool' && command?.kind !== 'readResource') return;
  const attempted = !turn.notStarted.has(attempt);
  const { outcomeUnknown: _unknown, ...known } = failure;
  const outcome = { ok: false, failure: attempted ? failure : known } as const;
  recorder.report({ kind: 'callReturned', node: command.node, command: attempt, attempted, outcome });
  if (command.kind !== 'callTool') return;
  if (command.isCompensation) compensationReturned(turn, command, outcome.failure);
  else if (attempted) {
    noteUnknown(turn, command, failure);
    abandon(turn, command);
  }
}

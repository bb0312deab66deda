import { defined } from '../../../graph/defined.js';
import type { RunState } from '../../engine/contract.js';
import { commandsOf, isWait } from '../../engine/read.js';
import { isOver } from '../store/journal.js';
import type { ListedRow } from '../store/reader.js';

/** What a list of runs says of an open run. */
export type RunWaits = Pick<ListedRow, 'state' | 'waits'>;

/**
 * What a run waits for, the earliest time first.
 *
 * @param paused the steps with calls about which an operator decides.
 */
export function waitsOf(state: RunState, paused: readonly string[]): RunWaits {
  const { status } = state.run;
  if (isOver(status)) return { state: status, waits: [] };
  const commands = commandsOf(state);
  const isBusy = commands.some(
    (command) =>
      (command.kind === 'callTool' && !paused.includes(command.undoes ?? command.node)) ||
      command.kind === 'readResource' ||
      command.kind === 'evaluate',
  );
  if (isBusy || commands.length === 0) return { state: 'running', waits: [] };
  const waits = commands.flatMap((command): ListedRow['waits'] => {
    if (command.kind === 'callTool') return [{ for: 'decision', of: command.node }];
    const { id: of, dueAt: until } = command;
    if (command.kind === 'requestAction') return [{ for: 'answer', of, ...defined({ until }) }];
    return command.kind === 'startTimer' && isWait(command)
      ? [{ for: 'time', of, ...defined({ until }) }]
      : [];
  });
  const untilOf = ({ until = Number.POSITIVE_INFINITY }: ListedRow['waits'][number]): number => until;
  waits.sort((one, other) => untilOf(one) - untilOf(other) || 0);
  return { state: paused.length > 0 ? 'paused' : 'waiting', waits };
}

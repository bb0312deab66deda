import { delayId } from '../../engine/commands.js';
import type { Command, RunState } from '../../engine/contract.js';

/** What a run is at now: steps by the keys of their nodes. */
export interface StepsUnderWay {
  /** Steps with a call, a read or an evaluation in flight. */
  readonly running_steps: readonly string[];
  readonly waiting_steps: readonly WaitingStep[];
}

export interface WaitingStep {
  readonly step_id: string;
  /** An answer, a time, or the delay before the next attempt. */
  readonly for: 'answer' | 'time' | 'retry';
  /** When a time or a delay is over, RFC 3339. */
  readonly until?: string;
}

/** Names the steps of a run that run and that wait. */
export function stepsUnderWay({ commands }: Pick<RunState, 'commands'>): StepsUnderWay {
  const running = new Set<string>();
  const waiting: WaitingStep[] = [];
  for (const command of Object.values(commands)) {
    switch (command.kind) {
      case 'callTool':
        running.add(command.undoes ?? command.node);
        break;
      case 'readResource':
      case 'evaluate':
        running.add(command.node);
        break;
      case 'requestAction':
        waiting.push({ step_id: command.node, for: 'answer' });
        break;
      case 'startTimer': {
        const what = awaited(command);
        const until = new Date(command.dueAt).toISOString();
        if (what !== undefined) waiting.push({ step_id: command.node, for: what, until });
        break;
      }
      case 'cancelTimer':
      case 'cancelCall':
        break;
      default:
        command satisfies never;
    }
  }
  return { running_steps: [...running], waiting_steps: waiting };
}

/** Whether a timer is that of a step which waits for a time; those of attempts say so behind a colon. */
export function isWait(timer: string): boolean {
  return !timer.includes(':');
}

/** Nothing for a timer that only bounds an attempt. */
function awaited({ id }: Extract<Command, { kind: 'startTimer' }>): 'time' | 'retry' | undefined {
  if (isWait(id)) return 'time';
  return id.endsWith(delayId('')) ? 'retry' : undefined;
}

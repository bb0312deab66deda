import type { RunState } from '../../engine/contract.js';

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
        const until = new Date(command.dueAt).toISOString();
        if (command.purpose === 'wait') waiting.push({ step_id: command.node, for: 'time', until });
        if (command.purpose === 'backoff') waiting.push({ step_id: command.node, for: 'retry', until });
        break;
      }
      default:
        command satisfies never;
    }
  }
  return { running_steps: [...running], waiting_steps: waiting };
}

import { defined } from '../../../graph/defined.js';
import { type Json, unreachable } from '../../../graph/json.js';
import { asksModel } from '../../engine/actions.js';
import type { ActionRequest, Fact, Failure, RunState } from '../../engine/contract.js';
import type { RunStatus } from '../../engine/events.js';
import { thrownText } from '../../tools/exceptions.js';
import type { CancelSignal } from '../../tools/port.js';
import { JournalConflictError } from '../store/journal.js';
import { LiveRun } from './live-run.js';
import { observeFacts, type RunHost, type RunStart } from './run-host.js';

/** A run to execute in this process, from start to end. */
interface InProcessRun extends RunStart, RunHost {
  /** Gets each fact in order, with the run after it. What it throws does not change the run. */
  readonly observe?: (fact: Fact, state: RunState) => void;
  /** Aborted when the caller no longer wants the run: it ends as cancelled. */
  readonly signal?: CancelSignal;
  /** Whether a run that waits for values of a model alone is left there, and not failed. Default: false. */
  readonly leavesValues?: boolean;
  /** Gets what `observe` threw. Default: a process warning reports it. */
  readonly onObserverError?: (error: unknown, fact: Fact) => void;
}

interface RunOutcome {
  /** `running` for one that was left where it waits for values of a model. */
  readonly status: RunStatus;
  /** Missing where the run did not succeed, and for a value that is absent. */
  readonly result?: Json;
  readonly failure?: Failure;
  /** The node the failure comes from. */
  readonly node?: string;
  readonly state: RunState;
}

/**
 * Executes a run inside one call. It has no user to ask: a question fails with `E_NOBODY_TO_ASK`. A run may be left where
 * it waits for values of a model.
 *
 * Never rejects for anything a tool, a resource, an observer or the caller does; a rejection is a fault of the engine, or
 * names what the journal did. When the promise settles, the journal has forgotten the run unless another process holds
 * it, no timer and no listener of the run is left, and calls that never came back are aborted.
 */
export function runInProcess(options: InProcessRun): Promise<RunOutcome> {
  const { journal, signal, observe, onObserverError, leavesValues = false } = options;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => run.cancel(thrownText(signal?.reason));
    const leave = (settle: () => void, isHolder = true): void => {
      signal?.removeEventListener('abort', onAbort);
      if (journal === undefined || !isHolder) settle();
      else
        journal.forget(options.runId).then(settle, (error) => {
          warn(error);
          settle();
        });
    };
    const decline = decliner(leavesValues);
    const look = (): void => {
      const outcome = outcomeOf(run);
      if (outcome !== undefined) {
        leave(() => resolve(outcome));
        return;
      }
      if (run.asks.size > 0) decline(run);
      if (!leavesValues || run.liveStatus !== 'asking') return;
      run.leave();
      leave(() => resolve({ status: 'running', state: run.state }));
    };
    const run = new LiveRun(options, options, (event) => {
      switch (event.kind) {
        case 'facts':
          if (observe !== undefined) observeFacts(event, observe, onObserverError);
          break;
        case 'idle':
          look();
          break;
        case 'lost':
        case 'failed':
          leave(() => reject(event.fault), !(event.fault instanceof JournalConflictError));
          break;
        case 'inbox':
          break;
        default:
          unreachable(event);
      }
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    run.go();
  });
}

const NOBODY_TO_ASK: Failure = {
  code: 'E_NOBODY_TO_ASK',
  message: 'No user can be asked here: the run ends with the call.',
};

/** Declines all that a run asks: declining one question may lead to the next. */
function decliner(leavesValues: boolean): (run: LiveRun) => void {
  let isDeclining = false;
  return (run) => {
    if (isDeclining) return;
    isDeclining = true;
    const declined = (): readonly ActionRequest[] =>
      [...run.asks.values()].filter(({ action }) => !leavesValues || !asksModel(action));
    for (let asks = declined(); run.isSafe && asks.length > 0; asks = declined()) {
      for (const { id } of asks) run.refuse(id, NOBODY_TO_ASK);
    }
    isDeclining = false;
  };
}

function warn(error: unknown): void {
  const text = `the journal could not forget a run that is over: ${thrownText(error)}`;
  process.emitWarning(text, 'StepwrightWarning');
}

function outcomeOf({ liveStatus, state }: LiveRun): RunOutcome | undefined {
  const { status, result, failure, failedNode } = state.run;
  if (liveStatus !== 'over' || status === 'running') return undefined;
  return {
    status,
    ...defined({ result, failure, node: failedNode }),
    state,
  };
}

import type { Json } from '../../../graph/json.js';
import { thrownText } from '../../catalogue/thrown.js';
import type { Failure, RunState, RunStatus } from '../../engine/contract.js';
import { LiveRun, type LiveRunOptions } from './live-run.js';

/** A run to carry out in this process, from its start to its end. */
export interface InProcessRun extends LiveRunOptions {
  /** Aborted when the caller no longer wants the run: it ends as cancelled. */
  readonly signal?: AbortSignal;
}

/** How a run ended. */
export interface RunOutcome {
  readonly status: Exclude<RunStatus, 'running'>;
  /** Missing where the run did not succeed, and for a value that is absent. */
  readonly result?: Json;
  readonly failure?: Failure;
  /** The node the failure comes from. */
  readonly node?: string;
  readonly state: RunState;
}

/**
 * Carries out a run that lives in one call, so that there is nobody to put a question to: one that it asks all the same
 * fails with `E_NOBODY_TO_ASK`.
 *
 * Never rejects for anything a tool, a resource, an observer or the caller does; a rejection is a fault of the engine or
 * of the journal. When the promise settles, the journal has forgotten the run, no timer and no listener of the run is left, and calls that never came back are aborted.
 */
export function runInProcess({ signal, ...options }: InProcessRun): Promise<RunOutcome> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => run.cancel(thrownText(signal?.reason));
    const leave = (): void => {
      signal?.removeEventListener('abort', onAbort);
      options.journal?.forget(options.runId);
    };
    const declineQuestions = decliner();
    const run = new LiveRun(options, {
      changed() {
        const outcome = outcomeOf(run.state);
        if (outcome === undefined) {
          declineQuestions(run);
          return;
        }
        leave();
        resolve(outcome);
      },
      broken(fault) {
        leave();
        reject(fault);
      },
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    run.go();
  });
}

/** Declines what a run asks, one question after the other: declining one may lead to the next. */
function decliner(): (run: LiveRun) => void {
  const failure = {
    code: 'E_NOBODY_TO_ASK',
    message: 'Nobody can be asked here: the run ends with the call.',
  };
  let isDeclining = false;
  return (run) => {
    if (isDeclining) return;
    isDeclining = true;
    for (let question = openQuestion(run); question !== undefined; question = openQuestion(run)) {
      run.refuse(question, failure);
    }
    isDeclining = false;
  };
}

function openQuestion({ state }: LiveRun): string | undefined {
  return Object.values(state.commands).find(({ kind }) => kind === 'requestAction')?.id;
}

function outcomeOf(state: RunState): RunOutcome | undefined {
  const { status, result, failure, failedNode } = state.run;
  if (status === 'running') return undefined;
  return {
    status,
    ...(result === undefined ? {} : { result }),
    ...(failure === undefined ? {} : { failure }),
    ...(failedNode === undefined ? {} : { node: failedNode }),
    state,
  };
}

import { canonicalJson, sha256Hex } from '../../graph/canonical.js';
import type { Recorder } from './recorder.js';

/** Id of one attempt's call, read or evaluation: readable, unique in its run, and the same whenever the run is replayed. */
export function callId(node: string, attempt: number): string {
  return `${node}#${attempt}`;
}

/** Id of the timer that bounds the attempt of `call`. */
export function timerId(call: string): string {
  return `${call}:timer`;
}

/** Id of the timer between the attempt of `call` and the next one. */
export function delayId(call: string): string {
  return `${call}:delay`;
}

/** The same for every attempt of one call of one run, after a crash as well, and different for any other call. */
export function idempotencyKey(runId: string, node: string): string {
  const loopIndices: readonly number[] = [];
  const gotoVisit = 0;
  return sha256Hex(canonicalJson([runId, node, loopIndices, gotoVisit]));
}

/** Forgets a call and asks the host to abort it: whatever comes back is late. */
export function abandonCall(recorder: Recorder, call: string): void {
  recorder.settleCommand(call);
  recorder.tell({ kind: 'cancelCall', id: `${call}:cancel`, call });
}

/** Forgets a timer and asks the host to do so as well. */
export function abandonTimer(recorder: Recorder, timer: string): void {
  recorder.settleCommand(timer);
  recorder.tell({ kind: 'cancelTimer', id: `${timer}:cancel`, timer });
}

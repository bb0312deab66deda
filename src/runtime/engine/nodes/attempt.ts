import { callId, timerId } from '../commands.js';
import type { Command } from '../contract.js';
import { fail } from '../ending.js';
import { failures } from '../failures.js';
import type { PlannedNode } from '../plan.js';
import type { Turn } from '../turn.js';

/** Limit of an attempt whose node names none, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 60_000;

/** Ids and number of an attempt that is about to start. */
export interface Attempt {
  readonly call: string;
  /** Counts from 1. */
  readonly number: number;
}

/** The node's next attempt; none, and a failed node, when the run's time is up. */
export function nextAttempt(turn: Turn, planned: PlannedNode): Attempt | undefined {
  const { deadlineAt } = turn.recorder.run;
  if (deadlineAt !== undefined && deadlineAt <= turn.at) {
    fail(turn, planned, failures.deadlinePassed());
    return undefined;
  }
  const number = turn.recorder.node(planned.node.id).attempt + 1;
  return { call: callId(planned.node.id, number), number };
}

/** Gives the command and the timer that bounds it, and takes one of the run's places. */
export function issue(
  { recorder, at }: Turn,
  { node }: PlannedNode,
  attempt: Attempt,
  command: Command,
): void {
  const { run } = recorder;
  recorder.putRun({ ...run, running: run.running + 1 });
  recorder.putNode(node.id, { ...recorder.node(node.id), status: 'running', attempt: attempt.number });
  recorder.expect(command);
  const limit = at + (node.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const dueAt = run.deadlineAt === undefined ? limit : Math.min(limit, run.deadlineAt);
  recorder.expect({ kind: 'startTimer', id: timerId(attempt.call), node: node.id, dueAt });
}

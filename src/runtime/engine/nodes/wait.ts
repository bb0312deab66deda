import { parseTime } from '../../../graph/kinds/waits.js';
import { MAX_DURATION_MS } from '../../../graph/limits.js';
import type { WaitNode } from '../../../graph/model.js';
import { fail, hasTime, issueWait, nextAttemptId, waitDueAt } from '../attempt.js';
import type { Evaluation } from '../evaluation.js';
import type { Failure } from '../events.js';
import { failures } from '../failures.js';
import type { NodeRecord } from '../records.js';
import { succeed } from '../settle.js';
import { readerOf, type Transition } from '../transition.js';

/** Waits for a time. Succeeds at once if it has passed. */
export function beginWait(transition: Transition, node: NodeRecord, model: WaitNode): void {
  if (!hasTime(transition, node)) return;
  const id = nextAttemptId(transition, node);
  const until = waitEnd(transition.at, readerOf(transition, node), model);
  if (typeof until !== 'number') {
    fail(transition, node, { failure: until, reached: node.attempt, isPermanent: true });
    return;
  }
  if (until <= transition.at) {
    succeed(transition, node, undefined);
    return;
  }
  const limit = waitDueAt(transition, node) ?? Number.POSITIVE_INFINITY;
  const late = limit === transition.state.run.deadlineAt ? 'deadline' : 'timeout';
  const timer =
    limit < until ? ({ purpose: late, dueAt: limit } as const) : ({ purpose: 'wait', dueAt: until } as const);
  issueWait(transition, node, { kind: 'startTimer', id, node: node.key, ...timer });
  transition.report({ kind: 'waiting', node: node.key, nodeKind: 'wait', command: id, until });
}

/** The end of the wait, in whole ms since the epoch. */
function waitEnd(at: number, reader: Evaluation, { durationMs, until }: WaitNode): number | Failure {
  const expr = durationMs ?? until;
  if (expr === undefined) return failures.wait('it does not say how long');
  const evaluated = reader.value(expr);
  if (!evaluated.ok) return evaluated.failure;
  const { value } = evaluated;
  const isDuration = durationMs !== undefined;
  const time = isDuration || typeof value !== 'string' ? value : parseTime(value);
  if (typeof time !== 'number' || !Number.isFinite(time)) {
    return failures.wait(`${JSON.stringify(value ?? null)} is not a ${isDuration ? 'number' : 'time'}`);
  }
  if (isDuration && time < 0) return failures.wait(`${time} ms is negative`);
  const end = Math.ceil(isDuration ? at + time : time);
  return end - at > MAX_DURATION_MS ? failures.wait('that is more than ten years') : end;
}

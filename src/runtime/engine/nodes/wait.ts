import { MAX_WAIT_MS } from '../../../graph/limits.js';
import type { WaitNode } from '../../../graph/model.js';
import { parseTime } from '../../../graph/rfc3339.js';
import type { Failure } from '../contract.js';
import { fail } from '../ending.js';
import type { Evaluation } from '../evaluation.js';
import { failures } from '../failures.js';
import type { NodeRecord } from '../records.js';
import { succeed } from '../settle.js';
import { readerOf, type Transition } from '../transition.js';
import { hasTime, nextAttemptId, waitFor, waitLimitOf } from './attempt.js';

/** Waits until a timer fires. A time that is over passes at once. */
export function beginWait(transition: Transition, node: NodeRecord, model: WaitNode): void {
  if (!hasTime(transition, node)) return;
  const id = nextAttemptId(transition, node);
  const until = endOf(transition.at, readerOf(transition, node), model);
  if (typeof until !== 'number') {
    fail(transition, node, { failure: until, reached: node.attempt, final: true });
    return;
  }
  if (until <= transition.at) {
    succeed(transition, node, undefined);
    return;
  }
  const limit = waitLimitOf(transition, node) ?? Number.POSITIVE_INFINITY;
  const late = limit === transition.state.run.deadlineAt ? 'deadline' : 'timeout';
  const timer =
    limit < until ? ({ purpose: late, dueAt: limit } as const) : ({ purpose: 'wait', dueAt: until } as const);
  waitFor(transition, node, { kind: 'startTimer', id, node: node.key, ...timer });
  transition.report({ kind: 'waiting', node: node.key, nodeKind: 'wait', command: id, until });
}

/** The time it waits for, in whole ms since the epoch. */
function endOf(at: number, reader: Evaluation, { durationMs, until }: WaitNode): number | Failure {
  const expr = durationMs ?? until;
  if (expr === undefined) return failures.wait('it does not say how long');
  const evaluated = reader.value(expr);
  if (!evaluated.ok) return evaluated.failure;
  const { value } = evaluated;
  const isDuration = durationMs !== undefined;
  const time = isDuration || typeof value !== 'string' ? value : parseTime(value);
  if (typeof time !== 'number' || !Number.isFinite(time)) {
    return failures.wait(
      `${JSON.stringify(value ?? null)} is no ${isDuration ? 'number of milliseconds' : 'time'}`,
    );
  }
  if (isDuration && time < 0) return failures.wait(`${time} ms is less than nothing`);
  const end = Math.ceil(isDuration ? at + time : time);
  return end - at > MAX_WAIT_MS ? failures.wait('that is more than 366 days') : end;
}

import { MAX_WAIT_MS } from '../../../graph/limits.js';
import type { WaitNode } from '../../../graph/model.js';
import { parseTime } from '../../../graph/rfc3339.js';
import type { Failure } from '../contract.js';
import { fail } from '../ending.js';
import type { Evaluation } from '../evaluation.js';
import { failures } from '../failures.js';
import type { NodeInstance } from '../instances.js';
import { succeed } from '../settle.js';
import { readerOf, type Turn } from '../turn.js';
import { hasTime, nextAttempt, waitFor, waitLimitOf } from './attempt.js';

/** Waits until a timer fires. A time that is over passes at once. */
export function beginWait(turn: Turn, node: NodeInstance, model: WaitNode): void {
  if (!hasTime(turn, node)) return;
  const attempt = nextAttempt(turn, node);
  const until = endOf(turn.at, readerOf(turn, node), model);
  if (typeof until !== 'number') {
    fail(turn, node, { failure: until, reached: attempt.number - 1, final: true });
    return;
  }
  if (until <= turn.at) {
    succeed(turn, node, undefined);
    return;
  }
  const limit = waitLimitOf(turn, node) ?? Number.POSITIVE_INFINITY;
  const late = limit === turn.recorder.run.deadlineAt ? 'deadline' : 'timeout';
  const timer =
    limit < until ? ({ purpose: late, dueAt: limit } as const) : ({ purpose: 'wait', dueAt: until } as const);
  waitFor(turn, node, attempt, { kind: 'startTimer', id: attempt.id, node: node.key, ...timer });
  turn.recorder.report({ kind: 'waiting', node: node.key, nodeKind: 'wait', command: attempt.id, until });
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

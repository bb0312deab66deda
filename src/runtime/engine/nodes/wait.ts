import { defined } from '../../../graph/defined.js';
import { describeKind } from '../../../graph/expression/value.js';
import type { Json } from '../../../graph/json.js';
import { parseTime } from '../../../graph/kinds/waits.js';
import { MAX_DURATION_MS } from '../../../graph/limits.js';
import type { AskNode, WaitNode } from '../../../graph/model.js';
import { answerSchema } from '../actions.js';
import { fail, hasTime, issueWait, nextAttemptId, waitDueAt } from '../attempt.js';
import type { Evaluated, Evaluation } from '../evaluation.js';
import type { AskAction, Failure } from '../events.js';
import { failures } from '../failures.js';
import { NOTHING_REFUSED, type NodeRecord } from '../records.js';
import { succeed } from '../settle.js';
import { readerOf, type Transition } from '../transition.js';

/** Requests an action and waits for the answer. [N7] */
export function beginAsk(transition: Transition, node: NodeRecord, model: AskNode): void {
  if (!hasTime(transition, node)) return;
  const id = nextAttemptId(transition, node);
  const action = actionOf(transition, node, model);
  if (!action.ok) {
    fail(transition, node, { failure: action.failure, reached: node.attempt, isPermanent: true });
    return;
  }
  node.set('refused', NOTHING_REFUSED);
  const dueAt = waitDueAt(transition, node);
  const request = { kind: 'requestAction', id, node: node.key, action: action.value, seq: 0 } as const;
  issueWait(transition, node, dueAt === undefined ? request : { ...request, dueAt });
  transition.report({
    kind: 'waiting',
    node: node.key,
    nodeKind: 'ask',
    command: id,
    action: action.value,
  });
}

function actionOf(transition: Transition, node: NodeRecord, model: AskNode): Evaluated<AskAction> {
  const reader = readerOf(transition, node);
  const message = reader.text(model.message, 'message');
  if (!message.ok) return message;
  const { mode, answerBy } = model;
  const who = defined({ answerBy });
  const base = { type: 'ask', mode, message: message.value, schema: answerSchema(model), ...who } as const;
  if (mode !== 'choice') return { ok: true, value: base };
  const evaluated: Evaluated<unknown> =
    model.options === undefined ? { ok: true, value: undefined } : reader.value(model.options);
  if (!evaluated.ok) return evaluated;
  const options = optionsIn(evaluated.value as Json);
  if (!options.ok) return options;
  const schema = answerSchema(model, options.value);
  return { ok: true, value: { ...base, options: options.value, schema } };
}

function optionsIn(value: Json | undefined): Evaluated<readonly string[]> {
  const wrong = (problem: string) => ({ ok: false, failure: failures.askOptions(problem) }) as const;
  if (!Array.isArray(value)) return wrong(`there is ${describeKind(value)} in place of a list`);
  const options: string[] = [];
  for (const option of value as readonly Json[]) {
    if (typeof option !== 'string') return wrong(`one is ${describeKind(option)}`);
    if (options.includes(option)) return wrong(`'${option}' is given twice`);
    options.push(option);
  }
  return options.length === 0 ? wrong('there is none') : { ok: true, value: options };
}

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
    return failures.wait(
      `${JSON.stringify(value ?? null)} is not a ${isDuration ? 'number of milliseconds' : 'time'}`,
    );
  }
  if (isDuration && time < 0) return failures.wait(`${time} ms is negative`);
  const end = Math.ceil(isDuration ? at + time : time);
  return end - at > MAX_DURATION_MS ? failures.wait('that is more than ten years') : end;
}

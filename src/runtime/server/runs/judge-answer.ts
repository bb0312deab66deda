import type { Owner } from '../../../decorators/context.js';
import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { unreachable } from '../../../graph/unreachable.js';
import type { Action, Failure } from '../../engine/contract.js';
import type { Clock } from '../../host/in-process/clock.js';
import type { LiveRun } from '../../host/in-process/live-run.js';
import type { RunMask } from '../../host/run-mask.js';
import { maskedFailure } from '../../tools/mask.js';
import type { ActionLedger } from './action-ledger.js';
import { contentsOf, howToAnswer, readAnswer } from './answer.js';
import { refusal, type Verdict } from './deliveries.js';
import type { Envelope } from './envelope.js';
import type { Question } from './interview.js';
import { ownerKey } from './owner.js';
import type { RunAnswer, Submission } from './run-store.js';
import { texts } from './texts.js';

/** A run as an answer to it is judged. */
export interface JudgedRun {
  readonly id: string;
  /** Missing when the run is over. */
  readonly live: LiveRun | undefined;
  readonly actions: ActionLedger;
  readonly mask: RunMask;
  readonly schemas: SchemaCompiler;
  readonly clock: Clock;
  readonly isCancelled: boolean;
  /** Why it was cancelled, once it is over. */
  readonly error: Pick<Failure, 'message'> | undefined;
  /** The envelope as soon as everything it tells is safe. */
  readonly safeEnvelope: Promise<Envelope>;
}

/** Says what an answer comes to as the run is now. Nothing is consumed. */
export function judgeAnswer(run: JudgedRun, submission: Submission, by: Owner): Verdict {
  const repeated = judgeRepeated(run, submission, by);
  if (repeated !== undefined) return repeated;
  const { actionId } = submission;
  const { live, actions } = run;
  if (run.isCancelled) {
    const message = texts.cancelled(run.id, run.error?.message ?? '');
    return refused({ code: 'WORKFLOW_CANCELLED', message });
  }
  if (live === undefined || live.state.run.status !== 'running') {
    const warnings = [{ code: 'W_NOT_USED', message: texts.notUsed(actionId) } as const];
    return told(run.safeEnvelope.then((envelope) => ({ ok: true, envelope, warnings })));
  }
  if (actionId !== undefined && actions.get(actionId)?.answer !== undefined) {
    const details = { action_id: actionId };
    return refused({ code: 'ALREADY_SUBMITTED', message: texts.alreadySubmitted(actionId), details });
  }
  const chosen = actions.choose(actionId, live, run.clock.now());
  switch (chosen.kind) {
    case 'refused':
      return refused(chosen.failure);
    case 'passed':
      // A time that is over has been taken notice of: to say so once more does no harm.
      return told(run.safeEnvelope.then((envelope) => ({ ok: true, envelope })));
    case 'question':
      return judgeFor(run, chosen.question, submission);
    default:
      return unreachable(chosen);
  }
}

/** The same for an answer to this question. */
export function judgeFor(
  run: Pick<JudgedRun, 'mask' | 'schemas'>,
  question: Question,
  submission: Pick<Submission, 'result' | 'error'>,
): Verdict {
  const read = readAnswer(question.action, submission, run.schemas);
  if (!read.ok) return refused(unfit(run, question, read.failure));
  return { kind: 'fits', question, answer: read.answer, warnings: read.warnings };
}

/**
 * What a repeated answer comes to; nothing for any other. Without an action id it may as well be meant for an action
 * that is open now: which one is not guessed.
 */
function judgeRepeated(run: JudgedRun, submission: Submission, by: Owner): Verdict | undefined {
  const { actionId } = submission;
  const { actions, live } = run;
  const before = actionId === undefined ? actions.lastOf(ownerKey(by)) : actions.get(actionId);
  if (before?.answer === undefined || before.mode === undefined) return undefined;
  if (!contentsOf(before.mode, submission).includes(before.answer.content)) return undefined;
  const { warnings } = before.answer;
  const noted = warnings === undefined ? {} : { warnings };
  // A process that did not take the answer in does not know how the run was then.
  const response =
    actions.responseTo(before.id) ??
    run.safeEnvelope.then((envelope): RunAnswer => ({ ok: true, envelope, ...noted }));
  if (actionId !== undefined) return told(response);
  if (run.isCancelled) return undefined;
  const open = [...(live?.asks.values() ?? [])].map(({ id }) => id);
  return open.length === 0
    ? told(response)
    : refused({
        code: 'AMBIGUOUS_ACTION',
        message: texts.repeatedOrNew(open),
        details: { open_actions: open },
      });
}

/** What a question asks, without secrets. */
export function shownAction({ node, action }: Question, mask: RunMask): Action {
  return mask.action(node, action);
}

/** Why an answer was not taken although it fits the schema. */
export function notTaken(question: Question, mask: RunMask): Failure {
  const { schema, ...shown } = shownAction(question, mask);
  return {
    code: 'E_RESULT_SHAPE',
    message: texts.shape([texts.notTaken], howToAnswer(shown)),
    details: { problems: [texts.notTaken], schema },
  };
}

/** Why an answer does not fit, without secrets: what would fit may be one. */
function unfit({ mask }: Pick<JudgedRun, 'mask'>, question: Question, failure: Failure): Failure {
  const shown = shownAction(question, mask);
  if (shown.schema === question.action.schema) return maskedFailure(failure, mask);
  const message = texts.shape([], howToAnswer(shown));
  return { code: failure.code, message, details: { problems: [], schema: shown.schema } };
}

function told(answer: RunAnswer | Promise<RunAnswer>): Verdict {
  return { kind: 'told', answer, response: { ok: true } };
}

/** Nothing changes. */
export function refused(failure: Failure): Verdict {
  return { kind: 'told', answer: { ok: false, failure }, response: refusal(failure) };
}

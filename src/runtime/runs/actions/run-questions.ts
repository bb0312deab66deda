import type { Owner } from '../../../decorators/context.js';
import { type Answerer, describeAnswerers } from '../../../graph/answerers.js';
import { defined } from '../../../graph/defined.js';
import { type Json, unreachable } from '../../../graph/json.js';
import { clip } from '../../../graph/printable-text.js';
import { isClientWork, requestOf, textOf } from '../../engine/actions.js';
import type { ActionRequest, Failure } from '../../engine/contract.js';
import type { Action } from '../../engine/events.js';
import { maskedFailure } from '../../secrets/mask.js';
import type { SubmitAnswer } from '../run/envelope.js';
import { loopActionId } from '../run/open-actions.js';
import { accessKey, answerId, mayAnswer, ownerKey, restrictedQuestions } from '../run/owner.js';
import { type Answer, howToAnswer, type Submission, type ToAnswer } from './action.js';
import { actionClosed, listed, NO_OPEN_ACTION } from './action-history.js';
import {
  type AnsweredRun,
  alreadySubmitted,
  contentOf,
  contentsOf,
  type Decision,
  decideMadeCall,
  decideOfChild,
  decideRetry,
  misfitText,
  readAnswer,
  rejected,
  STILL_OPEN,
  unchanged,
} from './decision.js';
import type { Operator } from './operator-commands.js';

const NOT_TAKEN = 'it is not what the step expects';

/** The questions of a run: who sees and answers them, and what an answer comes to. */
export class RunQuestions {
  readonly #run: AnsweredRun;

  constructor(run: AnsweredRun) {
    this.#run = run;
  }

  /**
   * The open ones that a caller may answer, the oldest first.
   * @param child of an agent, which sees the actions of this child alone. Default: those of no child.
   */
  openFor(caller: Owner, child?: string): readonly ActionRequest[] {
    const { live, principal, actions } = this.#run;
    return [...(live?.asks.values() ?? [])].filter(
      ({ id, action }) => actions.get(id)?.child === child && mayAnswer(action.answerBy, caller, principal),
    );
  }

  /** Those with a time limit that begins with the first response that has them. */
  undelivered(child?: string): readonly string[] {
    return this.openFor(this.#run.principal, child).flatMap(({ id, action, deliveredAt }) =>
      isClientWork(action) && deliveredAt === undefined ? [id] : [],
    );
  }

  /** Whether a question may say who may answer. */
  get isRestricted(): boolean {
    return restrictedQuestions(this.#run.graph).length > 0;
  }

  /** What a question asks, without secrets. */
  shown({ node, action }: ActionRequest): Action {
    return this.#run.mask.action(node, action);
  }

  /** Whether a question that a submission may be for names a caller that is not the owner. */
  names(caller: Owner, { actionId }: Submission): boolean {
    const { actions, principal } = this.#run;
    if (actionId !== undefined) {
      const action = actions.get(actionId);
      return action?.answerBy !== undefined && mayAnswer(action.answerBy, caller, principal);
    }
    return this.#named(caller).length > 0 || actions.lastOf(ownerKey(caller)) !== undefined;
  }

  /** The open questions that a caller who is not the owner may answer: those of children as well. */
  #named(caller: Owner): readonly ActionRequest[] {
    const { live, principal } = this.#run;
    return [...(live?.asks.values() ?? [])].filter(({ action }) =>
      mayAnswer(action.answerBy, caller, principal),
    );
  }

  /** The open questions that name a caller who is not the owner, as soon as they are safe. */
  toAnswer(caller: Owner): Promise<readonly ToAnswer[]> {
    const { id, graph } = this.#run;
    const asked = (): readonly ToAnswer[] =>
      this.#named(caller).map((pending) => {
        const shown = this.shown(pending);
        return {
          workflow_id: answerId(id),
          action_id: pending.id,
          name: graph.name,
          message: textOf(shown),
          schema: shown.schema,
        };
      });
    return new Promise((resolve) => this.#run.whenSafe(() => resolve(asked())));
  }

  /** What a caller's answer comes to as the run is now. Nothing is consumed. */
  decide(submission: Submission, by: Owner): Decision {
    const isOwner = accessKey(by) === accessKey(this.#run.principal);
    const { child } = submission;
    if (child !== undefined) return decideOfChild(this.#run, this, { ...submission, child }, by);
    const { tool, retry } = submission;
    if (!isOwner) return this.#decideNamed(submission, by);
    if (tool !== undefined) return decideMadeCall(this.#run, { ...submission, tool }, by);
    return retry === true ? decideRetry(this.#run, submission) : this.#decideOfOwner(submission, by);
  }

  /** The same for the answer of an operator: every question takes it, unless it answers as a caller. */
  decideOfOperator(
    { actionId, result }: { readonly actionId: string; readonly result: Json },
    { principal }: Operator,
  ): Decision {
    if (principal !== undefined) {
      const opened = this.#run.actions.get(actionId);
      return opened === undefined || mayAnswer(opened.answerBy, principal, this.#run.principal)
        ? this.decide({ actionId, result }, principal)
        : notPermitted(actionId, opened.answerBy);
    }
    const chosen = this.#choose(actionId, [...(this.#run.live?.asks.values() ?? [])], false);
    switch (chosen.kind) {
      case 'refused':
        return rejected(chosen.failure);
      case 'passed':
        return rejected({ code: 'NO_OPEN_ACTION', message: NO_OPEN_ACTION });
      case 'pending':
        return this.decideFor(chosen.pending, { result });
      default:
        return unreachable(chosen);
    }
  }

  /** The same for an answer that the user of the run was asked for. */
  decideAsked(
    pending: ActionRequest,
    given: Pick<Submission, 'result'> | { readonly failure: Failure },
  ): Decision {
    if (!this.#run.live?.asks.has(pending.id)) return rejected({ code: 'ACTION_CANCELLED', message: '' });
    if (!('failure' in given)) return this.decideFor(pending, given);
    return { kind: 'fits', pending, answer: { kind: 'failure', failure: given.failure }, warnings: [] };
  }

  /**
   * The answer is accepted, as soon as that is safe.
   * @param by who submitted it; nothing for an answer that the run asked its user for.
   */
  accepting(
    {
      pending,
      answer,
      warnings,
      content = contentOf(answer),
      requestKey,
    }: Extract<Decision, { kind: 'fits' }>,
    by: Owner | Operator | undefined,
  ): void {
    const { actions } = this.#run;
    // An agent that repeats an answer names its action.
    const caller = by?.kind === 'operator' ? by.principal : by;
    const isAnonymous = caller === undefined || actions.get(pending.id)?.child !== undefined;
    actions.answered(pending.id, {
      content,
      ...defined({ requestKey }),
      ...(isAnonymous ? {} : { by: ownerKey(caller) }),
      ...(warnings.length === 0 ? {} : { warnings }),
    });
  }

  /** The response to a result that did not fit. @param isLast whether it was the last try. */
  refusedValue(
    { failure }: Extract<Decision, { kind: 'misfit' }>,
    isLast: boolean,
  ): ReturnType<typeof rejected> {
    const message = failure.message.replace(STILL_OPEN, 'It was the last try: the step has failed.');
    return rejected(isLast ? { ...failure, message } : failure);
  }

  /** Why an answer was not taken although it fits the schema. */
  notTaken(pending: ActionRequest): Failure {
    const shown = this.shown(pending);
    return {
      code: 'E_RESULT_SHAPE',
      message: misfitText([NOT_TAKEN], howToAnswer(requestOf(shown), shown.schema)),
      details: { problems: [NOT_TAKEN], schema: shown.schema },
    };
  }

  #decideOfOwner(submission: Submission, by: Owner): Decision {
    const run = this.#run;
    const { actionId } = submission;
    const { live, actions } = run;
    const open = this.openFor(by);
    const named = actionId === undefined ? undefined : actions.get(actionId);
    const loop = this.#loopFailure(actionId, open);
    if (loop !== undefined) return rejected(loop);
    if (named?.mode !== undefined && !mayAnswer(named.answerBy, by, run.principal))
      return notPermitted(named.id, named.answerBy);
    const repeated = this.#decideRepeated(open, submission, by);
    if (repeated !== undefined) return repeated;
    if (run.isCancelled) {
      const why = run.error?.message ?? '';
      const message = `Run '${clip(run.id)}' was cancelled: it takes no further answers.${why === '' ? '' : ` ${clip(why)}`}`;
      return rejected({ code: 'WORKFLOW_CANCELLED', message });
    }
    if (named?.answer !== undefined) return alreadySubmitted(named.id);
    if (live === undefined || live.state.run.status !== 'running') {
      const warnings = [
        {
          code: 'W_NOT_USED',
          message: `The run had ended when this answer${actionId === undefined ? '' : ` to '${clip(actionId)}'`} arrived: it was not used.`,
        } as const,
      ];
      return unchanged(
        run.safeEnvelope.then((envelope) => ({ ok: true, envelope, warnings })),
        warnings,
      );
    }
    const [foreign] = live.asks.values();
    if (actionId === undefined && foreign !== undefined && open.length === 0)
      return notPermitted(foreign.id, foreign.action.answerBy);
    const chosen = this.#choose(actionId, open);
    switch (chosen.kind) {
      case 'refused':
        return rejected(chosen.failure);
      case 'passed':
        // The timer has fired: answering it again changes nothing.
        return unchanged(run.safeEnvelope.then((envelope) => ({ ok: true, envelope })));
      case 'pending':
        return this.decideFor(chosen.pending, submission);
      default:
        return unreachable(chosen);
    }
  }

  /** What agents do is not submitted by their caller: neither the loop that they drive, nor an action of a child. */
  #loopFailure(actionId: string | undefined, open: readonly ActionRequest[]): Failure | undefined {
    const { children, actions } = this.#run;
    const loops = children
      .open()
      .flatMap(([child]) => (child === undefined ? [] : [loopActionId(child.loop)]));
    const isOfAgents =
      actionId === undefined
        ? open.length === 0 && loops.length > 0
        : loops.includes(actionId) || actions.get(actionId)?.child !== undefined;
    if (!isOfAgents) return undefined;
    const what = actionId === undefined ? 'The open action' : `Action '${clip(actionId)}'`;
    return {
      code: 'ACTION_OF_AGENTS',
      message: `${what} is done by sub-agents: each of them submits the steps of its child with submit_step_result. It is complete when all children are; get_workflow_status returns what comes next. Nothing was consumed.`,
    };
  }

  /** A caller that is not the owner learns of the questions that name it, and of nothing else. */
  #decideNamed(submission: Submission, by: Owner): Decision {
    const { actions } = this.#run;
    const open = this.#named(by);
    const repeated = this.#decideRepeated(open, submission, by);
    if (repeated !== undefined) return repeated;
    const last = open.length === 0 ? actions.lastOf(ownerKey(by))?.id : undefined;
    const actionId = submission.actionId ?? last;
    if (actionId !== undefined && actions.get(actionId)?.answer !== undefined)
      return alreadySubmitted(actionId);
    const chosen = this.#choose(actionId, open);
    if (chosen.kind === 'pending') return this.decideFor(chosen.pending, submission);
    const closed = { code: 'ACTION_CANCELLED', message: actionClosed(actionId ?? '', []) };
    return rejected(chosen.kind === 'refused' ? chosen.failure : closed);
  }

  /** What an answer is for, of these questions. */
  #choose(
    actionId: string | undefined,
    open: readonly ActionRequest[],
    isPaused = (this.#run.live?.heldCalls.length ?? 0) > 0,
  ) {
    const { live, actions, clock } = this.#run;
    const asks = new Map(open.map((ask) => [ask.id, ask]));
    return actions.choose(
      actionId,
      { asks, isOpen: (id) => live?.isOpen(id) === true, isPaused },
      clock.now(),
    );
  }

  /** What an answer to an open action comes to. */
  decideFor(pending: ActionRequest, submission: Pick<Submission, 'result' | 'error'>): Decision {
    const reading = readAnswer(pending.action, submission, this.#run.schemas);
    if (!reading.ok) {
      const failure = this.#unfit(pending, reading.failure);
      if (!countsMisfits(pending.action)) return rejected(failure);
      return { kind: 'misfit', pending, failure, problems: reading.problems };
    }
    const { answer, warnings } = reading;
    const failure = this.#stepFailure(pending.action, answer);
    return failure === undefined
      ? { kind: 'fits', pending, answer, warnings }
      : rejected(maskedFailure(failure, this.#run.mask));
  }

  /** Why an answer cannot be the result of a step that failed. */
  #stepFailure(action: Action, answer: Answer): Failure | undefined {
    if (action.type !== 'step') return undefined;
    if (answer.kind === 'value')
      return action.tool === undefined ? undefined : this.#run.resultFailure(action.tool, answer.value);
    const message = `The result is an error, and the step waits for one that is not: ${answer.failure.message} ${STILL_OPEN}`;
    return { code: 'RESULT_IS_ERROR', message };
  }

  /** Why an answer does not fit, without secrets: what would fit may be one. */
  #unfit(pending: ActionRequest, failure: Failure): Failure {
    const shown = this.shown(pending);
    if (shown.schema === pending.action.schema) return maskedFailure(failure, this.#run.mask);
    const message = misfitText([], howToAnswer(requestOf(shown), shown.schema));
    return { code: failure.code, message, details: { problems: [], schema: shown.schema } };
  }

  /**
   * What a repeated answer comes to; nothing for any other. Without an action id it may as well be meant for an action
   * that is open now: which one is not guessed.
   */
  #decideRepeated(asks: readonly ActionRequest[], submission: Submission, by: Owner): Decision | undefined {
    const { actionId } = submission;
    const { actions } = this.#run;
    const before = actionId === undefined ? actions.lastOf(ownerKey(by)) : actions.get(actionId);
    if (before?.answer === undefined || before.mode === undefined) return undefined;
    // An acknowledgement takes no value: what is sent without an action id is for the action that is open.
    const isForOpen = actionId === undefined && asks.length > 0 && submission.result !== undefined;
    if (isForOpen && before.mode === 'info' && typeof submission.result === 'boolean') return undefined;
    if (!contentsOf(before.mode, submission).includes(before.answer.content)) return undefined;
    const { warnings } = before.answer;
    const extra = defined({ warnings });
    // A process that did not take the answer in does not know how the run was then.
    const firstResponse = this.#run.responses.get(before.id);
    const response =
      firstResponse ??
      this.#run.safeEnvelope.then((envelope): SubmitAnswer => ({ ok: true, envelope, ...extra }));
    const repeated: Decision = {
      ...unchanged(response, warnings),
      ...(firstResponse === undefined ? { waits: true } : {}),
    };
    if (actionId !== undefined) return repeated;
    if (this.#run.isCancelled) return undefined;
    const open = asks.map(({ id }) => id);
    return open.length === 0
      ? repeated
      : rejected({
          code: 'AMBIGUOUS_ACTION',
          message: `The same answer was accepted before, and may be meant for an action that is open now: say which one by action_id. Open are ${listed(open)}.`,
          details: { open_actions: open },
        });
  }
}

function notPermitted(id: string, answerBy: readonly Answerer[] = [{ kind: 'owner' }]): Decision {
  const details = { action_id: id, answer_by: answerBy.map((each) => ({ ...each })) };
  const message = `Action '${clip(id)}' is not yours to answer: only ${describeAnswerers(answerBy)} may. Nothing was consumed, and the action is still open or was answered.`;
  return rejected({ code: 'NOT_PERMITTED', message, details });
}

/** Whether what does not fit is counted: a response in JSON, which an agent is asked for again a few times. */
function countsMisfits(action: Action): boolean {
  return action.type === 'delegate' && action.json === true;
}

import type { Owner } from '../../../decorators/context.js';
import { type Json, unreachable } from '../../../graph/json.js';
import type { Failure } from '../../engine/contract.js';
import type { Action } from '../../engine/events.js';
import type { RunMask } from '../../secrets/run-mask.js';
import type { RunAnswer } from '../run/envelope.js';
import { accessKey, answerId, ownerKey } from '../run/owner.js';
import type { PendingAction, Submission, ToAnswer } from './action.js';
import { NO_OPEN_ACTION } from './action-history.js';
import { mayAnswer, restrictedQuestions } from './answerers.js';
import {
  type AnsweredRun,
  contentOf,
  type Decision,
  decideAnswer,
  decideFor,
  decideNamed,
  isNamed,
  notTaken,
  rejected,
  shownAction,
} from './answers.js';
import type { Operator } from './operator-commands.js';

/** An answer that a question takes. */
type Fitting = Extract<Decision, { kind: 'fits' }>;

/** The questions of a run: who sees and answers them, and what an answer comes to. */
export class RunQuestions {
  readonly #run: AnsweredRun;

  constructor(run: AnsweredRun) {
    this.#run = run;
  }

  /** The open ones, the oldest first. */
  get open(): readonly PendingAction[] {
    const { live } = this.#run;
    return live === undefined ? [] : [...live.asks.values()];
  }

  /** The open ones that a caller may answer. */
  openFor(caller: Owner): readonly PendingAction[] {
    const { principal } = this.#run;
    return this.open.filter(({ action }) => mayAnswer(action.answerBy, caller, principal));
  }

  /** Whether a question may say who may answer. */
  get isRestricted(): boolean {
    return restrictedQuestions(this.#run.graph).length > 0;
  }

  /** What a question asks, without secrets. */
  shown(pending: PendingAction): Action {
    return shownAction(pending, this.#mask);
  }

  /** Whether a question that a submission may be for names a caller that is not the owner. */
  names(caller: Owner, submission: Submission): boolean {
    return isNamed(this.#run, submission, caller);
  }

  /** The open questions that name a caller who is not the owner, as soon as they are safe. */
  toAnswer(caller: Owner): Promise<readonly ToAnswer[]> {
    const { id, graph } = this.#run;
    const asked = (): readonly ToAnswer[] =>
      this.openFor(caller).map((pending) => {
        const { message, schema } = this.shown(pending);
        return { workflow_id: answerId(id), action_id: pending.id, name: graph.name, message, schema };
      });
    return new Promise((resolve) => this.#run.whenSafe(() => resolve(asked())));
  }

  /** What a caller's answer comes to as the run is now. Nothing is consumed. */
  decide(submission: Submission, by: Owner): Decision {
    const isOwner = accessKey(by) === accessKey(this.#run.principal);
    return isOwner ? decideAnswer(this.#run, submission, by) : decideNamed(this.#run, submission, by);
  }

  /** The same for the answer of an operator, which every question takes. */
  decideAsOperator({ actionId, result }: { readonly actionId: string; readonly result: Json }): Decision {
    const { live, actions, clock } = this.#run;
    const asks = new Map(this.open.map((ask) => [ask.id, ask]));
    const chosen = actions.choose(actionId, { asks, isOpen: (id) => live?.isOpen(id) === true }, clock.now());
    switch (chosen.kind) {
      case 'refused':
        return rejected(chosen.failure);
      case 'passed':
        return rejected({ code: 'NO_OPEN_ACTION', message: NO_OPEN_ACTION });
      case 'pending':
        return decideFor(this.#run, chosen.pending, { result });
      default:
        return unreachable(chosen);
    }
  }

  /** The same for an answer that the user of the run was asked for. */
  decideAsked(
    pending: PendingAction,
    given: Pick<Submission, 'result'> | { readonly failure: Failure },
  ): Decision {
    if (!this.#run.live?.asks.has(pending.id)) return rejected({ code: 'ACTION_CANCELLED', message: '' });
    if (!('failure' in given)) return decideFor(this.#run, pending, given);
    return {
      kind: 'fits',
      pending,
      answer: { kind: 'failure', failure: given.failure },
      warnings: [],
    };
  }

  /**
   * The answer is accepted, as soon as that is safe.
   * @param by who submitted it; nothing for an answer that the run asked its user for.
   */
  accepting({ pending, answer, warnings }: Fitting, by: Owner | Operator | undefined): void {
    this.#run.actions.answered(pending.id, {
      content: contentOf(answer),
      ...(by === undefined || by.kind === 'operator' ? {} : { by: ownerKey(by) }),
      ...(warnings.length === 0 ? {} : { warnings }),
    });
  }

  /** An answer was accepted, and is safe. @param response the response to its sender. */
  accepted(action: string, response: Promise<RunAnswer>): void {
    this.#run.actions.told(action, response);
  }

  /** Why an answer was not taken although it fits the schema. */
  notTaken(pending: PendingAction): Failure {
    return notTaken(pending, this.#mask);
  }

  get #mask(): RunMask {
    return this.#run.mask;
  }
}

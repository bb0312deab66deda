import type { Owner } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, unreachable } from '../../graph/json.js';
import { clip } from '../../graph/printable-text.js';
import type { RunWarning } from '../../graph/run-time-codes.js';
import type { ActionRequest, Failure } from '../engine/contract.js';
import type { Event } from '../engine/events.js';
import { refusal, type Submission } from './actions/action.js';
import type { Decision } from './actions/decision.js';
import { commandIn, type Operator, type OperatorCommand } from './actions/operator-commands.js';
import type { RunQuestions } from './actions/run-questions.js';
import { changeFailure } from './actions/run-variables.js';
import type { Envelope, RunAnswer, SubmitAnswer } from './run/envelope.js';
import type { Delivery } from './run/inbox.js';
import type { Cancellation, Waiter } from './run-store.js';
import type { InboxItem } from './store/journal.js';
import { WaitingRequest } from './waiting-requests.js';

// What was sent to a run, on its way into the run.

type AwaitedRun = ConstructorParameters<typeof WaitingRequest>[0];

/** A run as what is sent to it sees it. */
export interface RequestedRun extends AwaitedRun {
  /** Missing when the run is over. */
  readonly live: (NonNullable<AwaitedRun['live']> & { deliver(delivery: Delivery): void }) | undefined;
  readonly questions: RunQuestions;
  /** Whether it was cancelled with compensation. */
  readonly isUndone: boolean;
  /** Whether this process executes it, and no other one does. */
  readonly isActing: boolean;
  /** Loads it where another process has written to it. Resolves with whether the journal has it. */
  refresh(): Promise<boolean>;
  /** An item was sent to its inbox in the journal, which other processes may have to take. */
  sent(): void;
}

/** A delivery whose response may come from another process. */
interface SentDelivery extends Delivery {
  /** Another process has consumed the item. @param response as the journal has it. */
  relay(response: Json): void;
}

/** A caller of this process that waits for what becomes of what it sent. */
export interface Sender {
  /** Missing for a sender that does not wait for the run: it is answered when the answer is safe. */
  readonly waiter: Waiter | undefined;
  readonly resolve: (answer: SubmitAnswer | Promise<SubmitAnswer>) => void;
}

/** Makes a delivery of what was sent. */
export function deliveryOf(
  run: RequestedRun,
  { id, kind, by: sentBy, content }: InboxItem,
  sent: { readonly item?: string; readonly sender?: Sender | undefined },
): SentDelivery {
  const by = sentBy === undefined ? run.principal : (sentBy as unknown as Owner);
  switch (kind) {
    case 'answer': {
      const submission = submissionIn(content);
      return new AnswerDelivery(run, () => run.questions.decide(submission, by), { ...sent, by });
    }
    case 'cancel':
      return new CancelDelivery(run, cancellationIn(content), { ...sent, by });
    case 'variables':
      return variablesDelivery(run, content, sent);
    case 'operator':
      return operatorDelivery(run, { id, by: sentBy as unknown as Operator, content });
    default:
      return unreachable(kind);
  }
}

/** Makes a delivery of what an operator sent, who waits for the response in the journal. */
function operatorDelivery(
  run: RequestedRun,
  { id, by, content }: { readonly id: string; readonly by: Operator; readonly content: JsonObject },
): SentDelivery {
  const command = commandIn(content);
  switch (command?.command) {
    case 'decide':
    case 'retry':
      return decisionDelivery(run, id, command, by);
    case 'answer':
      return new AnswerDelivery(run, () => run.questions.decideOfOperator(command, by), { item: id, by });
    case 'cancel':
      return new CancelDelivery(run, { reason: 'an operator cancelled it', ...command }, { item: id, by });
    case undefined:
      return refusedDelivery(id, {
        code: 'E_UNSUPPORTED',
        message: 'This server does not know this command of an operator. Nothing was done.',
      });
    default:
      return unreachable(command);
  }
}

/** What is sent to a run that is over. */
export function lateAnswer(
  run: RequestedRun,
  { kind, by, content }: InboxItem,
): SubmitAnswer | Promise<SubmitAnswer> {
  if (kind === 'answer') {
    const decision = run.questions.decide(submissionIn(content), by as unknown as Owner);
    if (decision.kind === 'response') return decision.answer;
  }
  if (kind === 'variables') {
    return {
      ok: false,
      failure: { code: 'E_TASK_OVER', message: 'The run is over: its variables are not changed any more.' },
    };
  }
  // A run that was cancelled with compensation needs no warning.
  const isLate = content.compensate === true && !run.isUndone;
  const warnings = [
    {
      code: 'W_NOT_USED',
      message: 'The run had ended before it was cancelled: nothing was undone.',
    } as const,
  ];
  return { ok: true, envelope: run.envelope, ...(isLate ? { warnings } : {}) };
}

function submissionIn({ action_id, child, step_id, args, retry, ...rest }: JsonObject): Submission {
  const [actionId, childId, stepId] = [action_id, child, step_id].map(textIn);
  const [tool, requestKey] = [rest.tool, rest.requestKey].map(textIn);
  const { result, error } = rest;
  return {
    ...defined({ actionId, child: childId, stepId, tool, requestKey, result, error }),
    ...(isJsonObject(args) ? { args } : {}),
    ...(retry === true ? { retry } : {}),
  };
}

function textIn(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

/** What the user of a run answered, for its inbox. */
export function submissionOf(
  given: Pick<Submission, 'result'> | { readonly failure: Failure },
): Pick<Submission, 'result' | 'error'> {
  if (!('failure' in given)) return { result: given.result ?? null };
  const { code, message } = given.failure;
  return { error: { code, message } };
}

function cancellationIn({ reason, compensate, code }: JsonObject): Cancellation {
  return {
    ...defined({ reason: textIn(reason), code: textIn(code) }),
    ...(compensate === undefined ? {} : { compensate: compensate === true }),
  };
}

/** The response to the sender of an answer, as the journal has it. */
interface StoredResponse {
  readonly ok: boolean;
  readonly failure?: Failure;
  readonly warnings?: readonly RunWarning[];
}

interface ItemSource {
  /** Its item in the journal's inbox. */
  readonly item?: string;
  readonly sender?: Sender | undefined;
}

const NOT_WRITTEN =
  'The answer could not be written down, and is not known to be accepted: ask for the status of the run.';

/** An item of a sender of this process, which may wait for the run. */
abstract class WaitingDelivery {
  declare readonly item?: string;
  protected waitingRequest: WaitingRequest | undefined;
  /** Its sender has the response, and may wait for the run. */
  protected isAnswered = false;

  constructor(
    protected readonly run: RequestedRun,
    protected readonly sender: Sender | undefined,
    item: string | undefined,
  ) {
    if (item !== undefined) this.item = item;
  }

  protected wait(): void {
    if (this.sender?.waiter !== undefined)
      this.waitingRequest ??= new WaitingRequest(this.run, this.sender.waiter);
  }

  /** A response that came by way of the journal may come before the entry with it is known to be safe. */
  protected leave(): void {
    if (!this.isAnswered) this.waitingRequest?.leave();
  }
}

/** An answer on its way into a run. */
export class AnswerDelivery extends WaitingDelivery implements SentDelivery {
  readonly #by: Owner | Operator | undefined;
  readonly #decide: () => Decision;
  readonly #onAccepted: Promise<Envelope> | undefined;
  #decision: Decision | undefined;
  #isTaken = false;

  /**
   * @param decide decides about the answer, from the run as it is when the answer is delivered.
   * @param answered the response to a sender of the same answer, if there is one already.
   */
  constructor(
    run: RequestedRun,
    decide: () => Decision,
    { item, sender, by, answered }: ItemSource & { by?: Owner | Operator; answered?: Promise<Envelope> },
  ) {
    super(run, sender, item);
    this.#decide = decide;
    this.#by = by;
    this.#onAccepted = answered;
  }

  open(): Event | undefined {
    this.#decision = this.#decide();
    if (this.#decision.kind === 'response') return undefined;
    if (this.#decision.kind === 'misfit') return this.#valueRefused(this.#decision);
    this.wait();
    const { pending } = this.#decision;
    const head = this.#headOf(pending);
    if (this.#decision.kind === 'retry') {
      const { command: _, ...rest } = head;
      return { kind: 'retryRequested', ...rest, node: pending.node };
    }
    const { answer } = this.#decision;
    return answer.kind === 'failure'
      ? { kind: 'actionFailed', ...head, failure: answer.failure }
      : { kind: 'actionSubmitted', ...head, value: answer.value };
  }

  #headOf({ id: command }: ActionRequest) {
    const by = { ...(this.#by ?? this.run.principal) };
    return { at: this.run.clock.now(), command, ...defined({ id: this.item }), by };
  }

  /** A response of an agent that does not fit counts: after the last try the step has failed. */
  #valueRefused({ pending, problems }: Extract<Decision, { kind: 'misfit' }>): Event {
    return { kind: 'valueRefused', ...this.#headOf(pending), problems };
  }

  respond(isTaken: boolean): Json {
    this.#isTaken = isTaken;
    const decision = this.#decision;
    if (decision?.kind === 'misfit') {
      const response = this.run.questions.refusedValue(decision, isTaken);
      this.#decision = response;
      return response.response;
    }
    if (decision?.kind === 'response') {
      if (decision.variables !== undefined) this.run.setVariables(decision.variables);
      return decision.response;
    }
    if (decision === undefined) return null;
    // It waits for its decision alone, so that it was taken.
    if (decision.kind === 'retry') return { ok: true };
    if (!isTaken) return refusal(this.run.questions.notTaken(decision.pending));
    this.run.questions.accepting(decision, this.#by);
    return {
      ok: true,
      action_id: decision.pending.id,
      warnings: decision.warnings.map(({ code, message }) => ({ code, message })),
    };
  }

  done(): void {
    const decision = this.#decision;
    if (decision?.kind === 'retry') {
      this.relay({ ok: true });
      return;
    }
    if (decision?.kind !== 'fits') {
      if (decision?.kind === 'response' && decision.waits === true) {
        this.relay(decision.response);
        return;
      }
      this.leave();
      if (decision?.kind === 'response') this.sender?.resolve(decision.answer);
      return;
    }
    const { pending, warnings } = decision;
    if (!this.#isTaken) {
      this.leave();
      this.sender?.resolve({ ok: false, failure: this.run.questions.notTaken(pending) });
      return;
    }
    const extra = warnings.length === 0 ? {} : { warnings };
    const envelope = this.waitingRequest?.envelope ?? this.#onAccepted;
    const response = envelope?.then((given): RunAnswer => ({ ok: true, envelope: given, ...extra }));
    if (response !== undefined) this.run.responses.set(pending.id, response);
    this.waitingRequest?.open();
    if (this.#isLeft) this.sender?.resolve({ ok: true, accepted: true, ...extra });
    else if (response !== undefined) this.sender?.resolve(response);
  }

  relay(response: Json): void {
    const { ok, failure, warnings } = response as unknown as StoredResponse;
    const sender = this.sender;
    this.isAnswered = true;
    const extra = warnings === undefined || warnings.length === 0 ? {} : { warnings };
    if (!ok) {
      this.waitingRequest?.leave();
      if (failure !== undefined) sender?.resolve({ ok: false, failure });
    } else if (sender?.waiter === undefined) {
      sender?.resolve({ ok: true, accepted: true, ...extra });
    } else {
      const request = this.waitingRequest ?? new WaitingRequest(this.run, sender.waiter);
      this.waitingRequest = request;
      sender.resolve(request.envelope.then((envelope) => ({ ok: true, envelope, ...extra })));
      request.open();
    }
  }

  failed(): void {
    this.leave();
    const outcome = Promise.resolve().then((): RunAnswer => {
      const { envelope } = this.run;
      // A run that is loaded again from its journal may still take the answer from its inbox.
      if (envelope.status !== 'running' && !this.#isLeft) return { ok: true, envelope };
      return { ok: false, failure: { code: 'E_JOURNAL', message: NOT_WRITTEN } };
    });
    this.sender?.resolve(outcome);
  }

  /** Whether its sender does not wait for the run. */
  get #isLeft(): boolean {
    return this.sender !== undefined && this.sender.waiter === undefined;
  }
}

/** A cancellation on its way into a run. */
class CancelDelivery extends WaitingDelivery implements SentDelivery {
  readonly #how: Cancellation;
  readonly #by: Owner | Operator;

  constructor(
    run: RequestedRun,
    how: Cancellation,
    { item, sender, by }: ItemSource & { by: Owner | Operator },
  ) {
    super(run, sender, item);
    this.#how = how;
    this.#by = by;
  }

  open(): Event {
    this.wait();
    const { reason = 'the caller cancelled it', compensate = false, code } = this.#how;
    return {
      ...{ kind: 'cancelled', at: this.run.clock.now(), reason },
      ...(compensate ? { compensate } : {}),
      ...defined({ code, id: this.item }),
      by: { ...this.#by },
    };
  }

  respond(): Json {
    return { ok: true };
  }

  relay(): void {
    this.wait();
    this.done();
  }

  done(): void {
    this.isAnswered = true;
    this.waitingRequest?.open();
    const envelope = this.waitingRequest?.envelope;
    if (envelope !== undefined) {
      this.sender?.resolve(envelope.then((given): RunAnswer => ({ ok: true, envelope: given })));
    }
  }

  failed(): void {
    this.leave();
    // The run has noted its failure by then.
    const outcome = Promise.resolve().then((): RunAnswer => ({ ok: true, envelope: this.run.envelope }));
    this.sender?.resolve(outcome);
  }
}

/** For items whose senders wait for the response in the journal. */
const UNHEARD = { done() {}, relay() {}, failed() {} };

/** A decision about a call, on its way into a run. */
function decisionDelivery(
  run: RequestedRun,
  item: string,
  command: Extract<OperatorCommand, { command: 'decide' | 'retry' }>,
  by: Operator,
): SentDelivery {
  let failure: Failure | undefined;
  const misfit = (tool: string): Failure | undefined =>
    command.command === 'retry' || command.outcome.kind === 'didNotHappen'
      ? undefined
      : run.resultFailure(tool, command.outcome.value);
  return {
    ...UNHEARD,
    item,
    open() {
      const pausedCalls = run.live?.heldCalls ?? [];
      const call = pausedCalls.find(({ node }) => node === command.step);
      failure = call === undefined ? notPaused(command.step, pausedCalls) : misfit(call.tool);
      if (failure !== undefined) return undefined;
      const head = { at: run.clock.now(), id: item, by: { ...by }, node: command.step };
      return command.command === 'retry'
        ? { kind: 'retryRequested', ...head }
        : { kind: 'outcomeDecided', ...head, outcome: command.outcome };
    },
    respond: () => (failure === undefined ? { ok: true } : refusal(failure)),
  };
}

/** Variables that a program sets, on their way into a run. */
function variablesDelivery(
  run: RequestedRun,
  { set = {}, expected_version: expected }: JsonObject,
  { item, sender }: ItemSource,
): SentDelivery {
  const changes = set as JsonObject;
  let failure: Failure | undefined;
  const relay = (response: Json): void => {
    const { failure: refused } = response as unknown as StoredResponse;
    sender?.resolve(refused === undefined ? { ok: true, accepted: true } : { ok: false, failure: refused });
  };
  return {
    ...defined({ item }),
    open() {
      const { values, version } = run.variables ?? { values: {}, version: 0 };
      failure =
        expected !== undefined && expected !== version
          ? otherVersion(expected, version)
          : changeFailure(values, changes);
      return undefined;
    },
    respond() {
      if (failure !== undefined) return refusal(failure);
      run.setVariables(changes);
      return { ok: true };
    },
    done: relay,
    relay,
    failed: () => sender?.resolve({ ok: false, failure: { code: 'E_JOURNAL', message: NOT_WRITTEN } }),
  };
}

function otherVersion(expected: Json, version: number): Failure {
  return {
    code: 'E_TASK_VERSION',
    message: `The variables have version ${version}, and not ${expected}: others have changed them. Read them again. Nothing was changed.`,
    details: { expected, found: version },
  };
}

/** An item that this process does not know. */
function refusedDelivery(item: string, failure: Failure): SentDelivery {
  return { ...UNHEARD, item, open: () => undefined, respond: () => refusal(failure) };
}

function notPaused(step: string, pausedCalls: NonNullable<RequestedRun['live']>['heldCalls']): Failure {
  const steps = pausedCalls.map(({ node }) => node);
  return {
    code: 'E_NOT_PAUSED',
    message:
      steps.length === 0
        ? `No call of this run waits for a decision, also not that of step '${clip(step)}'. Nothing was done.`
        : `The call of step '${clip(step)}' does not wait for a decision, but that of ${steps.map((each) => `'${clip(each)}'`).join(', ')} does. Nothing was done.`,
    details: { paused_steps: steps },
  };
}

import type { Owner } from '../../../decorators/context.js';
import type { Json, JsonObject } from '../../../graph/json.js';
import type { Event, Failure } from '../../engine/contract.js';
import type { Delivery } from '../../host/in-process/inbox.js';
import type { Answer } from './answer.js';
import { Attendance, type Attended } from './attendance.js';
import type { Envelope } from './envelope.js';
import type { Question } from './interview.js';
import type { Attendant, Cancellation, RunAnswer, RunWarning, Submission } from './run-store.js';

/** A caller of this process that waits for what becomes of what it sent. */
export interface Sender {
  readonly attendant: Attendant;
  readonly resolve: (answer: RunAnswer | Promise<RunAnswer>) => void;
}

/** What a submission comes to as the run is now. */
export type Verdict =
  /** Nothing is taken in. */
  | { readonly kind: 'told'; readonly answer: RunAnswer | Promise<RunAnswer>; readonly response: Json }
  | {
      readonly kind: 'fits';
      readonly question: Question;
      readonly answer: Answer;
      readonly warnings: readonly RunWarning[];
    };

/** A run as what is sent to it sees it. */
export interface Addressed extends Attended {
  judge(submission: Submission, by: Owner): Verdict;
  /**
   * The answer is accepted, as soon as that is safe.
   * @param by who submitted it; nothing for an answer that the run asked its user for.
   */
  accepting(fitting: Extract<Verdict, { kind: 'fits' }>, by: Owner | undefined): void;
  /** An answer was accepted, and is safe. @param response what its sender is told. */
  accepted(action: string, response: Promise<RunAnswer>): void;
  /** Why an answer was not taken although it fits the schema. */
  notTaken(question: Question): Failure;
  cancelling(how: Cancellation): Extract<Event, { kind: 'cancelled' }>;
  /** The owner of the run. */
  readonly principal: Owner;
}

interface Sent {
  /** Its item in the journal's inbox. */
  readonly item?: string;
  readonly sender?: Sender | undefined;
}

/** An answer on its way into a run. */
export class AnswerDelivery implements Delivery {
  declare readonly item?: string;
  readonly #run: Addressed;
  readonly #sender: Sender | undefined;
  readonly #by: Owner | undefined;
  readonly #judge: () => Verdict;
  readonly #onAccepted: Promise<Envelope> | undefined;
  #attendance: Attendance | undefined;
  #verdict: Verdict | undefined;
  #isTaken = false;

  /**
   * @param judge says what the answer comes to, looking at the run when its turn comes.
   * @param answered what a sender of the same answer is told, where it is known already.
   */
  constructor(
    run: Addressed,
    judge: () => Verdict,
    { item, sender, by, answered }: Sent & { by?: Owner; answered?: Promise<Envelope> },
  ) {
    this.#run = run;
    this.#judge = judge;
    this.#sender = sender;
    this.#by = by;
    this.#onAccepted = answered;
    if (item !== undefined) this.item = item;
  }

  open(): Event | undefined {
    this.#verdict = this.#judge();
    if (this.#verdict.kind !== 'fits') return undefined;
    if (this.#sender !== undefined) this.#attendance ??= new Attendance(this.#run, this.#sender.attendant);
    const { question, answer } = this.#verdict;
    const head = {
      at: this.#run.clock.now(),
      command: question.id,
      ...(this.item === undefined ? {} : { id: this.item }),
      by: { ...(this.#by ?? this.#run.principal) },
    };
    return answer.kind === 'failure'
      ? { kind: 'actionFailed', ...head, failure: answer.failure }
      : { kind: 'actionSubmitted', ...head, value: answer.value };
  }

  respond(isTaken: boolean): Json {
    this.#isTaken = isTaken;
    const verdict = this.#verdict;
    if (verdict?.kind !== 'fits') return verdict?.response ?? null;
    if (!isTaken) return refusal(this.#run.notTaken(verdict.question));
    this.#run.accepting(verdict, this.#by);
    return {
      ok: true,
      action_id: verdict.question.id,
      warnings: verdict.warnings.map(({ code, message }) => ({ code, message })),
    };
  }

  done(): void {
    const verdict = this.#verdict;
    if (verdict?.kind !== 'fits') {
      this.#attendance?.leave();
      if (verdict !== undefined) this.#sender?.resolve(verdict.answer);
      return;
    }
    const { question, warnings } = verdict;
    if (!this.#isTaken) {
      this.#attendance?.leave();
      this.#sender?.resolve({ ok: false, failure: this.#run.notTaken(question) });
      return;
    }
    const noted = warnings.length === 0 ? {} : { warnings };
    const envelope = this.#attendance?.envelope ?? this.#onAccepted;
    const response = envelope?.then((given): RunAnswer => ({ ok: true, envelope: given, ...noted }));
    if (response !== undefined) this.#run.accepted(question.id, response);
    this.#attendance?.open();
    if (response !== undefined) this.#sender?.resolve(response);
  }

  failed(): void {
    this.#attendance?.leave();
    lost(this.#run, this.#sender);
  }
}

/** A cancellation on its way into a run. */
export class CancelDelivery implements Delivery {
  declare readonly item?: string;
  readonly #run: Addressed;
  readonly #how: Cancellation;
  readonly #by: Owner;
  readonly #sender: Sender | undefined;
  #attendance: Attendance | undefined;

  constructor(run: Addressed, how: Cancellation, { item, sender, by }: Sent & { by: Owner }) {
    this.#run = run;
    this.#how = how;
    this.#by = by;
    this.#sender = sender;
    if (item !== undefined) this.item = item;
  }

  open(): Event {
    if (this.#sender !== undefined) this.#attendance ??= new Attendance(this.#run, this.#sender.attendant);
    const id = this.item === undefined ? {} : { id: this.item };
    return { ...this.#run.cancelling(this.#how), ...id, by: { ...this.#by } };
  }

  respond(): Json {
    return { ok: true };
  }

  done(): void {
    this.#attendance?.open();
    const envelope = this.#attendance?.envelope;
    if (envelope !== undefined) {
      this.#sender?.resolve(envelope.then((given): RunAnswer => ({ ok: true, envelope: given })));
    }
  }

  failed(): void {
    this.#attendance?.leave();
    lost(this.#run, this.#sender);
  }
}

/** What this process does not know how to carry out. */
export class RefusedDelivery implements Delivery {
  readonly item: string;
  readonly #failure: Failure;

  constructor(item: string, failure: Failure) {
    this.item = item;
    this.#failure = failure;
  }

  open(): undefined {
    return undefined;
  }

  respond(): Json {
    return refusal(this.#failure);
  }

  done(): void {}

  failed(): void {}
}

/** A response that refuses, as the journal stores it. */
export function refusal({ code, message, details }: Failure): JsonObject {
  return { ok: false, failure: { code, message, ...(details === undefined ? {} : { details }) } };
}

/** The run is told to be lost before its envelope says so. */
function lost(run: Attended, sender: Sender | undefined): void {
  sender?.resolve(Promise.resolve().then((): RunAnswer => ({ ok: true, envelope: run.envelope })));
}

import { randomUUID } from 'node:crypto';
import type { Owner } from '../../../decorators/context.js';
import type { JsonObject } from '../../../graph/json.js';
import { unreachable } from '../../../graph/unreachable.js';
import type { Delivery } from '../../host/in-process/inbox.js';
import { type InboxItem, type Journal, sendSafely } from '../../host/journal.js';
import { toJson } from '../../tools/to-json.js';
import {
  type Addressed,
  AnswerDelivery,
  CancelDelivery,
  RefusedDelivery,
  type Sender,
} from './deliveries.js';
import type { Attendant, Cancellation, RunAnswer, Submission } from './run-store.js';
import { texts } from './texts.js';

/** A run as requests to it see it. */
export interface RequestedRun extends Addressed {
  readonly id: string;
  /** It was cancelled so that what it did is undone. */
  readonly isUndone: boolean;
}

/** A caller whose item is in the journal's inbox and not taken from there yet. */
interface WaitingSender extends Sender {
  readonly item: InboxItem;
}

/**
 * Answers and cancellations that callers send to a run. Where there is a journal they go through its inbox: then they are
 * safe before they are looked at.
 */
export class Requests {
  readonly #run: RequestedRun;
  readonly #journal: Journal | undefined;
  /** By item. */
  readonly #senders = new Map<string, WaitingSender>();

  constructor(run: RequestedRun, journal: Journal | undefined) {
    this.#run = run;
    this.#journal = journal;
  }

  /** Whether nothing is under way. */
  get isEmpty(): boolean {
    return this.#senders.size === 0;
  }

  answer(by: Owner, { actionId, result, error }: Submission, attendant: Attendant): Promise<RunAnswer> {
    const content = {
      ...(actionId === undefined ? {} : { action_id: actionId }),
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error }),
    };
    return this.#send('answer', by, content, attendant);
  }

  cancel(by: Owner, { reason, compensate }: Cancellation, attendant: Attendant): Promise<RunAnswer> {
    const content = {
      ...(reason === undefined ? {} : { reason }),
      ...(compensate === undefined ? {} : { compensate }),
    };
    return this.#send('cancel', by, content, attendant);
  }

  #send(kind: 'answer' | 'cancel', by: Owner, given: JsonObject, attendant: Attendant): Promise<RunAnswer> {
    // What becomes of it outside must not reach the run.
    const json = toJson(given);
    if (!json.ok) {
      const message = texts.shape([texts.notJson(json.problem)], '');
      return Promise.resolve({ ok: false, failure: { code: 'E_RESULT_SHAPE', message } });
    }
    const content = json.value as JsonObject;
    const run = this.#run;
    return new Promise((resolve, reject) => {
      const sender = { attendant, resolve };
      const item = { run: run.id, id: randomUUID(), kind, at: run.clock.now(), by: { ...by }, content };
      if (run.live === undefined) resolve(lateAnswer(run, item));
      else if (this.#journal === undefined) run.live.deliver(deliveryOf(run, item, { sender }));
      else {
        this.#senders.set(item.id, { ...sender, item });
        sendSafely(this.#journal, item).then(
          () => {
            if (run.live === undefined) this.#answerLate(item.id);
          },
          (fault) => {
            this.#senders.delete(item.id);
            reject(fault);
          },
        );
      }
    });
  }

  /** Something was sent to the inbox of the run in the journal, by this process or another one. */
  receive(item: InboxItem): Delivery {
    const sender = this.#senders.get(item.id);
    this.#senders.delete(item.id);
    return deliveryOf(this.#run, item, { item: item.id, sender });
  }

  /** The run is over: what was not taken from the inbox until then is not taken any more. */
  ended(): void {
    for (const id of [...this.#senders.keys()]) this.#answerLate(id);
  }

  #answerLate(id: string): void {
    const sender = this.#senders.get(id);
    if (sender === undefined) return;
    this.#senders.delete(id);
    sender.resolve(lateAnswer(this.#run, sender.item));
  }
}

/** Makes a delivery of what was sent. */
function deliveryOf(
  run: RequestedRun,
  { id, kind, by: sentBy, content }: InboxItem,
  sent: { readonly item?: string; readonly sender?: Sender | undefined },
): Delivery {
  const by = sentBy === undefined ? run.principal : (sentBy as unknown as Owner);
  switch (kind) {
    case 'answer': {
      const submission = submissionIn(content);
      return new AnswerDelivery(run, () => run.judge(submission, by), { ...sent, by });
    }
    case 'cancel':
      return new CancelDelivery(run, cancellationIn(content), { ...sent, by });
    case 'operator':
      return new RefusedDelivery(id, { code: 'E_UNSUPPORTED', message: texts.noOperators });
    default:
      return unreachable(kind);
  }
}

/** What is sent to a run that is over. */
function lateAnswer(run: RequestedRun, { kind, by, content }: InboxItem): RunAnswer | Promise<RunAnswer> {
  if (kind === 'answer') {
    const verdict = run.judge(submissionIn(content), by as unknown as Owner);
    if (verdict.kind === 'told') return verdict.answer;
  }
  // Once more for a run that was cancelled so changes nothing.
  const isLate = content.compensate === true && !run.isUndone;
  const warnings = [{ code: 'W_NOT_USED', message: texts.nothingUndone } as const];
  return { ok: true, envelope: run.envelope, ...(isLate ? { warnings } : {}) };
}

function submissionIn({ action_id: actionId, result, error }: JsonObject): Submission {
  return {
    ...(actionId === undefined ? {} : { actionId: String(actionId) }),
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
  };
}

function cancellationIn({ reason, compensate }: JsonObject): Cancellation {
  return {
    ...(reason === undefined ? {} : { reason: String(reason) }),
    ...(compensate === undefined ? {} : { compensate: compensate === true }),
  };
}

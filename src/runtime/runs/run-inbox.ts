import { randomUUID } from 'node:crypto';
import type { Owner } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import type { Json, JsonObject } from '../../graph/json.js';
import { RESULT_LIMIT_BYTES } from '../tools/call-result.js';
import { capabilityText } from '../tools/capabilities.js';
import { isWithin, jsonSize, toJson } from '../tools/to-json.js';
import { refusal, type Submission } from './actions/action.js';
import { misfitText } from './actions/decision.js';
import { RUN_OVER } from './actions/operator-commands.js';
import { deliveryOf, lateAnswer, type RequestedRun, type Sender } from './deliveries.js';
import type { RunAnswer, SubmitAnswer } from './run/envelope.js';
import type { Delivery } from './run/inbox.js';
import type { Cancellation, VariableChanges, Waiter } from './run-store.js';
import { type InboxItem, type RunJournal, sendSafely } from './store/journal.js';

/** How long a sender that does not wait for the run waits for a process that takes its item, in ms. */
const DECISION_MS = 10_000;

/** A caller with an item that the run has not taken yet. */
interface WaitingSender extends Sender {
  readonly item: InboxItem;
  readonly fail: (fault: unknown) => void;
  /** The item is in the inbox, or was. */
  isSent?: true;
  /** Made when the item is delivered first. */
  delivery?: ReturnType<typeof deliveryOf>;
  /** The run that the item was delivered to without the inbox. */
  live?: RequestedRun['live'];
}

/**
 * Answers and cancellations that callers send to a run. The process that executes the run writes them with the transition
 * that takes them. For a run of another process they go through the inbox of its journal.
 */
export class RunInbox {
  readonly #run: RequestedRun;
  readonly #journal: RunJournal;
  /** By item. */
  readonly #senders = new Map<string, WaitingSender>();

  constructor(run: RequestedRun, journal: RunJournal) {
    this.#run = run;
    this.#journal = journal;
  }

  /** Whether no item is in flight. */
  get isEmpty(): boolean {
    return this.#senders.size === 0;
  }

  /**
   * Answers an action, or says why not. A repeated answer gets the stored response.
   * @param how.waiter missing for a sender that does not wait for the run, such as one that is not its owner.
   * @param how.limitMs how long that sender waits for a process that takes the answer. Default: without limit.
   */
  answer(
    by: Owner,
    { actionId, stepId, ...submission }: Submission,
    how: SenderWait = {},
  ): Promise<SubmitAnswer> {
    const content = { ...defined({ action_id: actionId, step_id: stepId }), ...submission };
    return this.#send('answer', by, content, how);
  }

  /** Cancels the run. Cancelling a cancelled run has no effect. */
  async cancel(by: Owner, { reason, compensate, code }: Cancellation, waiter?: Waiter): Promise<RunAnswer> {
    const content = defined({ reason, compensate, code });
    const answer = await this.#send('cancel', by, content, defined({ waiter }));
    return 'accepted' in answer ? { ok: true, envelope: this.#run.envelope } : answer;
  }

  /** Changes variables of the run; see `RunStore.setVariables`. */
  setVariables(by: Owner, { set, expectedVersion }: VariableChanges, limitMs: number): Promise<SubmitAnswer> {
    const content = { set, ...defined({ expected_version: expectedVersion }) };
    return this.#send('variables', by, content, { limitMs });
  }

  /** Takes a command of an operator at once, in a volatile journal: in others it is an item of the inbox. */
  operate(item: InboxItem): Promise<Json> {
    const { live } = this.#run;
    if (live === undefined) return Promise.resolve(refusal(RUN_OVER));
    const delivery = deliveryOf(this.#run, item, { item: item.id });
    return new Promise((resolve, reject) =>
      live.deliver({
        item: item.id,
        open: (state) => delivery.open(state),
        respond: (isAccepted) => delivery.respond(isAccepted),
        done(response) {
          delivery.done(response);
          resolve(response);
        },
        failed(fault) {
          delivery.failed(fault);
          reject(fault);
        },
      }),
    );
  }

  #send(
    kind: 'answer' | 'cancel' | 'variables',
    by: Owner,
    given: JsonObject,
    { waiter, limitMs = waiter && (waiter.answerMs || DECISION_MS) }: SenderWait,
  ): Promise<SubmitAnswer> {
    // What becomes of it outside must not reach the run.
    const json = toJson(given);
    if (!json.ok) {
      const message = misfitText([`it is not JSON, but holds ${json.problem}`], '');
      return Promise.resolve({ ok: false, failure: { code: 'E_RESULT_SHAPE', message } });
    }
    const content = json.value as JsonObject;
    if (!isWithin(content, RESULT_LIMIT_BYTES)) {
      const size = jsonSize(content, RESULT_LIMIT_BYTES);
      const message = `What was sent has at least ${size} bytes of JSON, and a run keeps at most ${RESULT_LIMIT_BYTES}: send a part of it, or a link to it. Nothing was done.`;
      const details = { size, limit: RESULT_LIMIT_BYTES };
      return Promise.resolve({ ok: false, failure: { code: 'E_RESULT_TOO_LARGE', message, details } });
    }
    const run = this.#run;
    return new Promise((resolve, reject) => {
      const item = { run: run.id, id: randomUUID(), kind, at: run.clock.now(), by: { ...by }, content };
      if (run.live === undefined) resolve(lateAnswer(run, item));
      else if (this.#journal.isVolatile) {
        run.live.deliver(deliveryOf(run, item, { sender: { waiter, resolve } }));
      } else {
        const stopTimer =
          limitMs === undefined ? undefined : run.clock.setTimer(() => this.#answerStored(item.id), limitMs);
        const over = (): void => {
          stopTimer?.();
          this.#senders.delete(item.id);
        };
        const answer: Sender['resolve'] = (given) => {
          over();
          resolve(given);
        };
        const fail = (fault: unknown): void => {
          over();
          reject(fault);
        };
        const sender = { waiter, resolve: answer, fail, item };
        this.#senders.set(item.id, sender);
        void this.#dispatch(sender);
      }
    });
  }

  /** Delivers an item to the run if this process executes it, and else sends it to the inbox. */
  async #dispatch(sender: WaitingSender): Promise<void> {
    const run = this.#run;
    const { item } = sender;
    // Another process may have written to the run. Where that cannot be read, the inbox keeps the item.
    const isCurrent = run.isActing && (await run.refresh().catch(() => false));
    if (isCurrent && run.isActing && run.live !== undefined) {
      sender.live = run.live;
      run.live.deliver(this.#deliveryFor(sender, true));
      return;
    }
    try {
      await sendSafely(this.#journal, item);
    } catch (fault) {
      sender.fail(fault);
      return;
    }
    sender.isSent = true;
    if (run.live === undefined) sender.resolve(lateAnswer(run, item));
    else run.sent();
  }

  /** Something was sent to the inbox of the run in the journal, by this process or another one. */
  receive(item: InboxItem): Delivery {
    const sender = this.#senders.get(item.id);
    return sender === undefined
      ? deliveryOf(this.#run, item, { item: item.id })
      : this.#deliveryFor(sender, false);
  }

  #deliveryFor(sender: WaitingSender, isDirect: boolean): ReturnType<typeof deliveryOf> {
    const { item } = sender;
    sender.delivery ??= deliveryOf(this.#run, item, { item: item.id, sender });
    sender.delivery.isDirect = isDirect;
    return sender.delivery;
  }

  /** Whether another process has consumed an item, where these are all that are in the inbox. */
  misses(items: readonly InboxItem[]): boolean {
    return [...this.#senders.values()].some(
      ({ isSent, delivery, item }) =>
        isSent === true && delivery?.isDirect !== false && !items.some(({ id }) => id === item.id),
    );
  }

  /**
   * Another process may have consumed items, or the run is over: their senders get the responses. What a lost run has not
   * taken is sent again.
   */
  settle(): void {
    for (const sender of [...this.#senders.values()]) {
      const { live, isSent } = sender;
      if (isSent === true) void this.#settle(sender);
      else if (live !== undefined && live !== this.#run.live) {
        delete sender.live;
        void this.#dispatch(sender);
      }
    }
  }

  async #settle(sender: WaitingSender): Promise<void> {
    const { run, id } = sender.item;
    const response = await this.#journal.response(run, id).catch(() => undefined);
    if (this.#senders.get(id) !== sender) return;
    if (response !== undefined) this.#deliveryFor(sender, false).relay(response);
    else if (this.#run.live === undefined) sender.resolve(lateAnswer(this.#run, sender.item));
  }

  /** No process has taken an item: it stays in the inbox, and its sender does not wait for that. */
  #answerStored(id: string): void {
    const sender = this.#senders.get(id);
    if (sender?.isSent !== true || sender.delivery?.isDirect === false) return;
    const lacking = (this.#run.envelope.missing_capabilities ?? []).map(capabilityText).join(' and ');
    const why =
      lacking === ''
        ? 'the server that has the run does not respond'
        : `this server does not have ${lacking}`;
    const message = `It is stored, and no server has taken it yet: ${why}. It is checked and used when a server takes the run up; the same answer may be sent again.`;
    const warnings = [{ code: 'W_STORED', message }] as const;
    sender.resolve(
      sender.waiter === undefined
        ? { ok: true, accepted: true, warnings }
        : { ok: true, envelope: this.#run.envelope, warnings },
    );
  }
}

/** How a sender waits for what becomes of what it sent. */
interface SenderWait {
  readonly waiter?: Waiter;
  readonly limitMs?: number;
}

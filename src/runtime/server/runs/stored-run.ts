import { randomUUID } from 'node:crypto';
import type { AuthInfo, Owner } from '../../../decorators/context.js';
import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { canonicalJson } from '../../../graph/canonical.js';
import { type JsonObject, ownProperty } from '../../../graph/json.js';
import type { ToolSafety } from '../../../graph/tool-safety.js';
import { unreachable } from '../../../graph/unreachable.js';
import { planOf } from '../../../plan/plan.js';
import { maskedFailure, maskedThrown } from '../../catalogue/mask.js';
import { type CallPort, runRef } from '../../catalogue/port.js';
import { thrownText } from '../../catalogue/thrown.js';
import { toJson } from '../../catalogue/to-json.js';
import type { Action, Event, Fact, Failure, RunState } from '../../engine/contract.js';
import { remainsOf } from '../../engine/remains.js';
import type { SharedContext } from '../../hosts/in-process/calls-in-flight.js';
import type { Clock } from '../../hosts/in-process/clock.js';
import type { Delivery } from '../../hosts/in-process/incoming.js';
import { LiveRun, type RunKeeper } from '../../hosts/in-process/live-run.js';
import {
  type InboxItem,
  type Journal,
  JournalConflictError,
  JournalFailedError,
  sendSafely,
} from '../../hosts/journal.js';
import { RunMask } from '../../hosts/run-mask.js';
import { ActionLedger } from './action-ledger.js';
import { type Answer, howToAnswer, readAnswer } from './answer.js';
import { Attendance } from './attendance.js';
import {
  type Accepted,
  type Addressed,
  AnswerDelivery,
  CancelDelivery,
  RefusedDelivery,
  refusal,
  type Sender,
  type Verdict,
} from './deliveries.js';
import { definitionOf, type Envelope, envelopeOf } from './envelope.js';
import type { Question } from './interview.js';
import { accessKey, ownerKey } from './owner.js';
import type { Attendant, Cancellation, NewRun, RunAnswer, RunSummary, Submission } from './run-store.js';
import { type ShownArguments, shownArguments } from './shown-arguments.js';
import { texts } from './texts.js';

/** What the runs of a store share. */
export interface StoreParts {
  readonly calls: CallPort;
  readonly schemas: SchemaCompiler;
  readonly clock: Clock;
  /** Where the steps of runs are written down. Default: nowhere. */
  readonly journal?: Journal;
  /** The inputs of a tool whose values must not be shown. */
  readonly secretInputs: (tool: string) => readonly string[];
  /** How calls of a tool may be repeated. */
  readonly toolSafety: (tool: string) => ToolSafety;
  /** See `RunLimits`. */
  readonly idleMs: number;
  /** Told what clients must not see. */
  readonly log: (text: string) => void;
}

/**
 * A run that outlasts the request that began it: its engine while it lasts, then how it ended. Between looking at an
 * action and answering it nothing can come in between, so that of two answers one is consumed.
 */
export class StoredRun implements Addressed, RunKeeper, SharedContext {
  readonly id: string;
  readonly quota: string;
  /** Callers with an equal one may reach the run; see `accessKey`. */
  readonly access: string;
  readonly #parts: StoreParts;
  readonly #graph: NewRun['graph'];
  readonly #startedAt: number;
  readonly #actions = new ActionLedger();
  readonly #mask: RunMask;
  readonly #arguments: ShownArguments;
  /** Requests that attend the run, and whoever else waits for it to change: none while it only waits. */
  #watching: readonly Watching[] = NONE;
  /** Questions that are before a user. */
  #claimed: Set<string> | undefined;
  /** Callers whose items are in the journal's inbox and not taken from there yet, by item. */
  #senders: Map<string, Sender & { readonly item: InboxItem }> | undefined;
  readonly #owner: Owner;
  readonly #onEnd: (run: StoredRun) => void;
  /** Of the request that started the run. */
  #auth: AuthInfo | undefined;
  #requestId: string;
  #live: LiveRun | undefined;
  #stopIdling: () => void = () => {};
  #cancelled = false;
  /** Why its start could not be written. */
  #startFault: unknown;
  /** It was given up so that what it did is undone. */
  #undoes = false;
  #ended: { readonly at: number; readonly envelope: Envelope } | undefined;

  /**
   * @param run `quota` is equal for runs that are counted together.
   * @param attendant the request that begins the run.
   */
  constructor(
    id: string,
    { owner, graph, input, mask, quota }: NewRun & { readonly quota: string },
    parts: StoreParts,
    attendant: Attendant,
    onEnd: (run: StoredRun) => void,
  ) {
    this.id = id;
    this.quota = quota;
    this.access = accessKey(owner);
    this.#owner = owner;
    this.#parts = parts;
    this.#graph = graph;
    this.#startedAt = parts.clock.now();
    this.#mask = mask ?? new RunMask(graph, { input, secretInputs: parts.secretInputs });
    this.#arguments = shownArguments(input, this.#mask);
    this.#auth = attendant.request.auth;
    this.#requestId = attendant.request.requestId;
    this.#onEnd = onEnd;
    this.#live = new LiveRun(
      {
        graph,
        input,
        mask: this.#mask,
        runId: id,
        context: this,
      },
      parts,
      this,
    );
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  get live(): LiveRun | undefined {
    return this.#live;
  }

  get endedAt(): number | undefined {
    return this.#ended?.at;
  }

  get envelope(): Envelope {
    if (this.#ended !== undefined) return this.#ended.envelope;
    if (this.#live === undefined) throw new Error(`run ${this.#ref} neither goes on nor has it ended`);
    return this.#envelopeOf(this.#live);
  }

  get summary(): Promise<RunSummary> {
    return this.safeEnvelope.then((envelope) => this.#summaryOf(envelope));
  }

  #summaryOf({ workflow_id, definition, status, cancelling, actions }: Envelope): RunSummary {
    return {
      workflow_id,
      name: definition.name,
      status,
      ...(cancelling === undefined ? {} : { cancelling }),
      ...this.#arguments,
      started_at: new Date(this.#startedAt).toISOString(),
      ...(this.#ended === undefined ? {} : { ended_at: new Date(this.#ended.at).toISOString() }),
      open_actions: actions.map(({ action_id }) => action_id),
    };
  }

  /** Sets the run going, for the request that began it. Rejects where its start could not be written. */
  async begin(attendant: Attendant): Promise<Envelope> {
    const attendance = new Attendance(this, attendant);
    this.#live?.go();
    attendance.open();
    const envelope = await attendance.envelope;
    if (this.#startFault !== undefined) throw this.#startFault;
    return envelope;
  }

  /** The envelope as soon as everything it tells is safe. */
  get safeEnvelope(): Promise<Envelope> {
    return new Promise((resolve) => this.whenSafe(() => resolve(this.envelope)));
  }

  /** Answers an action, or says why not. A repeated answer gets the stored response. */
  submit(caller: Owner, submission: Submission, attendant: Attendant): Promise<RunAnswer> {
    const { actionId, result, error } = submission;
    const content = {
      ...(actionId === undefined ? {} : { action_id: actionId }),
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error }),
    };
    return this.#send('answer', caller, content, attendant);
  }

  /** Gives the run up. Once more for a run that was cancelled so changes nothing. */
  cancel(caller: Owner, how: Cancellation, attendant: Attendant): Promise<RunAnswer> {
    const { reason, compensate } = how;
    const content = {
      ...(reason === undefined ? {} : { reason }),
      ...(compensate === undefined ? {} : { compensate }),
    };
    return this.#send('cancel', caller, content, attendant);
  }

  /** Through the inbox of the journal, where there is one: then it is safe before it is looked at. */
  #send(kind: 'answer' | 'cancel', by: Owner, given: JsonObject, attendant: Attendant): Promise<RunAnswer> {
    // What becomes of it outside must not reach the run.
    const json = toJson(given);
    if (!json.ok) {
      const message = texts.shape([texts.notJson(json.problem)], '');
      return Promise.resolve({ ok: false, failure: { code: 'E_RESULT_SHAPE', message } });
    }
    const content = json.value as JsonObject;
    return new Promise((resolve, reject) => {
      const sender = { attendant, resolve };
      const { journal } = this.#parts;
      const item = { run: this.id, id: randomUUID(), kind, at: this.clock.now(), by: { ...by }, content };
      if (this.#live === undefined) resolve(this.#late(item));
      else if (journal === undefined) this.#live.deliver(this.#receive(item, { sender }));
      else {
        this.#senders ??= new Map();
        this.#senders.set(item.id, { ...sender, item });
        sendSafely(journal, item).then(
          () => {
            if (this.#live === undefined) this.#answerLate(item.id);
          },
          (fault) => {
            this.#senders?.delete(item.id);
            reject(fault);
          },
        );
      }
    });
  }

  /** Makes a delivery of what was sent. */
  #receive(
    item: InboxItem,
    sent: { readonly item?: string; readonly sender?: Sender | undefined },
  ): Delivery {
    const by = item.by === undefined ? this.#owner : (item.by as unknown as Owner);
    switch (item.kind) {
      case 'answer': {
        const submission = submissionIn(item.content);
        return new AnswerDelivery(this, () => this.judge(submission, by), { ...sent, by });
      }
      case 'cancel':
        return new CancelDelivery(this, cancellationIn(item.content), { ...sent, by });
      case 'operator':
        return new RefusedDelivery(item.id, { code: 'E_UNSUPPORTED', message: texts.noOperators });
      default:
        return unreachable(item.kind);
    }
  }

  /** What is sent to a run that is over. */
  #late({ kind, by, content }: InboxItem): RunAnswer | Promise<RunAnswer> {
    if (kind === 'answer') {
      const verdict = this.judge(submissionIn(content), by as unknown as Owner);
      if (verdict.kind === 'told') return verdict.answer;
    }
    // Once more for a run that was cancelled so changes nothing.
    const isLate = content.compensate === true && !(this.#cancelled && this.#undoes);
    const warnings = [{ code: 'W_NOT_USED', message: texts.nothingUndone } as const];
    return { ok: true, envelope: this.envelope, ...(isLate ? { warnings } : {}) };
  }

  /** The run was over before what was sent was taken from the inbox. */
  #answerLate(id: string): void {
    const sender = this.#senders?.get(id);
    if (sender === undefined) return;
    this.#senders?.delete(id);
    sender.resolve(this.#late(sender.item));
  }

  judge(submission: Submission, by: Owner): Verdict {
    const repeated = this.#repeated(submission, by);
    if (repeated !== undefined) return repeated;
    const { actionId } = submission;
    if (this.#cancelled) {
      const why = this.#ended?.envelope.error?.message ?? '';
      return refused({ code: 'WORKFLOW_CANCELLED', message: texts.cancelled(this.id, why) });
    }
    const { live } = this;
    if (live === undefined || live.state.run.status !== 'running') {
      const warnings = [{ code: 'W_NOT_USED', message: texts.notUsed(actionId) } as const];
      return told(this.safeEnvelope.then((envelope) => ({ ok: true, envelope, warnings })));
    }
    if (actionId !== undefined && this.#actions.get(actionId)?.answer !== undefined) {
      const details = { action_id: actionId };
      return refused({ code: 'ALREADY_SUBMITTED', message: texts.alreadySubmitted(actionId), details });
    }
    const chosen = this.#actions.choose(actionId, live, this.clock.now());
    switch (chosen.kind) {
      case 'refused':
        return refused(chosen.failure);
      case 'passed':
        // A time that is over has been taken notice of: to say so once more does no harm.
        return told(this.safeEnvelope.then((envelope) => ({ ok: true, envelope })));
      case 'question':
        return this.#read(chosen.question, submission);
      default:
        return unreachable(chosen);
    }
  }

  #read(question: Question, submission: Pick<Submission, 'result' | 'error'>): Verdict {
    const read = readAnswer(question.action, submission, this.#parts.schemas);
    if (!read.ok) return refused(this.#unfit(question, read.failure));
    return { kind: 'fits', question, answer: read.answer, warnings: read.warnings };
  }

  /**
   * What a repeated answer comes to; nothing for any other. Without an action id it may as well be meant for an action
   * that is open now: which one is not guessed.
   */
  #repeated(submission: Submission, by: Owner): Verdict | undefined {
    const { actionId } = submission;
    const before = actionId === undefined ? this.#actions.lastOf(ownerKey(by)) : this.#actions.get(actionId);
    if (before?.action === undefined) return undefined;
    // The row of the answer is part of the state; the note of it is for errors, which have none, and for runs that are over.
    const row = this.#live && ownProperty(this.#live.state.submissions, before.id);
    const content = row === undefined ? before.answer?.content : canonicalJson(row.value);
    const again = readAnswer(before.action, submission, this.#parts.schemas);
    if (!again.ok || contentOf(again.answer) !== content) return undefined;
    const response =
      before.answer?.response ?? this.safeEnvelope.then((envelope) => ({ ok: true, envelope }));
    if (actionId !== undefined) return told(response);
    if (this.#cancelled) return undefined;
    const open = this.questions().map(({ id }) => id);
    return open.length === 0
      ? told(response)
      : refused({
          code: 'AMBIGUOUS_ACTION',
          message: texts.repeatedOrNew(open),
          details: { open_actions: open },
        });
  }

  accepted({ action, answer, by, response }: Accepted): void {
    this.#actions.answered(action, { content: contentOf(answer), response }, by && ownerKey(by));
  }

  notTaken(question: Question): Failure {
    const { schema, ...shown } = this.shown(question);
    return {
      code: 'E_RESULT_SHAPE',
      message: texts.shape([texts.notTaken], howToAnswer(shown)),
      details: { problems: [texts.notTaken], schema },
    };
  }

  cancelling({
    reason = texts.cancelledByCaller,
    compensate = false,
  }: Cancellation): Extract<Event, { kind: 'cancelled' }> {
    this.#note(compensate);
    const at = this.clock.now();
    return { kind: 'cancelled', at, reason, ...(compensate ? { compensate } : {}) };
  }

  /** The first cancellation counts. */
  #note(undoes: boolean): void {
    if (!this.#cancelled) this.#undoes = undoes;
    this.#cancelled = true;
  }

  // What follows is for requests that attend the run.

  giveUp(reason: string, how: { readonly compensate?: boolean; readonly code?: string } = {}): void {
    this.#note(how.compensate === true);
    this.#live?.cancel(reason, { ...how, by: SYSTEM });
  }

  /** A request has asked for the run: it is not idle. */
  touch(): void {
    this.#stopIdling();
    const isAttended = this.#watching.some(({ attendant }) => attendant !== undefined);
    if (isAttended || this.#live?.standing !== 'asking') return;
    const { clock, idleMs } = this.#parts;
    const expire = (): void => this.giveUp(texts.idle(idleMs), { code: 'E_IDLE' });
    this.#stopIdling = clock.setTimer(expire, idleMs, { keepsProcess: false });
  }

  /** Resolves when the run is over, or goes on with an answer or a time only. */
  atRest(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#live?.standing === 'busy') return;
        this.#unwatch(look);
        resolve();
      };
      this.#watching = [...this.#watching, { watcher: look }];
      look();
    });
  }

  whenSafe(look: () => void): void {
    if (this.#live === undefined) look();
    else this.#live.whenSafe(look);
  }

  join(attendant: Attendant, watcher: () => void): void {
    this.#requestId = attendant.request.requestId;
    this.#watching = [...this.#watching, { attendant, watcher }];
    this.#stopIdling();
  }

  leave(watcher: () => void): void {
    this.#unwatch(watcher);
    this.touch();
  }

  #unwatch(watcher: () => void): void {
    this.#watching = this.#watching.filter((each) => each.watcher !== watcher);
  }

  questions(): readonly Question[] {
    return this.#live === undefined ? [] : this.#actions.questions(this.#live.asks);
  }

  shown({ id, action }: Question): Action {
    const ask = this.#live?.asks.get(id);
    return ask === undefined ? action : this.#mask.action(ask.node, action);
  }

  claim({ id }: Question): boolean {
    if (this.#claimed?.has(id)) return false;
    this.#claimed ??= new Set();
    this.#claimed.add(id);
    return true;
  }

  letGo({ id }: Question): void {
    this.#claimed?.delete(id);
  }

  take(
    question: Question,
    given: Pick<Submission, 'result'> | { readonly failure: Failure },
    answered: Promise<Envelope>,
  ): void {
    const judge = (): Verdict => {
      if (!this.#live?.asks.has(question.id)) return refused({ code: 'ACTION_CANCELLED', message: '' });
      if (!('failure' in given)) return this.#read(question, given);
      const answer = { kind: 'failure', failure: given.failure } as const;
      return { kind: 'fits', question, answer, warnings: [] };
    };
    this.#live?.deliver(new AnswerDelivery(this, judge, { answered }));
  }

  /** Why an answer does not fit, without secrets: what would fit may be one. */
  #unfit(question: Question, failure: Failure): Failure {
    const shown = this.shown(question);
    if (shown.schema === question.action.schema) return maskedFailure(failure, this.#mask);
    const message = texts.shape([], howToAnswer(shown));
    return { code: failure.code, message, details: { problems: [], schema: shown.schema } };
  }

  observerFailed(error: unknown): void {
    this.#parts.log(texts.brokeLog(this.#graph.name, this.#ref, maskedThrown(error, this.#mask)));
  }

  observe(fact: Fact, state: RunState): void {
    this.#actions.note(fact, this.clock.now());
    if (fact.kind === 'waiting') this.#auth = recorded(this.#auth);
    for (const { attendant } of this.#watching) attendant?.observe?.(fact, state);
  }

  /** Something was sent to the inbox of the run in the journal. */
  receive(item: InboxItem): Delivery {
    const sender = this.#senders?.get(item.id);
    this.#senders?.delete(item.id);
    return this.#receive(item, { item: item.id, sender });
  }

  changed(): void {
    const { live } = this;
    if (live === undefined) return;
    if (live.standing === 'over') this.#end(this.#envelopeOf(live));
    for (const { watcher } of this.#watching) watcher();
    this.touch();
  }

  /** Keeps how it ended, and lets go of everything else. */
  #end(envelope: Envelope): void {
    this.#cancelled = envelope.status === 'cancelled';
    this.#ended = { at: this.clock.now(), envelope };
    this.#live = undefined;
    this.#auth = undefined;
    this.#stopIdling();
    this.#onEnd(this);
    for (const id of [...(this.#senders?.keys() ?? [])]) this.#answerLate(id);
  }

  broken(fault: unknown): void {
    const { name } = this.#graph;
    this.#parts.log(texts.brokeLog(name, this.#ref, maskedThrown(fault, this.#mask)));
    const isJournal = fault instanceof JournalFailedError || fault instanceof JournalConflictError;
    const text = isJournal ? texts.journalFailed(thrownText(fault)) : texts.broke(thrownText(fault));
    const message = this.#mask.text(text);
    const hash = this.#live?.state.run.graphHash ?? '';
    if (this.#live?.hasBegun === false) this.#startFault = fault;
    this.#end({
      workflow_id: this.id,
      definition: definitionOf(this.#graph, hash),
      status: 'failed',
      actions: [],
      error: { code: isJournal ? 'E_JOURNAL' : 'E_INTERNAL', message, partial: {} },
    });
    for (const { watcher } of this.#watching) watcher();
  }

  #envelopeOf(live: LiveRun): Envelope {
    const { state, standing } = live;
    const openedAt = (action: string): number => this.#actions.get(action)?.at ?? this.#startedAt;
    const remains = remainsOf(planOf(this.#graph), state);
    const mask = this.#mask;
    return envelopeOf({ graph: this.#graph, state, standing, openedAt, remains, mask });
  }

  /** Names the run where its id must not be shown. */
  get #ref(): string {
    return runRef(this.id);
  }

  // What follows is for the calls of the run. They are made for its owner; of the request that moves it on they know the
  // id alone.

  get principal(): Owner {
    return this.#owner;
  }

  get requestId(): string {
    return this.#requestId;
  }

  get auth(): AuthInfo | undefined {
    return this.#auth;
  }

  progress(...report: Parameters<SharedContext['progress']>): void {
    for (const { attendant } of this.#watching) attendant?.progress?.(...report);
  }
}

interface Watching {
  readonly attendant?: Attendant;
  readonly watcher: () => void;
}

const NONE: readonly Watching[] = [];

/** Who cancels a run that nobody asks for, or whose process ends. */
const SYSTEM = { kind: 'system' } as const;

/** What a run keeps of who started it once it waits: claims of the token may be private, or expire. */
function recorded(auth: AuthInfo | undefined): AuthInfo | undefined {
  if (auth === undefined) return undefined;
  const { extra: _, ...kept } = auth;
  return kept;
}

/** Equal for answers that say the same. */
function contentOf(answer: Answer): string {
  return answer.kind === 'value'
    ? canonicalJson(answer.value)
    : canonicalJson({ error: { code: answer.failure.code, message: answer.failure.message } });
}

function told(answer: RunAnswer | Promise<RunAnswer>): Verdict {
  return { kind: 'told', answer, response: { ok: true } };
}

function refused(failure: Failure): Verdict {
  return { kind: 'told', answer: { ok: false, failure }, response: refusal(failure) };
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

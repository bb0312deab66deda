import type { AuthInfo, Owner } from '../../decorators/context.js';
import type { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { defined } from '../../graph/defined.js';
import { type Json, type JsonObject, unreachable } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { mayAskModel } from '../engine/actions.js';
import type { ActionRequest, Fact, Failure, RunState } from '../engine/contract.js';
import { RunMask } from '../secrets/run-mask.js';
import { maskedThrown } from '../tools/exceptions.js';
import { type Peer, runRef } from '../tools/port.js';
import type { Submission } from './actions/action.js';
import type { ActionHistory } from './actions/action-history.js';
import { type Children, hasAgents } from './actions/children.js';
import type { Decision } from './actions/decision.js';
import { RunQuestions } from './actions/run-questions.js';
import { RunRecord } from './actions/run-record.js';
import { AnswerDelivery, type RequestedRun, submissionOf } from './deliveries.js';
import type { SharedContext } from './run/calls-in-flight.js';
import type { Clock } from './run/clock.js';
import { definitionOf, type Envelope, envelopeOf, faultEnvelope, shownState } from './run/envelope.js';
import { LiveRun } from './run/live-run.js';
import { accessKey, answerId } from './run/owner.js';
import { observeFacts, type RunEvent, type RunResumption, type RunStart } from './run/run-host.js';
import { RunInbox } from './run-inbox.js';
import { RunLease } from './run-lease.js';
import { logEnd, logFault, logReminders, logStart } from './run-log.js';
import {
  type groupOf,
  type InspectedRun,
  type NewRun,
  type RunSummary,
  shownArguments,
  summaryOf,
  type Waiter,
} from './run-store.js';
import { keptTask, recorded } from './store/host-rows.js';
import { isLocal, JournalConflictError, JournalFailedError, type LoadedRun } from './store/journal.js';
import type { StoreParts } from './store-parts.js';
import { WaitingRequest, WaitingRequests } from './waiting-requests.js';

/** Runs that are counted together. */
type RunGroup = ReturnType<typeof groupOf>;

/** A run to begin, for a request. */
interface BegunRun extends NewRun {
  readonly id: string;
  readonly request: Waiter['request'];
}

/** A run that a process left. */
interface ResumedRun extends Pick<NewRun, 'graph' | 'owner'> {
  readonly loaded: LoadedRun;
  /** Of the request that started it, as far as that was kept. */
  readonly auth: AuthInfo | undefined;
}

/** What is kept of a run that ended. */
interface Ended {
  readonly at: number;
  readonly startedAt: number;
  readonly envelope: Envelope;
  readonly shown: ReturnType<typeof shownArguments>;
  readonly state: JsonObject;
  /** Of a task, the state of the engine: its steps can still be looked at. */
  readonly rows?: RunState;
  /** Why its start could not be written. */
  readonly startFault?: unknown;
}

/**
 * A run that outlasts the request that began it: its engine while it lasts, then how it ended. Between looking at an
 * action and answering it, no other answer is handled: exactly one of two concurrent answers is accepted.
 */
export class StoredRun implements RequestedRun, SharedContext {
  readonly id: string;
  readonly group: RunGroup;
  /** With the roles it had when it started the run. */
  readonly principal: Owner;
  readonly questions = new RunQuestions(this);
  graph: Graph;
  mask: RunMask;
  requestId: string;
  /** Missing while no request waits: many runs wait at once. */
  #waiting: WaitingRequests | undefined;
  readonly #parts: StoreParts;
  /** Items that callers have sent. Missing while there are none. */
  #requests: RunInbox | undefined;
  /** Of the request that started the run. */
  #auth: AuthInfo | undefined;
  /** Of the same request; until the run waits for something. */
  #peer: Peer | undefined;
  #live: LiveRun | undefined;
  readonly record: RunRecord;
  #ended: Ended | undefined;
  /** It had ended before this process knew it, or in another one. */
  #wasOver = false;
  readonly #lease: RunLease;
  /** A journal of several processes has it as this process cannot show it: it is loaded from there again. */
  isAbandoned = false;

  /** @param run a run to start, with its request, or a run to continue. */
  constructor(run: BegunRun | ResumedRun, group: RunGroup, parts: StoreParts) {
    const { graph } = run;
    const { secretInputs } = parts;
    this.group = group;
    this.principal = run.owner;
    this.#parts = parts;
    this.graph = graph;
    this.#lease = new RunLease(this, parts.journal, 'loaded' in run ? run.loaded : undefined);
    if ('loaded' in run) {
      this.id = run.loaded.run;
      this.#auth = run.auth;
      // No request started it in this process: calls are logged with its name.
      this.requestId = this.#ref;
      this.record = new RunRecord(parts.clock);
      this.mask = this.#load(run.loaded);
      return;
    }
    const { id, input, request } = run;
    const { quota, access } = group;
    const alias = this.questions.isRestricted || hasAgents(graph) ? { alias: answerId(id) } : {};
    const task = run.task === undefined ? {} : { task: keptTask(run.task, parts.keptMs) };
    const start = { owner: run.owner, quota, access, ...alias, ...task, ...recorded(request.auth) };
    this.record = new RunRecord(parts.clock, start);
    this.id = id;
    this.mask = run.mask ?? new RunMask(graph, { input, secretInputs });
    this.#auth = request.auth;
    this.#peer = request.peer;
    this.requestId = request.requestId;
    this.#live = this.#execute({ input, runId: id });
  }

  #execute(run: Pick<RunStart, 'input' | 'runId'> | Pick<RunResumption, 'loaded'>): LiveRun {
    const { graph, mask } = this;
    const options = { graph, mask, record: this.record, readsInbox: true, context: this };
    return new LiveRun({ ...options, ...run }, this.#parts, (event) => this.#observe(event));
  }

  get actions(): ActionHistory {
    return this.record.actions;
  }

  get children(): Children {
    return this.record.children;
  }

  get responses(): RunRecord['responses'] {
    return this.record.responses;
  }

  get variables(): RunRecord['variables'] {
    return this.record.variables;
  }

  setVariables(changes: JsonObject): void {
    this.record.setVariables(changes);
  }

  get waiting(): WaitingRequests {
    this.#waiting ??= new WaitingRequests(this);
    return this.#waiting;
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  get schemas(): SchemaCompiler {
    return this.#parts.schemas;
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

  /** The envelope as soon as all that it shows is safe. */
  get safeEnvelope(): Promise<Envelope> {
    return this.#safely(() => this.envelope);
  }

  /** The fields of the state without secrets, at the end where the run is over. */
  get state(): JsonObject {
    if (this.#live === undefined) return this.#ended?.state ?? {};
    return shownState({ state: this.#live.state, mask: this.mask });
  }

  get error(): Envelope['error'] {
    return this.#ended?.envelope.error;
  }

  get isCancelled(): boolean {
    return this.#live?.state.run.cancelling !== undefined || this.#ended?.envelope.status === 'cancelled';
  }

  get isUndone(): boolean {
    return this.isCancelled && this.record.undoes;
  }

  get summary(): Promise<RunSummary> {
    return this.#safely(() => summaryOf(this.envelope, this.#shown, this.startedAt, this.endedAt));
  }

  inspect<T>(look: (run: InspectedRun) => T): Promise<T> {
    return this.#safely(() => {
      const { graph, mask, envelope } = this;
      const { values = {}, version = 0 } = this.variables ?? {};
      const state = this.#live?.state ?? this.#ended?.rows;
      return look({ graph, envelope, state, mask, variables: values, version, startedAt: this.startedAt });
    });
  }

  #safely<T>(look: () => T): Promise<T> {
    return new Promise((resolve) => this.whenSafe(() => resolve(look())));
  }

  /** When it started, in ms since the epoch. */
  get startedAt(): number {
    return this.#ended?.startedAt ?? this.#live?.state.run.startedAt ?? 0;
  }

  get #shown(): ReturnType<typeof shownArguments> {
    return this.#ended?.shown ?? shownArguments(this.#live?.state.input ?? {}, this.mask);
  }

  /** Starts the run, for its first request. Rejects if the start could not be written. */
  async begin(waiter: Waiter): Promise<Envelope> {
    const waitingRequest = new WaitingRequest(this, waiter);
    logStart(this.#parts.log, () => this.#logged);
    this.#live?.go();
    waitingRequest.open();
    const envelope = await waitingRequest.envelope;
    if (this.#ended !== undefined && 'startFault' in this.#ended) throw this.#ended.startFault;
    return envelope;
  }

  /** Shows it as it is after it was loaded. */
  resume(): void {
    this.#wasOver = this.#live?.state.run.status !== 'running';
    this.#changed();
  }

  // What follows is for other processes that have the journal.

  /** Whether this process executes the run, and no other one does. */
  get isActing(): boolean {
    return this.#lease.isActing;
  }

  /** Shows it as the journal has it. Resolves with whether the journal has it. */
  refresh(): Promise<boolean> {
    return this.#lease.refresh();
  }

  /** Whether this process has all that the runs of a graph need: else it never takes one. */
  isCapable(graph: Graph): boolean {
    return (this.#parts.missing?.(graph) ?? []).length === 0;
  }

  /** Continues the run in this process, unless another one executes it. */
  async takeUp(): Promise<void> {
    if (await this.refresh()) await this.#lease.act();
  }

  get isAwaited(): boolean {
    return this.#waiting?.isEmpty === false || this.#requests?.isEmpty === false;
  }

  /** Whether this process has no work for the run before a time: the run can be released, and loaded on demand. */
  isUnused(until: number): boolean {
    if (!this.#lease.isCurrent || this.isAwaited) return false;
    const live = this.#live;
    if (live === undefined || !this.isActing) return true;
    return live.isSafe && live.liveStatus !== 'busy' && live.nextDue >= until;
  }

  onCurrent(): void {
    this.#lease.follow(this.isAwaited);
    this.#requests?.settle();
  }

  adopt(loaded: LoadedRun, graph = this.graph): void {
    if (this.#live === undefined) return;
    this.#live.leave();
    this.graph = graph;
    try {
      this.#load(loaded);
    } catch (fault) {
      // A later version has written it.
      this.isAbandoned = true;
      throw fault;
    }
    if (loaded.holder === 'this') {
      logStart(this.#parts.log, () => this.#logged, true);
      this.#live.go(this.isCapable(this.graph));
      return;
    }
    this.resume();
  }

  #load(loaded: LoadedRun): RunMask {
    const graph = this.graph;
    this.mask = new RunMask(graph, { secretInputs: this.#parts.secretInputs, rows: loaded.hostRows });
    this.record.reload(loaded.hostRows);
    this.#live = this.#execute({ loaded });
    return this.mask;
  }

  sent(): void {
    this.#lease.receiveItem().catch((fault) => this.logFault(fault));
  }

  /** Applies what a lost run has not applied, here or in the process that holds it. */
  async #takeAgain({ deliveries, cancellations }: Extract<RunEvent, { kind: 'lost' }>): Promise<void> {
    await this.#lease.lose();
    if (deliveries.length + cancellations.length === 0 && !this.isAwaited) return;
    const isActing = await this.#lease.act();
    // Items of the inbox are read from there again.
    for (const delivery of deliveries.filter(({ item }) => item === undefined)) {
      if (isActing && this.#live !== undefined) this.#live.deliver(delivery);
      else delivery.failed(undefined);
    }
    for (const { reason, compensate, code, by } of cancellations) {
      this.#cancelHere(reason, {
        ...defined({ compensate, code }),
        ...(by === undefined ? {} : { by: by as JsonObject }),
      });
    }
  }

  /** Does something to the run in this process, or else where another one holds it. */
  #actOn(work: (live: LiveRun) => void, elsewhere: () => void): void {
    const act = (): void => {
      if (this.#live !== undefined) work(this.#live);
    };
    if (this.isActing) act();
    else
      this.#lease.act().then(
        (isActing) => (isActing ? act() : elsewhere()),
        (fault) => this.logFault(fault),
      );
  }

  // What follows is for callers.

  /** Takes answers and cancellations. */
  get inbox(): RunInbox {
    this.#requests ??= new RunInbox(this, this.#parts.journal);
    return this.#requests;
  }

  resultFailure(tool: string, value: Json): Failure | undefined {
    return this.#parts.resultFailure?.(tool, value);
  }

  /** Whether the caller reaches the run as its owner. */
  isOf(caller: Owner): boolean {
    return accessKey(caller) === this.group.access;
  }

  // What follows is for requests that wait for the run.

  abort(reason: string, how: { readonly compensate?: boolean; readonly code?: string } = {}): void {
    this.#cancelHere(reason, { ...how, by: SYSTEM });
  }

  #cancelHere(reason: string, how: NonNullable<Parameters<LiveRun['cancel']>[1]>): void {
    const sendOn = (): void => {
      if (how.code === undefined)
        this.inbox.cancel(this.principal, { reason }).catch((fault) => this.logFault(fault));
    };
    this.#actOn((live) => live.cancel(reason, how), sendOn);
  }

  /** A request has asked for the run: it is not idle. */
  touch(): void {
    this.#lease.follow(this.isAwaited);
    const hasRequest = this.#waiting?.hasRequest === true;
    if (hasRequest || this.#live?.liveStatus !== 'asking') this.#parts.idle.delete(this);
    else this.#parts.idle.add(this);
    if (this.#waiting?.isEmpty === true) this.#waiting = undefined;
  }

  /** It was idle for too long. @param ms for how long. */
  expire(ms: number): void {
    this.abort(`no caller answered it or asked for it for ${ms} ms`, { code: 'E_IDLE' });
  }

  /** The process ends: a later one continues the run. Requests that wait are answered. */
  leave(): void {
    this.#live?.leave();
    this.#waiting?.changed();
  }

  /** Resolves when the run is over, or continues with an answer or at a time only. */
  atRest(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.isActing && this.#live?.liveStatus === 'busy') return;
        this.waiting.unwatch(look);
        resolve();
      };
      this.waiting.watch(look);
      look();
    });
  }

  deliverActions(actions: readonly string[], onSafe: () => void): void {
    const deliver = (live: LiveRun): void => {
      live.deliverActions(actions);
      this.whenSafe(onSafe);
    };
    if (actions.length === 0 || this.#live === undefined) onSafe();
    else this.#actOn(deliver, onSafe);
  }

  whenSafe(look: () => void): void {
    if (!this.#lease.isCurrent) this.#lease.whenCurrent(() => this.whenSafe(look));
    else if (this.#live === undefined) look();
    else this.#live.whenSafe(look);
  }

  take(
    pending: ActionRequest,
    given: Pick<Submission, 'result'> | { readonly failure: Failure },
    answered: Promise<Envelope>,
  ): void {
    const decide = (): Decision => this.questions.decideAsked(pending, given);
    const sendOn = (): void => {
      const submission = { actionId: pending.id, ...submissionOf(given) };
      this.inbox.answer(this.principal, submission).catch((fault) => this.logFault(fault));
    };
    this.#actOn((live) => live.deliver(new AnswerDelivery(this, decide, { answered })), sendOn);
  }

  #observe(event: RunEvent): void {
    switch (event.kind) {
      case 'facts':
        this.#forgetClient(event.facts);
        logReminders(this.#parts.log, () => this.#logged, event.facts);
        if (this.#waiting !== undefined)
          observeFacts(event, this.#waiting.observe, (error) => this.logFault(error));
        break;
      case 'idle':
        this.#changed();
        break;
      case 'inbox':
        for (const item of event.added) this.#live?.deliver(this.inbox.receive(item));
        if (this.#requests?.misses(event.items) === true) this.sent();
        break;
      case 'lost':
        this.#takeAgain(event).catch((fault) => this.logFault(fault));
        for (const look of event.watchers) this.whenSafe(look);
        break;
      case 'failed':
        this.#fail(event.fault);
        break;
      default:
        unreachable(event);
    }
  }

  /** Of the request that started the run, only what is recorded is kept once the run waits. */
  #forgetClient(facts: readonly Fact[]): void {
    // A model is asked by way of the request.
    if (
      !facts.some(
        (fact) => fact.kind === 'waiting' && (fact.action === undefined || !mayAskModel(fact.action)),
      )
    )
      return;
    this.#auth = recorded(this.#auth).auth;
    this.#peer = undefined;
  }

  #changed(): void {
    const { live } = this;
    if (live === undefined) return;
    if (live.liveStatus === 'over') this.#end(this.#envelopeOf(live));
    if (live.liveStatus === 'asking') this.#peer = undefined;
    this.#waiting?.changed();
    if (this.#requests?.isEmpty === true) this.#requests = undefined;
    this.touch();
  }

  #fail(fault: unknown): void {
    this.logFault(fault);
    const { live } = this;
    if (live === undefined) return;
    const { journal } = this.#parts;
    const isJournal = fault instanceof JournalFailedError || fault instanceof JournalConflictError;
    const isAbandoned = isJournal && !isLocal(journal);
    if (isAbandoned) {
      // The journal has the run as it was last written: any process continues it from there.
      this.isAbandoned = true;
      this.#wasOver = true;
      journal.leases.abandon(this.id).catch((error: unknown) => this.logFault(error));
    }
    const head = { workflow_id: this.id, definition: definitionOf(this.graph, live.state.run.graphHash) };
    const ended = faultEnvelope(head, isAbandoned ? undefined : { fault, isJournal, mask: this.mask });
    this.#end(ended, live.hasStarted ? {} : { startFault: fault });
    this.#waiting?.changed();
  }

  /** Keeps how the run ended, and releases all else. */
  #end(envelope: Envelope, more: Pick<Ended, 'startFault'> = {}): void {
    const shown = { startedAt: this.startedAt, shown: this.#shown, state: this.state };
    const rows = this.graph.task === true ? this.#live?.state : undefined;
    this.#ended = {
      at: this.record.endAt ?? this.clock.now(),
      envelope,
      ...shown,
      ...defined({ rows }),
      ...more,
    };
    const { status, error } = envelope;
    if (!this.#wasOver) {
      logEnd(this.#parts.log, () => this.#logged, {
        status: status === 'failed' || status === 'cancelled' ? status : 'succeeded',
        code: error?.code,
        node: error?.node,
        durationMs: this.#ended.at - this.#ended.startedAt,
      });
    }
    this.#live = undefined;
    this.#auth = undefined;
    this.#peer = undefined;
    this.#parts.idle.delete(this);
    this.#parts.onEnd(this.id, this.#ended.at);
    this.#requests?.settle();
  }

  #envelopeOf({ state, liveStatus, heldCalls }: LiveRun): Envelope {
    const { isPrivate, missing, waits } = this.#parts;
    return envelopeOf({
      ...{ state, mask: this.mask, record: this.record },
      liveStatus: liveStatus === 'busy' && waits.isReported(this.id) ? 'asking' : liveStatus,
      paused: heldCalls.map(({ node, tool }) => ({ step_id: node, tool })),
      missing: missing?.(this.graph) ?? [],
      ...defined({ isPrivate }),
    });
  }

  logFault(fault: unknown): void {
    logFault(this.#parts.log, () => this.#logged, maskedThrown(fault, this.mask));
  }

  get #logged() {
    return { ref: this.#ref, workflow: this.graph.name };
  }

  /** Names the run where its id must not be shown. */
  get #ref(): string {
    return runRef(this.id);
  }

  // What follows is for the calls of the run. They are made for its owner; of the request that moves it on they know the
  // id alone.

  get auth(): AuthInfo | undefined {
    return this.#auth;
  }

  get peer(): Peer | undefined {
    return this.#peer;
  }

  /** Only the owner of the run waits for it, so that the model of its client may be asked. */
  get modelPeer(): Peer | undefined {
    return this.#peer ?? this.#waiting?.peer;
  }

  progress(...report: Parameters<SharedContext['progress']>): void {
    this.#waiting?.progress(...report);
  }
}

/** Cancels an idle run, and every run of a process that ends. */
const SYSTEM = { kind: 'system' } as const;

import type { Owner } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import { unreachable } from '../../graph/json.js';
import type { ActionRequest, Fact, Failure, RunState } from '../engine/contract.js';
import type { Action } from '../engine/events.js';
import type { CancelSignal, Peer } from '../tools/port.js';
import type { Submission } from './actions/action.js';
import type { AnsweredRun } from './actions/decision.js';
import { Elicitation } from './actions/elicitation.js';
import { abortReason, ConnectionClosed } from './request.js';
import type { SharedContext } from './run/calls-in-flight.js';
import type { Envelope, LiveStatus } from './run/envelope.js';
import { mayAnswer } from './run/owner.js';
import type { Waiter } from './run-store.js';

/** A run as the requests that wait for it see it. */
interface AwaitedRun extends AnsweredRun {
  /** Missing when the run is over. See `LiveRun`. */
  readonly live: AwaitedLive | undefined;
  readonly envelope: Envelope;
  readonly waiting: WaitingRequests;
  readonly questions: {
    openFor(caller: Owner): readonly ActionRequest[];
    shown(pending: ActionRequest): Action;
    undelivered(): readonly string[];
  };
  /** Of the latest request that waited for the run. */
  requestId: string;
  /**
   * A response is about to show these actions: the time limits of those begin that no response has had. Calls back when
   * that is safe.
   */
  deliverActions(actions: readonly string[], onSafe: () => void): void;
  /** A request has arrived or ended. */
  touch(): void;
  abort(reason: string): void;
  /** Hands in the answer of a user who was asked for it. */
  take(
    pending: ActionRequest,
    answer: Pick<Submission, 'result'> | { readonly failure: Failure },
    response: Promise<Envelope>,
  ): void;
}

type AwaitedLive = NonNullable<AnsweredRun['live']> & {
  readonly liveStatus: LiveStatus;
  readonly nextTime: number;
  readonly isSafe: boolean;
};

/**
 * A request that waits for a run, from its construction on. It is answered when the run is over, when agents drive a part of
 * it, when the run waits for an answer that the user cannot give now, when the run waits for a time after the limit of the request, or at that limit. If
 * the caller disconnects, the run is cancelled or continues, as the waiter says.
 */
export class WaitingRequest {
  /** How the run is when the request is answered. */
  readonly envelope: Promise<Envelope>;
  readonly #run: AwaitedRun;
  readonly #waiter: Waiter;
  readonly #endsAt: number;
  /** The run outlasts its end in this one place: a waiter gets the final state. */
  #live: AwaitedLive | undefined;
  readonly #elicitation: Elicitation | undefined;
  readonly #stopTimer: () => void;
  #give: (envelope: Envelope) => void = () => {};
  /** False before the run was moved on. */
  #isOpen = false;
  #isOver = false;
  #hasDelivered = false;

  constructor(run: AwaitedRun, waiter: Waiter) {
    const { request, answerMs, pageOf } = waiter;
    const { peer, principal } = request;
    this.#run = run;
    this.#waiter = waiter;
    this.#endsAt = run.clock.now() + answerMs;
    this.#live = run.live;
    this.envelope = new Promise((resolve) => {
      this.#give = resolve;
    });
    this.#elicitation =
      peer === undefined || peer.asksBetween === true || (peer.elicit ?? peer.elicitUrl) === undefined
        ? undefined
        : new Elicitation(peer, {
            pendingActions: () => run.questions.openFor({ ...principal, person: true }),
            takesForm: ({ action }) => mayAnswer(action.answerBy, principal, run.principal),
            pageOf: async ({ id: action }) => pageOf?.({ run: run.id, action, owner: run.principal }),
            shown: (pending) => run.questions.shown(pending),
            claim: (pending) => run.waiting.claim(pending),
            release: (pending) => run.waiting.release(pending),
            answer: (pending, given) => run.take(pending, given, this.envelope),
            changed: () => this.#look(),
          });
    this.#stopTimer =
      this.#waiter.untilOver === true ? () => {} : run.clock.setTimer(() => this.#endWhenSafe(), answerMs);
    run.waiting.join(waiter, this.#look);
    request.signal.addEventListener('abort', this.#onAbort, { once: true });
    if (request.signal.aborted) this.#onAbort();
  }

  /** The run was moved on: from now on the request can be answered. */
  open(): void {
    this.#isOpen = true;
    const { request, answerMs } = this.#waiter;
    if (answerMs === 0 || (request.signal.aborted && !this.#endsRun)) this.#endWhenSafe();
    else this.#look();
  }

  /** Stops waiting: the run continues without the request. */
  leave(): void {
    this.#isOver = true;
    this.#stopTimer();
    this.#waiter.request.signal.removeEventListener('abort', this.#onAbort);
    this.#run.waiting.leave(this.#look);
    this.#run.waiting.goOnObserving(this.#waiter);
    const page = this.#elicitation?.stop();
    if (page !== undefined) this.#run.waiting.followPage(page, this.#waiter.request.peer?.connection?.closed);
  }

  readonly #look = (): void => {
    const { live } = this.#run;
    this.#live = live ?? this.#live;
    if (!this.#isOpen || this.#isOver) return;
    if (live !== undefined) {
      // What is not safe may not be shown. The run looks again.
      if (!live.isSafe) return;
      this.#elicitation?.update();
      this.#waiter.onChange?.();
      if (this.#elicitation?.isAsking || !this.#isReady(live)) return;
    }
    this.#end();
  };

  #isReady(live: AwaitedLive): boolean {
    const { untilOver, awaits = [] } = this.#waiter;
    if (untilOver === true) return live.liveStatus === 'over';
    if (awaits.length > 0 && awaits.every((id) => live.asks.has(id))) return false;
    // Agents can start while their steps, and others, continue.
    return this.#run.children.hasOpen || rests(live, this.#endsAt);
  }

  readonly #onAbort = (): void => {
    if (this.#endsRun) this.#run.abort(abortReason(this.#waiter.request.signal));
    else this.#endWhenSafe();
  };

  /** A lost connection is not a cancellation: the run is available from another one. */
  get #endsRun(): boolean {
    const { request, cancels = false } = this.#waiter;
    return cancels && !(request.signal.reason instanceof ConnectionClosed);
  }

  #endWhenSafe(): void {
    if (this.#isOpen) this.#run.whenSafe(() => this.#end());
  }

  /** The first response that has an action delivers it, if this process can. */
  #end(): void {
    if (this.#isOver) return;
    const undelivered = this.#hasDelivered ? [] : this.#run.questions.undelivered();
    this.#hasDelivered = true;
    if (undelivered.length > 0) {
      this.#run.deliverActions(undelivered, () => this.#end());
      return;
    }
    this.leave();
    const { envelope } = this.#run;
    const live = this.#run.live ?? this.#live;
    if (live !== undefined) this.#waiter.conclude?.(live.state, envelope);
    this.#give(envelope);
  }
}

/** Whether the run does not continue before the limit of a request. */
function rests({ liveStatus, nextTime }: AwaitedLive, endsAt: number): boolean {
  switch (liveStatus) {
    case 'over':
    case 'asking':
      return true;
    case 'sleeping':
      return nextTime >= endsAt;
    case 'busy':
      return false;
    default:
      return unreachable(liveStatus);
  }
}

/** A callback for each time a run has got as far as it gets for now. */
interface Watcher {
  readonly waiter?: Waiter;
  /** What takes facts and progress: the request, or what is left of it. */
  readonly observer?: Pick<Waiter, 'observe' | 'progress'>;
  readonly watcher: () => void;
}

/** The requests that wait for a run, and other watchers of its changes. */
export class WaitingRequests {
  readonly #run: Pick<AwaitedRun, 'requestId' | 'touch' | 'live'>;
  #watching: readonly Watcher[] = [];
  /** Questions that are before a user. */
  #claimed: Set<string> | undefined;

  constructor(run: Pick<AwaitedRun, 'requestId' | 'touch' | 'live'>) {
    this.#run = run;
  }

  /** Whether it has no state: a new object would be equal. */
  get isEmpty(): boolean {
    return this.#watching.length === 0 && this.#claimed === undefined;
  }

  /** Whether a request waits for the run. */
  get hasRequest(): boolean {
    return this.#watching.some(({ waiter }) => waiter !== undefined);
  }

  /** The client of the latest request that waits. */
  get peer(): Peer | undefined {
    return this.#watching.findLast(({ waiter }) => waiter !== undefined)?.waiter?.request.peer;
  }

  /** From then on the watcher is called whenever the run has got as far as it gets for now. */
  join(waiter: Waiter, watcher: () => void): void {
    this.#run.requestId = waiter.request.requestId;
    this.#watching = [...this.#watching, { waiter, observer: waiter, watcher }];
    this.#run.touch();
  }

  leave(watcher: () => void): void {
    this.unwatch(watcher);
    this.#run.touch();
  }

  /** A request that was answered goes on observing the run, if it is to, until the run is over. */
  goOnObserving({ request: { progressUntil: signal }, ...observer }: Waiter): void {
    if (signal !== undefined) this.#watchUntil(signal, () => this.#run.live === undefined, observer);
  }

  /** The client of a request that was answered hears when the question is over that its user has on a page. */
  followPage(
    { action, onOver }: NonNullable<ReturnType<Elicitation['stop']>>,
    signal: CancelSignal | undefined,
  ): void {
    this.#watchUntil(signal, () => {
      const isOver = this.#run.live?.asks.has(action) !== true;
      if (isOver) onOver();
      return isOver;
    });
  }

  /** Watches until the signal is aborted, or what is watched for has come about. */
  #watchUntil(signal: CancelSignal | undefined, isOver: () => boolean, observer?: Watcher['observer']): void {
    if (signal?.aborted === true) return;
    const stop = (): void => {
      this.unwatch(watcher);
      signal?.removeEventListener('abort', stop);
    };
    const watcher = (): void => {
      if (isOver()) stop();
    };
    this.#watching = [...this.#watching, { watcher, ...defined({ observer }) }];
    signal?.addEventListener('abort', stop, { once: true });
    watcher();
  }

  /** The same for a watcher that is not a request. */
  watch(watcher: () => void): void {
    this.#watching = [...this.#watching, { watcher }];
  }

  unwatch(watcher: () => void): void {
    this.#watching = this.#watching.filter((each) => each.watcher !== watcher);
  }

  /** The run has got as far as it gets for now. */
  changed(): void {
    for (const { watcher } of this.#watching) watcher();
  }

  readonly observe = (fact: Fact, state: RunState): void => {
    for (const { observer } of this.#watching) observer?.observe?.(fact, state);
  };

  progress(...report: Parameters<SharedContext['progress']>): void {
    for (const { observer } of this.#watching) observer?.progress?.(...report);
  }

  /** False where another request puts this question already. Once granted, it is kept until `letGo`. */
  claim({ id }: ActionRequest): boolean {
    if (this.#claimed?.has(id)) return false;
    this.#claimed ??= new Set();
    this.#claimed.add(id);
    return true;
  }

  release({ id }: ActionRequest): void {
    this.#claimed?.delete(id);
    if (this.#claimed?.size === 0) this.#claimed = undefined;
  }
}

import type { AuthInfo, Owner } from '../../../decorators/context.js';
import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { canonicalJson } from '../../../graph/canonical.js';
import type { Json } from '../../../graph/json.js';
import { unreachable } from '../../../graph/unreachable.js';
import { maskedFailure, maskedThrown } from '../../catalogue/mask.js';
import type { CallPort } from '../../catalogue/port.js';
import { thrownText } from '../../catalogue/thrown.js';
import type { Action, Fact, Failure, RunState } from '../../engine/contract.js';
import { FailedItems } from '../../hosts/failed-items.js';
import type { SharedContext } from '../../hosts/in-process/calls-in-flight.js';
import type { Clock } from '../../hosts/in-process/clock.js';
import { LiveRun } from '../../hosts/in-process/live-run.js';
import type { Journal } from '../../hosts/journal.js';
import { RunMask } from '../../hosts/run-mask.js';
import { runRef } from '../../hosts/run-ref.js';
import { UnknownOutcomes } from '../../hosts/unknown-outcomes.js';
import { ActionLedger } from './action-ledger.js';
import { type Answer, howToAnswer, readAnswer } from './answer.js';
import { type Attended, attend } from './attendance.js';
import { definitionOf, type Envelope, envelopeOf } from './envelope.js';
import { remainsOf } from './envelope-error.js';
import type { Question } from './interview.js';
import { accessKey } from './owner.js';
import type {
  Attendant,
  Cancellation,
  NewRun,
  RunAnswer,
  RunSummary,
  RunWarning,
  Submission,
} from './run-store.js';
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
  /** Whether a tool only reads. */
  readonly changesNothing: (tool: string) => boolean;
  /** See `RunLimits`. */
  readonly idleMs: number;
  /** Told what clients must not see. */
  readonly log: (text: string) => void;
}

/**
 * A run that outlasts the request that began it: its engine while it lasts, then how it ended. Between looking at an
 * action and answering it nothing can come in between, so that of two answers one is consumed.
 */
export class StoredRun implements Attended {
  readonly id: string;
  readonly quota: string;
  /** Callers with an equal one may reach the run; see `accessKey`. */
  readonly access: string;
  readonly #parts: StoreParts;
  readonly #graph: NewRun['graph'];
  readonly #startedAt: number;
  readonly #actions = new ActionLedger();
  readonly #mask: RunMask;
  readonly #unknown: UnknownOutcomes;
  readonly #failedItems: FailedItems;
  readonly #arguments: ShownArguments;
  readonly #attendants = new Set<Attendant>();
  readonly #watchers = new Set<() => void>();
  /** Questions that are before a user. */
  readonly #claimed = new Set<string>();
  readonly #owner: Owner;
  readonly #onEnd: (run: StoredRun) => void;
  /** Of the request that started the run. */
  #auth: AuthInfo | undefined;
  #requestId: string;
  #live: LiveRun | undefined;
  #stopIdling: () => void = () => {};
  #cancelled = false;
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
    this.#unknown = new UnknownOutcomes(parts.changesNothing);
    this.#failedItems = new FailedItems(graph);
    this.#arguments = shownArguments(input, this.#mask);
    this.#auth = attendant.request.auth;
    this.#requestId = attendant.request.requestId;
    this.#onEnd = onEnd;
    this.#attendants.add(attendant);
    this.#live = new LiveRun(
      {
        graph,
        input,
        mask: this.#mask,
        runId: id,
        calls: parts.calls,
        context: this.#context(),
        clock: parts.clock,
        ...(parts.journal === undefined ? {} : { journal: parts.journal }),
        observe: (fact, state) => this.#observe(fact, state),
        onObserverError: (error) =>
          parts.log(texts.brokeLog(graph.name, this.#ref, maskedThrown(error, this.#mask))),
      },
      { changed: () => this.#changed(), broken: (fault) => this.#broken(fault) },
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

  get summary(): RunSummary {
    const { workflow_id, definition, status, cancelling, actions } = this.envelope;
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

  /** Sets the run going, for the request that began it. */
  begin(attendant: Attendant): Promise<Envelope> {
    return attend(this, attendant, () => this.#live?.go());
  }

  /** Answers an action, or says why not. A repeated answer gets the stored response. */
  submit(submission: Submission, attendant: Attendant): Promise<RunAnswer> {
    const repeated = this.#repeated(submission);
    if (repeated !== undefined) return repeated;
    if (this.#cancelled) {
      const why = this.#ended?.envelope.error?.message ?? '';
      return refused('WORKFLOW_CANCELLED', texts.cancelled(this.id, why));
    }
    const { actionId } = submission;
    const before = actionId === undefined ? undefined : this.#actions.get(actionId);
    const { live } = this;
    if (live === undefined) {
      const warnings = [{ code: 'W_NOT_USED', message: texts.notUsed(actionId) } as const];
      return Promise.resolve({ ok: true, envelope: this.envelope, warnings });
    }
    if (actionId !== undefined && before?.answer !== undefined) {
      return refused('ALREADY_SUBMITTED', texts.alreadySubmitted(actionId), { action_id: actionId });
    }
    const chosen = this.#actions.choose(actionId, live.state.commands, this.clock.now());
    switch (chosen.kind) {
      case 'refused':
        return Promise.resolve({ ok: false, failure: chosen.failure });
      case 'passed':
        // A time that is over has been taken notice of: to say so once more does no harm.
        return Promise.resolve({ ok: true, envelope: this.envelope });
      case 'question': {
        const read = readAnswer(chosen.question.action, submission, this.#parts.schemas);
        return read.ok
          ? this.#consume(chosen.question, read.answer, read.warnings, attendant)
          : Promise.resolve({ ok: false, failure: this.#unfit(chosen.question, read.failure) });
      }
      default:
        return unreachable(chosen);
    }
  }

  /**
   * The response to an answer that was accepted before; nothing for any other. Without an action id it may as well be
   * meant for an action that is open now: which one is not guessed.
   */
  #repeated(submission: Submission): Promise<RunAnswer> | undefined {
    const { actionId } = submission;
    const before = actionId === undefined ? this.#actions.lastSubmitted : this.#actions.get(actionId);
    if (before?.action === undefined || before.answer === undefined) return undefined;
    const again = readAnswer(before.action, submission, this.#parts.schemas);
    if (!again.ok || contentOf(again.answer) !== before.answer.content) return undefined;
    if (actionId !== undefined) return before.answer.response;
    if (this.#cancelled) return undefined;
    const open = this.questions().map(({ id }) => id);
    return open.length === 0
      ? before.answer.response
      : refused('AMBIGUOUS_ACTION', texts.repeatedOrNew(open), { open_actions: open });
  }

  async cancel({ reason, compensate = false }: Cancellation, attendant: Attendant): Promise<RunAnswer> {
    const why = reason ?? texts.cancelledByCaller;
    const envelope =
      this.live === undefined
        ? this.envelope
        : await attend(this, attendant, () => this.giveUp(why, { compensate }));
    // Once more for a run that was cancelled so changes nothing.
    const isLate = compensate && this.live === undefined && !(this.#cancelled && this.#undoes);
    const warnings = [{ code: 'W_NOT_USED', message: texts.nothingUndone } as const];
    return { ok: true, envelope, ...(isLate ? { warnings } : {}) };
  }

  // What follows is for requests that attend the run.

  giveUp(reason: string, how: { readonly compensate?: boolean; readonly code?: string } = {}): void {
    // The first cancellation counts.
    if (!this.#cancelled) this.#undoes = how.compensate === true;
    this.#cancelled = true;
    this.#live?.cancel(reason, how);
  }

  /** A request has asked for the run: it is not idle. */
  touch(): void {
    this.#stopIdling();
    if (this.#attendants.size > 0 || this.#live?.standing !== 'asking') return;
    const { clock, idleMs } = this.#parts;
    const expire = (): void => this.giveUp(texts.idle(idleMs), { code: 'E_IDLE' });
    this.#stopIdling = clock.setTimer(expire, idleMs, { keepsProcess: false });
  }

  /** Resolves when the run is over, or goes on with an answer or a time only. */
  atRest(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#live?.standing === 'busy') return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  join(attendant: Attendant, watcher: () => void): void {
    this.#requestId = attendant.request.requestId;
    this.#attendants.add(attendant);
    this.#watchers.add(watcher);
    this.#stopIdling();
  }

  leave(attendant: Attendant, watcher: () => void): void {
    this.#attendants.delete(attendant);
    this.#watchers.delete(watcher);
    this.touch();
  }

  questions(): readonly Question[] {
    return this.#actions.questions(this.#live?.state.commands ?? {});
  }

  shown({ id, action }: Question): Action {
    const command = this.#live?.state.commands[id];
    return command?.kind === 'requestAction' ? this.#mask.action(command.node, action) : action;
  }

  claim({ id }: Question): boolean {
    if (this.#claimed.has(id)) return false;
    this.#claimed.add(id);
    return true;
  }

  letGo({ id }: Question): void {
    this.#claimed.delete(id);
  }

  take(
    { id, action }: Question,
    given: Pick<Submission, 'result'> | { readonly failure: Failure },
    response: Promise<Envelope>,
  ): boolean {
    const read: { readonly ok: true; readonly answer: Answer } | { readonly ok: false } =
      'failure' in given
        ? { ok: true, answer: { kind: 'failure', failure: given.failure } }
        : readAnswer(action, given, this.#parts.schemas);
    return (
      read.ok &&
      this.#hand(
        id,
        read.answer,
        response.then((envelope) => ({ ok: true, envelope }) as const),
      )
    );
  }

  /** Why an answer does not fit, without secrets: what would fit may be one. */
  #unfit(question: Question, failure: Failure): Failure {
    const shown = this.shown(question);
    if (shown.schema === question.action.schema) return maskedFailure(failure, this.#mask);
    const message = texts.shape([], howToAnswer(shown));
    return { code: failure.code, message, details: { problems: [], schema: shown.schema } };
  }

  #consume(
    { id, action }: Question,
    answer: Answer,
    warnings: readonly RunWarning[],
    attendant: Attendant,
  ): Promise<RunAnswer> {
    const noted = warnings.length === 0 ? {} : { warnings };
    let isTaken = false;
    let tell: (response: RunAnswer) => void = () => {};
    const response = new Promise<RunAnswer>((resolve) => {
      tell = resolve;
    });
    const going = attend(this, attendant, () => {
      isTaken = this.#hand(id, answer, response);
      if (isTaken) this.#actions.lastSubmitted = this.#actions.get(id);
    });
    if (!isTaken) {
      const { schema, ...shown } = this.shown({ id, action });
      const message = texts.shape([texts.notTaken], howToAnswer(shown));
      return refused('E_RESULT_SHAPE', message, { problems: [texts.notTaken], schema });
    }
    void going.then((envelope) => tell({ ok: true, envelope, ...noted }));
    return response;
  }

  /** Gives an answer to the engine. False where it does not take it: the action is open as before. */
  #hand(id: string, answer: Answer, response: Promise<RunAnswer>): boolean {
    const { live } = this;
    const opened = this.#actions.get(id);
    if (live === undefined || opened === undefined || opened.answer !== undefined) return false;
    opened.answer = { content: contentOf(answer), response };
    if (answer.kind === 'failure') live.refuse(id, answer.failure);
    else if (!live.answer(id, answer.value)) {
      delete opened.answer;
      return false;
    }
    return true;
  }

  #observe(fact: Fact, state: RunState): void {
    this.#actions.note(fact, this.clock.now());
    this.#unknown.note(fact);
    this.#failedItems.note(fact);
    if (fact.kind === 'waiting') this.#auth = recorded(this.#auth);
    for (const attendant of this.#attendants) attendant.observe?.(fact, state);
  }

  #changed(): void {
    const { live } = this;
    if (live === undefined) return;
    if (live.standing === 'over') this.#end(this.#envelopeOf(live));
    for (const watcher of [...this.#watchers]) watcher();
    this.touch();
  }

  /** Keeps how it ended, and lets go of everything else. */
  #end(envelope: Envelope): void {
    this.#cancelled = envelope.status === 'cancelled';
    this.#ended = { at: this.clock.now(), envelope };
    this.#live = undefined;
    this.#auth = undefined;
    this.#stopIdling();
    this.#unknown.clear();
    this.#failedItems.clear();
    this.#onEnd(this);
  }

  #broken(fault: unknown): void {
    const { name } = this.#graph;
    this.#parts.log(texts.brokeLog(name, this.#ref, maskedThrown(fault, this.#mask)));
    const message = this.#mask.text(texts.broke(thrownText(fault)));
    const hash = this.#live?.state.run.graphHash ?? '';
    this.#end({
      workflow_id: this.id,
      definition: definitionOf(this.#graph, hash),
      status: 'failed',
      actions: [],
      error: { code: 'E_INTERNAL', message, partial: {} },
    });
    for (const watcher of [...this.#watchers]) watcher();
  }

  #envelopeOf(live: LiveRun): Envelope {
    const { state, standing } = live;
    const openedAt = (action: string): number => this.#actions.get(action)?.at ?? this.#startedAt;
    const remains = remainsOf(live.undone(), this.#unknown.all);
    const failedItems = this.#failedItems.all;
    const mask = this.#mask;
    return envelopeOf({ graph: this.#graph, state, standing, openedAt, remains, failedItems, mask });
  }

  /** Names the run where its id must not be shown. */
  get #ref(): string {
    return runRef(this.id);
  }

  /** Calls are made for the owner of the run; of the request that moves it on they know the id alone. */
  #context(): SharedContext {
    const requestId = (): string => this.#requestId;
    const auth = (): AuthInfo | undefined => this.#auth;
    const attendants = this.#attendants;
    return {
      principal: this.#owner,
      get requestId() {
        return requestId();
      },
      get auth() {
        return auth();
      },
      progress: (...report) => {
        for (const attendant of attendants) attendant.progress?.(...report);
      },
    };
  }
}

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

function refused(code: string, message: string, details?: Json): Promise<RunAnswer> {
  return Promise.resolve({
    ok: false,
    failure: { code, message, ...(details === undefined ? {} : { details }) },
  });
}

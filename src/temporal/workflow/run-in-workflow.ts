import './node-shims.js';
import type { SearchAttributePair } from '@temporalio/common';
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  defineUpdate,
  patched,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
  log as workflowLog,
} from '@temporalio/workflow';
import type { Owner } from '../../decorators/context.js';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { canonicalJson } from '../../graph/canonical.js';
import { defined } from '../../graph/defined.js';
import type { Json } from '../../graph/json.js';
import { nodesWithTasks } from '../../graph/nodes.js';
import { clip, clipText } from '../../graph/printable-text.js';
import { planOf } from '../../plan/compile.js';
import type { Failure } from '../../runtime/engine/contract.js';
import { snapshot } from '../../runtime/engine/snapshot.js';
import { operatorItem } from '../../runtime/runs/actions/operator-commands.js';
import { JournalRunStore } from '../../runtime/runs/journal-run-store.js';
import { movedRun } from '../../runtime/runs/operate/move-run.js';
import { noProgress } from '../../runtime/runs/request.js';
import type { Clock } from '../../runtime/runs/run/clock.js';
import { accessKey, childIn, restrictedQuestions } from '../../runtime/runs/run/owner.js';
import { FILE_LIMITS, unknownRun, type Waiter } from '../../runtime/runs/run-store.js';
import { withHostRows } from '../../runtime/runs/store/host-rows.js';
import { type ListedRow, waitsOf } from '../../runtime/runs/store/reader.js';
import type { Log } from '../../runtime/tools/log.js';
import {
  type Activities,
  type CommandResponse,
  missingMember,
  NOT_MOVED,
  type Nonce,
  type QueryResponse,
  type RemoteMove,
  type RemoteWaiter,
  type RunArguments,
  type RunQueries,
  type RunRequests,
  START,
  type StartResponse,
  searchAttribute,
} from '../protocol.js';
import { ActivityPort, PayloadBudget } from './activity-port.js';
import { WorkflowJournal } from './workflow-journal.js';

/**
 * A run in the sandbox of its workflow. It is in the run store in memory that a server has, alone there. Temporal makes that
 * durable, since it replays what the store was given: requests, outcomes of calls, and times.
 */
export class RunInWorkflow {
  readonly #run: RunArguments;
  readonly #journal: WorkflowJournal;
  readonly #budget: PayloadBudget;
  readonly #port: ActivityPort;
  /** Missing for runs of earlier versions: their histories have no checks. */
  readonly #checks: ResultChecks | undefined;
  /** Aborted when the run continues in another workflow: requests that wait are answered. */
  #leaving = new AbortController();
  /** A move to another graph that an operator waits for. */
  #move: Move | undefined;
  #endsCancelled = false;
  /** How many Updates have no response yet. */
  #open = 0;
  readonly #store: JournalRunStore;
  readonly #requests: RunRequests;
  readonly #shown: RunQueries;
  /** Missing where an earlier workflow has started the run. */
  readonly #started: ReturnType<JournalRunStore['start']> | undefined;

  constructor(run: RunArguments) {
    const { graph, owner, input, auth, remoteAddress, task, tools, privateTools, left } = run;
    this.#run = run;
    this.#journal = new WorkflowJournal(left && { graph, loaded: left });
    this.#budget = new PayloadBudget(run.payloadBytes);
    this.#port = new ActivityPort(run, this.#budget);
    this.#checks = run.checksResults === true ? new ResultChecks() : undefined;
    this.#store = new JournalRunStore(
      { hasRuns: left !== undefined, open: async () => ({ journal: this.#journal }) },
      {
        calls: this.#port,
        schemas: new SchemaCompiler(),
        clock: new WorkflowClock(),
        secretInputs: () => [],
        toolSafety: (tool) => tools[tool] ?? 'none',
        isPrivate: (tool) => privateTools.includes(tool),
        ...defined({ resultFailure: this.#checks?.resultFailure }),
        // Of calls that an operator has put in flight again.
        holdsUnsafeCalls: true,
        log: writeLog,
        newRunId: () => run.run,
        limits: { ...FILE_LIMITS, finishedRunMs: Number.POSITIVE_INFINITY },
      },
    );
    const waiter = this.#waiter({ ...run, caller: owner });
    const store = this.#store;
    this.#requests = {
      get_workflow_status: ({ caller, id, state }) => store.get(caller, id, { state }),
      submit_result: (request) =>
        store.submit(request.caller, request.id, request.submission, this.#waiter(request)),
      get_next_step: (request) =>
        store.nextStep(request.caller, request.id, this.#waiter(request), request.submission),
      set_variables: ({ caller, id, changes, limitMs }) => store.setVariables(caller, id, changes, limitMs),
      cancel_workflow: (request) =>
        store.cancel(request.caller, request.id, request.how, this.#waiter(request)),
      operate: async (item) => (await store.operate(item)) as unknown as CommandResponse,
      migrate: (move) => this.#migrate(move),
    };
    this.#shown = {
      list_workflows: (caller) => store.list(caller),
      to_answer: (caller) => store.toAnswer(caller),
      inspect: ({ caller, id }) =>
        store.inspect(caller, id, ({ state, mask: _, ...shown }) => ({
          ...shown,
          ...(state === undefined ? {} : { rows: snapshot(state) }),
        })),
      stored_run: async () => {
        const { left: { earlier } = {}, ...started } = run;
        const { current: loaded, log } = this.#journal;
        const paused = await this.#paused();
        return { started, loaded, paused, firstSeq: log.firstSeq, ...defined({ earlier }) };
      },
      waits: async () => waitsOf(this.#journal.state, await this.#paused()),
      log: async (from = 1) => this.#journal.log.from(from, LOG_BYTES),
    };
    if (left !== undefined) return;
    const request = { ...waiter.request, ...defined({ auth, remoteAddress }) };
    this.#started = this.#store.start({ owner, graph, input, ...defined({ task }) }, { ...waiter, request });
  }

  /**
   * Resolves with the result when the run is over. Rejects where it did not succeed, and to continue the run in another
   * workflow before the history of this one is too long.
   */
  async end(): Promise<Json> {
    await this.#store.resumeAll();
    const isDone = () => this.#journal.isOver || this.#journal.log.fault !== undefined;
    for (let share = 1; ; ) {
      await condition(() => isDone() || this.#isTooLong(share) || this.#move !== undefined);
      const isTooLong = this.#isTooLong(share);
      if (!isDone()) {
        this.#port.close();
        this.#leaving.abort();
        await condition(() => this.#port.isIdle || this.#journal.isOver);
      }
      const moved = this.#move && (await this.#moved(this.#move));
      await this.#settled();
      if (this.#journal.isOver) break;
      if (moved !== undefined || isTooLong) {
        const next = moved ?? this.#next;
        const excess = this.#budget.excess(STATE, 'state', next);
        if (excess === undefined) return continueAsNew<(run: RunArguments) => Promise<Json>>(next);
        if (share === LAST_SHARE)
          this.#abandon(`it cannot continue in another workflow. ${excess.message}`, excess.code);
        share = share === 1 ? LAST_SHARE : Number.POSITIVE_INFINITY;
      }
      this.#leaving = new AbortController();
      this.#port.open();
    }
    const answer = await this.#store.get(this.#run.owner, this.#run.run);
    if (!answer.ok) throw ApplicationFailure.nonRetryable(answer.failure.message, answer.failure.code);
    const { status, error, result = null } = answer.envelope;
    if (status === 'cancelled') {
      this.#endsCancelled = patched('end-cancelled');
      throw new CancelledFailure(error?.message ?? 'The run was cancelled');
    }
    const failure = error ?? this.#budget.excess('The result', 'result', { result });
    if (failure !== undefined) throw ApplicationFailure.nonRetryable(failure.message, failure.code);
    return result;
  }

  /** Whether the workflow has to end as cancelled, which the SDK does only where Temporal has cancelled it. */
  get endsCancelled(): boolean {
    return this.#endsCancelled;
  }

  /** Resolves when all requests have their responses. @throws where a replay differs from what was executed. */
  async #settled(): Promise<void> {
    const { log } = this.#journal;
    await condition(() => log.isIdle && (log.fault !== undefined || allHandlersFinished()));
    if (log.fault !== undefined) throw log.fault;
  }

  /** @param share of `maxEvents`. Beyond the first limit Temporal's own one counts, with room for undoing the run. */
  #isTooLong(share: number): boolean {
    const { historyLength, historySize, continueAsNewSuggested } = workflowInfo();
    if (historyLength > this.#run.maxEvents * share) return true;
    return share === 1 ? continueAsNewSuggested : share === LAST_SHARE && historySize > LAST_BYTES;
  }

  /** What the next workflow of the run starts with. */
  get #next(): RunArguments {
    const snapshot = { ...this.#journal.current, isUncalled: true, earlier: workflowInfo().runId } as const;
    return { ...this.#run, left: snapshot };
  }

  /** What the next workflow of a run that moves starts with. Undefined where it cannot move. Its operator has the response then. */
  async #moved({ to, respond }: Move): Promise<RunArguments | undefined> {
    const { log } = this.#journal;
    // That of the move itself remains.
    await condition(
      () => this.#journal.isOver || log.fault !== undefined || (this.#open === 1 && log.isIdle),
    );
    this.#move = undefined;
    const { graph, mapping } = to;
    const { current: loaded } = this.#journal;
    const target = { ...to, mapping: new Map(Object.entries(mapping)), secretInputs: () => [] };
    const moved = movedRun(loaded, this.#run.graph, target, Date.now());
    const { tools, privateTools } = to;
    const next: RunArguments | undefined =
      moved.kind === 'moved'
        ? {
            ...{ ...this.#run, graph, tools, privateTools },
            left: {
              ...{ ...loaded, seq: moved.seq, graphHash: planOf(graph).hash, rows: moved.rows },
              ...{ hostRows: withHostRows(loaded.hostRows, moved.hostRows), isUncalled: true },
              ...{ earlier: workflowInfo().runId, entries: [{ events: [] }] },
            },
          }
        : undefined;
    const failure =
      next === undefined
        ? { code: NOT_MOVED, message: 'The run cannot move as it is.' }
        : this.#budget.excess(STATE, 'state', next);
    respond(failure === undefined ? { ok: true } : { ok: false, failure });
    return failure === undefined ? next : undefined;
  }

  /** Moves the run when it is idle. */
  #migrate(to: RemoteMove): Promise<CommandResponse> {
    if (this.#journal.isOver || this.#move !== undefined) {
      const message = this.#move === undefined ? 'The run is over.' : 'Another command moves the run.';
      return Promise.resolve({ ok: false, failure: { code: NOT_MOVED, message } });
    }
    return new Promise((respond) => {
      this.#move = { to, respond };
    });
  }

  /** Shows in Temporal's web page what the run waits for, until it is over. */
  async show(): Promise<void> {
    const changes = (): string => `${this.#journal.log.seq} ${this.#port.lostCalls}`;
    for (let shown = '0 0'; !this.#journal.isOver; ) {
      await condition(() => changes() !== shown);
      shown = changes();
      const waits = waitsOf(this.#journal.state, await this.#paused());
      setCurrentDetails(waitsText(waits));
      if (this.#run.isSearchable === true) this.#index(searchAttribute('status', waits.state));
    }
  }

  #index(status: SearchAttributePair): void {
    const { typedSearchAttributes } = workflowInfo();
    if (typedSearchAttributes.get(status.key) !== status.value) upsertSearchAttributes([status]);
  }

  /** The steps with calls about which an operator decides. */
  async #paused(): Promise<readonly string[]> {
    const { owner, run, left } = this.#run;
    if (left === undefined && this.#port.lostCalls === 0) return [];
    const steps = await this.#store.inspect(owner, run, ({ envelope }) => envelope.paused_steps);
    return (steps ?? []).map(({ step_id }) => step_id);
  }

  /** Undoes what the run did, and ends it: it cannot continue. */
  #abandon(reason: string, code: string): void {
    const { owner, run } = this.#run;
    const how = { reason, code, compensate: true };
    this.#store
      .cancel(owner, run, how, this.#waiter({ caller: owner, requestId: 'cancel', answerMs: 0 }))
      .catch((fault: unknown) => workflowLog.error(String(fault)));
  }

  /** An operator has cancelled the workflow in Temporal. */
  cancel(): void {
    const { run } = this.#run;
    const item = { run, id: 'cancel-in-temporal', at: Date.now() };
    const by = { kind: 'operator', name: 'Temporal' } as const;
    this.#store
      .operate(operatorItem(item, { command: 'cancel', compensate: true }, by))
      .catch((fault: unknown) => workflowLog.error(String(fault)));
  }

  /** Answers Updates. */
  answerUpdates(): void {
    setHandler(defineUpdate<StartResponse>(START), () => {
      if (this.#started === undefined) throw ApplicationFailure.nonRetryable('the run has started before');
      return this.#sent(START, this.#started);
    });
    for (const name of REQUESTS) {
      const respond: (request: never) => Promise<CommandResponse> = this.#requests[name];
      const answer = async (request: never) => {
        const { nonce }: Nonce = request;
        const decided = this.#checks?.decided(() => respond(request)) ?? respond(request);
        return { ...(await this.#sent(name, decided)), ...defined({ nonce }) };
      };
      const isOperator = name === 'operate' || name === 'migrate';
      const validator = (request: never): void => {
        const missing = missingMember(name, request);
        if (missing !== undefined) throw malformed(name, missing);
        if (!isOperator) this.#admit(request);
      };
      setHandler(defineUpdate<object, [never]>(name), answer, { validator });
    }
  }

  /**
   * Refuses callers without a part in the run, so that they leave no event in the history. An unknown action is refused by
   * the handler: the response says which actions are open, and a request that arrives with the start comes before the first.
   */
  #admit({ caller, id }: { readonly caller: Owner; readonly id: string }): void {
    const { owner, graph } = this.#run;
    const isOwner = accessKey(caller) === accessKey(owner);
    if (isOwner || childIn(id) !== undefined || restrictedQuestions(graph).length > 0) return;
    const { failure } = unknownRun(id);
    throw ApplicationFailure.nonRetryable(failure.message, failure.code, failure);
  }

  /** A response to an Update, as soon as a task has room for it. */
  async #sent<Response extends object>(name: string, coming: Promise<Response>) {
    this.#open += 1;
    try {
      const response = await this.#fitting(name, coming);
      // A run that moves must not change after its response.
      const room = name === 'migrate' ? undefined : this.#budget.reserve(response);
      if (room !== undefined) await room;
      return response;
    } finally {
      this.#open -= 1;
    }
  }

  /** A response, or why it cannot be sent. */
  async #fitting<Response extends object>(name: string, coming: Promise<Response>) {
    const response = await coming;
    const failure = this.#budget.excess(`${name} took effect, and its response`, 'result', response);
    return failure === undefined ? response : ({ ok: false, failure } as const);
  }

  /** Answers a Query, which must not change the run. */
  async look(name: string, args: readonly unknown[]): Promise<unknown> {
    if (isOneOf(name, SHOWN)) {
      const shown: unknown = await Reflect.apply(this.#shown[name], undefined, args);
      const failure = this.#budget.excess(`The response to ${name}`, 'result', { shown });
      if (failure !== undefined) throw new RangeError(failure.message);
      return shown;
    }
    if (!isOneOf(name, REQUESTS)) throw new ReferenceError(`there is no query '${name}'`);
    const isPure = name === 'get_workflow_status' && !this.#deliversWork;
    if (!isPure && !this.#journal.isOver) return {};
    const request = this.#requests[name] as (...args: never[]) => Promise<object>;
    const response = await this.#fitting(name, request(...(args as never[])));
    return { response } satisfies QueryResponse<unknown>;
  }

  /** Whether a response may be the first one with work of the client: the limits of that begin then. */
  get #deliversWork(): boolean {
    return nodesWithTasks(this.#run.graph).some(
      ({ kind, executor }) => executor === 'client' || kind === 'shell' || kind === 'delegate',
    );
  }

  #waiter({ caller, requestId, answerMs }: RemoteWaiter & { readonly caller: Owner }): Waiter {
    return {
      answerMs,
      request: { requestId, principal: caller, signal: this.#leaving.signal, progress: noProgress },
    };
  }
}

/** That a request is not one that a server sends: its handler would fail the task of the workflow, again and again. */
function malformed(name: string, member: string): ApplicationFailure {
  const message = `'${name}' was sent without '${member}', or with one of another type: send requests through a server, or by \`stepwright runs\``;
  return ApplicationFailure.nonRetryable(message, 'MalformedRequest');
}

/** Begins the message of a state that cannot be sent. */
const STATE = 'The state of the run';

interface Move {
  readonly to: RemoteMove;
  respond(response: CommandResponse): void;
}

/** A run with too large a state to continue in another workflow remains in this one up to so many times `maxEvents`. */
const LAST_SHARE = 2.5;

/** Temporal ends a workflow with a history about twice as large. */
const LAST_BYTES = 25 * 1024 * 1024;

const REQUESTS = [
  'get_workflow_status',
  'submit_result',
  'get_next_step',
  'set_variables',
  'cancel_workflow',
  'operate',
  'migrate',
] as const;
const SHOWN = ['list_workflows', 'to_answer', 'inspect', 'stored_run', 'waits', 'log'] as const;

/** So much of a log one response has, in characters. */
const LOG_BYTES = 1_000_000;

function isOneOf<Name extends string>(name: string, names: readonly Name[]): name is Name {
  return names.some((each) => each === name);
}

/** What a run waits for, as Markdown. It shows no values. */
function waitsText({ state, waits }: Pick<ListedRow, 'state' | 'waits'>): string {
  if (waits.length === 0) return state;
  const lines = waits.map(({ for: what, of, until }) => {
    const time = until === undefined ? '' : ` until ${new Date(until).toISOString()}`;
    return `- ${what}: \`${clip(of)}\`${time}`;
  });
  return clipText(`${state} for\n\n${lines.join('\n')}`, 2_000);
}

const LEVELS = { debug: 'debug', info: 'debug', warning: 'warn', error: 'error' } as const;

const writeLog: Log = (text, { level = 'error', ...about }) => workflowLog[LEVELS[level]](text, { ...about });

const { checkResult } = proxyLocalActivities<Pick<Activities, 'checkResult'>>({
  startToCloseTimeout: '1 minute',
});

/** The code of a refusal until a value is checked. */
const UNCHECKED = 'unchecked';

/**
 * Checks values that take the place of a tool's result. The worker has the output schemas, and the store in the sandbox
 * decides about a request at once: a request with a value that is not checked yet is refused, and made again after the check.
 */
class ResultChecks {
  readonly #outcomes = new Map<string, Failure | null>();
  /** What requests were refused for, by the keys of outcomes. */
  #needed = new Map<string, Parameters<Activities['checkResult']>[0]>();

  /** See `StoreParts.resultFailure`. */
  readonly resultFailure = (tool: string, value: Json): Failure | undefined => {
    const key = canonicalJson([tool, value]);
    const outcome = this.#outcomes.get(key);
    if (outcome !== undefined) return outcome ?? undefined;
    this.#needed.set(key, { tool, value });
    return { code: UNCHECKED, message: 'The value is not checked yet.' };
  };

  /** Makes a request, again after each check that it needs. */
  async decided<R extends CommandResponse>(request: () => Promise<R>): Promise<R> {
    const checked = new Set<string>();
    try {
      for (;;) {
        const response = await request();
        if (response.ok || response.failure.code !== UNCHECKED) return response;
        const needed = this.#needed;
        this.#needed = new Map();
        for (const [key, result] of needed) {
          this.#outcomes.set(key, await checkResult(result));
          checked.add(key);
        }
      }
    } finally {
      // The schemas of a later worker may be others.
      for (const key of checked) this.#outcomes.delete(key);
    }
  }
}

interface Timer {
  /** Ms since the epoch. */
  readonly at: number;
  readonly callback: () => void;
}

/**
 * The time of a workflow. It has one timer in Temporal, for the earliest time of all that are set. A timer in Temporal that
 * comes too early is set again when it comes: most limits are called off before, and each timer is two events of the history.
 * A timer that is called off at once is none in Temporal, where a Query must not set one.
 */
class WorkflowClock implements Clock {
  readonly #timers = new Set<Timer>();
  #isChanged = false;
  #armed: { readonly at: number; readonly scope: CancellationScope } | undefined;

  now(): number {
    return Date.now();
  }

  setTimer(callback: () => void, delayMs: number): () => void {
    const timer = { at: this.now() + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    this.#armSoon();
    return () => {
      this.#timers.delete(timer);
      if (this.#timers.size === 0) this.#disarm();
    };
  }

  #armSoon(): void {
    if (this.#isChanged) return;
    this.#isChanged = true;
    void Promise.resolve().then(() => this.#arm());
  }

  #arm(): void {
    this.#isChanged = false;
    let at = Number.POSITIVE_INFINITY;
    for (const timer of this.#timers) at = Math.min(at, timer.at);
    if (at === Number.POSITIVE_INFINITY || (this.#armed !== undefined && this.#armed.at <= at)) return;
    this.#disarm();
    const armed = { at, scope: new CancellationScope() };
    this.#armed = armed;
    armed.scope
      .run(() => sleep(Math.max(1, at - this.now())))
      .then(
        () => this.#fire(armed),
        () => {},
      );
  }

  #disarm(): void {
    this.#armed?.scope.cancel();
    this.#armed = undefined;
  }

  #fire(armed: object): void {
    if (this.#armed !== armed) return;
    this.#armed = undefined;
    const due = [...this.#timers].filter(({ at }) => at <= this.now());
    for (const timer of due.sort((one, other) => one.at - other.at)) {
      // An earlier callback may have called it off.
      if (this.#timers.delete(timer)) timer.callback();
    }
    this.#arm();
  }
}

import type { Owner } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import type { Json } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { clip } from '../../graph/printable-text.js';
import { planOf } from '../../plan/compile.js';
import type { Failure } from '../engine/contract.js';
import { thrownText } from '../tools/exceptions.js';
import { runRef } from '../tools/port.js';
import type { Submission, ToAnswer } from './actions/action.js';
import type { awaitStep, statusOf } from './child-request.js';
import type { Clock } from './run/clock.js';
import type { RunAnswer, SubmitAnswer } from './run/envelope.js';
import { accessKey, childIn, rolesOf } from './run/owner.js';
import {
  ANONYMOUS,
  type Cancellation,
  DEFAULT_LIMITS,
  excess,
  groupOf,
  type InspectedRun,
  isListed,
  type NewRun,
  quotaOf,
  type RunLimits,
  type RunReading,
  type RunStore,
  type RunSummary,
  unknownRun,
  unreadableSummary,
  type Waiter,
} from './run-store.js';
import { runRowsIn } from './store/host-rows.js';
import {
  type InboxItem,
  isLocal,
  JournalFailedError,
  type LoadedRun,
  type RunJournal,
} from './store/journal.js';
import type { openJournal } from './store/local-journal.js';
import { StoreError, storeErrorIn, UnreadableRunError } from './store/store-error.js';
import { CapabilityWaits, type StoreParts, UnreadableRuns } from './store-parts.js';
import type { StoredRun } from './stored-run.js';

/** See {@link excess}. */
type Usage = Parameters<typeof excess>[0];

/** Where a store gets its journal from. */
interface JournalSource {
  /** Whether it may have runs of earlier processes: then a server opens it when it starts. */
  readonly hasRuns: boolean;
  open(
    store: Parameters<typeof openJournal>[1],
  ): Promise<{ readonly journal: RunJournal; close?(): Promise<void> }>;
}

/** What the store itself adds. */
type OwnPart = 'idle' | 'onEnd' | 'journal' | 'clock' | 'waits' | 'keptMs';

export interface RunStoreOptions extends Omit<StoreParts, OwnPart> {
  /** Default: the process's own clock. */
  readonly clock?: Clock;
  /** Makes the id of a run, which must be unique and impossible to guess. */
  readonly newRunId: () => string;
  readonly limits?: Partial<RunLimits>;
  /** Why a run may not start for an owner. Default: every run may. */
  readonly refusal?: (graph: Graph, owner: Owner) => Failure | undefined;
}

/** A run with a next time later than that is loaded again when it does, in ms. */
const KEPT_MS = 60_000;

/** So many runs are looked up at once for a list. */
const LISTED = 50;

/**
 * The runs of a journal. It is opened, and the engine is loaded, with the first run; or when the server starts, if there
 * may be runs of earlier processes. This process keeps the runs that it moves on, or that a request is about, and all of
 * a journal that it uses alone: a shared journal has the others, however many they are.
 */
export class JournalRunStore implements RunStore {
  readonly #source: JournalSource;
  readonly #options: RunStoreOptions;
  readonly #limits: RunLimits;
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  #resuming: Promise<void> | undefined;
  #isReady = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #runs = new Map<string, StoredRun>();
  readonly #loads = new Map<string, Promise<StoredRun | undefined>>();
  /** How many requests use a run right now. */
  readonly #users = new Map<string, number>();
  /** Runs that are not in the journal yet. */
  readonly #beginning = new Set<StoredRun>();
  /** By their hashes: runs of one definition have one plan. */
  readonly #graphs = new Map<string, Graph>();
  readonly #unreadable: UnreadableRuns;

  constructor(source: JournalSource, options: RunStoreOptions) {
    this.#source = source;
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#unreadable = new UnreadableRuns(options);
  }

  async open(): Promise<void> {
    if (this.#source.hasRuns) await this.#open();
  }

  /** The graphs of the open runs, each once. One that this version cannot read is left out. */
  async openGraphs(): Promise<readonly Graph[]> {
    if (!this.#source.hasRuns) return [];
    const { journal } = await this.#open();
    const hashes = new Set((await journal.openRuns()).map(({ graphHash }) => graphHash));
    const graphs = await Promise.all([...hashes].map((hash) => journal.graph(hash).catch(() => undefined)));
    return graphs.filter((graph) => graph !== undefined);
  }

  async resumeAll(): Promise<void> {
    if (this.#source.hasRuns) await this.#ready();
  }

  async start(run: NewRun, waiter: Waiter): Promise<RunAnswer> {
    if (!this.#isReady) await this.#ready();
    this.#expire();
    const { owner, graph } = run;
    const group = groupOf(owner, quotaOf(owner, waiter.request.remoteAddress));
    const reading = this.#usage(group);
    const usage = reading instanceof Promise ? await reading : reading;
    // The check and the start happen in one turn, so that concurrent starts count each other.
    const failure = this.#options.refusal?.(graph, owner) ?? excess(usage(), this.#limits);
    if (failure !== undefined) return { ok: false, failure };
    const { id = this.#options.newRunId() } = run;
    if (this.#runs.has(id)) throw new Error(`there is a run ${runRef(id)}`);
    const { request } = waiter;
    const { Run, parts } = this.#store;
    const stored = new Run({ ...run, id, request }, group, parts);
    this.#runs.set(id, stored);
    this.#beginning.add(stored);
    this.#graphs.set(planOf(graph).hash, graph);
    try {
      return { ok: true, envelope: await stored.begin(waiter) };
    } catch (fault) {
      // It is not in the journal, or another run of this id is.
      this.#runs.delete(id);
      throw fault;
    }
  }

  async get(caller: Owner, id: string, how?: RunReading): ReturnType<RunStore['get']> {
    const answer = await this.#reached(caller, id, (run) => this.#store.steps.statusOf(run, how));
    return answer ?? unknownRun(id);
  }

  async nextStep(
    ...[caller, id, waiter, submission]: Parameters<RunStore['nextStep']>
  ): ReturnType<RunStore['nextStep']> {
    if (!this.#isReady) await this.#ready();
    const { alias = '', child = '' } = childIn(id) ?? {};
    const run = (await this.#journal.index.byAlias(alias)) ?? id;
    const answer = await this.#reached(caller, run, async (parent) => {
      if (parent.children.get(child) === undefined) return undefined;
      const how = { limitMs: waiter.answerMs };
      const accepted = submission && (await parent.inbox.answer(caller, { ...submission, child }, how));
      if (accepted?.ok === false) return accepted;
      const next = await this.#store.steps.awaitStep(parent, child, waiter);
      return next && ({ ok: true, next, ...defined({ warnings: accepted?.warnings }) } as const);
    });
    return answer ?? unknownRun(id);
  }

  async submit(caller: Owner, id: string, submission: Submission, waiter: Waiter): Promise<SubmitAnswer> {
    const answer =
      (await this.#reached(caller, id, (run) => run.inbox.answer(caller, submission, { waiter }))) ??
      (await this.#submitNamed(caller, id, submission, waiter));
    return answer ?? unknownRun(id);
  }

  /** An answer of a caller that a question names and that is not the owner. */
  async #submitNamed(
    ...[caller, id, submission, { answerMs: limitMs }]: Parameters<RunStore['submit']>
  ): Promise<SubmitAnswer | undefined> {
    // Steps are made by the owner alone.
    if (rolesOf(caller).length === 0 || submission.tool !== undefined) return undefined;
    const named = (await this.#journal.index.byAlias(id)) ?? id;
    return this.#using(named, async (run): Promise<SubmitAnswer | undefined> => {
      if (run.isOf(caller) || !run.questions.names(caller, submission)) return undefined;
      const answer = await run.inbox.answer(caller, submission, { limitMs });
      if (!answer.ok) return answer;
      return { ok: true, accepted: true, ...defined({ warnings: answer.warnings }) };
    });
  }

  async setVariables(
    ...[caller, id, changes, limitMs]: Parameters<RunStore['setVariables']>
  ): Promise<SubmitAnswer> {
    const answer = await this.#reached(caller, id, (run) => run.inbox.setVariables(caller, changes, limitMs));
    return answer ?? unknownRun(id);
  }

  inspect<T>(caller: Owner, id: string, look: (run: InspectedRun) => T): Promise<T | undefined> {
    return this.#reached(caller, id, (run) => run.inspect(look));
  }

  async key(): Promise<Uint8Array | undefined> {
    return (await this.#open()).journal.key?.();
  }

  async cancel(caller: Owner, id: string, how: Cancellation, waiter: Waiter): Promise<RunAnswer> {
    const answer = await this.#reached(caller, id, (run) => run.inbox.cancel(caller, how, waiter));
    return answer ?? unknownRun(id);
  }

  /** Has a run take a command of an operator; see `RunInbox.operate`. Undefined for an unknown run. */
  async operate(item: InboxItem): Promise<Json | undefined> {
    if (!this.#isReady) await this.#ready();
    return this.#using(item.run, (run) => run.inbox.operate(item));
  }

  async toAnswer(caller: Owner): Promise<readonly ToAnswer[]> {
    if (!this.#isReady) await this.#ready();
    if (rolesOf(caller).length === 0) return [];
    const questions: ToAnswer[] = [];
    for (const id of await this.#journal.index.openWithAlias()) {
      await this.#usingReadable(id, async (run) => {
        if (!run.isOf(caller)) questions.push(...(await run.questions.toAnswer(caller)));
      });
    }
    return questions;
  }

  async list(
    caller: Owner,
    { before, status, limit = Number.POSITIVE_INFINITY }: Parameters<RunStore['list']>[1] = {},
  ): Promise<readonly RunSummary[]> {
    if (!this.#isReady) await this.#ready();
    this.#expire();
    if (caller.kind === 'anonymous') return [];
    const isOpen = status === undefined ? {} : { isOpen: status === 'running' || status === 'waiting' };
    const summaries: RunSummary[] = [];
    for (let last = before; summaries.length < limit; ) {
      const query = { ...defined({ before: last }), ...isOpen, limit: LISTED };
      const ids = await this.#journal.index.listed(quotaOf(caller), query);
      for (const id of ids) {
        const summary = await this.#using(id, (run) => run.summary).catch(unreadableSummary(id));
        if (summary === undefined || !isListed(summary, status)) continue;
        summaries.push(summary);
        if (summaries.length === limit) break;
      }
      if (ids.length < LISTED) break;
      last = ids.at(-1);
    }
    return summaries;
  }

  async atRest(): Promise<void> {
    if (this.#opening === undefined) return;
    if (!this.#isReady) await this.#ready();
    await Promise.all(this.#openRuns.map((run) => run.atRest()));
  }

  endAll(reason: string): number {
    if (this.#isReady) return this.#endOpen(reason);
    // Runs that wait for the store begin before. Their requests report why it could not be opened.
    this.#resuming?.then(
      () => this.#endOpen(reason),
      () => {},
    );
    return 0;
  }

  /** Cancels the runs of a journal that ends with the process, or that no other one uses. Leaves others to them. */
  #endOpen(reason: string): number {
    const open = this.#openRuns;
    if (isLocal(this.#journal)) {
      for (const run of open) run.abort(reason);
      return open.length;
    }
    for (const run of open) if (run.isActing) run.leave();
    return 0;
  }

  get fault(): Error | undefined {
    return this.#opened?.journal.fault;
  }

  async close(): Promise<void> {
    if (this.#opening === undefined) return;
    const { journal, close } = await this.#opening;
    if (!isLocal(journal)) this.#endOpen('');
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#opened?.parts.clock.release?.();
    await close?.();
  }

  get #openRuns(): readonly StoredRun[] {
    return [...this.#runs.values()].filter(({ endedAt }) => endedAt === undefined);
  }

  // What follows opens the journal, and looks after its runs.

  get #store(): Opened {
    if (this.#opened === undefined) throw new Error('the store is not open');
    return this.#opened;
  }

  get #journal(): RunJournal {
    return this.#store.journal;
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#load().catch((error) => {
      // A later start tries again.
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #load(): Promise<Opened> {
    // One after the other: jest cannot link two modules at once that import a third.
    const { StoredRun } = await import('./stored-run.js');
    const { awaitStep, statusOf } = await import('./child-request.js');
    const { idleRunsOf } = await import('./idle-runs.js');
    const { storeClock } = await import('./run/clock.js');
    const { journal, close } = await this.#source.open({
      questionsOf: (run) => this.#runs.get(run)?.live?.asks.size ?? 0,
      expired: (run) => this.#forget(run),
    });
    const { clock = storeClock() } = this.#options;
    const idle = idleRunsOf(clock, this.#limits);
    const onEnd: StoreParts['onEnd'] = (id, at) => {
      journal.index.ended?.(id, at);
      this.#expire();
    };
    const waits = new CapabilityWaits({
      ...{ journal, clock, log: this.#options.log, limitMs: this.#limits.capabilityMs },
      ...defined({ missing: this.#options.missing }),
      graphOf: (hash) => this.#graphOf(hash).catch(() => undefined),
    });
    const steps = { awaitStep, statusOf };
    const keptMs = this.#limits.finishedRunMs;
    const parts = { ...this.#options, clock, journal, idle, onEnd, waits, keptMs };
    this.#opened = { Run: StoredRun, steps, journal, parts, ...defined({ close }) };
    return this.#opened;
  }

  /** Resolves when the store is open and the runs of earlier processes are resumed. */
  #ready(): Promise<void> {
    this.#resuming ??= this.#resume().catch((error) => {
      this.#resuming = undefined;
      throw error;
    });
    return this.#resuming;
  }

  async #resume(): Promise<void> {
    const { journal } = await this.#open();
    if (this.#source.hasRuns) {
      if (this.#expiresIdle) {
        for (const { run } of await journal.openRuns()) await this.#usingReadable(run, async () => {});
      }
      await this.lookAfter();
      this.#lookLater(journal.leases.intervalMs);
    }
    this.#isReady = true;
  }

  /** Shows other processes that this one lives, and takes over the runs of those that are gone. */
  #lookLater(delayMs: number): void {
    if (this.#isClosed || delayMs === Number.POSITIVE_INFINITY) return;
    const { intervalMs } = this.#journal.leases;
    const look = async (): Promise<void> => {
      let next = intervalMs;
      // A time that has come and was not taken is looked at with the next interval.
      const lookedAt = this.#store.parts.clock.now();
      try {
        await this.lookAfter();
        const due = (await this.#journal.index.nextDue(lookedAt)) ?? Number.POSITIVE_INFINITY;
        next = due - this.#store.parts.clock.now();
      } catch (error) {
        // The source of the journal reports that fault.
        if (this.fault !== undefined) return;
        // A journal that is closed meanwhile is not a fault.
        if (!this.#isClosed) this.#logNotLookedAfter(error);
      }
      this.#lookLater(Math.max(1, Math.min(next, intervalMs)));
    };
    this.#timer = setTimeout(() => void look(), delayMs).unref();
  }

  /**
   * Resumes the runs that no process moves on although they could: those of processes that are gone, and those whose time
   * has come. Removes finished runs that do not stay, and releases runs with which this process has nothing to do.
   */
  async lookAfter(): Promise<void> {
    const { leases, index } = this.#journal;
    const orphans = await leases.orphans(this.#store.parts.clock.now(), (run) => this.#isMoved(run));
    for (const { run: id } of await this.#store.parts.waits.capable(orphans)) {
      if (this.#unreadable.get(id) !== undefined) continue;
      // An operator has reopened it.
      if (this.#runs.get(id)?.live === undefined) this.#runs.delete(id);
      // A fault of one run does not keep the others from a process. It is tried again with the next look.
      await this.#usingReadable(id, (run) =>
        run.takeUp().catch((fault: unknown) => run.logFault(fault)),
      ).catch((fault: unknown) => this.#logNotLookedAfter(fault));
    }
    await index.expire(this.#retention);
    if (!isLocal(this.#journal)) this.#letGo();
  }

  #logNotLookedAfter(fault: unknown): void {
    this.#options.log(
      `The runs of other servers on the store could not be looked after, which is tried again: ${thrownText(fault)}`,
      { event: 'store.not_looked_after' },
    );
  }

  get #retention() {
    const { finishedRunMs, maxFinishedRuns } = this.#limits;
    return { endedBefore: this.#store.parts.clock.now() - finishedRunMs, keep: maxFinishedRuns };
  }

  /** Removes finished runs of a journal that has no other process to look after it. */
  #expire(): void {
    if (isLocal(this.#journal)) void this.#journal.index.expire(this.#retention);
  }

  #forget(id: string): void {
    this.#runs.delete(id);
    this.#journal.forget(id).catch((error) => {
      const run = runRef(id);
      const text = `the journal could not forget run ${run}, which is over: ${clip(thrownText(error))}`;
      this.#options.log(text, { event: 'run.not_forgotten', run });
    });
  }

  /** Whether this process goes on with a run. */
  #isMoved(id: string): boolean {
    const run = this.#runs.get(id);
    return run?.isActing === true && !run.isAbandoned;
  }

  get #expiresIdle(): boolean {
    return this.#limits.idleMs < Number.POSITIVE_INFINITY;
  }

  /** Lets go of the runs that can be loaded again. Where runs expire, the open ones are kept: idle ones are not in the journal. */
  #letGo(): void {
    const until = this.#store.parts.clock.now() + KEPT_MS;
    for (const [id, run] of this.#runs) {
      if (this.#users.has(id) || !run.isUnused(until) || (this.#expiresIdle && run.live !== undefined))
        continue;
      run.leave();
      this.#runs.delete(id);
    }
  }

  // What follows finds runs.

  /** How much of the store is used, as of the moment when it is asked. */
  #usage(group: StoredRun['group']): (() => Usage) | Promise<() => Usage> {
    const { index } = this.#journal;
    // The journal is read at once, so that each run is counted in one of the two places.
    const before = this.#beginningNow();
    const open = index.open(group.quota);
    const anonymous = group.owner.kind === 'anonymous' ? index.openOf(ANONYMOUS) : undefined;
    const counted =
      ({ runs, questions }: Awaited<typeof open>, ofAnonymous: Awaited<typeof anonymous>) =>
      (): Usage => {
        const beginning = [...new Set([...before, ...this.#beginningNow()])].map((run) => run.group);
        const others = beginning.filter(({ owner }) => owner.kind === 'anonymous').length;
        return {
          open: runs + beginning.filter(({ quota }) => quota === group.quota).length,
          pending: questions,
          anonymous: ofAnonymous === undefined ? undefined : ofAnonymous + others,
        };
      };
    return open instanceof Promise || anonymous instanceof Promise
      ? Promise.all([open, anonymous]).then((counts) => counted(...counts))
      : counted(open, anonymous);
  }

  #beginningNow(): readonly StoredRun[] {
    for (const run of this.#beginning) if (run.live?.hasStarted !== false) this.#beginning.delete(run);
    return [...this.#beginning];
  }

  /** Does the same work for a run that does not exist as for one that the caller may not reach. */
  async #reached<T>(caller: Owner, id: string, work: (run: StoredRun) => Promise<T>): Promise<T | undefined> {
    if (!this.#isReady) await this.#ready();
    this.#expire();
    const access = await this.#journal.index.accessTo(id);
    return access === accessKey(caller) ? this.#using(id, work) : undefined;
  }

  /** Works with a run as the journal has it. Resolves with `undefined` without a run that can be read. */
  async #using<T>(id: string, work: (run: StoredRun) => Promise<T>): Promise<T | undefined> {
    this.#users.set(id, (this.#users.get(id) ?? 0) + 1);
    try {
      const run = await this.#find(id);
      return run === undefined ? undefined : await work(run);
    } finally {
      const users = (this.#users.get(id) ?? 1) - 1;
      if (users === 0) this.#users.delete(id);
      else this.#users.set(id, users);
    }
  }

  /** As {@link #using}, without a result for a run that cannot be read, which was logged. */
  #usingReadable<T>(id: string, work: (run: StoredRun) => Promise<T>): Promise<T | undefined> {
    return this.#using(id, work).catch((fault: unknown) => {
      if (!(fault instanceof UnreadableRunError)) throw fault;
      return undefined;
    });
  }

  async #find(id: string): Promise<StoredRun | undefined> {
    const resident = this.#runs.get(id);
    if (resident?.isAbandoned === true) this.#runs.delete(id);
    else if (resident !== undefined) {
      const isThere = await resident.refresh().catch((fault: unknown) => {
        if (this.#runs.get(id)?.isAbandoned !== true) throw fault;
        return undefined;
      });
      if (isThere === true) return resident;
      this.#runs.delete(id);
      // A later version has written it: loading says so.
      if (isThere === false) return undefined;
    }
    const unreadable = this.#unreadable.get(id);
    if (unreadable !== undefined) throw unreadable;
    const load = this.#loads.get(id) ?? this.#tryLoad(id);
    this.#loads.set(id, load);
    try {
      return await load;
    } finally {
      this.#loads.delete(id);
    }
  }

  async #tryLoad(id: string): Promise<StoredRun | undefined> {
    let loaded: LoadedRun | undefined;
    let graph: Graph | undefined;
    try {
      loaded = await this.#journal.load(id);
      if (loaded === undefined) return undefined;
      graph = await this.#graphOf(loaded.graphHash);
    } catch (error) {
      if (error instanceof StoreError && error.problem === 'damaged') throw this.#unreadable.add(id, error);
      // The journal could not be read now; it may be the next time.
      throw storeErrorIn(error) ?? new JournalFailedError('the journal failed to read a run', error);
    }
    try {
      return this.#resumed(loaded, graph);
    } catch (error) {
      throw this.#unreadable.add(id, error);
    }
  }

  async #graphOf(hash: string): Promise<Graph | undefined> {
    const graph = this.#graphs.get(hash) ?? (await this.#journal.graph(hash));
    if (graph !== undefined) this.#graphs.set(hash, graph);
    return graph;
  }

  #resumed(loaded: LoadedRun, graph: Graph | undefined): StoredRun {
    const { start } = runRowsIn(loaded.hostRows);
    if (graph === undefined) throw new Error('its workflow is missing');
    if (start === undefined) throw new Error('its owner is missing');
    const { owner, quota, auth } = start;
    const { Run, parts } = this.#store;
    const run = new Run({ graph, loaded, owner, auth }, groupOf(owner, quota), parts);
    this.#runs.set(loaded.run, run);
    run.resume();
    return run;
  }
}

interface Opened extends Awaited<ReturnType<JournalSource['open']>> {
  /** Loaded with the engine. */
  readonly Run: typeof StoredRun;
  readonly steps: { readonly awaitStep: typeof awaitStep; readonly statusOf: typeof statusOf };
  readonly parts: StoreParts;
}

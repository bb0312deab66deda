import type { Owner } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import { thrownText } from '../tools/exceptions.js';
import { runRef } from '../tools/port.js';
import { idleRunsOf } from './idle-runs.js';
import { openGraphsOf } from './open-graphs.js';
import { ANONYMOUS, excess, quotaOf, type Usage, unknownRun } from './run-limits.js';
import { accessKey, rolesOf } from './run-owner.js';
import {
  type Cancellation,
  FILE_LIMITS,
  type NewRun,
  type RunAnswer,
  type RunGroup,
  type RunLimits,
  type RunQuery,
  type RunStore,
  type RunSummary,
  runRowsIn,
  type Submission,
  type SubmitAnswer,
  type ToAnswer,
  type Waiter,
} from './run-store.js';
import type { RunStoreOptions } from './run-store-options.js';
import { runTexts } from './run-texts.js';
import type { SharedJournal } from './store/journal.js';
import { StoreError } from './store/sqlite/store-error.js';
import { StoredRun, type StoreParts } from './stored-run.js';

export interface SharedStoreOptions extends RunStoreOptions {
  readonly journal: SharedJournal;
}

/** A run whose next time comes later than that is loaded again when it does, in ms. */
const KEPT_MS = 60_000;

/** So many runs are looked up at once for a list. */
const LISTED = 50;

/**
 * Runs of a journal that several processes use. This one keeps those alone that it moves on, or that a request is about:
 * the journal has the others, however many they are. {@link lookAfter} has to be called at least each `intervalMs` of
 * the journal's leases.
 */
export class SharedRunStore implements RunStore {
  readonly #options: SharedStoreOptions;
  readonly #parts: StoreParts;
  readonly #limits: RunLimits;
  readonly #journal: SharedJournal;
  readonly #runs = new Map<string, StoredRun>();
  readonly #loads = new Map<string, Promise<StoredRun | undefined>>();
  /** How many requests use a run right now. */
  readonly #users = new Map<string, number>();
  /** Runs that are not in the journal yet. */
  readonly #beginning = new Set<StoredRun>();
  /** By their hashes: runs of one definition have one plan. */
  readonly #graphs = new Map<string, Graph>();
  /** Runs that this version cannot read, or whose part of the file is damaged, by their ids. Each was logged. */
  readonly #unreadable = new Map<string, unknown>();

  constructor(options: SharedStoreOptions) {
    this.#options = options;
    this.#journal = options.journal;
    this.#limits = { ...FILE_LIMITS, ...options.limits };
    this.#parts = { ...options, idle: idleRunsOf(options.clock, this.#limits), onEnd: () => {} };
  }

  async start(run: NewRun, waiter: Waiter): Promise<RunAnswer> {
    const { owner, graph } = run;
    const quota = quotaOf(owner, waiter.request.remoteAddress);
    const group = groupOf(owner, quota);
    const usage = await this.#usage(group);
    // Nothing comes between the look and the run, so that of starts at one moment each counts those before it.
    const failure = this.#options.refusal?.(graph, owner) ?? excess(usage(), this.#limits);
    if (failure !== undefined) return { ok: false, failure };
    const id = this.#options.newRunId();
    if (this.#runs.has(id)) throw new Error(runTexts.sameId(runRef(id)));
    const { request } = waiter;
    const stored = new StoredRun({ ...run, id, request }, group, this.#parts);
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

  openGraphs(): Promise<readonly Graph[]> {
    return openGraphsOf(this.#journal);
  }

  /** Goes on with the runs that no process moves on although they could. */
  async resumeAll(): Promise<void> {
    if (this.#expiresIdle) {
      for (const { run } of await this.#journal.openRuns()) await this.#using(run, async () => {});
    }
    await this.lookAfter();
  }

  /**
   * Looks after the runs of processes that are gone, and after times that came. Lets go of runs with which this process
   * has nothing to do.
   */
  async lookAfter(): Promise<void> {
    const { clock } = this.#options;
    const { leases, index } = this.#journal;
    for (const id of await leases.orphans(clock.now(), (run) => this.#isMoved(run))) {
      if (this.#unreadable.has(id)) continue;
      // A fault of one run does not keep the others from a process. It is tried again with the next look.
      await this.#using(id, (run) => run.takeUp().catch((fault: unknown) => run.logFault(fault))).catch(
        (fault: unknown) => {
          this.#options.log(runTexts.notLookedAfter(thrownText(fault)), { event: 'store.not_looked_after' });
        },
      );
    }
    const { finishedRunMs, maxFinishedRuns } = this.#limits;
    await index.expire({ endedBefore: clock.now() - finishedRunMs, keep: maxFinishedRuns });
    this.#letGo();
  }

  /** Whether this process goes on with a run. */
  #isMoved(id: string): boolean {
    const run = this.#runs.get(id);
    return run?.isActing === true && !run.isAbandoned;
  }

  /** When the first time comes that a run waits for which no process holds, in ms since the epoch. */
  nextDue(): Promise<number | undefined> {
    return this.#journal.index.nextDue();
  }

  /** The process ends: leaves every run as it is, for a later one. */
  leaveAll(): void {
    for (const run of this.#open) if (run.isActing) run.leave();
  }

  async get(caller: Owner, id: string): Promise<RunAnswer> {
    const answer = await this.#reached(caller, id, async (run): Promise<RunAnswer> => {
      run.touch();
      return { ok: true, envelope: await run.safeEnvelope };
    });
    return answer ?? unknownRun(id);
  }

  async submit(caller: Owner, id: string, submission: Submission, waiter: Waiter): Promise<SubmitAnswer> {
    const answer =
      (await this.#reached(caller, id, (run) => run.submit(caller, submission, waiter))) ??
      (await this.#submitNamed(caller, id, submission));
    return answer ?? unknownRun(id);
  }

  /** An answer of a caller that a question names and that is not the owner. */
  async #submitNamed(caller: Owner, id: string, submission: Submission): Promise<SubmitAnswer | undefined> {
    if (rolesOf(caller).length === 0) return undefined;
    const named = (await this.#journal.index.byAlias(id)) ?? id;
    return this.#using(named, async (run): Promise<SubmitAnswer | undefined> => {
      if (run.isOf(caller) || !run.questions.names(caller, submission)) return undefined;
      const answer = await run.submitNamed(caller, submission);
      if (!answer.ok) return answer;
      const { warnings } = answer;
      return { ok: true, accepted: true, ...defined({ warnings }) };
    });
  }

  async toAnswer(caller: Owner): Promise<readonly ToAnswer[]> {
    if (rolesOf(caller).length === 0) return [];
    const found: ToAnswer[] = [];
    for (const id of await this.#journal.index.openWithAlias()) {
      await this.#using(id, async (run) => {
        if (!run.isOf(caller)) found.push(...(await run.questions.toAnswer(caller)));
      });
    }
    return found;
  }

  async cancel(caller: Owner, id: string, how: Cancellation, waiter: Waiter): Promise<RunAnswer> {
    const answer = await this.#reached(caller, id, (run) => run.cancel(caller, how, waiter));
    return answer ?? unknownRun(id);
  }

  async list(
    caller: Owner,
    { before, status, limit = Number.POSITIVE_INFINITY }: RunQuery = {},
  ): Promise<readonly RunSummary[]> {
    if (caller.kind === 'anonymous') return [];
    const isOpen = status === undefined ? {} : { isOpen: status === 'running' || status === 'waiting' };
    const found: RunSummary[] = [];
    for (let last = before; found.length < limit; ) {
      const query = { ...defined({ before: last }), ...isOpen, limit: LISTED };
      const ids = await this.#journal.index.listed(quotaOf(caller), query);
      for (const id of ids) {
        const summary = await this.#using(id, (run) => run.summary);
        if (summary === undefined || (status !== undefined && summary.status !== status)) continue;
        found.push(summary);
        if (found.length === limit) break;
      }
      if (ids.length < LISTED) break;
      last = ids.at(-1);
    }
    return found;
  }

  endAll(): number {
    this.leaveAll();
    return 0;
  }

  async atRest(): Promise<void> {
    await Promise.all(this.#open.map((run) => run.atRest()));
  }

  get #open(): readonly StoredRun[] {
    return [...this.#runs.values()].filter(({ endedAt }) => endedAt === undefined);
  }

  /** How much of the store is used, as of the moment when it is asked. */
  async #usage({ quota, owner }: RunGroup): Promise<() => Usage> {
    const { index } = this.#journal;
    const isAnonymous = owner.kind === 'anonymous';
    // The journal is read at once, so that each run is counted in one of the two places.
    const before = this.#beginningNow();
    const reads = Promise.all([index.open(quota), isAnonymous ? index.openOf(ANONYMOUS) : 0]);
    const [{ runs, questions }, anonymous] = await reads;
    return () => {
      const beginning = [...new Set([...before, ...this.#beginningNow()])].map(({ group }) => group);
      const open = runs + beginning.filter((group) => group.quota === quota).length;
      const others = beginning.filter((group) => group.owner.kind === 'anonymous').length;
      return { open, pending: questions, anonymous: isAnonymous ? anonymous + others : undefined };
    };
  }

  #beginningNow(): readonly StoredRun[] {
    for (const run of this.#beginning) if (run.live?.hasStarted !== false) this.#beginning.delete(run);
    return [...this.#beginning];
  }

  /** Does the same work for a run that does not exist as for one that the caller may not reach. */
  async #reached<T>(caller: Owner, id: string, work: (run: StoredRun) => Promise<T>): Promise<T | undefined> {
    const access = await this.#journal.index.accessTo(id);
    return access === accessKey(caller) ? this.#using(id, work) : undefined;
  }

  /** Works with a run as the journal has it. Resolves with nothing where there is none, or none that can be read. */
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

  async #find(id: string): Promise<StoredRun | undefined> {
    const known = this.#runs.get(id);
    if (known?.isAbandoned === true) this.#runs.delete(id);
    else if (known !== undefined) {
      if (await known.refresh()) return known;
      this.#runs.delete(id);
      return undefined;
    }
    if (this.#unreadable.has(id)) return this.#refuseUnreadable(id);
    const load = this.#loads.get(id) ?? this.#tryLoad(id);
    this.#loads.set(id, load);
    try {
      return await load;
    } finally {
      this.#loads.delete(id);
    }
  }

  async #tryLoad(id: string): Promise<StoredRun | undefined> {
    try {
      return await this.#load(id);
    } catch (error) {
      // The file could not be read now; it may be the next time.
      if (error instanceof StoreError && error.problem !== 'damaged') throw error;
      this.#unreadable.set(id, error);
      const ref = runRef(id);
      this.#options.log(runTexts.notResumedLog(ref, thrownText(error)), {
        event: 'run.not_resumed',
        run: ref,
      });
      return this.#refuseUnreadable(id);
    }
  }

  /** A damaged run is there: it must not be taken for one that does not exist. */
  #refuseUnreadable(id: string): undefined {
    const why = this.#unreadable.get(id);
    if (why instanceof StoreError) throw why;
    return undefined;
  }

  async #load(id: string): Promise<StoredRun | undefined> {
    const loaded = await this.#journal.load(id);
    if (loaded === undefined) return undefined;
    const { graphHash } = loaded;
    const graph = this.#graphs.get(graphHash) ?? (await this.#journal.graph(graphHash));
    const { start } = runRowsIn(loaded.hostRows);
    if (graph === undefined || start === undefined) return undefined;
    this.#graphs.set(graphHash, graph);
    const { owner, quota, auth } = start;
    const run = new StoredRun({ graph, loaded, owner, auth }, groupOf(owner, quota), this.#parts);
    this.#runs.set(id, run);
    run.resume();
    return run;
  }

  get #expiresIdle(): boolean {
    return this.#limits.idleMs < Number.POSITIVE_INFINITY;
  }

  /** Lets go of the runs that can be loaded again. Where runs expire, the open ones are kept: idle ones are not in the journal. */
  #letGo(): void {
    const until = this.#options.clock.now() + KEPT_MS;
    for (const [id, run] of this.#runs) {
      if (this.#users.has(id) || !run.isUnused(until) || (this.#expiresIdle && run.live !== undefined))
        continue;
      run.leave();
      this.#runs.delete(id);
    }
  }
}

function groupOf(owner: Owner, quota: string): RunGroup {
  return { quota, access: accessKey(owner), owner };
}

import type { Owner } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import type { Graph } from '../../graph/model.js';
import type { Failure } from '../engine/contract.js';
import { thrownText } from '../tools/exceptions.js';
import { runRef } from '../tools/port.js';
import { idleRunsOf } from './idle-runs.js';
import { openGraphsOf } from './open-graphs.js';
import { excess, quotaOf, unknownRun } from './run-limits.js';
import { accessKey, answerId, rolesOf } from './run-owner.js';
import {
  type Cancellation,
  DEFAULT_LIMITS,
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
import { StoredRun, type StoreParts } from './stored-run.js';

/** Runs of this process, which keeps all of them: they end with it, or go on in a later one that has their journal. */
export class MemoryRunStore implements RunStore {
  readonly #options: RunStoreOptions;
  readonly #parts: StoreParts;
  readonly #limits: RunLimits;
  readonly #runs = new Map<string, StoredRun>();
  /** By what `maxOpenRuns` limits. */
  readonly #groups = new Map<string, StoredGroup>();
  /** Runs with questions that say who may answer, by their `answerId`. */
  readonly #restricted = new Map<string, StoredRun>();
  /** In the order they ended. */
  readonly #finished = new Set<StoredRun>();
  #openAnonymous = 0;

  constructor(options: RunStoreOptions) {
    this.#options = options;
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#limits = limits;
    const idle = idleRunsOf(options.clock, limits);
    this.#parts = { ...options, idle, onEnd: (run) => this.#ended(run) };
  }

  async start(run: NewRun, waiter: Waiter): Promise<RunAnswer> {
    this.#forget();
    const { owner } = run;
    const quota = quotaOf(owner, waiter.request.remoteAddress);
    const group = this.#group(quota, owner);
    const failure = this.#options.refusal?.(run.graph, owner) ?? this.#excess(group);
    if (failure !== undefined) return { ok: false, failure };
    const id = this.#options.newRunId();
    if (this.#runs.has(id)) throw new Error(runTexts.sameId(runRef(id)));
    const { request } = waiter;
    const stored = new StoredRun({ ...run, id, request }, group, this.#parts);
    this.#add(stored, group);
    try {
      return { ok: true, envelope: await stored.begin(waiter) };
    } catch (fault) {
      // It is not in the journal, or another run of this id is.
      this.#remove(stored);
      throw fault;
    }
  }

  /**
   * Goes on with a run that another process began, and left. The limits of the store bind only those who start runs.
   *
   * @returns whether the journal has the run.
   */
  async resume(id: string): Promise<boolean> {
    const { journal } = this.#parts;
    const loaded = await journal?.load(id);
    const graph = loaded && (await journal?.graph(loaded.graphHash));
    const { start } = runRowsIn(loaded?.hostRows ?? []);
    if (this.#runs.has(id)) return true;
    if (loaded === undefined || graph === undefined || start === undefined) return false;
    const group = this.#group(start.quota, start.owner);
    const { owner, auth } = start;
    const run = new StoredRun({ graph, loaded, owner, auth }, group, this.#parts);
    this.#add(run, group);
    run.resume();
    return true;
  }

  async openGraphs(): Promise<readonly Graph[]> {
    const { journal } = this.#parts;
    return journal === undefined ? [] : openGraphsOf(journal);
  }

  /** Goes on with every run of the journal. One that this version cannot read stays as it is, and is logged. */
  async resumeAll(): Promise<void> {
    const { journal } = this.#parts;
    if (journal === undefined) return;
    const open = (await journal.openRuns()).map(({ run }) => run);
    const finished = await journal.finishedRuns();
    for (const id of [...finished, ...open]) await this.#tryResume(id);
  }

  async #tryResume(id: string): Promise<void> {
    try {
      await this.resume(id);
    } catch (error) {
      const ref = runRef(id);
      this.#options.log(runTexts.notResumedLog(ref, thrownText(error)), {
        event: 'run.not_resumed',
        run: ref,
      });
    }
  }

  async get(caller: Owner, id: string): Promise<RunAnswer> {
    const run = this.#find(caller, id);
    if (run === undefined) return unknownRun(id);
    run.touch();
    return { ok: true, envelope: await run.safeEnvelope };
  }

  async submit(caller: Owner, id: string, submission: Submission, waiter: Waiter): Promise<SubmitAnswer> {
    const run = this.#find(caller, id);
    if (run !== undefined) return run.submit(caller, submission, waiter);
    const answered = this.#restricted.get(id);
    const other = answered ?? this.#runs.get(id);
    if (other === undefined || other.isOf(caller) || !other.questions.names(caller, submission))
      return unknownRun(id);
    const answer = await other.submitNamed(caller, submission);
    if (!answer.ok) return answer;
    const { warnings } = answer;
    return { ok: true, accepted: true, ...defined({ warnings }) };
  }

  async toAnswer(caller: Owner): Promise<readonly ToAnswer[]> {
    if (rolesOf(caller).length === 0) return [];
    const others = [...this.#restricted.values()].filter((run) => !run.isOf(caller));
    return (await Promise.all(others.map((run) => run.questions.toAnswer(caller)))).flat();
  }

  async cancel(caller: Owner, id: string, how: Cancellation, waiter: Waiter): Promise<RunAnswer> {
    const run = this.#find(caller, id);
    return run === undefined ? unknownRun(id) : run.cancel(caller, how, waiter);
  }

  async list(caller: Owner, { before, status, limit }: RunQuery = {}): Promise<readonly RunSummary[]> {
    this.#forget();
    if (caller.kind === 'anonymous') return [];
    const runs = [...(this.#groups.get(quotaOf(caller))?.runs ?? [])].reverse();
    const first = before === undefined ? 0 : runs.findIndex(({ id }) => id === before) + 1;
    const listed = await Promise.all(runs.slice(first).map((run) => run.summary));
    return listed.filter((run) => status === undefined || run.status === status).slice(0, limit);
  }

  endAll(reason: string): number {
    const open = this.#open;
    for (const run of open) run.abort(reason);
    return open.length;
  }

  async atRest(): Promise<void> {
    await Promise.all(this.#open.map((run) => run.atRest()));
  }

  get #open(): readonly StoredRun[] {
    return [...this.#runs.values()].filter(({ endedAt }) => endedAt === undefined);
  }

  /** Does the same work for a run that does not exist as for one that the caller may not reach. */
  #find(caller: Owner, id: string): StoredRun | undefined {
    this.#forget();
    const access = accessKey(caller);
    const run = this.#runs.get(id);
    return run?.group.access === access ? run : undefined;
  }

  /** What keeps a caller from starting another run. No run is cancelled to make room for it. */
  #excess({ owner, runs }: StoredGroup): Failure | undefined {
    let open = 0;
    let pending = 0;
    for (const { live } of runs) {
      if (live === undefined) continue;
      open += 1;
      pending += live.asks.size;
    }
    const anonymous = owner.kind === 'anonymous' ? this.#openAnonymous : undefined;
    return excess({ open, pending, anonymous }, this.#limits);
  }

  #group(quota: string, owner: Owner): StoredGroup {
    return this.#groups.get(quota) ?? { quota, access: accessKey(owner), owner, runs: new Set() };
  }

  #add(run: StoredRun, group: StoredGroup): void {
    if (group.owner.kind === 'anonymous') this.#openAnonymous += 1;
    this.#runs.set(run.id, run);
    if (run.questions.isRestricted) this.#restricted.set(answerId(run.id), run);
    this.#groups.set(group.quota, group);
    group.runs.add(run);
  }

  #ended(run: StoredRun): void {
    if (run.group.owner.kind === 'anonymous') this.#openAnonymous -= 1;
    this.#finished.add(run);
    this.#forget();
  }

  /** Forgets finished runs that are too old or too many. */
  #forget(): void {
    const { maxFinishedRuns, finishedRunMs } = this.#limits;
    const eldest = this.#options.clock.now() - finishedRunMs;
    for (const run of this.#finished) {
      if (this.#finished.size <= maxFinishedRuns && (run.endedAt ?? 0) > eldest) return;
      this.#drop(run);
    }
  }

  #drop(run: StoredRun): void {
    this.#remove(run);
    this.#options.journal?.forget(run.id).catch((error) => {
      const ref = runRef(run.id);
      this.#options.log(runTexts.notForgotten(ref, thrownText(error)), {
        event: 'run.not_forgotten',
        run: ref,
      });
    });
  }

  #remove(run: StoredRun): void {
    this.#finished.delete(run);
    this.#runs.delete(run.id);
    if (run.questions.isRestricted) this.#restricted.delete(answerId(run.id));
    const group = this.#groups.get(run.group.quota);
    group?.runs.delete(run);
    if (group?.runs.size === 0) this.#groups.delete(run.group.quota);
  }
}

interface StoredGroup extends RunGroup {
  /** In the order they began. */
  readonly runs: Set<StoredRun>;
}

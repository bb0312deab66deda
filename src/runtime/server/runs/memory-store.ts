import type { Owner } from '../../../decorators/context.js';
import type { Graph } from '../../../graph/model.js';
import type { Failure } from '../../engine/contract.js';
import { type Clock, callAt } from '../../host/in-process/clock.js';
import type { Leases } from '../../host/journal.js';
import { thrownText } from '../../tools/exceptions.js';
import { runRef } from '../../tools/port.js';
import { accessKey, answerId, ownerKey, rolesOf } from './run-owner.js';
import {
  type Cancellation,
  DEFAULT_LIMITS,
  type NewRun,
  type RunAnswer,
  type RunGroup,
  type RunLimits,
  type RunStore,
  type RunSummary,
  runRowsIn,
  type Submission,
  type SubmitAnswer,
  type ToAnswer,
  type Waiter,
} from './run-store.js';
import { runTexts } from './run-texts.js';
import { StoredRun, type StoreParts } from './stored-run.js';

export interface MemoryStoreOptions extends Omit<StoreParts, 'idle' | 'onEnd'> {
  /** Makes the id of a run, which must be unique and impossible to guess. */
  readonly newRunId: () => string;
  readonly limits?: Partial<RunLimits>;
  /** Whether runs wait for answers without a limit. Default: `idleMs` limits it. */
  readonly isPatient?: boolean;
  /** Why a run may not start for an owner. Default: every run may. */
  readonly refusal?: (graph: Graph, owner: Owner) => Failure | undefined;
}

/** Runs of this process: they end with it. */
export class MemoryRunStore implements RunStore {
  readonly #options: MemoryStoreOptions;
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
  /** Ids of runs that this version cannot read. Each was logged. */
  readonly #unreadable = new Set<string>();

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#limits = limits;
    const idle =
      options.isPatient === true
        ? PATIENT
        : new IdleRuns<StoredRun>(options.clock, limits.idleMs, (run) => run.expire(limits.idleMs));
    this.#parts = { ...options, idle, onEnd: (run) => this.#ended(run) };
  }

  async start(run: NewRun, waiter: Waiter): Promise<RunAnswer> {
    this.#forget();
    const { owner } = run;
    const quota = quotaOf(owner, waiter.request.remoteAddress);
    if (this.#leases !== undefined) {
      await this.#attachNew();
      await this.#refreshAll([...this.#group(quota, owner).runs].filter(({ live }) => live !== undefined));
    }
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

  /** Looks after the runs of processes that are gone, and after times that came. Called at each `intervalMs`. */
  async lookAfter(): Promise<void> {
    for (const id of (await this.#leases?.orphans(this.#options.clock.now())) ?? []) {
      if (!this.#runs.has(id) && !this.#unreadable.has(id)) await this.#tryResume(id);
      const run = this.#runs.get(id);
      // A fault of one run does not keep the others from a process.
      await run?.takeUp().catch((fault: unknown) => run.logFault(fault));
    }
  }

  /** Goes on with every run of the journal. One that this version cannot read stays as it is, and is logged. */
  async resumeAll(): Promise<void> {
    const { journal } = this.#parts;
    if (journal === undefined) return;
    await this.#leases?.newRuns();
    const open = (await journal.openRuns()).map(({ run }) => run);
    const finished = await journal.finishedRuns();
    for (const id of [...finished, ...open]) await this.#tryResume(id);
    await this.lookAfter();
  }

  async #tryResume(id: string): Promise<void> {
    try {
      await this.resume(id);
    } catch (error) {
      this.#unreadable.add(id);
      const ref = runRef(id);
      this.#options.log(runTexts.notResumedLog(ref, thrownText(error)), {
        event: 'run.not_resumed',
        run: ref,
      });
    }
  }

  get #leases(): Leases | undefined {
    return this.#parts.journal?.leases;
  }

  /** Takes note of the runs that other processes have begun. */
  async #attachNew(): Promise<void> {
    for (const id of (await this.#leases?.newRuns()) ?? [])
      if (!this.#runs.has(id)) await this.#tryResume(id);
  }

  /** Shows runs as the journal has them. Those that another process has forgotten are forgotten. */
  async #refreshAll(runs: Iterable<StoredRun | undefined>): Promise<void> {
    for (const run of runs) if (run !== undefined && !(await run.refresh())) this.#remove(run);
  }

  /** Where there are other processes: the run that a caller may reach, as the journal has it. */
  async #refresh(caller: Owner, id: string): Promise<void> {
    if (this.#leases === undefined) return;
    await this.#attachNew();
    await this.#refreshAll([this.#find(caller, id)]);
  }

  /** The process ends: leaves every run as it is, for a later one. */
  leaveAll(): void {
    for (const run of this.#open) if (run.isActing) run.leave();
  }

  async get(caller: Owner, id: string): Promise<RunAnswer> {
    if (this.#leases !== undefined) await this.#refresh(caller, id);
    const run = this.#find(caller, id);
    if (run === undefined) return unknown(id);
    run.touch();
    return { ok: true, envelope: await run.safeEnvelope };
  }

  async submit(caller: Owner, id: string, submission: Submission, waiter: Waiter): Promise<SubmitAnswer> {
    if (this.#leases !== undefined) await this.#refresh(caller, id);
    const run = this.#find(caller, id);
    if (run !== undefined) return run.submit(caller, submission, waiter);
    const answered = this.#restricted.get(id);
    if (this.#leases !== undefined) await this.#refreshAll([answered]);
    const other = answered ?? this.#runs.get(id);
    if (other === undefined || other.isOf(caller) || !other.questions.names(caller, submission))
      return unknown(id);
    const answer = await other.submitNamed(caller, submission);
    if (!answer.ok) return answer;
    const { warnings } = answer;
    return { ok: true, accepted: true, ...(warnings === undefined ? {} : { warnings }) };
  }

  async toAnswer(caller: Owner): Promise<readonly ToAnswer[]> {
    if (rolesOf(caller).length === 0) return [];
    if (this.#leases !== undefined) {
      await this.#attachNew();
      await this.#refreshAll([...this.#restricted.values()]);
    }
    const others = [...this.#restricted.values()].filter((run) => !run.isOf(caller));
    return (await Promise.all(others.map((run) => run.questions.toAnswer(caller)))).flat();
  }

  async cancel(caller: Owner, id: string, how: Cancellation, waiter: Waiter): Promise<RunAnswer> {
    if (this.#leases !== undefined) await this.#refresh(caller, id);
    const run = this.#find(caller, id);
    return run === undefined ? unknown(id) : run.cancel(caller, how, waiter);
  }

  async list(caller: Owner): Promise<readonly RunSummary[]> {
    this.#forget();
    if (caller.kind === 'anonymous') return [];
    if (this.#leases !== undefined) {
      await this.#attachNew();
      await this.#refreshAll([...(this.#groups.get(quotaOf(caller))?.runs ?? [])]);
    }
    const runs = [...(this.#groups.get(quotaOf(caller))?.runs ?? [])].reverse();
    return Promise.all(runs.map((run) => run.summary));
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
    const { maxOpenRuns, maxPendingActions, maxAnonymousRuns } = this.#limits;
    if (open >= maxOpenRuns) return exhausted(runTexts.tooManyRuns(open, maxOpenRuns));
    if (owner.kind === 'anonymous' && this.#openAnonymous >= maxAnonymousRuns) {
      return exhausted(runTexts.tooManyAnonymousRuns(maxAnonymousRuns));
    }
    return pending < maxPendingActions
      ? undefined
      : exhausted(runTexts.tooManyActions(pending, maxPendingActions));
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
    if (run.isAbandoned && this.#leases !== undefined) return;
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

const PATIENT: StoreParts['idle'] = { add() {}, delete() {} };

interface StoredGroup extends RunGroup {
  /** In the order they began. */
  readonly runs: Set<StoredRun>;
}

/** Equal for runs that are counted together. Anonymous callers are distinguished by their address alone. */
function quotaOf(owner: Owner, remoteAddress?: string): string {
  return owner.kind === 'anonymous' ? `anonymous ${remoteAddress ?? ''}` : ownerKey(owner);
}

function exhausted(message: string): Failure {
  return { code: 'RESOURCE_EXHAUSTED', message };
}

function unknown(id: string): RunAnswer {
  return { ok: false, failure: { code: 'WORKFLOW_NOT_FOUND', message: runTexts.unknownRun(id) } };
}

/** Runs that wait while no request asks for them, the longest first, with one timer for all of them. */
export class IdleRuns<Run> {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #expire: (run: Run) => void;
  /**
   * Since when, in ms since the epoch. All of them may be idle for as long, so that the first added is the first due.
   */
  readonly #since = new Map<Run, number>();
  #stopTimer: (() => void) | undefined;

  /** @param expire called with a run that has been idle for `idleMs`, which is then no longer idle. */
  constructor(clock: Clock, idleMs: number, expire: (run: Run) => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#expire = expire;
  }

  /** The run is idle from now on. */
  add(run: Run): void {
    this.#since.delete(run);
    this.#since.set(run, this.#clock.now());
    if (this.#stopTimer === undefined) this.#arm();
  }

  /** The run is not idle. */
  delete(run: Run): void {
    if (!this.#since.delete(run) || this.#since.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #arm(): void {
    const [first] = this.#since.values();
    this.#stopTimer =
      first === undefined
        ? undefined
        : callAt(this.#clock, first + this.#idleMs, () => this.#look(), { keepsProcess: false });
  }

  #look(): void {
    const eldest = this.#clock.now() - this.#idleMs;
    const due: Run[] = [];
    for (const [run, since] of this.#since) {
      if (since > eldest) break;
      due.push(run);
    }
    for (const run of due) this.#since.delete(run);
    this.#arm();
    for (const run of due) this.#expire(run);
  }
}

import type { Owner } from '../../../decorators/context.js';
import { runRef } from '../../catalogue/port.js';
import { thrownText } from '../../catalogue/thrown.js';
import type { Failure } from '../../engine/contract.js';
import { accessKey, ownerKey } from './owner.js';
import {
  type Attendant,
  type Cancellation,
  DEFAULT_LIMITS,
  type NewRun,
  type RunAnswer,
  type RunLimits,
  type RunStore,
  type RunSummary,
  type Submission,
} from './run-store.js';
import { StoredRun, type StoreParts } from './stored-run.js';
import { texts } from './texts.js';

export interface MemoryStoreOptions extends Omit<StoreParts, 'idleMs'> {
  /** Makes the id of a run: nobody can guess it, and none comes twice. */
  readonly newRunId: () => string;
  readonly limits?: Partial<RunLimits>;
}

/** Runs of this process: they end with it. */
export class MemoryRunStore implements RunStore {
  readonly #options: MemoryStoreOptions;
  readonly #limits: RunLimits;
  readonly #runs = new Map<string, StoredRun>();
  /** In the order they began, by what `maxOpenRuns` limits. */
  readonly #byQuota = new Map<string, Set<StoredRun>>();
  /** In the order they ended. */
  readonly #finished = new Set<StoredRun>();
  #openAnonymous = 0;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  async start(run: NewRun, attendant: Attendant): Promise<RunAnswer> {
    this.#forget();
    const isAnonymous = run.owner.kind === 'anonymous';
    const quota = quotaOf(run.owner, attendant.request.remoteAddress);
    const failure = this.#excess(quota, isAnonymous);
    if (failure !== undefined) return { ok: false, failure };
    const id = this.#options.newRunId();
    if (this.#runs.has(id)) throw new Error(texts.sameId(runRef(id)));
    const parts = { ...this.#options, idleMs: this.#limits.idleMs };
    const stored = new StoredRun(id, { ...run, quota }, parts, attendant, (ended) => {
      if (isAnonymous) this.#openAnonymous -= 1;
      this.#finished.add(ended);
      this.#forget();
    });
    if (isAnonymous) this.#openAnonymous += 1;
    this.#runs.set(id, stored);
    const counted = this.#byQuota.get(quota) ?? new Set();
    this.#byQuota.set(quota, counted.add(stored));
    try {
      return { ok: true, envelope: await stored.begin(attendant) };
    } catch (fault) {
      // It is not in the journal, or another run of this id is.
      this.#remove(stored);
      throw fault;
    }
  }

  async get(caller: Owner, id: string): Promise<RunAnswer> {
    const run = this.#find(caller, id);
    if (run === undefined) return unknown(id);
    run.touch();
    return { ok: true, envelope: await run.safeEnvelope };
  }

  async submit(caller: Owner, id: string, submission: Submission, attendant: Attendant): Promise<RunAnswer> {
    const run = this.#find(caller, id);
    return run === undefined ? unknown(id) : run.submit(caller, submission, attendant);
  }

  async cancel(caller: Owner, id: string, how: Cancellation, attendant: Attendant): Promise<RunAnswer> {
    const run = this.#find(caller, id);
    return run === undefined ? unknown(id) : run.cancel(caller, how, attendant);
  }

  async list(caller: Owner): Promise<readonly RunSummary[]> {
    this.#forget();
    if (caller.kind === 'anonymous') return [];
    const runs = [...(this.#byQuota.get(quotaOf(caller)) ?? [])].reverse();
    return Promise.all(runs.map((run) => run.summary));
  }

  endAll(reason: string): number {
    const open = this.#open;
    for (const run of open) run.giveUp(reason);
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
    return run?.access === access ? run : undefined;
  }

  /** What keeps a caller from starting another run. No run is cancelled to make room for it. */
  #excess(quota: string, isAnonymous: boolean): Failure | undefined {
    const open = [...(this.#byQuota.get(quota) ?? [])].filter(({ endedAt }) => endedAt === undefined);
    const { maxOpenRuns, maxPendingActions, maxAnonymousRuns } = this.#limits;
    if (open.length >= maxOpenRuns) return exhausted(texts.tooManyRuns(open.length, maxOpenRuns));
    if (isAnonymous && this.#openAnonymous >= maxAnonymousRuns) {
      return exhausted(texts.tooManyAnonymousRuns(maxAnonymousRuns));
    }
    const pending = open.reduce((count, run) => count + run.questions().length, 0);
    return pending < maxPendingActions
      ? undefined
      : exhausted(texts.tooManyActions(pending, maxPendingActions));
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
      this.#options.log(texts.notForgotten(runRef(run.id), thrownText(error)));
    });
  }

  #remove(run: StoredRun): void {
    this.#finished.delete(run);
    this.#runs.delete(run.id);
    const counted = this.#byQuota.get(run.quota);
    counted?.delete(run);
    if (counted?.size === 0) this.#byQuota.delete(run.quota);
  }
}

/** Equal for runs that are counted together. Anonymous callers are told apart by nothing but their address. */
function quotaOf(owner: Owner, remoteAddress?: string): string {
  return owner.kind === 'anonymous' ? `anonymous ${remoteAddress ?? ''}` : ownerKey(owner);
}

function exhausted(message: string): Failure {
  return { code: 'RESOURCE_EXHAUSTED', message };
}

function unknown(id: string): RunAnswer {
  return { ok: false, failure: { code: 'WORKFLOW_NOT_FOUND', message: texts.unknownRun(id) } };
}

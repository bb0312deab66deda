import type { Failure } from '../../engine/contract.js';
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

export interface MemoryStoreOptions extends StoreParts {
  /** Makes the id of a run: nobody can guess it, and none comes twice. */
  readonly newRunId: () => string;
  readonly limits?: Partial<RunLimits>;
}

/** Runs of this process: they end with it. */
export class MemoryRunStore implements RunStore {
  readonly #options: MemoryStoreOptions;
  readonly #limits: RunLimits;
  readonly #runs = new Map<string, StoredRun>();
  /** In the order they began. */
  readonly #byOwner = new Map<string, Set<StoredRun>>();
  /** In the order they ended. */
  readonly #finished = new Set<StoredRun>();

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  async start(run: NewRun, attendant: Attendant): Promise<RunAnswer> {
    this.#forget();
    const failure = this.#makeRoom(run.owner);
    if (failure !== undefined) return { ok: false, failure };
    const id = this.#options.newRunId();
    if (this.#runs.has(id)) throw new Error(texts.sameId(id));
    const stored = new StoredRun(id, run, this.#options, attendant, (ended) => {
      this.#finished.add(ended);
      this.#forget();
    });
    this.#runs.set(id, stored);
    const own = this.#byOwner.get(run.owner) ?? new Set();
    this.#byOwner.set(run.owner, own.add(stored));
    return { ok: true, envelope: await stored.begin(attendant) };
  }

  async get(owner: string, id: string): Promise<RunAnswer> {
    const run = this.#find(owner, id);
    return run === undefined ? unknown(id) : { ok: true, envelope: run.envelope };
  }

  async submit(owner: string, id: string, submission: Submission, attendant: Attendant): Promise<RunAnswer> {
    const run = this.#find(owner, id);
    return run === undefined ? unknown(id) : run.submit(submission, attendant);
  }

  async cancel(owner: string, id: string, how: Cancellation, attendant: Attendant): Promise<RunAnswer> {
    const run = this.#find(owner, id);
    return run === undefined ? unknown(id) : run.cancel(how, attendant);
  }

  async list(owner: string): Promise<readonly RunSummary[]> {
    this.#forget();
    return [...(this.#byOwner.get(owner) ?? [])].map(({ summary }) => summary).reverse();
  }

  release(owner: string): void {
    for (const run of [...(this.#byOwner.get(owner) ?? [])]) {
      run.giveUp(texts.ownerGone);
      this.#drop(run);
    }
  }

  #find(owner: string, id: string): StoredRun | undefined {
    this.#forget();
    const run = this.#runs.get(id);
    return run?.owner === owner ? run : undefined;
  }

  /** Cancels runs that may give way, as many as it takes. Gives what still keeps the owner from another run. */
  #makeRoom(owner: string): Failure | undefined {
    for (;;) {
      const failure = this.#excess(owner);
      if (failure === undefined) return undefined;
      const idle = [...(this.#byOwner.get(owner) ?? [])].filter((run) => run.mayGiveWay);
      const [first, ...others] = idle;
      if (first === undefined) return failure;
      const eldest = others.reduce((one, other) => (other.attendedAt < one.attendedAt ? other : one), first);
      eldest.giveUp(texts.madeWay);
      if (eldest.mayGiveWay) throw new Error(texts.stillThere(eldest.id));
    }
  }

  /** What keeps an owner from beginning another run. */
  #excess(owner: string): Failure | undefined {
    const open = [...(this.#byOwner.get(owner) ?? [])].filter(({ endedAt }) => endedAt === undefined);
    const { maxOpenRuns, maxPendingActions } = this.#limits;
    if (open.length >= maxOpenRuns) {
      return { code: 'RESOURCE_EXHAUSTED', message: texts.tooManyRuns(open.length, maxOpenRuns) };
    }
    const pending = open.reduce((count, run) => count + run.questions().length, 0);
    if (pending < maxPendingActions) return undefined;
    return { code: 'RESOURCE_EXHAUSTED', message: texts.tooManyActions(pending, maxPendingActions) };
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
    this.#finished.delete(run);
    this.#runs.delete(run.id);
    this.#options.journal?.forget(run.id);
    const own = this.#byOwner.get(run.owner);
    own?.delete(run);
    if (own?.size === 0) this.#byOwner.delete(run.owner);
  }
}

function unknown(id: string): RunAnswer {
  return { ok: false, failure: { code: 'WORKFLOW_NOT_FOUND', message: texts.unknownRun(id) } };
}

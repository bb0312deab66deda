import type { Owner } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import { secretsOf } from '../../plan/secrets.js';
import { thrownText } from '../tools/exceptions.js';
import type {
  Cancellation,
  NewRun,
  RunAnswer,
  RunQuery,
  RunStore,
  RunSummary,
  Submission,
  SubmitAnswer,
  ToAnswer,
  Waiter,
} from './run-store.js';
import type { RunStoreOptions } from './run-store-options.js';
import { runTexts } from './run-texts.js';
import { SharedRunStore } from './shared-store.js';
import type { SqliteJournal } from './store/sqlite/sqlite-journal.js';

/** Runs in a file: a later process goes on with those that are open. SQLite is loaded when it is opened. */
export class FileRunStore implements RunStore {
  readonly #path: string;
  readonly #options: Omit<RunStoreOptions, 'journal'>;
  #opened: Promise<Opened> | undefined;
  #resumed: Promise<SharedRunStore> | undefined;
  #open: Opened | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(path: string, options: Omit<RunStoreOptions, 'journal'>) {
    this.#path = path;
    this.#options = options;
  }

  /** @throws StoreError for a file that cannot be a store. */
  async open(): Promise<void> {
    await this.#journal();
  }

  async openGraphs(): Promise<readonly Graph[]> {
    return (await this.#journal()).store.openGraphs();
  }

  async resumeAll(): Promise<void> {
    await this.#store();
  }

  async start(run: NewRun, waiter: Waiter): Promise<RunAnswer> {
    return (await this.#store()).start(run, waiter);
  }

  async get(caller: Owner, id: string): Promise<RunAnswer> {
    return (await this.#store()).get(caller, id);
  }

  async submit(caller: Owner, id: string, submission: Submission, waiter: Waiter): Promise<SubmitAnswer> {
    return (await this.#store()).submit(caller, id, submission, waiter);
  }

  async cancel(caller: Owner, id: string, how: Cancellation, waiter: Waiter): Promise<RunAnswer> {
    return (await this.#store()).cancel(caller, id, how, waiter);
  }

  async toAnswer(caller: Owner): Promise<readonly ToAnswer[]> {
    return (await this.#store()).toAnswer(caller);
  }

  async list(caller: Owner, query?: RunQuery): Promise<readonly RunSummary[]> {
    return (await this.#store()).list(caller, query);
  }

  async atRest(): Promise<void> {
    await this.#open?.store.atRest();
  }

  endAll(): number {
    this.#open?.store.leaveAll();
    return 0;
  }

  async close(): Promise<void> {
    this.endAll();
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#open?.journal.close();
  }

  #journal(): Promise<Opened> {
    this.#opened ??= this.#load().catch((error) => {
      // A later start tries again.
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #load(): Promise<Opened> {
    const { SqliteJournal } = await import('./store/sqlite/sqlite-journal.js');
    const { refusal, secretInputs, limits } = this.#options;
    const { leaseMs } = limits ?? {};
    const journal = await SqliteJournal.open(this.#path, defined({ leaseMs }));
    const store = new SharedRunStore({
      ...this.#options,
      journal,
      holdsUnsafeCalls: true,
      refusal: (graph, owner) =>
        secretsOf(planOf(graph), secretInputs).any
          ? { code: 'E_STORE_SECRETS', message: runTexts.storeSecrets(graph.name) }
          : refusal?.(graph, owner),
    });
    this.#open = { journal, store };
    return this.#open;
  }

  #store(): Promise<SharedRunStore> {
    this.#resumed ??= this.#resume();
    return this.#resumed;
  }

  async #resume(): Promise<SharedRunStore> {
    const { store, journal } = await this.#journal();
    await store.resumeAll();
    this.#lookLater(store, journal.leases.intervalMs);
    return store;
  }

  /** Shows other processes that this one lives, and takes over what they leave. */
  #lookLater(store: SharedRunStore, delayMs: number): void {
    const look = async (): Promise<void> => {
      const { clock, log } = this.#options;
      const most = (await this.#journal()).journal.leases.intervalMs;
      let next = most;
      try {
        await store.lookAfter();
        next = ((await store.nextDue()) ?? Number.POSITIVE_INFINITY) - clock.now();
      } catch (error) {
        log(runTexts.notLookedAfter(thrownText(error)), { event: 'store.not_looked_after' });
      }
      if (!this.#isClosed) this.#lookLater(store, Math.max(1, Math.min(next, most)));
    };
    this.#timer = setTimeout(() => void look(), delayMs).unref();
  }
}

interface Opened {
  readonly journal: SqliteJournal;
  readonly store: SharedRunStore;
}

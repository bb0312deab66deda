import type { Owner } from '../../decorators/context.js';
import type { Graph } from '../../graph/model.js';
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

/**
 * A run store that is loaded with the first run, together with the engine: a server starts without them. One that may
 * have runs of earlier processes is loaded when the server starts.
 */
export class RunStoreOnDemand implements RunStore {
  readonly #load: () => Promise<RunStore>;
  readonly #hasRuns: boolean;
  #loading: Promise<RunStore> | undefined;
  #loaded: RunStore | undefined;
  /** How many calls wait for the store. */
  #waiting = 0;

  /** @param hasRuns whether the store may have runs of earlier processes. */
  constructor(load: () => Promise<RunStore>, hasRuns: boolean) {
    this.#load = load;
    this.#hasRuns = hasRuns;
  }

  async open(): Promise<void> {
    if (this.#hasRuns) await this.#use((store) => store.open?.());
  }

  async openGraphs(): Promise<readonly Graph[]> {
    return this.#hasRuns ? this.#use(async (store) => (await store.openGraphs?.()) ?? []) : [];
  }

  async resumeAll(): Promise<void> {
    if (this.#hasRuns) await this.#use((store) => store.resumeAll?.());
  }

  start(run: NewRun, waiter: Waiter): Promise<RunAnswer> {
    return this.#use((store) => store.start(run, waiter));
  }

  get(caller: Owner, id: string): Promise<RunAnswer> {
    return this.#use((store) => store.get(caller, id));
  }

  submit(caller: Owner, id: string, submission: Submission, waiter: Waiter): Promise<SubmitAnswer> {
    return this.#use((store) => store.submit(caller, id, submission, waiter));
  }

  cancel(caller: Owner, id: string, how: Cancellation, waiter: Waiter): Promise<RunAnswer> {
    return this.#use((store) => store.cancel(caller, id, how, waiter));
  }

  toAnswer(caller: Owner): Promise<readonly ToAnswer[]> {
    return this.#use((store) => store.toAnswer(caller));
  }

  list(caller: Owner, query?: RunQuery): Promise<readonly RunSummary[]> {
    return this.#use((store) => store.list(caller, query));
  }

  async atRest(): Promise<void> {
    if (this.#loading !== undefined) await this.#use((store) => store.atRest());
  }

  endAll(reason: string): number {
    const store = this.#ready;
    if (store !== undefined) return store.endAll(reason);
    // Runs that wait for the store begin before. Their requests report why it could not be loaded.
    if (this.#loading !== undefined) this.#use((store) => store.endAll(reason)).catch(() => {});
    return 0;
  }

  async close(): Promise<void> {
    if (this.#loading !== undefined) await this.#use((store) => store.close?.());
  }

  /** In the order of calls. */
  #use<T>(use: (store: RunStore) => T | Promise<T>): Promise<T> {
    const store = this.#ready;
    return store === undefined ? this.#useLater(use) : Promise.resolve(use(store));
  }

  async #useLater<T>(use: (store: RunStore) => T | Promise<T>): Promise<T> {
    this.#waiting += 1;
    this.#loading ??= this.#load();
    this.#loaded = await this.#loading;
    this.#waiting -= 1;
    return use(this.#loaded);
  }

  /** The store, once no earlier call waits for it. */
  get #ready(): RunStore | undefined {
    return this.#waiting === 0 ? this.#loaded : undefined;
  }
}

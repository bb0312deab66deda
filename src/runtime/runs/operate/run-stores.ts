import type { Graph } from '../../../graph/model.js';
import { clip } from '../../../graph/printable-text.js';
import { planOf } from '../../../plan/compile.js';
import { secretsOf } from '../../../plan/secrets.js';
import type { Failure } from '../../engine/contract.js';
import type { RunStoreOptions } from '../journal-run-store.js';
import { JournalRunStore } from '../journal-run-store.js';
import type { RunStore } from '../run-store.js';
import { FILE_LIMITS } from '../run-store.js';
import type { Journal } from '../store/journal.js';
import { hasLeases } from '../store/journal.js';
import { openJournal, VolatileJournal } from '../store/local-journal.js';
import { StoreError } from '../store/store-error.js';
import type { StoreOperator } from './store-operator.js';

/** A store of runs outside of this package's own ones, such as that of `stepwright/temporal`. */
export interface RunStoreSource {
  open(options: RunStoreOptions): RunStore;
}

/** Runs in memory: they end with the process. */
export function memoryStore(options: RunStoreOptions): JournalRunStore {
  return new JournalRunStore(
    { hasRuns: false, open: async (store) => ({ journal: new VolatileJournal(store) }) },
    options,
  );
}

/** Runs of a user's journal, who closes it. One with leases is used by several processes. */
export function journalStore(journal: Journal, options: RunStoreOptions): JournalRunStore {
  const limits = hasLeases(journal) ? { ...FILE_LIMITS, ...options.limits } : (options.limits ?? {});
  return new JournalRunStore(
    { hasRuns: true, open: async (store) => ({ journal: await openJournal(journal, store) }) },
    { ...options, limits },
  );
}

/**
 * Runs in a file: a later process resumes those that are open. SQLite is loaded when it is opened, which throws a
 * `StoreError` for a file that cannot be a store. A workflow with secrets is refused: the file is not encrypted.
 */
export function fileStore(path: string, options: RunStoreOptions): JournalRunStore {
  const limits = { ...FILE_LIMITS, ...options.limits };
  return new JournalRunStore(
    {
      hasRuns: true,
      async open() {
        const { SqliteJournal } = await import('../store/sqlite/sqlite-journal.js');
        const journal = await SqliteJournal.open(path, {
          leaseMs: limits.leaseMs,
          onReplaced: ({ message }) => {
            options.log(message, { event: 'store.replaced' });
            options.telemetry?.storeFault('replaced');
          },
        });
        return { journal, close: () => journal.close() };
      },
    },
    {
      ...options,
      limits,
      holdsUnsafeCalls: true,
      refusal: (graph, owner) => secretsRefusal(graph, options) ?? options.refusal?.(graph, owner),
    },
  );
}

/** Why a store that keeps values unencrypted does not take a run of a workflow. Undefined for one without secrets. */
export function secretsRefusal(
  graph: Graph,
  { secretInputs }: Pick<RunStoreOptions, 'secretInputs'>,
): Failure | undefined {
  if (!secretsOf(planOf(graph), secretInputs).any) return undefined;
  const message = `The run was not started: workflow '${clip(graph.name)}' takes or passes on secrets, and the store keeps values unencrypted. Serve it with the store 'memory'.`;
  return { code: 'E_STORE_SECRETS', message };
}

/** The names of stores that outlast a process, for messages. */
export const STORE_FORMS = "'sqlite:PATH' or 'temporal://HOST:PORT/NAMESPACE?taskQueue=QUEUE'";

interface Scheme {
  readonly form: RegExp;
  open(name: string, options: RunStoreOptions): RunStore;
  operate(name: string): Promise<StoreOperator>;
}

const SCHEMES: readonly Scheme[] = [
  {
    form: /^sqlite:(?!:memory:$)./s,
    open: (name, options) => fileStore(pathIn(name), options),
    operate: async (name) => new (await import('./sqlite-operator.js')).SqliteOperator(pathIn(name)),
  },
  {
    form: /^temporal:\/\/./,
    open: (name, options) =>
      new DeferredRunStore(async () =>
        (await import('../../../temporal/index.js')).temporal(name).open(options),
      ),
    operate: async (name) => (await import('../../../temporal/temporal-operator.js')).operatorOf(name),
  },
];

function pathIn(name: string): string {
  return name.slice('sqlite:'.length);
}

/** The store of a name. Undefined for any other text. What is wrong in a part of a name is reported when its store opens. */
export function sourceOf(name: string): RunStoreSource | undefined {
  const scheme = SCHEMES.find(({ form }) => form.test(name));
  return scheme && { open: (options) => scheme.open(name, options) };
}

/** Why no store can be kept in a file, with the repair; undefined where SQLite is recent enough. */
export async function driverFault(path: string): Promise<string | undefined> {
  const { findDriver } = await import('../store/sqlite/driver.js');
  try {
    await findDriver(path);
    return undefined;
  } catch (error) {
    if (error instanceof StoreError) return error.message;
    throw error;
  }
}

/** What operates the store of a name; undefined for any other text. It is loaded with the first use. */
export async function openStore(name: string): Promise<StoreOperator | undefined> {
  return SCHEMES.find(({ form }) => form.test(name))?.operate(name);
}

/** A store on a server, which is loaded with its first use. Its runs do not end with the process. */
class DeferredRunStore implements RunStore {
  readonly #load: () => Promise<RunStore>;
  #loading: Promise<RunStore> | undefined;

  constructor(load: () => Promise<RunStore>) {
    this.#load = load;
  }

  #store(): Promise<RunStore> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async open(): Promise<void> {
    await (await this.#store()).open?.();
  }

  async resumeAll(): Promise<void> {
    await (await this.#store()).resumeAll?.();
  }

  async executing(): Promise<void> {
    await (await this.#store()).executing?.();
  }

  async close(): Promise<void> {
    await (await this.#loading?.catch(() => undefined))?.close?.();
  }

  endAll(): number {
    return 0;
  }

  readonly start: RunStore['start'] = async (...args) => (await this.#store()).start(...args);
  readonly get: RunStore['get'] = async (...args) => (await this.#store()).get(...args);
  readonly submit: RunStore['submit'] = async (...args) => (await this.#store()).submit(...args);
  readonly nextStep: RunStore['nextStep'] = async (...args) => (await this.#store()).nextStep(...args);
  readonly setVariables: RunStore['setVariables'] = async (...args) =>
    (await this.#store()).setVariables(...args);
  readonly inspect: RunStore['inspect'] = async (...args) => (await this.#store()).inspect(...args);
  readonly cancel: RunStore['cancel'] = async (...args) => (await this.#store()).cancel(...args);
  readonly toAnswer: RunStore['toAnswer'] = async (...args) => (await this.#store()).toAnswer(...args);
  readonly list: RunStore['list'] = async (...args) => (await this.#store()).list(...args);
  readonly atRest: RunStore['atRest'] = async () => (await this.#store()).atRest();
}

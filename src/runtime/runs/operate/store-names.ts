import type { RunStoreOptions } from '../journal-run-store.js';
import type { RunStore } from '../run-store.js';
import { fileStore, type RunStoreSource } from '../run-stores.js';
import { StoreError } from '../store/store-error.js';
import type { StoreOperator } from './store-operator.js';

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

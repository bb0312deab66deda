import { randomUUID } from 'node:crypto';
import type { RunStoreSource } from '../runtime/runs/operate/run-stores.js';
import { StoreError } from '../runtime/runs/store/store-error.js';
import type { ServerSettings } from '../runtime/server/options.js';
import type { WithFactories } from '../runtime/tools/instances.js';
import type { Registry } from '../runtime/tools/registry.js';
import { untypedServer } from '../runtime/transports/start-server.js';
import { FORM, type ResolvedOptions, resolveOptions } from './options.js';
import { TemporalRunStore } from './temporal-run-store.js';

/** A worker of this process. */
export interface StartedWorker {
  /** Rejects with what has ended the worker before it was stopped: it executes no more runs. Resolves when it has stopped. */
  readonly ended: Promise<void>;
  /**
   * Takes no more work. Resolves when the calls in flight have returned, within `shutdownGraceTime` of `worker`, by default
   * 30 s. What takes longer is aborted, and a call that was lost with its worker.
   */
  stop(): Promise<void>;
}

/**
 * Executes runs of a Temporal server in this process, without serving clients. Its options are those of a server, with the
 * `store` that `temporal()` returns, or its name. Resolves when the worker is ready. A signal to the process does not stop it: a
 * program that ends calls `stop`.
 *
 * @throws StaleRegistryError, RegistrationError, FactoriesError as `createServer` does.
 */
export async function startWorker<R extends Registry>(
  registry: R,
  ...[options]: WithFactories<R, ServerSettings & { readonly store: RunStoreSource | `temporal://${string}` }>
): Promise<StartedWorker> {
  const { store } = (options ?? {}) as { readonly store?: RunStoreSource | `temporal://${string}` };
  const named = typeof store === 'string' ? sourceOf(resolveOptions(store)) : store;
  let runs: TemporalRunStore | undefined;
  const source: RunStoreSource = {
    open(of) {
      const opened = named?.open(of);
      if (!(opened instanceof TemporalRunStore))
        throw new StoreError('unsupported', String(store), `a worker needs the option 'store': ${FORM}`);
      // A store that servers and workers share may say that servers execute no runs.
      opened.isWorker = true;
      runs = opened;
      return opened;
    },
  };
  // It serves no clients: no other process reads what it would seal, and a warning of a missing key would be untrue.
  const { questions: own } = (options ?? {}) as ServerSettings;
  const questions = { ...own, key: own?.key ?? randomUUID() };
  const server = untypedServer(registry, { ...options, store: source, questions });
  await server.start();
  const worker = await runs?.worker?.catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  return { ended: worker?.ended ?? Promise.resolve(), stop: () => server.stop() };
}

/** The store of resolved options, for the option `store` of a server. */
export function sourceOf(options: ResolvedOptions): RunStoreSource {
  return { open: (store) => new TemporalRunStore(options, store) };
}

import type { RunStoreSource } from '../runtime/runs/run-stores.js';
import type { ServerSettings } from '../runtime/server/options.js';
import type { WithFactories } from '../runtime/tools/factories.js';
import type { Registry } from '../runtime/tools/registry.js';
import { untypedServer } from '../runtime/transports/start-server.js';
import { type ResolvedOptions, resolveOptions } from './options.js';
import { TemporalRunStore } from './temporal-run-store.js';

/** A worker of this process. */
export interface StartedWorker {
  /** Takes no more work. Resolves when the calls in flight have returned. */
  stop(): Promise<void>;
}

/**
 * Executes runs of a Temporal server in this process, without serving clients. Its options are those of a server, with the
 * `store` that `temporal()` returns, or its name. Resolves when the worker is ready.
 *
 * @throws StaleRegistryError, RegistrationError, FactoriesError as `createServer` does.
 */
export async function startWorker<R extends Registry>(
  registry: R,
  ...[options]: WithFactories<R, ServerSettings & { readonly store: RunStoreSource | `temporal://${string}` }>
): Promise<StartedWorker> {
  const { store } = options as { readonly store: RunStoreSource | `temporal://${string}` };
  // A name that servers and workers share may say that servers execute no runs.
  const own = typeof store === 'string' ? sourceOf({ ...resolveOptions(store), worker: true }) : store;
  const server = untypedServer(registry, { ...options, store: own });
  await server.start();
  return { stop: () => server.stop() };
}

/** The store of resolved options, for the option `store` of a server. */
export function sourceOf(options: ResolvedOptions): RunStoreSource {
  return { open: (store) => new TemporalRunStore(options, store) };
}

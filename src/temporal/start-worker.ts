import type { RunStoreSource } from '../runtime/runs/run-stores.js';
import type { ServerSettings } from '../runtime/server/options.js';
import type { WithFactories } from '../runtime/tools/factories.js';
import type { Registry } from '../runtime/tools/registry.js';
import { untypedServer } from '../runtime/transports/start-server.js';

/** A worker of this process. */
export interface StartedWorker {
  /** Takes no more work. Resolves when the calls in flight have returned. */
  stop(): Promise<void>;
}

/**
 * Executes runs of a Temporal server in this process, without serving clients. Its options are those of a server, with the
 * `store` that `temporal()` returns. Resolves when the worker is ready.
 *
 * @throws StaleRegistryError, RegistrationError, FactoriesError as `createServer` does.
 */
export async function startWorker<R extends Registry>(
  registry: R,
  ...[options]: WithFactories<R, ServerSettings & { readonly store: RunStoreSource }>
): Promise<StartedWorker> {
  const server = untypedServer(registry, options);
  await server.start();
  return { stop: () => server.stop() };
}

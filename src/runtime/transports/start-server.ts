import { StoreError } from '../runs/store/store-error.js';
import { ServerStartError } from '../server/lifecycle.js';
import type { ServerOptions } from '../server/options.js';
import { RegistrationError } from '../server/registrations.js';
import { createServer } from '../server/server.js';
import { SpecError } from '../server/specs/url-rules.js';
import type { StepwrightServer } from '../server/stepwright-server.js';
import { FactoriesError } from '../tools/instances.js';
import { type Registry, StaleRegistryError } from '../tools/registry.js';

/** What keeps a server from being created, by its program. */
const PROGRAM_FAULTS = [StaleRegistryError, RegistrationError, FactoriesError] as const;

/** What keeps a server from starting, by its program or its surroundings. */
const START_FAULTS = [ServerStartError, StoreError, SpecError, RegistrationError] as const;

/** `createServer`, for options that were checked where the registry's type is known. */
export function untypedServer(registry: Registry, options: unknown): StepwrightServer {
  return createServer<Registry>(
    registry,
    options as ServerOptions<Registry, readonly [], readonly [], 'w_'>[0],
  );
}

/** As {@link untypedServer}; a fault of the program is written to stderr, and ends the process. */
export function serverOrExit(registry: Registry, options: unknown): Promise<StepwrightServer> {
  return orExit(PROGRAM_FAULTS, async () => untypedServer(registry, options));
}

/**
 * Opens the store of a server, calls `onStart` and reads spec files. If that fails, it is written to stderr, and the
 * process ends with exit code 1; as it does where the server cannot execute runs later, which its log says.
 */
export async function startOrExit(server: StepwrightServer): Promise<void> {
  await orExit(START_FAULTS, () => server.start());
  server.executing().catch(() => process.exit(1));
}

type ErrorClass = abstract new (...args: never[]) => Error;

async function orExit<T>(faults: readonly ErrorClass[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const fault = faults.some((each) => error instanceof each) ? (error as Error) : undefined;
    if (fault === undefined) throw error;
    // The message says what to do; a stack would bury it.
    await new Promise<void>((resolve) => process.stderr.write(`${fault.message}\n`, () => resolve()));
    return process.exit(1);
  }
}

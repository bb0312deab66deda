import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { writeBundle } from '../../src/temporal/index.js';
import { findServer, registerSearchAttributes, type TestServer } from './find-server.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address of the Temporal server. Missing without one. */
    temporalAddress: string | undefined;
    /** The interpreter, bundled once for all tests. */
    temporalBundle: string;
  }
}

/** Starts the server, registers the search attributes of runs, and bundles the interpreter. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-bundle-'));
  const bundle = join(folder, 'interpreter.js');
  const [server] = await Promise.all([found(), writeBundle(bundle)]);
  if (server !== undefined) await registerSearchAttributes(server.address, 'default');
  project.provide('temporalAddress', server?.address);
  project.provide('temporalBundle', bundle);
  return async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

async function found(): Promise<TestServer | undefined> {
  try {
    return await findServer();
  } catch (error) {
    const text = `There is no Temporal server for tests: set TEMPORAL_ADDRESS, or install the command \`temporal\`. ${String(error)}`;
    if (process.env.CI === 'true') throw new Error(text, { cause: error });
    process.stderr.write(`${text}\nTHE TESTS OF TEMPORAL ARE NOT RUN.\n`);
    return undefined;
  }
}

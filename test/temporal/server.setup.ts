import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { TestProject } from 'vitest/node';
import { builtPackage } from '../built-package.js';
import { findServer, registerSearchAttributes, type TestServer } from './find-server.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address of the Temporal server. Missing without one. */
    temporalAddress: string | undefined;
    /** The interpreter of the built package. */
    temporalBundle: string;
  }
}

/** Starts the server, and registers the search attributes of runs. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await found();
  if (server !== undefined) await registerSearchAttributes(server.address, 'default');
  project.provide('temporalAddress', server?.address);
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-interpreter-'));
  const bundle = join(folder, 'interpreter.js');
  writeFileSync(bundle, gunzipSync(readFileSync(join(builtPackage(), 'dist/temporal/interpreter.js.gz'))));
  project.provide('temporalBundle', bundle);
  return async () => {
    await server?.stop();
    rmSync(folder, { recursive: true });
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

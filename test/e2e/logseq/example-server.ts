import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { onTestFinished } from 'vitest';
import { ROOT, startServer } from '../examples/example-client.js';

export { printTrace, texts } from '../examples/example-client.js';

/** The example's server on a copy of its graph, with a real client; both end with the test. */
export interface Example {
  readonly client: Client;
  /** The copy of the graph. */
  readonly folder: string;
}

/** Starts the example over stdio. `graph` false leaves the folder of the graph out. */
export async function startExample({ graph = true } = {}): Promise<Example> {
  const parent = await mkdtemp(join(tmpdir(), 'stepwright-logseq-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const folder = join(parent, 'graph');
  if (graph) await cp(join(ROOT, 'examples/logseq/graph'), folder, { recursive: true });
  return { client: await startServer('logseq', folder), folder };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { fileStore, memoryStore } from './operate/run-stores.js';
import { runStoreContract } from './run-store-contract.fixture.js';

runStoreContract('in memory', memoryStore);

runStoreContract('in a file', (options) => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-runs-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return fileStore(join(folder, 'runs.db'), options);
});

import { createClient } from '@libsql/client';
import { Mastra } from '@mastra/core';
import { LibSQLStore } from '@mastra/libsql';
import { lineWorkflow, runnerOf } from './mastra.js';

export const name = 'Mastra with LibSQL';

/** A snapshot of the run before and after each step. */
export async function open(file, count) {
  const client = createClient({ url: `file:${file}` });
  const storage = new LibSQLStore({ client });
  await storage.init();
  // The store sets NORMAL.
  await client.execute('PRAGMA synchronous = FULL');
  const mastra = new Mastra({ storage, workflows: { line: lineWorkflow(count) }, logger: false });
  return {
    run: runnerOf(mastra.getWorkflow('line'), { n: 0 }, ({ n }) => n),
    async close() {
      client.close();
    },
  };
}

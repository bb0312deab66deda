import { join } from 'node:path';
import { serveHttp } from 'stepwright/runtime';
import { TokenFile } from '../secure/token-file.js';
import type { Books } from './books.js';
import { registry } from './generated/approval.registry.js';
import { PayExpense, ReleaseBudget, ReserveBudget } from './tools.js';

/**
 * Serves the workflow over HTTP. Its runs are in a file, so that they survive the process.
 *
 * @param folder - of `tokens.json`.
 * @param store - of the runs. Default: the file `runs.db` of the folder.
 */
export async function serveApproval(
  folder: string,
  books: Books,
  port: number,
  store = `sqlite:${join(folder, 'runs.db')}`,
): Promise<void> {
  const tokens = await TokenFile.open(join(folder, 'tokens.json'));
  await serveHttp(registry, {
    name: 'stepwright-approval',
    version: '0.1.0',
    port,
    store: store as `sqlite:${string}`,
    // For so long the next server waits for one that was killed.
    runs: { leaseMs: 1_000 },
    auth: { verify: tokens.verify, resource: 'http://127.0.0.1/mcp' },
    tools: {
      'reserve-budget': () => new ReserveBudget(books),
      'release-budget': () => new ReleaseBudget(books),
      'pay-expense': () => new PayExpense(books),
    },
  });
}

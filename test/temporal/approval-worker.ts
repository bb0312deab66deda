import { join } from 'node:path';
import { Books, type Entry } from '../../examples/approval/books.js';
import { registry } from '../../examples/approval/generated/approval.registry.js';
import { PayExpense, ReleaseBudget, ReserveBudget } from '../../examples/approval/tools.js';
import { startWorker, temporal } from '../../src/temporal/index.js';

// A worker of examples/approval that crashes. Arguments: its folder; address, task queue and bundle; the kind of entry
// after which its process is killed, before the run learns of it.

const [folder = '.', address = '', taskQueue = '', bundlePath = '', fatal = ''] = process.argv.slice(2);

class FatalBooks extends Books {
  override enter(key: string, kind: Entry['kind'], purpose: string, amount: number): Entry {
    const entry = super.enter(key, kind, purpose, amount);
    if (kind === fatal) process.kill(process.pid, 'SIGKILL');
    return entry;
  }
}

const books = new FatalBooks(join(folder, 'books.jsonl'));

await startWorker(registry, {
  // So long the server waits for a worker that is gone before it tries another one.
  store: temporal({ address, taskQueue, bundlePath, worker: { stickyQueueScheduleToStartTimeout: 1_000 } }),
  tools: {
    'reserve-budget': () => new ReserveBudget(books),
    'release-budget': () => new ReleaseBudget(books),
    'pay-expense': () => new PayExpense(books),
  },
});
process.stdout.write('ready\n');

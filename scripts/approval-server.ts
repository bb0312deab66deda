import { join } from 'node:path';
import { Books, type Entry } from '../examples/approval/books.js';
import { serveApproval } from '../examples/approval/server.js';

// The server of examples/approval that crashes. Arguments: its folder; its store; the kind of entry after which its
// process is killed, before the run learns of it.

const [folder = '.', store, fatal = ''] = process.argv.slice(2);

class FatalBooks extends Books {
  override enter(key: string, kind: Entry['kind'], purpose: string, amount: number): Entry {
    const entry = super.enter(key, kind, purpose, amount);
    if (kind === fatal) process.kill(process.pid, 'SIGKILL');
    return entry;
  }
}

await serveApproval(folder, new FatalBooks(join(folder, 'books.jsonl')), 0, store);

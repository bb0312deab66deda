import { join } from 'node:path';
import { Books } from './books.js';
import { serveApproval } from './server.js';

// Arguments: the folder of `tokens.json`, the runs and the books; the port.
const [folder = '.', port = '3000'] = process.argv.slice(2);

await serveApproval(folder, new Books(join(folder, 'books.jsonl')), Number(port));

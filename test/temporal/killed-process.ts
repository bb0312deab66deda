import { answerRun, opened, type Shared, startRun, storeOf } from './lanes.js';

// A process that a test kills. Arguments: `worker` or `client`, and what it shares with the test as JSON. A client starts
// and answers runs, and writes a line for each response.

const [role = '', shared = '{}'] = process.argv.slice(2);
const store = storeOf(JSON.parse(shared) as Shared, role === 'worker');
await opened(store);
process.stdout.write('ready\n');

async function lane(): Promise<void> {
  for (;;) {
    const id = await startRun(store);
    if (id === undefined) continue;
    process.stdout.write(`started ${id}\n`);
    await answerRun(store, id);
    process.stdout.write(`accepted ${id}\n`);
  }
}

if (role === 'client') await Promise.all(Array.from({ length: 5 }, lane));

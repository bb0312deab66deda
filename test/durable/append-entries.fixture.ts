// Appends entries to runs of a store until it is killed, and prints each one that is safe.
// Arguments: path, first number of its runs, how many runs, entries of each run.

import { planOf } from '../../src/plan/compile.js';
import { start } from '../../src/runtime/engine/engine.js';
import { call, chain, done, graph, step } from '../../src/runtime/engine/graph.fixture.js';
import { SqliteJournal } from '../../src/runtime/runs/store/sqlite/sqlite-journal.js';

const [path = '', first = '0', count = '1', entries = '1'] = process.argv.slice(2);
const line = graph(chain(call('a'), done('out', step('a'))));
const journal = await SqliteJournal.open(path);

async function work(run: string): Promise<void> {
  const { changes } = start(planOf(line), {}, { runId: run, at: 5 });
  for (let seq = 1; seq <= Number(entries); seq += 1) {
    const head = { run, seq, expectedSeq: seq - 1, epoch: 1, events: [] };
    await journal.append({
      ...head,
      ...(seq === 1 ? { graph: line, changes } : { changes: [] }),
      // Two rows that belong together, in any order.
      hostRows: ['a', 'b'].map((key) => ({
        table: 'actions' as const,
        key,
        row: { seq, pad: 'x'.repeat(500) },
      })),
    });
    process.stdout.write(`${run} ${seq}\n`);
  }
}

await Promise.all(Array.from({ length: Number(count) }, (_, index) => work(`r${Number(first) + index}`)));
await journal.close();

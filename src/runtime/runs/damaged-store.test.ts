import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sqlite from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import { Random } from '../../../test/simulation/random.js';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { ask } from '../engine/constructs.fixture.js';
import { call, chain, done, graph, lit, step } from '../engine/graph.fixture.js';
import { runRef } from '../tools/port.js';
import type { JournalRunStore } from './journal-run-store.js';
import { journalStore } from './operate/run-stores.js';
import { SqliteJournal } from './store/sqlite/sqlite-journal.js';
import { SqliteReader } from './store/sqlite/store-reader.js';
import { ada, EARLIER, ok } from './store.fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'stepwright-damage-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string): string => join(folder, name);
const intact = file('intact.db');
const RUNS = 300;
const ids = Array.from({ length: RUNS }, (_, index) => `run-${index}`);
const asking = graph(chain(call('a', { text: lit('x'.repeat(3_000)) }), ask('sure'), done('out', step('a'))));

const waiter = {
  answerMs: 45_000,
  request: { signal: new AbortController().signal, requestId: '1', progress: () => {}, principal: ada },
};

async function opened(path: string, options: object = {}): Promise<[JournalRunStore, SqliteJournal]> {
  const journal = await SqliteJournal.open(path, { synchronous: 'normal', ...options });
  const remaining = [...ids];
  const store = journalStore(journal, {
    calls: {
      callTool: async (_name, input) => ok(input),
      readResource: async () => ({ ok: true, value: {} }),
      evaluate: async () => ok(null),
    },
    schemas: new SchemaCompiler(),
    secretInputs: () => [],
    log: () => {},
    newRunId: () => remaining.shift() ?? '',
    limits: { maxOpenRuns: RUNS, maxPendingActions: RUNS },
  });
  return [store, journal];
}

beforeAll(async () => {
  const [store, journal] = await opened(intact);
  for (let run = 0; run < RUNS; run += 1)
    expect(await store.start({ owner: ada, graph: asking, input: {} }, waiter)).toMatchObject({ ok: true });
  await store.close();
  await journal.close();
  const database = new sqlite.DatabaseSync(intact);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}, 60_000);

/** A copy of the intact file, changed by SQL or by bytes. */
function changed(name: string, change: string | ((bytes: Buffer) => void)): string {
  const path = file(name);
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  copyFileSync(intact, path);
  if (typeof change === 'string') {
    const database = new sqlite.DatabaseSync(path);
    database.exec(change);
    database.close();
  } else {
    const bytes = readFileSync(path);
    change(bytes);
    writeFileSync(path, bytes);
  }
  return path;
}

/** What the owner of a run learns about it. */
async function outcome(store: JournalRunStore, id: string): Promise<string> {
  try {
    const answer = await store.get(ada, id);
    return answer.ok ? answer.envelope.status : answer.failure.code;
  } catch (error) {
    return (error as Error).name;
  }
}

test.each(Array.from({ length: isNightly ? 16 : 2 }, (_, seed) => seed))(
  'no run of a file with a page of random bytes (%i) is not found, or has other content',
  {
    timeout: 60_000,
  },
  async (seed) => {
    const random = new Random(seed + 1);
    const path = changed(`page-${seed}.db`, (bytes) => {
      const size = bytes.readUInt16BE(16);
      const page = 1 + random.below(bytes.length / size - 1);
      for (let at = page * size; at < (page + 1) * size; at += 1) bytes[at] = random.below(256);
    });
    let damaged = 0;
    // The check at the start would refuse most of them.
    const [store, journal] = await opened(path, { checkedBytes: 0 });
    for (const id of ids) {
      const is = await outcome(store, id);
      if (is === 'waiting') continue;
      expect(['UnreadableRunError', 'StoreError']).toContain(is);
      damaged += 1;
    }
    await store.close();
    await journal.close();
    const reader = await SqliteReader.open(path);
    const { damages } = reader.check();
    reader.close();
    expect(damages.length > 0).toBe(true);
    if (damaged > 0) expect(damages.some(({ why }) => why !== '')).toBe(true);
  },
);

test('a small file with a damaged page is refused when it is opened, with the command that lists damage', async () => {
  const path = changed('refused.db', (bytes) => {
    const size = bytes.readUInt16BE(16);
    bytes.fill(0, 10 * size, 11 * size);
  });
  await expect(SqliteJournal.open(path)).rejects.toMatchObject({
    problem: 'damaged',
    message: expect.stringContaining(`stepwright runs check ${path}`),
  });
});

const FIRST = 'run = 1';

describe.each([
  ['a value', `UPDATE state SET row = replace(row, 'xxxx', 'xxxy') WHERE ${FIRST}`],
  ['a row that is missing', `DELETE FROM state WHERE ${FIRST} AND owes = 'requestAction'`],
  [
    'a row of another run',
    "INSERT INTO state SELECT 1, tab, key || '2', row, refs, owes, command, due_at FROM state WHERE run = 2",
  ],
  ['a row of the host', `DELETE FROM host WHERE ${FIRST} AND key <> 'start'`],
  ['the owner', "UPDATE runs SET access = 'other' WHERE n = 1"],
  ['the workflow', `UPDATE runs SET graph = 'f00' WHERE n = 1`],
])('%s that was changed', (what, sql) => {
  test('is reported, and other runs are read', async () => {
    const path = changed(`${what}.db`, sql);
    const [store, journal] = await opened(path);
    expect(await outcome(store, 'run-0')).toMatch(/^(UnreadableRunError|StoreError)$/);
    expect(await outcome(store, 'run-1')).toBe('waiting');
    expect(await outcome(store, 'unknown')).toBe('WORKFLOW_NOT_FOUND');
    await store.close();
    await journal.close();
    const reader = await SqliteReader.open(path);
    expect(reader.check()).toMatchObject({ runs: RUNS, damages: [{ run: runRef('run-0') }] });
    reader.close();
  });
});

describe('a file of the version without checksums', () => {
  test('is shown as it is', async () => {
    const path = changed('shown.db', EARLIER);
    const reader = await SqliteReader.open(path);
    expect(reader.check()).toEqual({ runs: RUNS, damages: [] });
    expect(reader.find('run-0')).toHaveLength(1);
    reader.close();
  });

  test('gets checksums as its runs are written', async () => {
    const path = changed('earlier.db', EARLIER);
    const [store, journal] = await opened(path);
    const answer = await store.submit(ada, 'run-0', { actionId: 'sure#1', result: true }, waiter);
    expect(answer).toMatchObject({ ok: true, envelope: { status: 'completed' } });
    expect(await outcome(store, 'run-1')).toBe('waiting');
    await store.close();
    await journal.close();
    const database = new sqlite.DatabaseSync(path);
    const sums = database.prepare('SELECT n FROM runs WHERE sum_seq = seq AND identity IS NOT NULL').all();
    expect(sums).toEqual([{ n: 1 }]);
    database.close();
  });

  test('a server of that version may go on writing', async () => {
    // It knows no sums, and leaves those that are there.
    const path = changed(
      'old-writer.db',
      `UPDATE state SET row = replace(row, 'xxxx', 'yyyy') WHERE ${FIRST};
       UPDATE runs SET seq = seq + 1 WHERE n = 1;
       INSERT INTO entries (run, seq, epoch, events) SELECT 1, seq, epoch, '[]' FROM runs WHERE n = 1`,
    );
    const [store, journal] = await opened(path);
    expect(await outcome(store, 'run-0')).toBe('waiting');
    await store.close();
    await journal.close();
  });
});

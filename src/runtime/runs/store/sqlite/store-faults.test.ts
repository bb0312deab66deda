import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sqlite from '@photostructure/sqlite';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { planOf } from '../../../../plan/compile.js';
import { start } from '../../../engine/engine.js';
import { call, chain, done, graph, step } from '../../../engine/graph.fixture.js';
import type { JournalEntry, LoadedRun } from '../journal.js';
import { findDriver } from './driver.js';
import { SqliteJournal } from './sqlite-journal.js';

const folder = mkdtempSync(join(tmpdir(), 'stepwright-faults-'));
afterAll(() => rmSync(folder, { recursive: true }));

const line = graph(chain(call('a'), done('out', step('a'))));

function first(run: string): JournalEntry {
  const { changes } = start(planOf(line), {}, { runId: run, at: 5 });
  const hostRows = [{ table: 'actions', key: 'pad', row: { run, pad: 'x'.repeat(1_000) } }] as const;
  return { run, epoch: 1, seq: 1, expectedSeq: 0, graph: line, events: [], changes, hostRows };
}

test('a full disk fails what is written then, and nothing else', async () => {
  const limits: ((pages: number) => void)[] = [];
  class Limited extends sqlite.DatabaseSync {
    constructor(path: string) {
      super(path);
      limits.push((pages) => this.exec(`PRAGMA max_page_count = ${pages}`));
    }
  }
  const path = join(folder, 'full.db');
  const journal = await SqliteJournal.open(path, { driver: { DatabaseSync: Limited } });
  const limit = limits.at(-1);
  limit?.(60);
  const written: string[] = [];
  const append = async (count: number): Promise<unknown> => {
    for (let run = 0; run < count; run += 1) {
      try {
        await journal.append(first(`r${written.length}`));
      } catch (error) {
        return error;
      }
      written.push(`r${written.length}`);
    }
    return undefined;
  };
  expect(await append(1_000)).toMatchObject({
    problem: 'full',
    message: expect.stringContaining('free space on its disk'),
  });
  expect(written.length).toBeGreaterThan(5);
  expect((await journal.openRuns()).map(({ run }) => run)).toEqual(written);
  limit?.(10_000);
  expect(await append(5)).toBeUndefined();
  await journal.close();
  const again = await SqliteJournal.open(path);
  for (const run of written) expect(await again.load(run)).toMatchObject({ seq: 1 });
  await again.close();
});

test('a file that was cut is refused, or has what was written', { timeout: 60_000 }, async () => {
  const path = join(folder, 'whole.db');
  const journal = await SqliteJournal.open(path);
  const runs = Array.from({ length: 40 }, (_, index) => `r${index}`);
  await Promise.all(runs.map((run) => journal.append(first(run))));
  const expected = new Map<string, LoadedRun | undefined>();
  for (const run of runs) expected.set(run, await journal.load(run));
  await journal.close();
  const { size } = statSync(path);
  const outcomes = { refused: 0, read: 0 };
  // An empty file is a new store.
  for (let cut = 512; cut < Math.min(size, 65_536); cut += 512) {
    const copy = join(folder, 'cut.db');
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${copy}${suffix}`, { force: true });
    copyFileSync(path, copy);
    truncateSync(copy, size - cut);
    let opened: SqliteJournal | undefined;
    try {
      opened = await SqliteJournal.open(copy);
      for (const run of runs) {
        const loaded = await opened.load(run);
        const { holder: _, ...rest } = loaded ?? {};
        expect(rest).toEqual(expected.get(run));
        outcomes.read += 1;
      }
    } catch (error) {
      // A difference is a fault of the store; everything else refuses.
      if ((error as Error).name === 'AssertionError') throw error;
      outcomes.refused += 1;
    } finally {
      await opened?.close().catch(() => undefined);
    }
  }
  expect(outcomes.refused).toBeGreaterThan(0);
});

test.each([
  ['the file', ''],
  ['its log', '-wal'],
  ['its shared memory', '-shm'],
])('entries are refused once that %s was removed, until the store is opened again', async (_, suffix) => {
  const path = join(folder, `removed${suffix}.db`);
  const faults: unknown[] = [];
  const journal = await SqliteJournal.open(path, { onReplaced: (fault) => faults.push(fault) });
  await journal.append(first('r0'));
  expect(journal.fault).toBeUndefined();
  rmSync(`${path}${suffix}`);
  const replaced = { problem: 'replaced', message: expect.stringContaining('was removed or replaced') };
  for (const run of ['r1', 'r2']) await expect(journal.append(first(run))).rejects.toMatchObject(replaced);
  // What is read would be lost as well.
  await expect(journal.load('r0')).rejects.toMatchObject(replaced);
  expect(journal.fault).toMatchObject(replaced);
  expect(faults).toEqual([journal.fault]);
  // Another file in its place changes this as little.
  writeFileSync(`${path}${suffix}`, '');
  await expect(journal.append(first('r3'))).rejects.toMatchObject(replaced);
  await journal.close();
});

test.each([[''], ['-wal']])(
  'what is written while the file (%s) is removed is not acknowledged',
  async (suffix) => {
    const path = join(folder, `race${suffix}.db`);
    let removes = false;
    class Racing extends sqlite.DatabaseSync {
      override exec(sql: string): void {
        if (removes && sql === 'COMMIT') rmSync(`${path}${suffix}`, { force: true });
        super.exec(sql);
      }
    }
    const journal = await SqliteJournal.open(path, { driver: { DatabaseSync: Racing } });
    await journal.append(first('r0'));
    removes = true;
    await expect(journal.append(first('r1'))).rejects.toMatchObject({ problem: 'replaced' });
    await journal.close();
  },
);

test('a damaged page is named where it is read', async () => {
  const path = join(folder, 'torn.db');
  const journal = await SqliteJournal.open(path);
  for (let run = 0; run < 40; run += 1) await journal.append(first(`r${run}`));
  await journal.close();
  const bytes = readFileSync(path);
  const size = bytes.readUInt16BE(16);
  const outcomes = { damaged: 0, read: 0 };
  for (let page = 1; page * size < bytes.length; page += 1) {
    const torn = Buffer.from(bytes);
    torn.fill(0xa5, page * size, (page + 1) * size);
    const copy = join(folder, 'torn-copy.db');
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${copy}${suffix}`, { force: true });
    writeFileSync(copy, torn);
    let opened: SqliteJournal | undefined;
    try {
      opened = await SqliteJournal.open(copy, { checkedBytes: 0 });
      await opened.leases.orphans(5);
      for (const { run } of await opened.openRuns()) await opened.load(run);
      outcomes.read += 1;
    } catch (error) {
      expect(error).toMatchObject({ name: 'StoreError', problem: 'damaged' });
      outcomes.damaged += 1;
    } finally {
      await opened?.close();
    }
  }
  expect(Math.min(outcomes.damaged, outcomes.read)).toBeGreaterThan(1);
});

describe('the driver', () => {
  afterEach(() => vi.restoreAllMocks());

  /** A SQLite of this version, as a module of Node.js. */
  function builtIn(version: string): object {
    class Versioned extends sqlite.DatabaseSync {
      override prepare(sql: string) {
        return super.prepare(sql.replace('sqlite_version()', `'${version}'`));
      }
    }
    return { DatabaseSync: Versioned };
  }

  test.each([
    ['3.51.3', true],
    ['3.52.0', true],
    ['4.0', true],
    ['3.51.2', false],
    ['3.9.9', false],
  ])('is the one of Node.js where it is recent enough: %s', async (version, isTaken) => {
    const own = builtIn(version);
    vi.spyOn(process, 'getBuiltinModule').mockImplementation((() => own) as never);
    expect((await findDriver('a.db')) === own).toBe(isTaken);
  });

  test('is the package where Node.js has none', async () => {
    vi.spyOn(process, 'getBuiltinModule').mockImplementation((() => undefined) as never);
    expect((await findDriver('a.db')).DatabaseSync).toBe(sqlite.DatabaseSync);
  });
});

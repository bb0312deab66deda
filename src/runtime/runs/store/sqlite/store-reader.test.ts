import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as sqlite from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { planOf } from '../../../../plan/compile.js';
import { ask } from '../../../engine/constructs.fixture.js';
import { advance, start } from '../../../engine/engine.js';
import type { Event } from '../../../engine/events.js';
import { call, chain, done, graph, step } from '../../../engine/graph.fixture.js';
import { runRef } from '../../../tools/port.js';
import { EARLIER } from '../../store.fixture.js';
import type { StoreReader } from '../reader.js';
import { SqliteJournal } from './sqlite-journal.js';
import { SqliteReader } from './store-reader.js';

let folder: string;
let path: string;
let journal: SqliteJournal;
const readers: SqliteReader[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stepwright-reader-'));
  path = join(folder, 'runs.db');
  journal = await SqliteJournal.open(path);
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await journal.close();
  rmSync(folder, { recursive: true });
});

async function read(driver?: typeof sqlite): Promise<SqliteReader> {
  const reader = await SqliteReader.open(path, driver);
  readers.push(reader);
  return reader;
}

const asking = graph(chain(ask('sure'), call('a'), done('out', step('sure'))), { name: 'asking' });
const calling = graph(chain(call('a'), done('out', step('a'))), { name: 'calling' });

/** Begins a run and gives it events, each in an entry of its own. */
async function append(run: string, model: typeof asking, ...events: readonly Event[]): Promise<void> {
  const plan = planOf(model);
  const { state, changes } = start(plan, {}, { runId: run, at: 1_000 });
  await journal.append({ run, epoch: 1, seq: 1, expectedSeq: 0, graph: model, events: [], changes });
  for (const [index, event] of events.entries()) {
    const seq = index + 2;
    const { changes: more } = advance(plan, state, [event]);
    await journal.append({ run, epoch: 1, seq, expectedSeq: seq - 1, events: [event], changes: more });
  }
}

const returned: Event = { kind: 'toolReturned', at: 2_000, command: 'a#1', value: { x: 1 } };
const failure = { code: 'E_NO', message: 'no' };

async function fill(): Promise<void> {
  await append('one', asking);
  await append('two', calling);
  await append('three', calling, returned);
  await append('four', calling, { kind: 'toolFailed', at: 3_000, command: 'a#1', failure, attempted: true });
  await append('five', asking, { kind: 'cancelled', at: 4_000, reason: 'enough' });
}

test('lists runs, the latest first, by what they are at and by workflow', async () => {
  await fill();
  const reader = await read();
  const listed = (filter: Omit<Parameters<StoreReader['list']>[0], 'limit'> = {}) =>
    reader.list({ limit: 10, ...filter }).map(({ ref }) => ref);
  const refs = (...runs: readonly string[]) => runs.map(runRef);
  expect(listed()).toEqual(refs('five', 'four', 'three', 'two', 'one'));
  expect(listed({ state: 'waiting' })).toEqual(refs('one'));
  expect(listed({ state: 'running' })).toEqual(refs('two'));
  expect(listed({ state: 'succeeded' })).toEqual(refs('three'));
  expect(listed({ state: 'failed' })).toEqual(refs('four'));
  expect(listed({ state: 'cancelled' })).toEqual(refs('five'));
  expect(listed({ workflow: 'calling' })).toEqual(refs('four', 'three', 'two'));
  expect(listed({ workflow: 'calling', state: 'failed' })).toEqual(refs('four'));
  expect(listed({ workflow: 'none' })).toEqual([]);
  const [latest, next] = reader.list({ limit: 2 });
  expect(latest).toEqual({
    ...{ n: 5, ref: runRef('five'), workflow: 'asking', state: 'cancelled' },
    ...{ startedAt: 1_000, endedAt: 4_000, waits: [], missing: [] },
  });
  expect(reader.list({ limit: 1, before: next?.n ?? 0 })).toMatchObject([{ ref: runRef('three'), n: 3 }]);
  expect(reader.list({ limit: 9, state: 'waiting' })).toMatchObject([
    { endedAt: undefined, waits: [{ for: 'answer', of: 'sure#1' }] },
  ]);
});

test('reads a file that an earlier version wrote', async () => {
  await fill();
  await journal.close();
  const database = new sqlite.DatabaseSync(path);
  database.exec(EARLIER);
  database.close();
  const reader = await read();
  const [head] = reader.find('two');
  expect(reader.list({ limit: 10, state: 'waiting' })).toMatchObject([{ ref: runRef('one'), missing: [] }]);
  expect([head && reader.read(head)?.missing, reader.metrics(0).missing]).toEqual([[], 0]);
  const migrated = await SqliteJournal.open(path);
  expect(await migrated.leases.claim('one')).toBeDefined();
  await migrated.close();
});

test('finds a run by its name and by its id, and reads its log in parts', async () => {
  await fill();
  const reader = await read();
  const [head] = reader.find('three');
  expect(reader.find(runRef('three'))).toEqual([head]);
  expect(reader.find('../three')).toEqual([]);
  expect(head && reader.entries(head, 2, 5)).toEqual([{ seq: 2, events: [returned] }]);
  expect(head && reader.entries(head, 1, 1)).toEqual([{ seq: 1, events: [] }]);
  expect(head && reader.read(head)?.loaded).toEqual(await journal.load('three'));
  await journal.forget('three');
  expect(head && reader.read(head)).toBeUndefined();
});

test('of 100,000 finished runs, those listed are found by an index', async () => {
  await append('one', asking);
  await journal.close();
  const database = new sqlite.DatabaseSync(path);
  database.exec(
    `WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 100000)
     INSERT INTO runs (id, ref, graph, workflow, status, started_at, ended_at, seq, epoch, is_open, ended)
     SELECT 'id' || n, 'ref' || n, 'g', 'w' || (n % 10), 'succeeded', n, n, 1, 1, 0, n FROM many`,
  );
  const prepared: string[] = [];
  class Recording extends sqlite.DatabaseSync {
    override prepare(sql: string) {
      prepared.push(sql);
      return super.prepare(sql);
    }
  }
  const reader = await read({ ...sqlite, DatabaseSync: Recording });
  prepared.length = 0;
  expect(reader.list({ limit: 50 })).toHaveLength(50);
  expect(reader.list({ limit: 50, state: 'succeeded' })).toHaveLength(50);
  expect(reader.list({ limit: 50, workflow: 'w3', before: 90_000 })).toHaveLength(50);
  expect(reader.list({ limit: 50, state: 'failed' })).toEqual([]);
  expect(reader.list({ limit: 50, state: 'waiting' })).toMatchObject([{ ref: runRef('one') }]);
  expect(reader.find('ref77')).toMatchObject([{ id: 'id77' }]);
  expect(prepared).toHaveLength(6);
  const plans = prepared.map((sql) => {
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...unbound(sql)) as { detail: string }[];
    return steps.map(({ detail }) => detail).filter((detail) => !/SUBQUERY|state/.test(detail));
  });
  database.close();
  expect(plans).toEqual([
    // By number, as far as the limit goes.
    ['SCAN runs'],
    [expect.stringMatching(/^SEARCH runs USING INDEX runs_of_status \(status=\?\)$/)],
    [expect.stringMatching(/^SEARCH runs USING INDEX runs_of_workflow \(workflow=\? AND n<\?\)$/)],
    [expect.stringMatching(/^SCAN runs USING INDEX open_runs$/)],
    // The few commands of one run.
    ['USE TEMP B-TREE FOR ORDER BY'],
    [expect.stringMatching(/^SEARCH runs USING INDEX refs \(ref=\?\)$/)],
  ]);
});

/** A value for each parameter. */
function unbound(sql: string): null[] {
  return [...sql].filter((char) => char === '?').map(() => null);
}

test('reads while a server writes, and keeps no server from writing', async () => {
  await append('one', asking);
  const writer = new sqlite.DatabaseSync(path);
  writer.exec("BEGIN IMMEDIATE; UPDATE runs SET status = 'failed'");
  const reader = await read();
  expect(reader.list({ limit: 9 })).toMatchObject([{ state: 'waiting' }]);
  writer.exec('COMMIT');
  writer.close();
  await append('two', calling);
  expect(reader.list({ limit: 9 })).toHaveLength(2);
});

test('calls back when another process has written, until it is stopped', async () => {
  const reader = await read();
  let count = 0;
  const stop = reader.watch(() => {
    count += 1;
  });
  await append('one', calling);
  await expect.poll(() => count).toBeGreaterThan(0);
  const before = count;
  await append('two', calling);
  await expect.poll(() => count).toBeGreaterThan(before);
  stop();
  const last = count;
  await append('three', calling);
  await delay(100);
  expect(count).toBe(last);
});

test('leaves a file as it is', async () => {
  await fill();
  await journal.close();
  const before = readFileSync(path);
  const reader = await read();
  reader.list({ limit: 9 });
  reader.close();
  readers.length = 0;
  expect(readFileSync(path)).toEqual(before);
});

describe('a file', () => {
  const database = (sql: string) => (file: string) => {
    const other = new sqlite.DatabaseSync(file);
    other.exec(sql);
    other.close();
  };

  test.each([
    ['that does not exist', () => {}, 'missing', 'there is no file'],
    ['that is a folder', (file: string) => mkdirSync(file), 'folder', 'is a folder'],
    [
      'that is empty',
      (file: string) => writeFileSync(file, ''),
      'not_a_database',
      'is not a SQLite database',
    ],
    [
      'that is a text',
      (file: string) => writeFileSync(file, 'a,b\n'.repeat(999)),
      'not_a_database',
      'SQLite',
    ],
    ['of another program', database('CREATE TABLE shop (id)'), 'foreign', 'of another program'],
  ])('%s is refused, and not created', async (_, make, problem, message) => {
    path = join(folder, 'other.db');
    make(path);
    const existed = existsSync(path);
    await expect(read()).rejects.toMatchObject({
      ...{ name: 'StoreError', problem, path },
      message: expect.stringContaining(message),
    });
    expect(existsSync(path)).toBe(existed);
  });

  test('of a later version is refused', async () => {
    await journal.close();
    database('PRAGMA user_version = 99')(path);
    await expect(read()).rejects.toMatchObject({
      problem: 'newer',
      message: expect.stringContaining('update stepwright'),
    });
  });
});

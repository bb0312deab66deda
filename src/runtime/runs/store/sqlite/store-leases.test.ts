import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sqlite from '@photostructure/sqlite';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import type { Graph } from '../../../../graph/model.js';
import { planOf } from '../../../../plan/compile.js';
import { ask, wait } from '../../../engine/constructs.fixture.js';
import { start } from '../../../engine/engine.js';
import { call, chain, done, graph, lit, step } from '../../../engine/graph.fixture.js';
import type { JournalEntry } from '../journal.js';
import type { SqliteDatabase, SqliteValue } from './driver.js';
import { SqliteJournal } from './sqlite-journal.js';
import type { SqliteJournalOptions } from './store-file.js';

const folder = mkdtempSync(join(tmpdir(), 'stepwright-leases-'));
let files = 0;
const opened: SqliteJournal[] = [];

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(opened.splice(0).map((journal) => journal.close()));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The monotonic clock of all processes of a test, in ms. */
let now = 0;

/** A process on a file, with a lease of 1,000 ms. */
async function open(path: string, options: SqliteJournalOptions = {}): Promise<SqliteJournal> {
  const journal = await SqliteJournal.open(path, {
    ...{ pollMs: 1, leaseMs: 1_000, monotonicNow: () => now },
    ...options,
  });
  opened.push(journal);
  return journal;
}

async function two(): Promise<readonly [SqliteJournal, SqliteJournal]> {
  const path = join(folder, `${++files}.db`);
  return [await open(path), await open(path)];
}

const line = graph(chain(call('a'), done('out', step('a'))));

function first(run: string, of: Graph = line): JournalEntry {
  const { changes } = start(planOf(of), {}, { runId: run, at: 5 });
  return { run, epoch: 1, seq: 1, expectedSeq: 0, graph: of, events: [], changes };
}

const next = (run: string, epoch: number, seq = 2): JournalEntry => {
  return { run, epoch, seq, expectedSeq: seq - 1, events: [], changes: [] };
};

async function orphansOf({ leases }: SqliteJournal, at: number): Promise<readonly string[]> {
  return (await leases.orphans(at)).map(({ run }) => run);
}

/** Lets time pass in which both processes look after their leases, or one of them alone. */
async function pass(ms: number, ...processes: readonly SqliteJournal[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    now += 250;
    for (const { leases } of processes) await leases.orphans(0);
  }
}

describe('a run that a process holds', () => {
  test('is closed to other processes as long as its holder lives', async () => {
    const [one, other] = await two();
    await one.append(first('r'));
    await expect(other.append(next('r', 2))).rejects.toThrow('another process holds the run, with epoch 1');
    expect(await other.leases.claim('r')).toBeUndefined();
    await pass(20_000, one, other);
    expect(await orphansOf(other, 0)).toEqual([]);
    expect(await other.leases.claim('r')).toBeUndefined();
    await one.append(next('r', 1));
  });

  test.each([3_600_000, -3_600_000])(
    'is closed to them when the system clock jumps by %i ms',
    async (jump) => {
      const [one, other] = await two();
      await one.append(first('r'));
      vi.useFakeTimers({ toFake: ['Date'] });
      for (let round = 0; round < 5; round += 1) {
        vi.setSystemTime(Date.now() + jump);
        await pass(500, one, other);
        expect(await other.leases.claim('r')).toBeUndefined();
      }
      // A jump does not put off the take-over either.
      await pass(250, other);
      vi.setSystemTime(Date.now() + jump);
      await pass(1_000, other);
      expect(await other.leases.claim('r')).toMatchObject({ epoch: 2 });
    },
  );

  test('is taken over when its holder was silent for a lease, and refuses what that one writes then', async () => {
    const [one, other] = await two();
    await one.append(first('r'));
    await pass(1_000, other);
    expect([await orphansOf(other, 0), await other.leases.claim('r')]).toEqual([[], undefined]);
    await pass(250, other);
    expect(await orphansOf(other, 0)).toEqual(['r']);
    expect(await other.leases.claim('r')).toMatchObject({ run: 'r', seq: 1, epoch: 2, holder: 'this' });
    expect(await orphansOf(other, 0)).toEqual([]);
    await expect(one.append(next('r', 1))).rejects.toThrow('the run has a later holder, of epoch 2');
    expect(await one.leases.claim('r')).toBeUndefined();
    await other.append(next('r', 2));
    await expect(one.append(next('r', 2, 3))).rejects.toThrow('another process holds the run, with epoch 2');
  });

  test('is taken over by processes that live for two beats each, one after the other', async () => {
    const [one, other] = await two();
    await one.append(first('r'));
    await other.close();
    for (let lives = 1; ; lives += 1) {
      const short = await open(one.path);
      await short.leases.orphans(0);
      await pass(500, short);
      const claimed = await short.leases.claim('r');
      await short.close();
      if (claimed !== undefined) {
        expect(lives).toBe(2);
        return;
      }
    }
  });

  test('is not taken over sooner when many processes watch its holder', async () => {
    const [one, other] = await two();
    await one.append(first('r'));
    const many = await Promise.all([1, 2, 3, 4].map(() => open(one.path)));
    for (let round = 0; round < 8; round += 1) {
      await pass(750, other, ...many);
      await one.append(next('r', 1, round + 2));
    }
    await pass(750, other, ...many);
    expect(await other.leases.claim('r')).toBeUndefined();
    await pass(500, other, ...many);
    expect(await other.leases.claim('r')).toBeDefined();
  });

  test('is not taken over for time in which the other process itself was stopped', async () => {
    const [one, other] = await two();
    await one.append(first('r'));
    await other.leases.orphans(0);
    now += 60_000;
    expect(await orphansOf(other, 0)).toEqual([]);
    await one.append(next('r', 1));
    expect(await orphansOf(other, 0)).toEqual([]);
  });

  test('is held from its first entry on, however long its holder was idle before', async () => {
    const [one, other] = await two();
    await one.append({ ...first('r'), releases: true });
    await pass(5_000, one, other);
    await one.append(first('s'));
    expect([await orphansOf(other, 0), await other.leases.claim('s')]).toEqual([[], undefined]);
  });

  test('is free as soon as its holder ends, or gives it up', async () => {
    const [one, other] = await two();
    await one.append(first('r'));
    await one.append(first('s'));
    await one.leases.abandon('s');
    expect(await orphansOf(other, 0)).toEqual(['s']);
    await one.close();
    expect(await orphansOf(other, 0)).toEqual(['r', 's']);
    expect(await other.leases.claim('r')).toMatchObject({ epoch: 2 });
  });
});

describe('a run that only waits', () => {
  test('belongs to the process that writes first', async () => {
    const [one, other] = await two();
    await one.append({ ...first('r'), releases: true });
    await other.append(next('r', 2));
    await expect(one.append(next('r', 2, 3))).rejects.toThrow('another process holds the run');
    await other.append({ ...next('r', 2, 3), releases: true });
    await one.append(next('r', 3, 4));
    await one.leases.release('r', 3);
    expect(await other.leases.claim('r')).toMatchObject({ seq: 4, epoch: 4 });
  });

  test('needs a process when its time has come or something was sent to it', async () => {
    const [one, other] = await two();
    await one.append({ ...first('long', graph([wait('p', { durationMs: lit(1_000) })])), releases: true });
    await one.append({ ...first('asks', graph([ask('a')])), releases: true });
    // Paused: its call is not made again without an operator.
    await one.append({ ...first('held', graph([call('a', {}, { timeoutMs: 5 })])), releases: true });
    expect(await orphansOf(other, 1_004)).toEqual([]);
    expect(await orphansOf(other, 1_005)).toEqual(['long']);
    await one.send({ run: 'asks', id: '1', kind: 'answer', at: 7, content: {} });
    expect(await orphansOf(other, 1_005)).toEqual(['long', 'asks']);
    expect(await other.leases.claim('long')).toBeDefined();
    expect(await orphansOf(one, 1_005)).toEqual(['asks']);
  });
});

test('a process learns when a run that it follows has changed', async () => {
  const [one, other] = await two();
  await one.append(first('r'));
  const head = { seq: 1, epoch: 1, holder: 'other' } as const;
  expect([await other.leases.head('r'), await other.leases.head('s')]).toEqual([head, undefined]);
  const changes: string[] = [];
  other.leases.follow('r', head, () => changes.push('r'));
  const stop = other.leases.follow('r', head, () => changes.push('stopped'));
  stop();
  await one.append(next('r', 1));
  await expect.poll(() => changes).toEqual(['r']);
  // One that has changed already.
  other.leases.follow('r', head, () => changes.push('late'));
  await expect.poll(() => changes).toEqual(['r', 'late']);
  await one.leases.release('r', 1);
  await expect.poll(() => changes).toEqual(['r', 'late', 'r', 'late']);
});

test('a process that has ended leaves nothing in the file, and one that was killed does not for long', async () => {
  const [one, other] = await two();
  await one.append(first('r'));
  await pass(2_000, other);
  expect(await other.leases.claim('r')).toBeDefined();
  await pass(250, other);
  await other.append({ ...next('r', 2), releases: true });
  const database = new sqlite.DatabaseSync(one.path);
  const holders = (): unknown[] => database.prepare('SELECT id FROM holders').all();
  expect(holders()).toEqual([{ id: other.leases.holder }]);
  await other.close();
  expect(holders()).toEqual([]);
  database.close();
});

/** A driver that records what is executed, and the statements that run. */
function recording() {
  const executed: string[] = [];
  const statements: string[] = [];
  class DatabaseSync implements SqliteDatabase {
    readonly #database: SqliteDatabase;

    constructor(path: string) {
      this.#database = new sqlite.DatabaseSync(path);
    }

    exec(sql: string): void {
      executed.push(sql);
      this.#database.exec(sql);
    }

    prepare(sql: string): ReturnType<SqliteDatabase['prepare']> {
      const statement = this.#database.prepare(sql);
      const recorded =
        <Values extends unknown[], Result>(run: (...values: Values) => Result) =>
        (...values: Values): Result => {
          statements.push(sql);
          return run(...values);
        };
      return {
        run: recorded((...values: SqliteValue[]) => statement.run(...values)),
        get: recorded((...values: SqliteValue[]) => statement.get(...values)),
        all: recorded((...values: SqliteValue[]) => statement.all(...values)),
      };
    }

    close(): void {
      this.#database.close();
    }
  }
  return { driver: { DatabaseSync }, executed, statements };
}

test('an entry costs one transaction, and shows a sign of life only once in a while', async () => {
  const { driver, executed, statements } = recording();
  const journal = await open(join(folder, `${++files}.db`), { driver });
  executed.length = 0;
  await journal.append(first('r'));
  statements.length = 0;
  for (let seq = 2; seq <= 50; seq += 1) {
    now += 10;
    await journal.append(next('r', 1, seq));
  }
  expect(executed).toHaveLength(100);
  // The run's row is not read again as long as no other process writes to it.
  expect(statements.filter((sql) => sql.startsWith('SELECT'))).toEqual([]);
  // 490 ms have passed, of a lease of 1,000.
  const database = new sqlite.DatabaseSync(journal.path);
  expect(database.prepare('SELECT beat FROM holders').all()).toEqual([{ beat: 2 }]);
  database.close();
});

test('a process that looks after its leases does not look at all open runs', async () => {
  const { driver, statements } = recording();
  const journal = await open(join(folder, `${++files}.db`), { driver });
  statements.length = 0;
  await journal.leases.orphans(1_000);
  const database = new sqlite.DatabaseSync(journal.path);
  const plans = statements.flatMap((sql) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((row) => (row as { detail: string }).detail),
  );
  database.close();
  expect(plans).toContainEqual(expect.stringContaining('held_runs'));
  expect(plans.filter((plan) => /open_runs|SCAN (runs|state)$/.test(plan))).toEqual([]);
});

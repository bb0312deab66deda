import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sqlite from '@photostructure/sqlite';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { isNightly } from '../../../../../test/nightly.js';
import { hashGraph } from '../../../../graph/canonical.js';
import type { JsonObject } from '../../../../graph/json.js';
import { planOf } from '../../../../plan/compile.js';
import type { Change } from '../../../engine/contract.js';
import { advance, start } from '../../../engine/engine.js';
import type { Event } from '../../../engine/events.js';
import { call, chain, done, graph, step } from '../../../engine/graph.fixture.js';
import { foldRows } from '../../../engine/snapshot.js';
import { textOf } from '../../../engine/tables.fixture.js';
import { type InboxItem, JournalConflictError, type JournalEntry, UnknownRunError } from '../journal.js';
import { journalContract } from '../journal-contract.fixture.js';
import { MemoryJournal } from '../memory-journal.js';
import { SqliteJournal } from './sqlite-journal.js';
import type { SqliteJournalOptions } from './store-file.js';

const folder = mkdtempSync(join(tmpdir(), 'stepwright-store-'));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);
const opened: SqliteJournal[] = [];

async function open(path = newPath(), options?: SqliteJournalOptions): Promise<SqliteJournal> {
  const journal = await SqliteJournal.open(path, { pollMs: 1, ...options });
  opened.push(journal);
  return journal;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((journal) => journal.close()));
});
afterAll(() => rmSync(folder, { recursive: true }));

journalContract('a journal in SQLite, in memory', () => open(':memory:'));
journalContract(
  'a journal in a file',
  () => open(),
  async (journal) => {
    const { path } = journal as SqliteJournal;
    await (journal as SqliteJournal).close();
    return open(path);
  },
);

const line = graph(chain(call('a'), done('out', step('a'))));

function begin(run: string): {
  readonly first: JournalEntry;
  readonly next: (value: unknown) => JournalEntry;
} {
  const { state, changes } = start(planOf(line), {}, { runId: run, at: 5 });
  const head = { run, epoch: 1 };
  return {
    first: { ...head, seq: 1, expectedSeq: 0, graph: line, events: [], changes },
    next(value) {
      const event: Event = { kind: 'toolReturned', at: 6, command: 'a#1', value: value as JsonObject };
      const { changes: more } = advance(planOf(line), state, [event]);
      return { ...head, seq: 2, expectedSeq: 1, events: [event], changes: more };
    },
  };
}

const item = (run: string, id: string): InboxItem => ({ run, id, kind: 'answer', at: 7, content: {} });

function query(path: string, sql: string): Record<string, unknown>[] {
  const database = new sqlite.DatabaseSync(path);
  try {
    return database.prepare(sql).all() as Record<string, unknown>[];
  } finally {
    database.close();
  }
}

describe('a file', () => {
  const problemOf = async (path: string, options?: SqliteJournalOptions) => {
    try {
      await open(path, options);
      return undefined;
    } catch (error) {
      return error;
    }
  };

  test('can be read and written by its user alone', async () => {
    const journal = await open();
    await journal.append(begin('r').first);
    for (const file of ['', '-wal', '-shm']) {
      expect([file, statSync(`${journal.path}${file}`).mode & 0o777]).toEqual([file, 0o600]);
    }
    await journal.close();
    chmodSync(journal.path, 0o644);
    await open(journal.path);
    expect(statSync(journal.path).mode & 0o777).toBe(0o600);
  });

  test('is not on disk until something is written, and is empty then', async () => {
    const path = newPath();
    expect(existsSync(path)).toBe(false);
    const journal = await open(path);
    expect(await journal.openRuns()).toEqual([]);
  });

  test.each([
    ['a text', (path: string) => writeFileSync(path, 'hello'), 'not_a_database', 'is not a SQLite database'],
    ['a folder', (path: string) => mkdirSync(path), 'folder', 'is a folder'],
    [
      'the database of another program',
      (path: string) => query(path, 'CREATE TABLE shop (id)'),
      'foreign',
      'of another program',
    ],
    [
      'an empty database with an id of another program',
      (path: string) => query(path, 'PRAGMA application_id = 7'),
      'foreign',
      'of another program',
    ],
    [
      'a cut file',
      (path: string) => writeFileSync(path, 'SQLite format 3\0'),
      'not_a_database',
      'is not a SQLite database',
    ],
  ])('that is %s is refused', async (_, make, problem, message) => {
    const path = newPath();
    make(path);
    const error = await problemOf(path);
    expect(error).toMatchObject({ name: 'StoreError', problem, path });
    expect((error as Error).message).toContain(message);
  });

  test('of a later version is refused, and left as it is', async () => {
    const journal = await open();
    await journal.close();
    query(journal.path, 'PRAGMA user_version = 99');
    const error = await problemOf(journal.path);
    expect(error).toMatchObject({ problem: 'newer', message: expect.stringContaining('update stepwright') });
    expect(query(journal.path, 'PRAGMA user_version')).toMatchObject([{ user_version: 99 }]);
  });

  test('in a folder that does not exist is refused', async () => {
    expect(await problemOf(join(folder, 'none', 'a.db'))).toMatchObject({ problem: 'no_folder' });
  });

  test('that is read-only is refused', async () => {
    class ReadOnly extends sqlite.DatabaseSync {
      override exec(sql: string): void {
        super.exec('PRAGMA query_only = 1');
        super.exec(sql);
      }
    }
    const error = await problemOf(newPath(), { driver: { DatabaseSync: ReadOnly } });
    expect(error).toMatchObject({
      problem: 'no_access',
      message: expect.stringContaining('write permission'),
    });
  });

  test('is refused with a SQLite that may damage it', async () => {
    class Old extends sqlite.DatabaseSync {
      override prepare(sql: string) {
        return super.prepare(sql.replace('sqlite_version()', "'3.51.2'"));
      }
    }
    const error = await problemOf(newPath(), { driver: { DatabaseSync: Old } });
    expect(error).toMatchObject({ problem: 'old_sqlite', message: expect.stringContaining('3.51.2') });
  });

  test('writes ahead, and to disk unless told otherwise', async () => {
    const journal = await open();
    expect(query(journal.path, 'PRAGMA journal_mode')).toMatchObject([{ journal_mode: 'wal' }]);
    const executed: string[] = [];
    class Recording extends sqlite.DatabaseSync {
      override exec(sql: string): void {
        executed.push(sql);
        super.exec(sql);
      }
    }
    const driver = { DatabaseSync: Recording };
    await open(newPath(), { driver });
    await open(newPath(), { driver, synchronous: 'normal' });
    expect(executed.filter((sql) => sql.includes('synchronous'))).toEqual([
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = full',
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = normal',
    ]);
  });

  test('that is closed takes nothing more', async () => {
    const journal = await open();
    const last = journal.append(begin('r').first);
    await journal.close();
    await last;
    await expect(journal.append(begin('s').first)).rejects.toMatchObject({ problem: 'closed' });
    await expect(journal.load('r')).rejects.toMatchObject({ problem: 'closed' });
    const again = await open(journal.path);
    expect((await again.load('r'))?.seq).toBe(1);
  });
});

test('entries that come together are one transaction', async () => {
  const executed: string[] = [];
  class Recording extends sqlite.DatabaseSync {
    override exec(sql: string): void {
      executed.push(sql);
      super.exec(sql);
    }
  }
  const journal = await open(newPath(), { driver: { DatabaseSync: Recording } });
  executed.length = 0;
  const begun = ['r', 's', 't'].map(begin);
  await Promise.all(begun.map(({ first }) => journal.append(first)));
  expect(executed).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
});

test('keeps a long value once, for its event, its rows and all runs, and forgets it with the last of them', async () => {
  const journal = await open();
  const long = 'x'.repeat(70_000);
  for (const id of ['r', 's']) {
    const run = begin(id);
    await journal.append(run.first);
    await journal.append(run.next({ long }));
  }
  const hash = createHash('sha256').update(JSON.stringify(long)).digest();
  const stored = query(journal.path, 'SELECT hash FROM texts');
  expect(stored).toHaveLength(1);
  expect(Buffer.from(stored[0]?.hash as Uint8Array)).toEqual(hash);
  expect(await journal.events('r')).toEqual([
    { kind: 'toolReturned', at: 6, command: 'a#1', value: { long } },
  ]);
  const expected = begin('r');
  const rows = foldRows([...expected.first.changes, ...expected.next({ long }).changes]);
  expect(textOf((await journal.load('r'))?.rows ?? [])).toEqual(textOf(rows));
  await journal.forget('r');
  expect(query(journal.path, 'SELECT hash FROM texts')).toHaveLength(1);
  await journal.forget('s');
  for (const table of ['texts', 'uses', 'graphs', 'runs', 'state', 'entries'])
    expect([table, query(journal.path, `SELECT * FROM ${table}`)]).toEqual([table, []]);
});

test('finds open runs, due times and items by an index', async () => {
  const journal = await open();
  const plan = (sql: string): string =>
    query(journal.path, `EXPLAIN QUERY PLAN ${sql}`)
      .map(({ detail }) => detail)
      .join('; ');
  expect(plan('SELECT id FROM runs WHERE is_open = 1 ORDER BY n')).toContain('open_runs');
  expect(
    plan('SELECT id FROM state JOIN runs ON n = run WHERE due_at <= 5 AND is_open = 1 ORDER BY due_at, run'),
  ).toContain('due_times');
  expect(plan('SELECT item FROM inbox WHERE run = 1 ORDER BY n')).toContain('INDEX');
});

test('what another process sends and consumes is noticed', async () => {
  const one = await open();
  const other = await open(one.path);
  const run = begin('r');
  await one.append({ ...run.first, releases: true });
  const calls = { one: 0, two: 0 };
  one.watch('r', () => {
    calls.one += 1;
  });
  one.watch('s', () => {
    calls.two += 1;
  });
  await other.send(item('r', '1'));
  await expect.poll(() => calls.one).toBe(1);
  await other.append({ ...run.next(1), consumed: [{ id: '1', response: true }] });
  await expect.poll(() => calls.one).toBe(2);
  expect(calls.two).toBe(0);
  expect(await one.response('r', '1')).toBe(true);
});

/** One thing that is done to a journal. */
type Operation = (journal: MemoryJournal | SqliteJournal) => Promise<unknown>;

const anyKey = fc.constantFrom('a', 'b', '__proto__', 'ä\u0000b', '"', '\ud800');
const runs = ['r', 's\u0000', 'toString'];
const anyRun = fc.constantFrom(...runs);
const anyJson = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonObject>;
const anyRunRow = fc
  .constantFrom('running', 'succeeded')
  .map((status) => ({ engineVersion: 1, stateVersion: 1, status, started: 0, seq: 0 }));
const anyChange = fc.oneof(
  fc.record({ op: fc.constant('delete'), table: fc.constant('outputs'), key: anyKey }),
  fc.record({ op: fc.constant('put'), table: fc.constant('outputs'), key: anyKey, row: anyJson }),
  fc.record({ op: fc.constant('put'), table: fc.constant('run'), key: fc.constant('r'), row: anyRunRow }),
  fc.record({
    op: fc.constant('put'),
    table: fc.constant('nodes'),
    key: anyKey,
    row: fc.record({
      status: fc.constant('running'),
      command: fc.record({ kind: fc.constant('callTool'), id: anyKey, seq: fc.nat(3), dueAt: fc.nat(9) }),
    }),
  }),
) as fc.Arbitrary<Change>;
const anyHostRow = fc.record({
  table: fc.constantFrom('run' as const, 'actions' as const),
  key: anyKey,
  row: anyJson,
});

const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({
        run: anyRun,
        seq: fc.nat(4),
        gap: fc.constantFrom(0, 0, 0, 1),
        epoch: fc.constantFrom(1, 1, 1, 2),
        changes: fc.array(anyChange, { maxLength: 4 }),
        hostRows: fc.array(anyHostRow, { maxLength: 2 }),
        consumed: fc.uniqueArray(anyKey, { maxLength: 1 }),
        response: anyJson,
        begins: fc.boolean(),
      })
      .map(({ run, seq, gap, epoch, changes, hostRows, consumed, response, begins }): Operation => {
        const own = { ...line, name: `line-${run.length}` };
        const begun = { graphHash: hashGraph(own), workflow: 'line', startedAt: 5 };
        const start = { op: 'put', table: 'start', key: run, row: begun };
        const unique = [...new Map(changes.map((each) => [`${each.table} ${each.key}`, each])).values()];
        return async (journal) => {
          const last = (await journal.load(run))?.seq ?? 0;
          await journal.append({
            ...{ run, epoch, hostRows, events: [] },
            seq: last + 1 + gap,
            expectedSeq: seq === 4 ? last + gap : last,
            ...(last === 0 && begins ? { graph: own } : {}),
            changes: last === 0 ? [start as unknown as Change, ...unique] : unique,
            consumed: last === 0 ? [] : consumed.map((id) => ({ id, response })),
          });
        };
      }),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(anyRun, anyKey).map(
      ([run, id]): Operation =>
        (journal) =>
          journal.send(item(run, id)),
    ),
  },
  {
    weight: 1,
    arbitrary: anyRun.map(
      (run): Operation =>
        (journal) =>
          journal.forget(run),
    ),
  },
);

/** All that a journal answers. Rows are ordered by their keys, hosts' rows as they come. */
async function answersOf(journal: MemoryJournal | SqliteJournal): Promise<unknown> {
  const answers = await Promise.all(
    [...runs, 's'].map(async (run) => {
      const loaded = await journal.load(run);
      return {
        ...loaded,
        rows: textOf(loaded?.rows ?? []),
        inbox: await journal.inbox(run),
        graph: await journal.graph(`hash ${run.length}`),
        responses: await Promise.all(
          ['a', 'b', '__proto__', 'ä\u0000b'].map((id) => journal.response(run, id)),
        ),
      };
    }),
  );
  const due = (await journal.dueTimers(7)).map((timer) => JSON.stringify(timer)).sort();
  return { answers, open: await journal.openRuns(), due };
}

test('does what a journal in memory does, whatever is written', async () => {
  const outcomeOf = async (operation: Operation, journal: MemoryJournal | SqliteJournal) => {
    try {
      await operation(journal);
      return 'done';
    } catch (error) {
      if (error instanceof JournalConflictError || error instanceof UnknownRunError) return error.message;
      throw error;
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.array(anyOperation, { maxLength: 25 }), async (operations) => {
      const memory = new MemoryJournal();
      const journal = await SqliteJournal.open(':memory:');
      for (const operation of operations) {
        expect(await outcomeOf(operation, journal)).toBe(await outcomeOf(operation, memory));
      }
      expect(await answersOf(journal)).toEqual(await answersOf(memory));
      await journal.close();
    }),
    { numRuns: isNightly ? 100 : 30 },
  );
});

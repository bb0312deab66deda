import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import * as sqlite from '@photostructure/sqlite';
import { describe, expect, test } from 'vitest';
import { ask } from '../../../runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, lit, step } from '../../../runtime/engine/graph.fixture.js';
import { runRef } from '../../../runtime/tools/port.js';
import { runs, ServedStore } from './store.fixture.js';

const store = new ServedStore();

const asking = graph(chain(ask('sure'), call('a', { x: lit(1) }), done('out', step('a'))), {
  name: 'asking',
});
const quick = graph(chain(call('a', { x: lit(2) }), done('out', step('a'))), { name: 'quick' });

const on = (...args: readonly string[]) => runs(...args, '--store', `sqlite:${store.path}`);
const listOf = async (path: string) =>
  JSON.parse((await runs('list', '--json', '--store', `sqlite:${path}`)).out).runs;

test('an export has the state of a run, its log and its graph', async () => {
  const id = await store.start(asking);
  await store.answer(id, 'sure#1', true);
  const { code, out } = await on('export', runRef(id));
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    ...{ run: runRef(id), status: 'completed', result: { x: 1 }, graph: { name: 'asking' } },
    events: [
      { entry: 2, kind: 'actionSubmitted' },
      { entry: 3, kind: 'toolReturned' },
    ],
  });
});

describe('a backup', () => {
  test('removes what a killed one left, and not what another one writes', async () => {
    await store.start(quick);
    // No process has this number.
    const left = ['', '-journal'].map((suffix) => store.file(`kept.db.99999999-0123abcd.partial${suffix}`));
    const written = store.file(`kept.db.${process.pid}-0123abcd.partial`);
    for (const file of [...left, written]) writeFileSync(file, '');
    expect((await on('backup', store.file('kept.db'))).code).toBe(0);
    expect(left.map((file) => existsSync(file))).toEqual([false, false]);
    expect(existsSync(written)).toBe(true);
  });

  test('has all runs as of one moment while a server uses the store, and makes a store again', async () => {
    const id = await store.start(asking);
    await store.start(quick);
    const backup = store.file('backup.db');
    expect(await on('backup', backup)).toEqual({
      ...{ code: 0, err: '' },
      out: `backup '${backup}' has 2 runs, and is intact\n`,
    });
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(await listOf(backup)).toEqual(await listOf(store.path));
    await store.answer(id, 'sure#1', true);

    const other = store.file('other.db');
    const restored = await runs('restore', backup, '--json', '--store', `sqlite:${other}`);
    expect(JSON.parse(restored.out)).toEqual({ file: other, runs: 2, bytes: expect.any(Number) });
    expect(await listOf(other)).toMatchObject([{ status: 'completed' }, { status: 'waiting' }]);
    expect(statSync(other).mode & 0o777).toBe(0o600);
    // A server goes on with the run where the backup has it.
    await store.close();
    await store.answerIn(other, id, 'sure#1', true);
    expect(await listOf(other)).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
  });

  test('replaces no file, and leaves none behind where it fails', async () => {
    await store.start(quick);
    const refused = async (message: string, ...args: string[]) => {
      const { code, out, err } = await runs(...args);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain(message);
    };
    const source = `sqlite:${store.path}`;
    const there = store.file('there.db');
    writeFileSync(there, 'mine');
    await refused(`there is a file '${there}' already`, 'backup', there, '--store', source);
    const backup = store.file('backup.db');
    expect((await on('backup', backup)).code).toBe(0);
    await refused(`there is a file '${store.path}' already`, 'restore', backup, '--store', source);
    const left = store.file('left.db');
    writeFileSync(`${left}-wal`, 'of a store that was removed');
    await refused(`there is a file '${left}-wal' already`, 'restore', backup, '--store', `sqlite:${left}`);
    const nowhere = store.file('none/a.db');
    await refused('its folder does not exist', 'backup', nowhere, '--store', source);
    const none = store.file('none.db');
    await refused(`there is no file '${none}'`, 'restore', none, '--store', `sqlite:${store.file('new.db')}`);
    await refused('needs a file', 'backup', '--store', source);
    expect(existsSync(store.file('new.db'))).toBe(false);
    expect(readdirSync(store.file('.')).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });

  test.each([
    [
      'is cut',
      (file: string, whole: string) => {
        copyFileSync(whole, file);
        truncateSync(file, 20_000);
      },
    ],
    ['is a text', (file: string) => writeFileSync(file, 'hello')],
    ['is empty', (file: string) => writeFileSync(file, '')],
    ['is a folder', (file: string) => mkdirSync(file)],
    ['is the database of another program', (file: string) => query(file, 'CREATE TABLE shop (id)')],
  ])('that %s is not restored', async (_, make) => {
    await store.start(quick);
    const backup = store.file('backup.db');
    await on('backup', store.file('whole.db'));
    make(backup, store.file('whole.db'));
    const target = store.file('new.db');
    const { code, err } = await runs('restore', backup, '--store', `sqlite:${target}`);
    expect([code, err]).toEqual([2, expect.stringContaining(`'${backup}'`)]);
    expect(existsSync(target)).toBe(false);
  });

  test('of a later version is not restored', async () => {
    await store.start(quick);
    await store.close();
    const backup = store.file('backup.db');
    copyFileSync(store.path, backup);
    query(backup, 'PRAGMA user_version = 99');
    const { code, err } = await runs('restore', backup, '--store', `sqlite:${store.file('new.db')}`);
    expect([code, err]).toEqual([2, expect.stringContaining('later version of stepwright')]);
  });
});

function query(file: string, sql: string): unknown[] {
  const database = new sqlite.DatabaseSync(file);
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

describe('pruning', () => {
  test('removes finished runs by number and by age, and keeps open ones', async () => {
    await store.start(asking);
    for (let count = 0; count < 4; count += 1) await store.start(quick);
    expect((await on('prune', '--keep', '1', '--dry-run')).out).toBe('would remove 3 runs\n');
    expect(await listOf(store.path)).toHaveLength(5);
    expect((await on('prune', '--keep', '1', '--json')).out).toBe('{"removed":3}\n');
    expect(await listOf(store.path)).toMatchObject([
      { run: runRef('run-5'), status: 'completed' },
      { status: 'waiting' },
    ]);
    // The runs of this clock ended in 1970.
    expect((await on('prune', '--older-than', '30d')).out).toBe('removed 1 run\n');
    expect((await on('prune', '--older-than', '1s', '--keep', '0')).out).toBe('removed 0 runs\n');
    expect(await listOf(store.path)).toMatchObject([{ status: 'waiting' }]);
    expect(query(store.path, 'SELECT DISTINCT run FROM entries')).toEqual([{ run: 1 }]);
    expect(query(store.path, 'SELECT * FROM graphs')).toHaveLength(1);
  });

  test('removes more runs than fit in one transaction, with their values', async () => {
    const long = 'x'.repeat(70_000);
    store.tools['tool-a'] = () => ({ ok: true, value: long });
    for (let count = 0; count < 120; count += 1) await store.start(quick);
    expect(query(store.path, 'SELECT 1 FROM texts')).toHaveLength(1);
    expect((await on('prune', '--keep', '0')).out).toBe('removed 120 runs\n');
    for (const table of ['runs', 'entries', 'state', 'host', 'texts', 'uses', 'graphs'])
      expect([table, query(store.path, `SELECT 1 FROM ${table}`)]).toEqual([table, []]);
  });

  test.each([
    [[], 'needs `--older-than AGE` or `--keep N`'],
    [['--older-than', '30'], '`--older-than` takes a whole number and a unit'],
    [['--older-than', '1.5d'], 'such as `30d`, not `1.5d`'],
    [['--keep', '-1'], 'needs a value'],
  ])('with %j is refused', async (args, message) => {
    await store.start(quick);
    const { code, err } = await on('prune', ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });

  test('creates no store', async () => {
    const none = store.file('none.db');
    expect((await runs('prune', '--keep', '1', '--store', `sqlite:${none}`)).code).toBe(2);
    expect(existsSync(none)).toBe(false);
  });
});

describe('a check', () => {
  test('reads a store while a server uses it, and a backup', async () => {
    await store.start(asking);
    await store.start(quick);
    expect(await runs('check', store.path)).toEqual({ code: 0, err: '', out: '2 runs, intact\n' });
    await on('backup', store.file('backup.db'));
    const { code, out } = await runs('check', store.file('backup.db'), '--json');
    expect({ code, ...JSON.parse(out) }).toEqual({ code: 0, runs: 2, damaged: [] });
  });

  test('lists damaged runs, with exit code 1', async () => {
    const id = await store.start(asking);
    await store.start(quick);
    const database = new sqlite.DatabaseSync(store.path);
    database.exec("UPDATE entries SET events = '[ ]' WHERE run = 1");
    database.close();
    expect(await runs('check', store.path)).toEqual({
      ...{ code: 1, err: '' },
      out: `run ${runRef(id)} is damaged: a row was changed\n2 runs, 1 damaged\n`,
    });
    expect(JSON.parse((await on('check', '--json')).out)).toEqual({
      runs: 2,
      damaged: [{ run: runRef(id), reason: 'a row was changed' }],
    });
  });

  test('names a file that is not a store', async () => {
    const { code, err } = await runs('check', store.file('none.db'));
    expect(code).toBe(2);
    expect(err).toContain('there is no file');
  });
});

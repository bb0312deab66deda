import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sqlite from '@photostructure/sqlite';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Graph } from '../../../../graph/model.js';
import { planOf } from '../../../../plan/compile.js';
import { ask, wait } from '../../../engine/constructs.fixture.js';
import { advance, start } from '../../../engine/engine.js';
import { call, chain, done, graph, lit, step } from '../../../engine/graph.fixture.js';
import type { HostRow, RunListing } from '../journal.js';
import { SqliteJournal } from './sqlite-journal.js';

let folder: string;
let journal: SqliteJournal;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stepwright-index-'));
  journal = await SqliteJournal.open(join(folder, 'runs.db'), { synchronous: 'normal' });
});
afterEach(async () => {
  await journal.close();
  rmSync(folder, { recursive: true });
});

const asking = graph(chain(ask('sure'), done('out', step('sure'))));
const calling = graph(chain(call('a'), done('out', step('a'))));
const sleeping = graph(chain(wait('nap', { durationMs: lit(1_000) }), done('out', lit(1))));

async function begin(run: string, listing: RunListing, of: Graph = asking, at = 5): Promise<void> {
  const { changes } = start(planOf(of), {}, { runId: run, at });
  const hostRows: HostRow[] = [{ table: 'run', key: 'start', row: { ...listing } }];
  await journal.append({
    ...{ run, epoch: 1, seq: 1, expectedSeq: 0, graph: of, events: [], changes, hostRows },
    releases: true,
  });
}

async function cancel(run: string, of: Graph = asking): Promise<void> {
  const { state } = start(planOf(of), {}, { runId: run, at: 5 });
  const events = [{ kind: 'cancelled', at: 7, reason: 'enough' }] as const;
  const { changes } = advance(planOf(of), state, events);
  await journal.append({ run, epoch: 2, seq: 2, expectedSeq: 1, events, changes });
}

const ada: RunListing = { quota: 'ada', access: 'ada' };
const bob: RunListing = { quota: 'bob', access: 'bob', alias: 'secret name' };

test('finds the runs of one owner, the latest first, in parts', async () => {
  const { index } = journal;
  for (const run of ['one', 'two', 'three']) await begin(run, ada);
  await begin('other', bob);
  await cancel('two');
  expect(await index.listed('ada', { limit: 9 })).toEqual(['three', 'two', 'one']);
  expect(await index.listed('ada', { limit: 1, before: 'three' })).toEqual(['two']);
  expect(await index.listed('ada', { limit: 9, isOpen: true })).toEqual(['three', 'one']);
  expect(await index.listed('ada', { limit: 9, isOpen: false })).toEqual(['two']);
  expect(await index.listed('ada', { limit: 9, before: 'never' })).toEqual([]);
  expect(await index.listed('eve', { limit: 9 })).toEqual([]);
  expect([await index.accessTo('one'), await index.accessTo('never')]).toEqual(['ada', undefined]);
});

test('counts open runs and their questions', async () => {
  const { index } = journal;
  await begin('one', ada);
  await begin('two', ada, calling);
  await begin('over', ada);
  await cancel('over');
  for (const address of ['1.2.3.4', '5.6.7.8'])
    await begin(address, { quota: `anonymous ${address}`, access: 'unauthenticated' });
  expect(await index.open('ada')).toEqual({ runs: 2, questions: 1 });
  expect(await index.open('eve')).toEqual({ runs: 0, questions: 0 });
  expect(await index.openOf('anonymous ')).toBe(2);
  await journal.forget('1.2.3.4');
  expect(await index.openOf('anonymous ')).toBe(1);
});

test('keeps the counts right', async () => {
  const database = new sqlite.DatabaseSync(journal.path);
  const counted = (sql: string): unknown => ({ ...(database.prepare(sql).get() as object) });
  const quotas = ['ada', 'anonymous 1', 'anonymous 2'];
  const operation = fc.oneof(
    fc.record({ kind: fc.constant('begin' as const), run: fc.nat(9), quota: fc.constantFrom(...quotas) }),
    fc.record({ kind: fc.constantFrom('cancel' as const, 'forget' as const), run: fc.nat(9) }),
    // A server of the version before writes such.
    fc.record({
      kind: fc.constantFrom('ask' as const, 'answer' as const, 'reopen' as const, 'remove' as const),
      run: fc.nat(9),
    }),
  );
  const put = (n: number, owes: string): void => {
    const row = `VALUES (${n}, 'nodes', 'more', '{}', ${owes})`;
    database.exec(`INSERT OR REPLACE INTO state (run, tab, key, row, owes) ${row}`);
  };
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 30 }), async (operations) => {
      database.exec('DELETE FROM runs; DELETE FROM state; DELETE FROM entries; DELETE FROM host');
      for (const each of operations) {
        const run = `r${each.run}`;
        const row = database.prepare('SELECT n FROM runs WHERE id = ?').get(run) as
          | { readonly n: number }
          | undefined;
        if (each.kind === 'begin') {
          if (row === undefined) await begin(run, { quota: each.quota, access: 'a' });
        } else if (row !== undefined) {
          if (each.kind === 'cancel') await cancel(run).catch(() => undefined);
          else if (each.kind === 'forget') await journal.forget(run);
          else if (each.kind === 'ask') put(row.n, "'requestAction'");
          else if (each.kind === 'answer') put(row.n, 'NULL');
          else if (each.kind === 'remove')
            database.exec(`DELETE FROM state WHERE run = ${row.n} AND key = 'more'`);
          else database.exec(`UPDATE runs SET is_open = 1 WHERE n = ${row.n}`);
        }
      }
      for (const quota of quotas) {
        const open = `FROM runs WHERE quota = '${quota}' AND is_open = 1`;
        expect(await journal.index.open(quota)).toEqual(
          counted(`SELECT (SELECT count(*) ${open}) AS runs, (SELECT count(*) FROM state
            WHERE owes = 'requestAction' AND run IN (SELECT n ${open})) AS questions`),
        );
      }
      expect({ runs: await journal.index.openOf('anonymous ') }).toEqual(
        counted("SELECT count(*) AS runs FROM runs WHERE quota LIKE 'anonymous %' AND is_open = 1"),
      );
    }),
    { numRuns: 40 },
  );
  database.close();
});

test('finds open runs by their second names', async () => {
  const { index } = journal;
  await begin('one', bob);
  await begin('two', { ...bob, alias: 'another' });
  await begin('three', ada);
  expect([await index.byAlias('secret name'), await index.byAlias('one')]).toEqual(['one', undefined]);
  expect(await index.openWithAlias()).toEqual(['one', 'two']);
  await cancel('one');
  expect(await index.openWithAlias()).toEqual(['two']);
});

test('knows the first time that a run waits for which no process holds', async () => {
  const { index } = journal;
  expect(await index.nextDue(0)).toBeUndefined();
  await begin('late', ada, sleeping, 2_000);
  await begin('early', ada, sleeping, 1_000);
  expect(await index.nextDue(0)).toBe(2_000);
  await journal.leases.claim('early');
  expect(await index.nextDue(0)).toBe(3_000);
});

test('removes finished runs that do not stay, many at a time', async () => {
  const { index } = journal;
  for (let run = 0; run < 120; run += 1) {
    await begin(`r${run}`, ada);
    await cancel(`r${run}`);
  }
  await begin('open', ada);
  await index.expire({ endedBefore: 6 });
  expect((await journal.finishedRuns()).length).toBe(120);
  await index.expire({ keep: 3 });
  expect(await journal.finishedRuns()).toEqual(['r117', 'r118', 'r119']);
  await index.expire({ endedBefore: 7, keep: 3 });
  expect(await index.listed('ada', { limit: 9 })).toEqual(['open']);
});

test('reads by indexes alone', () => {
  const database = new sqlite.DatabaseSync(journal.path);
  const plan = (sql: string): string =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((row) => String((row as { detail: string }).detail))
      .join('\n');
  for (const sql of [
    'SELECT access FROM runs WHERE id = ?',
    'SELECT id FROM runs WHERE quota = ? AND n < ? ORDER BY n DESC LIMIT ?',
    'SELECT id FROM runs WHERE quota = ? AND n < ? AND is_open = 1 ORDER BY n DESC LIMIT ?',
    'SELECT runs, questions FROM counts WHERE quota = ?',
    'SELECT coalesce(max(ended), 0) + 1 FROM runs WHERE ended IS NOT NULL',
    'SELECT id FROM runs WHERE alias = ?',
    'SELECT id FROM runs WHERE alias IS NOT NULL AND is_open = 1 ORDER BY n',
  ])
    expect([sql, plan(sql)]).toEqual([sql, expect.not.stringMatching(/SCAN (runs|state)$|TEMP B-TREE/m)]);
  database.close();
});

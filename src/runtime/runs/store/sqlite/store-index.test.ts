import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sqlite from '@photostructure/sqlite';
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
  expect([await index.openOf('anonymous '), await index.openOf('ada'), await index.openOf('b')]).toEqual([
    2, 2, 0,
  ]);
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
    'SELECT count(*) FROM runs WHERE quota = ? AND is_open = 1',
    'SELECT count(*) FROM runs WHERE quota >= ? AND quota < ? AND is_open = 1',
    `SELECT count(*) FROM runs JOIN state ON run = n WHERE quota = ? AND is_open = 1 AND owes = 'requestAction'`,
    'SELECT id FROM runs WHERE alias = ?',
    'SELECT id FROM runs WHERE alias IS NOT NULL AND is_open = 1 ORDER BY n',
  ])
    expect([sql, plan(sql)]).toEqual([sql, expect.not.stringMatching(/SCAN (runs|state)$|TEMP B-TREE/m)]);
  database.close();
});

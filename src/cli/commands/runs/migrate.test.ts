import { writeFileSync } from 'node:fs';
import * as sqlite from '@photostructure/sqlite';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { registryOf } from '../../../../test/e2e/server/fixture/registry-of.js';
import type { Graph, Node } from '../../../graph/model.js';
import { planOf } from '../../../plan/compile.js';
import { ask } from '../../../runtime/engine/constructs.fixture.js';
import { call, chain, compute, done, graph, lit, step } from '../../../runtime/engine/graph.fixture.js';
import { moveRun } from '../../../runtime/runs/operate/move-run.js';
import { SqliteJournal } from '../../../runtime/runs/store/sqlite/sqlite-journal.js';
import { ada, envelopeIn } from '../../../runtime/runs/store.fixture.js';
import { runRef } from '../../../runtime/tools/port.js';
import { runs, ServedStore } from './store.fixture.js';

const store = new ServedStore();

const order = (...nodes: Node[]): Graph => graph(chain(...nodes), { name: 'order' });
const before = order(ask('one'), compute('c', lit('old')), ask('two'), done('out', step('c')));
const after = order(ask('one'), compute('c', lit('new')), ask('three'), done('out', step('c')));

let files = 0;

/** Runs `stepwright runs migrate` with a registry that has this workflow. */
function migrate(to: Graph, ...args: readonly string[]) {
  files += 1;
  const registry = store.file(`registry-${files}.mjs`);
  const options = store.file(`options-${files}.mjs`);
  writeFileSync(registry, `export const registry = ${JSON.stringify(registryOf({ tools: [] }))};`);
  writeFileSync(options, `export default ${JSON.stringify({ workflows: [{ graph: to }] })};`);
  return runs(
    'migrate',
    ...args,
    '--registry',
    registry,
    '--options',
    options,
    '--store',
    `sqlite:${store.path}`,
  );
}

/** All rows of the store. */
function rows(): unknown {
  const database = new sqlite.DatabaseSync(store.path);
  const tables = ['runs', 'graphs', 'entries', 'state', 'host'];
  const all = tables.map((table) => database.prepare(`SELECT * FROM ${table}`).all());
  database.close();
  return all;
}

const envelopeOf = async (id: string) => envelopeIn(await store.served().get(ada, id));

let id: string;
beforeEach(async () => {
  store.served({ leaseMs: 100 });
  id = await store.start(before);
});

describe('a run that moves safely', () => {
  test('is left as it is without --apply', async () => {
    const unchanged = rows();
    expect(await migrate(after, id)).toEqual({ code: 0, err: '', out: `${runRef(id)}  moves safely\n` });
    const { out } = await migrate(after, '--workflow', 'order', '--json');
    expect(JSON.parse(out)).toEqual({ runs: [{ run: runRef(id), verdict: 'safe', starts: [] }] });
    expect(rows()).toEqual(unchanged);
  });

  test('goes on with the new workflow in the server that has it', async () => {
    expect((await migrate(after, id, '--apply')).out).toBe(`${runRef(id)}  was moved\n`);
    expect(await envelopeOf(id)).toMatchObject({
      definition: { hash: planOf(after).hash },
      action: { step_id: 'one' },
    });
    await store.answer(id, 'one#1', true);
    expect(await envelopeOf(id)).toMatchObject({ action: { step_id: 'three' } });
    await store.answer(id, 'three#1', true);
    expect(await envelopeOf(id)).toMatchObject({ status: 'completed', result: 'new' });
    const shown = JSON.parse((await runs('show', id, '--json', '--store', `sqlite:${store.path}`)).out);
    expect(shown).toMatchObject({ status: 'completed', definition: { hash: planOf(after).hash } });
    // The graph that no run has any more is gone.
    const database = new sqlite.DatabaseSync(store.path);
    expect(database.prepare('SELECT hash FROM graphs').all()).toEqual([{ hash: planOf(after).hash }]);
    database.close();
  });

  test('starts what it waited for in vain, as soon as a server looks for runs', async () => {
    const to = graph(
      [...chain(ask('one'), compute('c', lit('old')), ask('two'), done('out', step('c'))), ask('extra')],
      { name: 'order' },
    );
    expect((await migrate(to, id, '--apply')).code).toBe(0);
    await vi.waitFor(
      async () =>
        expect((await envelopeOf(id)).actions.map(({ step_id }) => step_id)).toEqual(['one', 'extra']),
      { timeout: 20_000 },
    );
  });

  test('moves although a command held it that was killed', async () => {
    const killed = await SqliteJournal.open(store.path, { leaseMs: 1_000 });
    expect(await killed.leases.claim(id)).toBeDefined();
    expect((await migrate(after, id, '--apply')).out).toBe(`${runRef(id)}  was moved\n`);
    await killed.close();
  });

  test('moves with all others of its workflow, once', async () => {
    const other = await store.start(before);
    await store.answer(other, 'one#1', true);
    const over = await store.start(before);
    await store.answer(over, 'one#1', true);
    await store.answer(over, 'two#1', true);
    const { code, out } = await migrate(after, '--workflow', 'order', '--apply', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out).runs).toEqual([
      {
        run: runRef(other),
        verdict: 'stays',
        reasons: [
          { step_id: 'c', reason: 'changed' },
          { step_id: 'two', reason: 'removed' },
        ],
      },
      { run: runRef(id), verdict: 'moved' },
    ]);
    const again = await migrate(after, '--workflow', 'order', '--apply');
    expect(again.out).toBe(
      `${runRef(other)}  stays: c: the step has started, and was changed; two: the step has started, and is no longer there\n`,
    );
    expect((await migrate(after, id)).out).toContain('has the workflow as it is now');
    expect((await migrate(order(ask('x')), '--workflow', 'none')).err).toContain(
      'no registry has the workflow `none`',
    );
  });

  test('takes an answer that comes at the same moment, once', async () => {
    const seen = new Set<unknown>();
    const journal = await SqliteJournal.open(store.path);
    const target = { graph: after, tools: {}, mapping: new Map(), secretInputs: () => [] };
    for (let round = 0; round < 40; round += 1) {
      const other = await store.start(before);
      // One of the two comes so many turns of the event loop after the other.
      const later = async (turns: number): Promise<void> => {
        for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      };
      const answer = later((round % 5) * 8).then(() => store.answer(other, 'one#1', true));
      const move = later(Math.floor(round / 8) * 8).then(() => moveRun(journal, other, target, 0));
      const [{ kind: verdict }] = await Promise.all([move, answer]);
      const { definition, action } = await vi.waitFor(
        async () => {
          const envelope = await envelopeOf(other);
          expect(envelope.action?.step_id).not.toBe('one');
          return envelope;
        },
        { timeout: 20_000 },
      );
      seen.add(verdict);
      expect([definition.hash, action?.step_id]).toEqual(
        verdict === 'moved' ? [planOf(after).hash, 'three'] : [planOf(before).hash, 'two'],
      );
      await store.answer(other, `${action?.step_id}#1`, true);
      expect(await envelopeOf(other)).toMatchObject({
        ...{ status: 'completed', result: verdict === 'moved' ? 'new' : 'old' },
      });
    }
    await journal.close();
    // A run that is moving on just then is held, and stays as it was.
    seen.delete('held');
    expect([...seen].sort()).toEqual(['moved', 'stays']);
  }, 60_000);

  test('can be forked at its last entry alone', async () => {
    await migrate(after, id, '--apply');
    const on = (at: string) => runs('fork', id, '--at', at, '--json', '--store', `sqlite:${store.path}`);
    expect((await on('1')).err).toContain('give `--at 2`');
    expect(JSON.parse((await on('2')).out)).toMatchObject({
      status: 'waiting',
      definition: { hash: planOf(after).hash },
    });
  });
});

test('a run stays where its workflow has secrets now', async () => {
  const to = order(ask('one'), compute('c', lit('old')), call('login', { pin: step('c') }));
  const secretInputs = (tool: string) => (tool === 'tool-login' ? ['pin'] : []);
  const journal = await SqliteJournal.open(store.path);
  const move = (target: Graph, secret: (tool: string) => readonly string[]) =>
    moveRun(journal, id, { graph: target, tools: {}, mapping: new Map(), secretInputs: secret }, 0);
  const unchanged = await envelopeOf(id);
  expect(await move(to, secretInputs)).toEqual({ kind: 'stays', reasons: [{ reason: 'secrets' }] });
  expect(await envelopeOf(id)).toEqual(unchanged);
  expect(await move(to, () => [])).toEqual({ kind: 'moved' });
  await journal.close();
});

describe('a run whose step has another id', () => {
  const renamed = order(ask('one'), compute('value', lit('old')), ask('two'), done('out', step('value')));
  const mapping = (text: string): string => {
    const file = store.file('mapping.json');
    writeFileSync(file, text);
    return file;
  };

  test('moves with a mapping', async () => {
    await store.answer(id, 'one#1', true);
    const { code, out } = await migrate(renamed, id, '--apply');
    expect([code, out]).toEqual([1, `${runRef(id)}  needs a mapping: --mapping with {"c":"value"}\n`]);
    const moved = await migrate(renamed, id, '--apply', '--mapping', mapping('{"c":"value"}'));
    expect(moved).toEqual({ code: 0, err: '', out: `${runRef(id)}  was moved\n` });
    await store.answer(id, 'two#1', true);
    expect(await envelopeOf(id)).toMatchObject({ status: 'completed', result: 'old' });
  });

  test.each([
    ['{', 'is not valid JSON'],
    ['["c"]', 'is not a JSON object: write `{ "old-step": "new-step" }`'],
    ['{"c":1}', 'gives `c` no text'],
    ['{"d":"value"}', 'step `d` the id `value`: the run has no such step'],
    ['{"c":"other"}', 'step `c` the id `other`: the workflow has no step of that id now'],
    ['{"c":"value","out":"value"}', 'it has another step as well'],
    ['{"two":"value"}', 'has not ended'],
  ])('does not move with the mapping %s', async (text, message) => {
    await store.answer(id, 'one#1', true);
    const unchanged = rows();
    const { code, out, err } = await migrate(renamed, id, '--apply', '--mapping', mapping(text));
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)]);
    expect(rows()).toEqual(unchanged);
  });
});

test.each([
  [[], 'takes either a run or `--workflow NAME`'],
  [['RUN', '--workflow', 'order'], 'takes either a run or `--workflow NAME`'],
  [['run-9'], 'has no run `run-9`'],
  [['../runs.db'], 'has no run `../runs.db`'],
  [['RUN', '--mapping', 'none.json'], 'cannot be read: ENOENT'],
])('migrate %j is refused', async (args, message) => {
  const { code, out, err } = await migrate(after, ...args.map((arg) => (arg === 'RUN' ? id : arg)));
  expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)]);
});

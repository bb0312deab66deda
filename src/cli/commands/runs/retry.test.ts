import { expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { planOf } from '../../../plan/compile.js';
import {
  ask,
  body,
  foreach,
  item,
  parallel,
  runs as runsWorkflow,
  undo,
  wait,
  withTasks,
} from '../../../runtime/engine/constructs.fixture.js';
import { effectiveEvents, Replay } from '../../../runtime/engine/fork.js';
import { call, chain, done, graph, lit, step, stop } from '../../../runtime/engine/graph.fixture.js';
import { snapshot } from '../../../runtime/engine/snapshot.js';
import { SqliteReader } from '../../../runtime/runs/store/sqlite/store-reader.js';
import { broken, ok } from '../../../runtime/runs/store.fixture.js';
import { runRef } from '../../../runtime/tools/port.js';
import { runs, ServedStore } from './store.fixture.js';

const store = new ServedStore();

const on = (...args: readonly string[]) => runs(...args, '--store', `sqlite:${store.path}`);

async function shown(ref: string): Promise<JsonObject> {
  return JSON.parse((await on('show', ref, '--json')).out) as JsonObject;
}

/** Tools that note their calls. `b` fails while the upstream is away. */
function tools(...names: readonly string[]) {
  const calls: { readonly name: string; readonly input: JsonObject; readonly key: string | undefined }[] = [];
  const upstream = { isAway: true };
  for (const name of names)
    store.tools[`tool-${name}`] = (input, { idempotencyKey }) => {
      calls.push({ name, input, key: idempotencyKey });
      return name === 'b' && upstream.isAway ? broken('connection refused') : ok(name);
    };
  return { calls, upstream, named: (name: string) => calls.filter((each) => each.name === name) };
}

async function failed(of: Graph): Promise<string> {
  store.served({ leaseMs: 400 });
  const id = await store.start(of);
  const ref = runRef(id);
  await vi.waitFor(async () => expect(await shown(ref)).toMatchObject({ status: 'failed' }), 10_000);
  return ref;
}

/** The log of a run leads to its rows, also where it was reopened. */
async function checkLog(ref: string): Promise<void> {
  const reader = await SqliteReader.open(store.path);
  const [head] = reader.find(ref);
  const read = head && reader.read(head);
  if (head === undefined || read === undefined) throw new Error('the run is not there');
  const start = read.loaded.rows.find(({ table }) => table === 'start');
  if (start?.table !== 'start') throw new Error('the run has no start');
  const replay = new Replay(planOf(read.graph), head.id, start.row, () => {});
  for (const events of effectiveEvents(reader.entries(head, 1, head.seq))) replay.apply(events);
  const texts = (rows: typeof read.loaded.rows) =>
    rows.map(({ table, key, row }) => JSON.stringify([table, key, row])).sort();
  expect(texts(snapshot(replay.state))).toEqual(texts(read.loaded.rows));
  reader.close();
}

const items = foreach(
  'each',
  lit([1, 2, 3]),
  body(chain(call('a', { n: item('item') }), call('b', { n: item('item') }))),
);

const GRAPHS: Readonly<
  Record<string, { readonly of: Graph; readonly calls: Readonly<Record<string, number>> }>
> = {
  'a chain': {
    of: graph(chain(call('a'), call('b', { a: step('a') }), call('c'), done('out', step('c')))),
    calls: { a: 1, b: 2, c: 1 },
  },
  'steps that stopped with it': {
    of: graph([...chain(call('a'), call('b')), ...chain(wait('w', { durationMs: lit(1) }), call('c'))]),
    calls: { a: 1, b: 2, c: 1 },
  },
  'a loop': { of: graph(chain(items, call('c'))), calls: { a: 3, b: 4, c: 1 } },
  'a workflow': {
    of: withTasks(
      graph(chain(call('a'), runsWorkflow('sub', 'inner'), call('c'))),
      graph(chain(call('d'), call('b')), { name: 'inner' }),
    ),
    calls: { a: 1, d: 1, b: 2, c: 1 },
  },
  branches: {
    of: graph(
      chain(
        call('a'),
        parallel('both', { one: body([call('b')]), two: body([call('d')]) }, { onPartialFailure: 'abort' }),
        call('c'),
      ),
    ),
    calls: { a: 1, b: 2, d: 1, c: 1 },
  },
};

test.each(Object.entries(GRAPHS))('a run that failed is reopened: %s', async (_, { of, calls: expected }) => {
  const { calls, upstream, named } = tools('a', 'b', 'c', 'd');
  const ref = await failed(of);
  upstream.isAway = false;
  const answer = await on('retry', ref, '--by', 'ann', '--reason', 'the upstream is back');
  expect(answer).toEqual({ code: 0, out: expect.stringContaining(`run ${ref} has taken it\n`), err: '' });
  await vi.waitFor(async () => {
    store.clock.pass(1);
    expect(await shown(ref)).toMatchObject({ status: 'completed' });
  }, 10_000);
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, named(name).length]))).toEqual(
    expected,
  );
  const [first, ...others] = named('b').filter(
    ({ input }) => JSON.stringify(input) === JSON.stringify(named('b')[0]?.input),
  );
  expect(first?.key).toBeDefined();
  expect(others.map(({ key }) => key)).toEqual([first?.key]);
  expect(new Set(calls.map(({ key }) => key)).size).toBe(calls.length - 1);
  expect((await on('events', ref)).out).toMatch(
    /retryRequested .*"name":"ann","reason":"the upstream is back"/,
  );
  await checkLog(ref);
});

test('a run that fails again is reopened again, and questions that ended with it are open', async () => {
  const { upstream, named } = tools('a', 'b');
  const ref = await failed(graph([...chain(call('a'), call('b', {}, { timeoutMs: 60_000 })), ask('sure')]));
  expect(await on('retry', ref)).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect(await shown(ref)).toMatchObject({ status: 'failed' }), 10_000);
  upstream.isAway = false;
  expect(await on('retry', ref)).toMatchObject({ code: 0 });
  await vi.waitFor(() => expect(named('b')).toHaveLength(3), 10_000);
  await vi.waitFor(async () => expect(await shown(ref)).toMatchObject({ status: 'waiting' }), 10_000);
  expect(await shown(ref)).not.toHaveProperty('ended_at');
  await store.answer('run-1', 'sure#1', true);
  expect(await shown(ref)).toMatchObject({ status: 'completed' });
  expect(named('a')).toHaveLength(1);
  await checkLog(ref);
});

test('without a server the next one continues it', async () => {
  const { upstream, named } = tools('a', 'b');
  const ref = await failed(graph(chain(call('a'), call('b'), done('out', step('b')))));
  await store.close();
  upstream.isAway = false;
  const { code, out } = await on('retry', ref, '--wait', '0');
  expect([code, out]).toEqual([0, expect.stringContaining('the next one that uses the store does')]);
  await store.served({}).resumeAll();
  await vi.waitFor(async () => expect(await shown(ref)).toMatchObject({ result: 'b' }), 10_000);
  expect([named('a').length, named('b').length]).toEqual([1, 2]);
});

test.each<[string, Graph, string]>([
  ['its workflow', graph(chain(call('a'), stop('no'))), "its workflow at step 'no', with E_FAIL"],
  [
    'undone effects',
    graph(chain(call('a', {}, { compensate: undo('tool-u') }), call('b')), { onFailure: 'undo' }),
    "acted on its failure, in step 'a'",
  ],
  [
    'a branch that was rolled back',
    graph([
      parallel(
        'both',
        { one: body([call('a', {}, { compensate: undo('tool-u') })]), two: body([call('b')]) },
        { onPartialFailure: 'rollback' },
      ),
    ]),
    'acted on its failure',
  ],
  [
    'later steps',
    graph([call('b'), call('c', {}, { after: ['b'], join: 'all_done' })], {
      errorStrategy: { kind: 'collect' },
    }),
    "in step 'c'",
  ],
  [
    'another failure',
    graph([call('b'), ...chain(call('a'), stop('no'))], { errorStrategy: { kind: 'collect' } }),
    'by its workflow',
  ],
])('a run is not reopened because of %s', async (_, of, why) => {
  tools('a', 'b', 'c', 'u');
  const ref = await failed(of);
  const before = (await on('show', ref)).out;
  const { code, err } = await on('retry', ref);
  expect([code, err]).toEqual([1, expect.stringContaining(why)]);
  expect((await on('show', ref)).out).toBe(before);
  expect(await on('retry', ref, '--call', 'b')).toMatchObject({ code: 2 });
});

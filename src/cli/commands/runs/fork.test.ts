import { writeFileSync } from 'node:fs';
import * as sqlite from '@photostructure/sqlite';
import { describe, expect, test, vi } from 'vitest';
import { ask } from '../../../runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, lit, step } from '../../../runtime/engine/graph.fixture.js';
import { type ForkSource, forkAt } from '../../../runtime/runs/operate/fork.js';
import { runStubbed } from '../../../runtime/runs/operate/stubbed-run.js';
import type { Waiter } from '../../../runtime/runs/run-store.js';
import { SqliteReader } from '../../../runtime/runs/store/sqlite/store-reader.js';
import { ada, envelopeIn, never, ok } from '../../../runtime/runs/store.fixture.js';
import { runRef } from '../../../runtime/tools/port.js';
import type { Registry } from '../../../runtime/tools/registry.js';
import { runs, ServedStore } from './store.fixture.js';

const store = new ServedStore();

const undo = (id: string) => ({
  tool: `undo-${id}`,
  input: { kind: 'dict', entries: [{ key: 'of', value: step(id) }] } as const,
});
const order = graph(
  chain(
    ask('sure'),
    call('a', { x: lit(1) }, { compensate: undo('a') }),
    call('b', { x: step('a') }),
    ask('more'),
    done('out', step('b')),
  ),
  { name: 'order' },
);

const on = (...args: readonly string[]) => runs(...args, '--store', `sqlite:${store.path}`);

/** A run that has called `a` with entry 3 and `b` with entry 4, and waits. */
async function waiting(): Promise<{
  readonly id: string;
  readonly called: string[];
  readonly keys: Set<string>;
}> {
  const called: string[] = [];
  const keys = new Set<string>();
  for (const name of ['tool-a', 'tool-b', 'undo-a'])
    store.tools[name] = (input, { idempotencyKey = '' }) => {
      called.push(name);
      keys.add(idempotencyKey);
      return ok(input);
    };
  store.served({ leaseMs: 100 });
  const id = await store.start(order);
  await store.answer(id, 'sure#1', true);
  return { id, called, keys };
}

const waiter: Waiter = {
  answerMs: 1_000,
  request: { signal: new AbortController().signal, requestId: '1', progress: () => {}, principal: ada },
};

async function readRun(id: string): Promise<ForkSource> {
  const reader = await SqliteReader.open(store.path);
  const [head] = reader.find(id);
  const read = head && reader.read(head);
  if (read === undefined) throw new Error(`there is no run ${id}`);
  const entries = reader.entries(read.head, 1, read.head.seq);
  reader.close();
  return { loaded: read.loaded, graph: read.graph, entries };
}

/** All rows of the first run. */
function rows(): unknown {
  const database = new sqlite.DatabaseSync(store.path);
  const tables = ['entries', 'state', 'host', 'inbox', 'responses', 'uses'];
  const all = tables.map((table) => database.prepare(`SELECT * FROM ${table} WHERE run = 1`).all());
  const head = database.prepare('SELECT * FROM runs WHERE n = 1').all();
  database.close();
  return [...all, head];
}

const viewOf = async (name: string) => JSON.parse((await on('show', name, '--json')).out);

describe('a fork with stubs', () => {
  test('goes on to the next question without a call, keeps nothing, and leaves the other run as it is', async () => {
    const { id, called } = await waiting();
    const before = rows();
    const { code, out } = await on('fork', id, '--at', '3', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      status: 'waiting',
      forked_from: { run: runRef(id), entry: 3, effects: [{ step_id: 'a', tool: 'tool-a' }] },
      steps: [
        { step_id: 'sure', status: 'succeeded' },
        { step_id: 'a', status: 'succeeded' },
        { step_id: 'b', status: 'succeeded' },
        { step_id: 'more', status: 'waiting' },
        { step_id: 'out', status: 'pending' },
      ],
      actions: [{ action_id: 'more#1' }],
      stubbed_calls: [{ step_id: 'b', tool: 'tool-b', input: { x: { x: 1 } }, result: null, stub: 'null' }],
    });
    expect(JSON.parse(out).run).not.toBe(runRef(id));
    const text = (await on('fork', id, '--at', '2')).out;
    expect(text).toContain('stubbed calls:\n  a: tool-a {"x":1} (null)\n  b: tool-b {"x":null} (null)\n');
    expect(text).toContain('is not kept');
    expect(called).toEqual(['tool-a', 'tool-b']);
    expect(rows()).toEqual(before);
    expect(JSON.parse((await on('list', '--json')).out).runs).toHaveLength(1);
  });

  test('takes results from a file, and else from the output schemas of a registry', async () => {
    const { id } = await waiting();
    const stubs = store.file('stubs.json');
    writeFileSync(stubs, '{ "tool-b": { "y": 2 } }');
    const calls = async (...args: string[]) =>
      JSON.parse((await on('fork', id, '--at', '2', '--json', ...args)).out).stubbed_calls;
    expect(await calls('--stubs', stubs)).toMatchObject([
      { tool: 'tool-a', result: null, stub: 'null' },
      { tool: 'tool-b', result: { y: 2 }, stub: 'given' },
    ]);
    const read = await readRun(id);
    const fork = forkAt(read, { entry: 2, id: 'new', now: 0 });
    if ('why' in fork) throw new Error(fork.why);
    const schema = {
      type: 'object',
      properties: { n: { minimum: 3, type: 'integer' } },
      required: ['n'],
    } as const;
    const inputSchema = { type: 'object', additionalProperties: true };
    const tools = {
      'tool-a': { inputSchema, outputSchema: schema },
      'tool-b': { inputSchema },
    } as unknown as Registry['tools'];
    expect(await runStubbed(fork, { results: { 'tool-b': [{ value: 'given' }] }, tools })).toMatchObject({
      calls: [
        { tool: 'tool-a', result: { n: 3 }, stub: 'schema' },
        { tool: 'tool-b', input: { x: { n: 3 } }, result: 'given', stub: 'given' },
      ],
    });
  });
});

describe('a fork with --real', () => {
  test('is taken up by the server, with calls of its own, while the other run stays as it is', async () => {
    const { id, called, keys } = await waiting();
    const before = rows();
    const { code, out, err } = await on('fork', id, '--at', '3', '--real', '--yes');
    expect([code, err]).toEqual([
      0,
      expect.stringContaining('which the new run may make again:\n  b: tool-b, retry safety none\n'),
    ]);
    expect(err).toContain('effects of the other run, which this one does not undo:\n  a: tool-a\n');
    const [, ref = ''] = /run `([0-9a-f]{12})` begins/.exec(out) ?? [];
    await vi.waitFor(async () => expect(await viewOf(ref)).toMatchObject({ status: 'waiting' }), {
      timeout: 20_000,
    });
    expect(await viewOf(ref)).toMatchObject({
      forked_from: { run: runRef(id), entry: 3 },
      owner: { kind: 'principal', subject: 'ada' },
      actions: [{ action_id: 'more#1' }],
      calls: [],
    });
    expect(called).toEqual(['tool-a', 'tool-b', 'tool-b']);
    expect(keys.size).toBe(3);
    expect(rows()).toEqual(before);
    // Its owner reaches it.
    const [fork] = await store.served().list(ada);
    expect(fork).toMatchObject({ status: 'waiting', open_actions: ['more#1'] });
    await store.answer(fork?.workflow_id ?? '', 'more#1', true);
    expect(await viewOf(ref)).toMatchObject({ status: 'completed', result: { x: { x: 1 } } });
    expect(await viewOf(id)).toMatchObject({ status: 'waiting' });
  });

  test('undoes nothing of the other run, and says so', async () => {
    const { id, called } = await waiting();
    await on('fork', id, '--at', '4', '--real', '--yes', '--json');
    const [fork] = await store.served().list(ada);
    const ended = envelopeIn(
      await store.served().cancel(ada, fork?.workflow_id ?? '', { compensate: true }, waiter),
    );
    expect(ended).toMatchObject({
      status: 'cancelled',
      forked_from: { effects: [{ step_id: 'a' }, { step_id: 'b' }] },
      error: { not_undone: [{ step: 'a', tool: 'undo-a' }] },
    });
    expect(JSON.stringify(ended.error)).toContain('alone may undo it');
    expect(called).toEqual(['tool-a', 'tool-b']);
    // The run itself undoes its own.
    const own = envelopeIn(await store.served().cancel(ada, id, { compensate: true }, waiter));
    expect(own.error?.undone).toEqual(['a']);
    expect(called).toEqual(['tool-a', 'tool-b', 'undo-a']);
  });

  test('is refused without an answer to the question', async () => {
    const { id } = await waiting();
    const { code, err } = await on('fork', id, '--at', '3', '--real');
    expect([code, err]).toEqual([2, expect.stringContaining('add `--yes`')]);
    expect(JSON.parse((await on('list', '--json')).out).runs).toHaveLength(1);
  });

  test('of a fork is refused before its last entry', async () => {
    const { id } = await waiting();
    const { out } = await on('fork', id, '--at', '3', '--real', '--yes', '--json');
    const { run } = JSON.parse(out);
    await vi.waitFor(async () => expect(await viewOf(run)).toMatchObject({ entries: 2 }), {
      timeout: 20_000,
    });
    const refused = await on('fork', run, '--at', '1');
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('give `--at 2`')]);
    const again = JSON.parse((await on('fork', run, '--at', '2', '--json')).out);
    expect(again).toMatchObject({
      forked_from: { run, entry: 2, effects: [{ step_id: 'a' }, { step_id: 'b' }] },
      stubbed_calls: [],
    });
  });
});

test.each<[string[], string, number?]>([
  [['run-9', '--at', '1'], 'has no run `run-9`'],
  [['../../etc/passwd', '--at', '1'], 'has no run `../../etc/passwd`'],
  [[], 'needs `--at N`'],
  [['--at', '1'], 'needs a run'],
  [['RUN'], 'needs `--at N`'],
  [['RUN', '--at', '0'], 'whole number from 1'],
  [['RUN', '--at', '5'], 'has no entry 5: give an entry from 1 to 4'],
  [['RUN', '--at', '1', '--yes'], '`--yes` is for `--real`'],
  [['RUN', '--at', '1', '--real', '--stubs', 'x.json'], '`--stubs` is for a fork without `--real`'],
  [
    ['RUN', '--at', '1', '--stubs', 'none.json'],
    'SW5019: `none.json` cannot be read: there is no such file',
    1,
  ],
  [['RUN', '--at', '1', '--stubs', 'FILE:{'], 'error SW5', 1],
  [['RUN', '--at', '1', '--stubs', 'FILE:[1]'], 'SW9029: the stubs are not an object', 1],
  [
    ['RUN', '--at', '1', '--stubs', 'FILE:{"tool-z": 1}'],
    'SW9028: workflow `order` has no step that takes a stub, tool or resource `tool-z`',
    1,
  ],
])('fork %j is refused', async (args, message, exit = 2) => {
  const { id } = await waiting();
  const given = args.map((arg) => {
    if (arg === 'RUN') return id;
    if (!arg.startsWith('FILE:')) return arg;
    const file = store.file('given.json');
    writeFileSync(file, arg.slice(5));
    return file;
  });
  const { code, out, err } = await on('fork', ...given);
  expect([code, out, err]).toEqual([exit, '', expect.stringContaining(message)]);
});

test('a run cannot be forked where it is over, or undoes what it did', async () => {
  const { id } = await waiting();
  await store.answer(id, 'more#1', true);
  const over = await on('fork', id, '--at', '5');
  expect([over.code, over.err]).toEqual([2, expect.stringContaining('is over at entry 5')]);
  expect((await on('fork', id, '--at', '4')).code).toBe(0);
});

test('a run cannot be forked where it undoes what it did', async () => {
  const { id } = await waiting();
  store.tools['undo-a'] = never;
  void store.served().cancel(ada, id, { compensate: true }, waiter);
  const message = 'undoes its effects at entry 5: give an entry before that';
  await expect.poll(async () => (await on('fork', id, '--at', '5')).err).toContain(message);
  expect((await on('fork', id, '--at', '4')).code).toBe(0);
});

import { describe, expect, test } from 'vitest';
import {
  ask,
  body,
  foreach,
  item,
  parallel,
  runs,
  wait,
  withTasks,
} from '../../engine/constructs.fixture.js';
import { again, call, chain, done, graph, input, lit, step } from '../../engine/graph.fixture.js';
import { ada, broken, envelopeIn, never, ok, Store, settle, type Tool } from '../store.fixture.js';

/** Fails for these items, each with its own sentence. */
const failingFor =
  (...bad: readonly unknown[]): Tool =>
  ({ n }) =>
    bad.includes(n) ? broken(`no ${JSON.stringify(n)}`) : ok({ n: n ?? null });

const each = (options: Parameters<typeof foreach>[3] = {}, items = lit([1, 2, 3])) =>
  foreach('each', items, body([call('a', { n: item('item') })], step('a')), {
    onItemError: 'continue',
    ...options,
  });

describe('items that failed in a loop that went on', () => {
  test('are told with the result', async () => {
    const store = new Store({ 'tool-a': failingFor(1, 3) });
    const envelope = await store.start(graph(chain(each(), done('out', step('each')))));
    expect(envelope).toMatchObject({
      status: 'completed',
      result: [null, { n: 2 }, null],
      remains: {
        failed_items: [
          { step: 'each', index: 0, code: 'E_TOOL_ERROR', message: 'no 1' },
          { step: 'each', index: 2, code: 'E_TOOL_ERROR', message: 'no 3' },
        ],
      },
    });
    expect(envelope.remains?.failed_items).toHaveLength(2);
  });

  test('are told with the failure of the run', async () => {
    const store = new Store({ 'tool-a': failingFor(2), 'tool-b': () => broken('down') });
    expect(await store.start(graph(chain(each(), call('b'))))).toMatchObject({
      status: 'failed',
      error: { message: 'down', failed_items: [{ step: 'each', index: 1, message: 'no 2' }] },
    });
  });

  test('are those of the last attempt of their loop', async () => {
    const seen: unknown[] = [];
    const store = new Store({
      'tool-a': (given, context) => {
        seen.push(given.n);
        return failingFor(seen.length <= 3 ? 1 : 3)(given, context);
      },
      'tool-b': () => (seen.length <= 3 ? broken('again') : ok(1)),
    });
    const twice = foreach('outer', lit([0]), body([each(), call('b', {}, { after: ['each'] })]), {
      retry: again(1),
    });
    const envelope = await store.start(graph(chain(twice, done('out', step('outer')))));
    await settle();
    expect(envelope.remains?.failed_items?.map(({ step: of, index }) => [of, index])).toEqual([
      ['each[0]', 2],
    ]);
  });

  test('are masked, and listed up to a number', async () => {
    const store = new Store({ 'tool-a': () => broken('hunter22 is wrong') });
    const secret = { name: 'pin', description: '', schema: {}, required: true, secret: true };
    const items = lit(Array.from({ length: 60 }, (_, n) => n));
    const of = graph(chain(each({}, items), done('out', lit(1))), { inputs: [secret] });
    const { remains } = await store.start(of, { pin: 'hunter22' });
    expect(remains?.failed_items).toHaveLength(50);
    expect(remains?.failed_items?.[0]?.message).toBe('•••• is wrong');
    expect(remains?.failed_items_omitted).toBe(10);
  });

  test('of a loop that fails are told by its failure', async () => {
    const store = new Store({ 'tool-a': failingFor(2) });
    const { error } = await store.start(graph([each({ onItemError: 'fail' })]));
    expect(error).toMatchObject({ details: { index: 1 } });
    expect(error).not.toHaveProperty('failed_items');
  });
});

describe('the status of a running run', () => {
  test('names the steps that run and that wait', async () => {
    const store = new Store({
      'tool-slow': never,
      'tool-bad': () => ({
        ok: false,
        attempted: true,
        failure: { code: 'E', message: 'no', retryAfterMs: 9_000 },
      }),
    });
    const inner = graph([call('slow')], { name: 'inner' });
    const of = withTasks(
      graph([
        parallel('all', {
          one: body([call('slow')]),
          two: body([runs('sub', 'inner')]),
          three: body([ask('sure')]),
          four: body([wait('nap', { durationMs: lit(5_000) })]),
          five: body([call('bad', {}, { retry: again(1) })]),
        }),
      ]),
      inner,
    );
    void store.start(of);
    await settle();
    expect(await store.get('run-1')).toMatchObject({
      status: 'running',
      running_steps: ['slow', 'sub/slow'],
      waiting_steps: [
        { step_id: 'sure', for: 'answer' },
        { step_id: 'nap', for: 'time', until: '1970-01-01T00:00:06.000Z' },
        { step_id: 'bad', for: 'retry', until: '1970-01-01T00:00:10.000Z' },
      ],
    });
  });

  test('says nothing of it once the run waits or is over', async () => {
    const store = new Store();
    const waiting = await store.start(graph([ask('sure')]));
    const end = envelopeIn(await store.submit('run-1', { result: true }));
    for (const envelope of [waiting, end]) expect(envelope).not.toHaveProperty('running_steps');
  });
});

test('a list of runs has their arguments, without secrets and what is too large', async () => {
  const store = new Store();
  const argument = (name: string, more = {}) => ({
    name,
    description: '',
    schema: {},
    required: true,
    ...more,
  });
  const of = graph(chain(ask('sure'), done('out', input('city'))), {
    inputs: [argument('city'), argument('pin', { secret: true }), argument('note'), argument('long')],
  });
  await store.start(of, { city: 'Rome', pin: '12', note: 'the pin is hunter22', long: 'x'.repeat(2_000) });
  await store.start(of, { city: 'Oslo', pin: 'hunter22', note: 'the pin is hunter22', long: '' });
  expect(await store.store.list(ada)).toMatchObject([
    { arguments: { city: 'Oslo', pin: '••••', note: 'the pin is ••••', long: '' } },
    {
      started_at: '1970-01-01T00:00:01.000Z',
      arguments: { city: 'Rome', pin: '••••' },
      arguments_omitted: ['long'],
    },
  ]);
});

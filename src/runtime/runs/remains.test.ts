import { describe, expect, test } from 'vitest';
import {
  ask,
  body,
  branch,
  compensate,
  foreach,
  item,
  parallel,
  runs,
  set,
  undo,
  withTasks,
} from '../engine/constructs.fixture.js';
import { call, chain, graph, input, lit, step } from '../engine/graph.fixture.js';
import type { ToolOutcome } from '../tools/port.js';
import { ada, broken, never, ok, Store, settle } from './store.fixture.js';

const made = (id: string) =>
  call(id, {}, { compensate: undo('tool-undo', { id: step(id, 'id'), pin: lit('0000') }) });
const makes = (id: string) => () => ok({ id });
const tools = { 'tool-a': makes('A'), 'tool-b': makes('B'), 'tool-c': makes('C') };
const cancel = (store: Store, compensate: boolean) =>
  store.store.cancel(ada, 'run-1', { compensate }, store.waiter());

/** Fails for the thing of this id. */
const undoes = (bad?: string) => (given: { readonly id?: unknown }) =>
  given.id === bad ? broken(`cannot undo ${bad}`) : ok('undone');

describe('a run that is cancelled and undone', () => {
  const of = graph(chain(made('a'), made('b'), made('c'), ask('sure')));

  test('tells what was undone, and shows none of it as a result', async () => {
    const store = new Store({ ...tools, 'tool-undo': undoes() });
    await store.start(of);
    expect(await cancel(store, true)).toMatchObject({ envelope: { status: 'cancelled' } });
    const { error } = await store.get('run-1');
    expect(error).toEqual({
      code: 'E_CANCELLED',
      message: 'The run was cancelled: the caller cancelled it',
      details: { compensation: { done: ['tool-undo', 'tool-undo', 'tool-undo'], failed: [], not_run: [] } },
      partial: {},
      undone: ['a', 'b', 'c'],
      undone_calls: [
        { step: 'c', tool: 'tool-undo', input: { id: 'C', pin: '0000' } },
        { step: 'b', tool: 'tool-undo', input: { id: 'B', pin: '0000' } },
        { step: 'a', tool: 'tool-undo', input: { id: 'A', pin: '0000' } },
      ],
    });
  });

  test('names the remaining side effects where a compensation failed, with the call that undoes it', async () => {
    const store = new Store({ ...tools, 'tool-undo': undoes('B') });
    await store.start(of);
    await cancel(store, true);
    const failure = { code: 'E_TOOL_ERROR', message: 'cannot undo B' };
    expect((await store.get('run-1')).error).toMatchObject({
      details: {
        compensation: {
          done: ['tool-undo'],
          failed: [{ tool: 'tool-undo', failure }],
          not_run: ['tool-undo'],
        },
      },
      partial: { a: { id: 'A' }, b: { id: 'B' } },
      undone: ['c'],
      not_undone: [
        { step: 'b', tool: 'tool-undo', input: { id: 'B', pin: '0000' } },
        { step: 'a', tool: 'tool-undo', input: { id: 'A', pin: '0000' } },
      ],
    });
  });

  test('without `compensate` nothing was to be undone', async () => {
    const store = new Store(tools);
    await store.start(of);
    await cancel(store, false);
    const { error } = await store.get('run-1');
    expect(Object.keys(error ?? {})).toEqual(['code', 'message', 'partial']);
    expect(Object.keys(error?.partial ?? {})).toEqual(['a', 'b', 'c']);
  });

  test('finds side effects in items and other workflows, and omits partly undone ones from the results', async () => {
    const task = graph([made('a')], { name: 'task' });
    const loop = foreach(
      'each',
      lit(['x', 'y', 'z']),
      body([
        call('make', { id: item('item') }, { compensate: undo('tool-undo', { id: step('make', 'id') }) }),
      ]),
    );
    const store = new Store({
      ...tools,
      'tool-make': ({ id }) => ok({ id: id ?? null }),
      'tool-undo': undoes('y'),
    });
    await store.start(withTasks(graph(chain(runs('sub', 'task'), loop, ask('sure'))), task));
    await cancel(store, true);
    expect((await store.get('run-1')).error).toMatchObject({
      partial: { sub: null },
      undone: ['each'],
      undone_calls: [{ step: 'make[2]', tool: 'tool-undo', input: { id: 'z' } }],
      not_undone: [
        { step: 'make[1]', tool: 'tool-undo', input: { id: 'y' } },
        { step: 'make[0]', tool: 'tool-undo', input: { id: 'x' } },
        { step: 'sub/a', tool: 'tool-undo' },
      ],
    });
  });

  test('lists no more calls than anybody reads, and counts the others', async () => {
    const loop = foreach('each', lit(Array.from({ length: 70 }, (_, index) => index)), body([made('a')]));
    const store = new Store({ ...tools, 'tool-undo': undoes('A') });
    await store.start(graph(chain(loop, ask('sure'))));
    await cancel(store, true);
    const { error } = await store.get('run-1');
    expect([error?.not_undone?.length, error?.not_undone_omitted]).toEqual([50, 20]);
  });

  test('lists no more undone calls than anybody reads, and counts the others', async () => {
    const loop = foreach('each', lit(Array.from({ length: 70 }, (_, index) => index)), body([made('a')]));
    const store = new Store({ ...tools, 'tool-undo': undoes() });
    await store.start(graph(chain(loop, ask('sure'))));
    await cancel(store, true);
    const { error } = await store.get('run-1');
    expect([error?.undone_calls?.length, error?.undone_calls_omitted]).toEqual([50, 20]);
  });

  test('shows no secret of a compensation that was made', async () => {
    const store = new Store({ ...tools, 'tool-login': () => ok('undone') });
    const secretly = call(
      'a',
      {},
      { compensate: undo('tool-login', { pin: lit('4711'), id: step('a', 'id') }) },
    );
    await store.start(graph(chain(secretly, ask('sure'))));
    await cancel(store, true);
    expect((await store.get('run-1')).error?.undone_calls).toEqual([
      { step: 'a', tool: 'tool-login', input: { pin: '••••', id: 'A' } },
    ]);
  });

  test('names the steps of a `compensate` node, and calls that nothing else says how to undo', async () => {
    const clean = compensate('clean', [
      undo('tool-undo', { id: lit('X') }),
      undo('tool-undo', { id: lit('B') }),
    ]);
    const nodes = [call('bad', {}, { onError: { fallbackNode: 'clean' } }), clean];
    const store = new Store({ 'tool-bad': () => broken('no'), 'tool-undo': undoes('B') });
    await store.start(graph(nodes));
    expect((await store.get('run-1')).error).toMatchObject({
      undone_calls: [{ step: 'clean', tool: 'tool-undo', input: { id: 'X' } }],
      not_undone: [{ step: 'clean', tool: 'tool-undo', input: { id: 'B' } }],
    });
  });

  test('shows no secret of a compensation that was never made', async () => {
    const derived = { kind: 'call', fn: 'toUpperCase.js', args: [input('token')] } as const;
    const secretly = call(
      'a',
      {},
      { compensate: undo('tool-login', { key: derived, pin: lit('4711'), id: step('a', 'id') }) },
    );
    const store = new Store({ ...tools, 'tool-undo': undoes('B') });
    const token = { name: 'token', description: '', schema: {}, required: true, secret: true };
    await store.start(graph(chain(secretly, made('b'), ask('sure')), { inputs: [token] }), {
      token: 'sesame',
    });
    await cancel(store, true);
    expect((await store.get('run-1')).error?.not_undone?.[1]).toEqual({
      step: 'a',
      tool: 'tool-login',
      input: { key: '••••', pin: '••••', id: 'A' },
    });
  });

  test('shows no secret of a step of a `compensate` node, however short', async () => {
    const key = { kind: 'get', of: input('token'), key: lit('length') } as const;
    const clean = compensate('clean', [undo('tool-bad'), undo('tool-other', { key, of: lit('all') })]);
    const token = { name: 'token', description: '', schema: {}, required: true, secret: true };
    const nodes = [call('bad', {}, { onError: { fallbackNode: 'clean' } }), clean];
    const store = new Store({ 'tool-bad': () => broken('no') });
    await store.start(graph(nodes, { inputs: [token] }), { token: 'sesame' });
    expect((await store.get('run-1')).error?.not_undone).toEqual([
      { step: 'clean', tool: 'tool-bad', input: {} },
      { step: 'clean', tool: 'tool-other', input: { key: '••••', of: 'all' } },
    ]);
  });
});

describe('an undoing without an answer', () => {
  const of = graph(chain(made('a'), made('b'), ask('sure')));
  const tool = ({ id }: { readonly id?: unknown }) => (id === 'B' ? never() : ok('undone'));

  test('is told once: the call may be undone', async () => {
    const store = new Store({ ...tools, 'tool-undo': tool });
    await store.start(of);
    void cancel(store, true);
    await settle();
    store.clock.pass(60_000);
    await settle();
    const { status, error } = await store.get('run-1');
    expect(status).toBe('cancelled');
    expect(error).toMatchObject({
      outcome_unknown: true,
      details: { compensation: { failed: [{ failure: { code: 'E_TIMEOUT', outcome_unknown: true } }] } },
      not_undone: [
        { step: 'b', tool: 'tool-undo', input: { id: 'B', pin: '0000' }, outcome_unknown: true },
        { step: 'a', tool: 'tool-undo', input: { id: 'A', pin: '0000' } },
      ],
    });
    expect(error?.not_undone?.[1]).not.toHaveProperty('outcome_unknown');
    expect(error).not.toHaveProperty('unknown_outcomes');
  });

  test('goes on when the run is cancelled, and is told by how it ends', async () => {
    let tries = 0;
    let give: (outcome: ToolOutcome) => void = () => {};
    const branches = { left: body([made('b')]), bad: body([call('bad')]) };
    const store = new Store({
      ...tools,
      'tool-bad': () => broken('no'),
      'tool-undo': () => {
        tries += 1;
        return new Promise<ToolOutcome>((resolve) => {
          give = resolve;
        });
      },
    });
    void store.start(graph([parallel('both', branches, { onPartialFailure: 'rollback' })]));
    await settle();
    const cancelled = cancel(store, true);
    await settle();
    expect((await store.get('run-1')).status).toBe('running');
    give(ok('undone'));
    await cancelled;
    const { status, error } = await store.get('run-1');
    expect([tries, status]).toEqual([1, 'cancelled']);
    expect(error).not.toHaveProperty('not_undone');
    expect(error).not.toHaveProperty('unknown_outcomes');
  });

  test('in progress is reported while it lasts', async () => {
    const store = new Store({ ...tools, 'tool-undo': tool });
    await store.start(of);
    void cancel(store, true);
    await settle();
    expect(await store.get('run-1')).toMatchObject({ status: 'running', cancelling: true });
    expect(await store.store.list(ada)).toMatchObject([{ status: 'running', cancelling: true }]);
    store.clock.pass(60_000);
    await settle();
    expect(await store.get('run-1')).not.toHaveProperty('cancelling');
    expect((await store.store.list(ada))[0]).not.toHaveProperty('cancelling');
  });
});

describe('a run that completes', () => {
  const branches = { left: body([made('b')]), right: body([made('c')]), bad: body([call('bad')]) };
  const failing = { 'tool-bad': () => broken('no') };
  const rollback = { onPartialFailure: 'rollback' } as const;
  const onError = { value: lit('instead') };
  test.each([
    ['by a fallback of the `parallel`', parallel('both', branches, { ...rollback, onError })],
    [
      'by a fallback of what is around it',
      branch('tried', [[undefined, body([parallel('both', branches, rollback)])]], { onError }),
    ],
  ])('names the remaining side effects: %s', async (_, node) => {
    const store = new Store({ ...tools, ...failing, 'tool-undo': undoes('C') });
    const envelope = await store.start(graph([node]));
    expect(envelope).toMatchObject({
      status: 'completed',
      remains: {
        not_undone: [
          { step: 'c', input: { id: 'C' } },
          { step: 'b', input: { id: 'B' } },
        ],
      },
    });
    expect(await store.get('run-1')).toEqual(envelope);
  });

  test('tells nothing where all was undone, or nothing was to be', async () => {
    const store = new Store({ ...tools, ...failing, 'tool-undo': undoes() });
    const both = parallel('both', branches, { ...rollback, onError });
    expect(await store.start(graph(chain(made('a'), both)))).not.toHaveProperty('remains');
    const fine = parallel('fine', { left: body([made('b')]), right: body([made('c')]) }, rollback);
    expect(await store.start(graph([fine]))).not.toHaveProperty('remains');
  });

  test('names the calls that were cancelled', async () => {
    const parts = { slow: body([call('slow')]), bad: body([call('bad')]) };
    const store = new Store({ 'tool-slow': never, ...failing });
    expect(await store.start(graph([parallel('both', parts, { onError })]))).toMatchObject({
      status: 'completed',
      remains: { unknown_outcomes: [{ step: 'slow', tool: 'tool-slow' }] },
    });
  });

  test('and is then to be undone says that nothing was', async () => {
    const store = new Store({ ...tools, 'tool-undo': undoes() });
    await store.start(graph([made('a')]));
    expect(await cancel(store, true)).toMatchObject({
      envelope: { status: 'completed' },
      warnings: [{ code: 'W_NOT_USED', message: expect.stringContaining('nothing was undone') }],
    });
    expect(await cancel(store, false)).not.toHaveProperty('warnings');
  });

  test('equals a cancelled one: only a repetition in the same way adds nothing', async () => {
    const store = new Store({ ...tools, 'tool-undo': undoes() });
    const of = graph(chain(made('a'), ask('sure')));
    await store.start(of);
    expect(await cancel(store, true)).not.toHaveProperty('warnings');
    expect(await cancel(store, true)).not.toHaveProperty('warnings');
    await store.start(of);
    const again = (compensate: boolean) => store.store.cancel(ada, 'run-2', { compensate }, store.waiter());
    expect(await again(false)).not.toHaveProperty('warnings');
    expect(await again(true)).toMatchObject({ warnings: [{ code: 'W_NOT_USED' }] });
  });
});

describe('a `parallel` that rolls back', () => {
  test('names the side effects of its branches, and those of the run that failed', async () => {
    const branches = { left: body([made('b')]), right: body([made('c')]), bad: body([call('bad')]) };
    const both = parallel('both', branches, { onPartialFailure: 'rollback' });
    const store = new Store({
      ...tools,
      'tool-bad': () => broken('no'),
      'tool-undo': undoes('C'),
    });
    const { error } = await store.start(graph(chain(made('a'), both)));
    expect(error).toMatchObject({
      code: 'E_PARTIAL_FAILURE',
      message: '1 of 3 branches failed: bad (no).',
      partial: { a: { id: 'A' } },
      not_undone: [
        { step: 'c', tool: 'tool-undo', input: { id: 'C' } },
        { step: 'b', tool: 'tool-undo', input: { id: 'B' } },
        { step: 'a', tool: 'tool-undo', input: { id: 'A' } },
      ],
    });
    expect(error).not.toHaveProperty('undone');
    expect(error).not.toHaveProperty('undone_calls');
  });

  test('names the calls of its branches that were undone', async () => {
    const branches = { left: body([made('b')]), bad: body([call('bad')]) };
    const both = parallel('both', branches, { onPartialFailure: 'rollback' });
    const store = new Store({ ...tools, 'tool-bad': () => broken('no'), 'tool-undo': undoes() });
    expect((await store.start(graph([both]))).error).toMatchObject({
      undone_calls: [{ step: 'b', tool: 'tool-undo', input: { id: 'B', pin: '0000' } }],
    });
  });
});

describe('a workflow that undoes on failure', () => {
  const of = graph(chain(made('a'), made('b'), call('bad')), { onFailure: 'undo' });

  test('names what was undone and what was not', async () => {
    const store = new Store({ ...tools, 'tool-bad': () => broken('no'), 'tool-undo': undoes('A') });
    expect((await store.start(of)).error).toMatchObject({
      ...{ message: 'no', node: 'bad', undone: ['b'] },
      details: { compensation: { done: ['tool-undo'], failed: [{ tool: 'tool-undo' }] } },
      undone_calls: [{ step: 'b', input: { id: 'B' } }],
      not_undone: [{ step: 'a', input: { id: 'A' } }],
    });
  });

  test('is shown as failing while it is undone', async () => {
    const store = new Store({ ...tools, 'tool-bad': () => broken('no'), 'tool-undo': never });
    void store.start(of);
    await store.open();
    await settle();
    expect(await store.get('run-1')).toMatchObject({
      status: 'running',
      failing: true,
      running_steps: ['b'],
    });
  });
});

describe('the partial results of a run that fails', () => {
  const failing = { 'tool-bad': () => broken('no') };

  test('of a step that writes one field are the value, as the workflow reads the step', async () => {
    const nodes = [
      set('round', { rounds: lit(3) }),
      set('list', { seen: lit([1]) }),
      set('nothing', { gone: step('round', 'missing') }),
      call('bad'),
    ];
    const store = new Store(failing);
    const { error } = await store.start(graph(chain(...nodes)));
    expect(error?.partial).toEqual({ round: 3, list: [1] });
  });

  test('of a step that writes several fields are all of them', async () => {
    const updates = { rounds: lit(3), last: lit('a') };
    const store = new Store(failing);
    const { error } = await store.start(graph(chain(set('round', updates), call('bad'))));
    expect(error?.partial).toEqual({ round: { rounds: 3, last: 'a' } });
  });

  test('of a step that writes a secret are masked', async () => {
    const token = { name: 'token', description: '', schema: {}, required: true, secret: true };
    const nodes = [set('keep', { token: input('token') }), call('bad')];
    const store = new Store(failing);
    const { error } = await store.start(graph(chain(...nodes), { inputs: [token] }), { token: 'sesame' });
    expect(error?.partial).toEqual({ keep: '••••' });
  });
});

describe('calls without an answer', () => {
  const both = parallel('both', { slow: body([call('slow')]), bad: body([call('bad')]) });

  test('that were cancelled because of a failure elsewhere are named', async () => {
    const store = new Store({ 'tool-slow': never, 'tool-bad': () => broken('no') });
    expect((await store.start(graph([both]))).error).toMatchObject({
      code: 'E_TOOL_ERROR',
      node: 'both',
      outcome_unknown: true,
      unknown_outcomes: [{ step: 'slow', tool: 'tool-slow' }],
    });
  });

  test('that were in flight when the run was cancelled are named', async () => {
    const store = new Store({ ...tools, 'tool-slow': never, 'tool-slow-item': never });
    void store.start(graph([call('a'), call('slow'), foreach('each', lit([1]), body([call('slow-item')]))]));
    await settle();
    await cancel(store, false);
    expect((await store.get('run-1')).error).toMatchObject({
      partial: { a: { id: 'A' } },
      unknown_outcomes: [
        { step: 'slow', tool: 'tool-slow' },
        { step: 'slow-item[0]', tool: 'tool-slow-item' },
      ],
    });
  });

  test('of tools that only read are none', async () => {
    const store = new Store({ 'tool-read': never });
    void store.start(graph([call('read')]));
    await settle();
    await cancel(store, false);
    expect((await store.get('run-1')).error).toEqual({
      code: 'E_CANCELLED',
      message: expect.any(String),
      partial: {},
    });
  });

  test('are none any more once a further attempt has succeeded, where the tool does no harm a second time', async () => {
    const retry = { extra: 1, delayMs: 0, backoff: 'constant', capMs: 0, jitter: 0 } as const;
    const of = (tool: string) => graph(chain(call('a', {}, { tool, retry, timeoutMs: 10 }), call('bad')));
    for (const [tool, second, isUnknown] of [
      ['tool-same', ok(1), false],
      ['tool-a', ok(1), true],
      ['tool-a', broken('no'), true],
    ] as const) {
      let attempts = 0;
      const store = new Store({
        [tool]: () => (++attempts === 1 ? never() : second),
        'tool-bad': () => broken('no'),
      });
      const started = store.start(of(tool));
      await settle();
      store.clock.pass(10);
      expect((await started).error?.unknown_outcomes).toEqual(isUnknown ? [{ step: 'a', tool }] : undefined);
    }
  });
});

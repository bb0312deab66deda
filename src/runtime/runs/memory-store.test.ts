import { describe, expect, test } from 'vitest';
import { ask, body, parallel, wait } from '../engine/constructs.fixture.js';
import { call, chain, done, graph, input, lit, step, text } from '../engine/graph.fixture.js';
import { commandsOf } from '../engine/read.js';
import type { CallContext } from '../tools/port.js';
import { MemoryJournal } from './store/memory-journal.js';
import {
  ada,
  bob,
  broken,
  codeOf,
  envelopeIn,
  eve,
  never,
  ok,
  Store,
  settle,
  type Tool,
} from './store.fixture.js';

const sure = graph(chain(ask('sure'), done('out', step('sure', 'confirmed'))));
const both = graph([
  parallel('both', { left: body([ask('left')]), right: body([ask('right', 'text')]) }),
  done('out', step('both'), { after: ['both'] }),
]);

describe('a run that asks', () => {
  test('waits with an envelope that says what for', async () => {
    const store = new Store();
    const envelope = await store.start(sure);
    const action = {
      action_id: 'sure#1',
      workflow_id: 'run-1',
      step_id: 'sure',
      type: 'prompt',
      parameters: { message: 'sure?', type: 'confirm' },
      schema: expect.objectContaining({ required: ['confirmed'] }),
      created_at: '1970-01-01T00:00:01.000Z',
    };
    expect(envelope).toStrictEqual({
      workflow_id: 'run-1',
      definition: { name: 'sample', hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      status: 'waiting',
      actions: [action],
      action,
    });
    expect(JSON.parse(JSON.stringify(envelope))).toStrictEqual(envelope);
  });

  test('goes on with the answer, and can be asked for afterwards', async () => {
    const store = new Store();
    await store.start(sure);
    const answer = await store.submit('run-1', { result: true });
    expect(envelopeIn(answer)).toMatchObject({ status: 'completed', actions: [], result: true });
    expect(envelopeIn(answer)).not.toHaveProperty('action');
    expect(await store.get('run-1')).toStrictEqual(envelopeIn(answer));
    expect(store.clock.pending).toBe(0);
  });

  test('says when an action expires, and takes no answer then', async () => {
    const store = new Store();
    const limited = graph([
      parallel(
        'both',
        { left: body([ask('left', 'confirm', { timeoutMs: 5_000 })]), right: body([ask('right')]) },
        {
          onPartialFailure: 'continue',
        },
      ),
    ]);
    const { actions } = await store.start(limited);
    expect(actions[0]).toMatchObject({ timeout_seconds: 5, expires_at: '1970-01-01T00:00:06.000Z' });
    store.clock.pass(5_000);
    expect(codeOf(await store.submit('run-1', { actionId: 'left#1', result: true }))).toBe('ACTION_EXPIRED');
    expect((await store.get('run-1')).actions.map(({ step_id }) => step_id)).toEqual(['right']);
  });

  test('is told with what had succeeded, and without secrets', async () => {
    const tools = {
      'tool-login': () => ok({ token: 'p1n-1234', user: 'ada' }),
      'tool-pay': () => broken('p1n-1234 is wrong'),
    };
    const store = new Store(tools);
    const of = graph(
      chain(
        call('login', { pin: input('pin') }),
        ask('sure', 'confirm', { message: text('pay with ', input('key'), '?') }),
        call('pay'),
      ),
      {
        inputs: [
          { name: 'pin', description: '', schema: {}, required: true },
          { name: 'key', description: '', schema: {}, required: true, secret: true },
        ],
      },
    );
    const waiting = await store.start(of, { pin: 'p1n-1234', key: 'sesame' });
    expect(waiting.action?.parameters).toMatchObject({ message: 'pay with ••••?' });
    expect(envelopeIn(await store.submit('run-1', { result: true })).error).toStrictEqual({
      code: 'E_TOOL_ERROR',
      message: '•••• is wrong',
      node: 'pay',
      partial: { login: { token: '••••', user: 'ada' }, sure: { confirmed: true } },
    });
  });

  test('names a value that is too large to be shown', async () => {
    const store = new Store({ 'tool-big': () => ok('x'.repeat(20_000)), 'tool-bad': () => broken('no') });
    const { error } = await store.start(graph(chain(call('big'), call('bad'))));
    expect(error).toMatchObject({ partial: {}, partial_omitted: ['big'] });
  });
});

describe('which action', () => {
  test('none is open while a call is in flight', async () => {
    const store = new Store({ 'tool-a': never });
    const started = store.start(graph([call('a')]));
    expect(codeOf(await store.submit('run-1', { result: true }))).toBe('NO_OPEN_ACTION');
    store.clock.pass(45_000);
    expect(await started).toMatchObject({ status: 'running', actions: [] });
  });

  test('one that was withdrawn accepts no answer', async () => {
    const store = new Store({ 'tool-a': never });
    const of = graph([
      parallel('both', { left: body([ask('left')]), right: body([call('a', {}, { timeoutMs: 100 })]) }),
    ]);
    const started = store.start(of);
    await settle();
    store.clock.pass(100);
    expect(await started).toMatchObject({ status: 'failed', error: { code: 'E_TIMEOUT' } });
    expect(envelopeIn(await store.submit('run-1', { actionId: 'left#1', result: true })).status).toBe(
      'failed',
    );
  });
});

describe('an answer that comes again', () => {
  test('without an action gets the stored response while none is open', async () => {
    const finish: ((value: ReturnType<typeof ok>) => void)[] = [];
    const store = new Store({ 'tool-slow': () => new Promise((resolve) => finish.push(resolve)) });
    await store.start(graph(chain(ask('a'), call('slow'), wait('nap', { durationMs: lit(60_000) }))));
    const answers = [store.submit('run-1', { result: true }), store.submit('run-1', { result: true })];
    await settle();
    finish[0]?.(ok(1));
    const [first, second] = await Promise.all(answers);
    expect(first).toMatchObject({ envelope: { status: 'waiting', action: { type: 'wait' } } });
    expect(second).toStrictEqual(first);
    expect(await store.submit('run-1', { result: true })).toStrictEqual(first);
    expect(codeOf(await store.submit('run-1', { result: false }))).toBe('TOO_EARLY');
    store.clock.pass(60_000);
    expect(await store.submit('run-1', { result: true })).toStrictEqual(first);
  });

  test('to a question does not repeat an acknowledgement', async () => {
    const store = new Store();
    await store.start(graph(chain(ask('read', 'info'), ask('sure'))));
    await store.submit('run-1', {});
    expect(envelopeIn(await store.submit('run-1', { result: true })).status).toBe('completed');
  });

  test('without an action is refused while one is open: it is not guessed which one is meant', async () => {
    const store = new Store();
    await store.start(graph(chain(ask('a'), ask('b'), ask('c'))));
    await store.submit('run-1', { result: true });
    const refused = await store.submit('run-1', { result: { confirmed: true } });
    expect(refused).toMatchObject({
      failure: { code: 'AMBIGUOUS_ACTION', details: { open_actions: ['b#1'] } },
    });
    // Another answer does not count as a repetition, nor does the same answer to another action.
    expect(envelopeIn(await store.submit('run-1', { result: false }))).toMatchObject({
      action: { action_id: 'c#1' },
    });
    expect(envelopeIn(await store.submit('run-1', { actionId: 'c#1', result: false })).status).toBe(
      'completed',
    );
  });

  test('gets the stored response after a cancellation, too', async () => {
    const store = new Store();
    await store.start(graph(chain(ask('a'), ask('b'))));
    const first = await store.submit('run-1', { actionId: 'a#1', result: true });
    await store.store.cancel(ada, 'run-1', {}, store.waiter());
    expect(await store.submit('run-1', { actionId: 'a#1', result: true })).toStrictEqual(first);
    for (const other of [{ result: true }, { actionId: 'a#1', result: false }]) {
      expect(codeOf(await store.submit('run-1', other))).toBe('WORKFLOW_CANCELLED');
    }
  });
});

describe('a run that waits for a time', () => {
  const nap = graph(chain(wait('nap', { durationMs: lit(60_000) }), done('out', lit('rested'))));

  test('is answered with the time, and goes on by itself', async () => {
    const store = new Store();
    const { status, action } = await store.start(nap);
    expect(status).toBe('waiting');
    expect(action).toMatchObject({
      type: 'wait',
      action_id: 'nap#1',
      resume_at: '1970-01-01T00:01:01.000Z',
      parameters: { duration: 60 },
    });
    expect(action).not.toHaveProperty('schema');
    store.clock.pass(20_000);
    for (const submission of [{}, { actionId: 'nap#1', result: null }]) {
      expect(await store.submit('run-1', submission)).toMatchObject({
        failure: { code: 'TOO_EARLY', details: { remaining_ms: 40_000 } },
      });
    }
    store.clock.pass(40_000);
    expect(await store.get('run-1')).toMatchObject({ status: 'completed', result: 'rested' });
    expect(envelopeIn(await store.submit('run-1', { actionId: 'nap#1' })).status).toBe('completed');
  });

  test('is waited for where the time comes before the answer is due', async () => {
    const store = new Store();
    await store.open();
    const started = store.start(nap, {}, { answerMs: 60_001 });
    store.clock.pass(60_000);
    expect(await started).toMatchObject({ status: 'completed' });
    expect(await store.start(nap, {}, { answerMs: 60_000 })).toMatchObject({ status: 'waiting' });
  });
});

describe('the request that waits for a run', () => {
  test('is answered at its deadline; the run goes on', async () => {
    let finish: (value: ReturnType<typeof ok>) => void = () => {};
    const store = new Store({ 'tool-slow': () => new Promise((resolve) => (finish = resolve)) });
    await store.open();
    const started = store.start(graph(chain(call('slow'), done('out', step('slow')))));
    store.clock.pass(44_999);
    expect((await store.get('run-1')).status).toBe('running');
    store.clock.pass(1);
    expect(await started).toMatchObject({ status: 'running', actions: [] });
    finish(ok('late'));
    await settle();
    expect(await store.get('run-1')).toMatchObject({ status: 'completed', result: 'late' });
  });

  test('cancels the run where it says so', async () => {
    const signals: AbortSignal[] = [];
    const store = new Store({
      'tool-slow': (_given, { signal }) => {
        signals.push(signal);
        return never();
      },
    });
    const abort = new AbortController();
    await store.open();
    const started = store.start(
      graph([call('slow')]),
      {},
      { cancels: true, request: { signal: abort.signal } },
    );
    abort.abort(new Error('the client disconnected'));
    expect(await started).toMatchObject({ status: 'cancelled' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(store.clock.pending).toBe(0);
  });

  test('that was aborted before begins nothing', async () => {
    const store = new Store({ 'tool-a': () => expect.unreachable() });
    const signal = AbortSignal.abort();
    expect(await store.start(graph([call('a')]), {}, { cancels: true, request: { signal } })).toMatchObject({
      status: 'cancelled',
    });
  });

  test('leaves an answer where it was, when it goes away', async () => {
    const store = new Store({ 'tool-slow': never });
    await store.start(graph(chain(ask('sure'), call('slow'))));
    const abort = new AbortController();
    const going = store.store.submit(
      ada,
      'run-1',
      { result: true },
      store.waiter({ request: { signal: abort.signal } }),
    );
    abort.abort();
    expect(envelopeIn(await going)).toMatchObject({ status: 'running' });
    expect(store.clock.pending).toBe(1);
  });
});

describe('whose run it is', () => {
  test('to anybody else it is not there', async () => {
    const store = new Store();
    await store.start(sure);
    const { store: runs } = store;
    const waiter = store.waiter();
    const unknown = await runs.get(ada, 'run-7');
    expect(codeOf(unknown)).toBe('WORKFLOW_NOT_FOUND');
    const same = JSON.parse(JSON.stringify(unknown).replaceAll('run-7', 'run-1'));
    expect(await runs.get(eve, 'run-1')).toStrictEqual(same);
    expect(await runs.submit(eve, 'run-1', { result: true }, waiter)).toStrictEqual(same);
    expect(await runs.cancel(eve, 'run-1', {}, waiter)).toStrictEqual(same);
    expect(await runs.list(eve)).toEqual([]);
    expect(await store.get('run-1')).toMatchObject({ status: 'waiting' });
  });

  test('a run acts as its owner, whichever request moves it on', async () => {
    const contexts: CallContext[] = [];
    const record: Tool = (_input, context) => {
      contexts.push(context);
      return ok(contexts.length);
    };
    const store = new Store({ 'tool-a': record, 'tool-b': record });
    const auth = (token: string) => ({ clientId: 'desktop', scopes: [token], extra: { token } });
    await store.start(
      graph(chain(call('a'), ask('sure'), call('b'))),
      {},
      { request: { auth: auth('one'), requestId: '1' } },
    );
    const answering = store.waiter({ request: { auth: auth('two'), requestId: '2' } });
    await store.store.submit(ada, 'run-1', { result: true }, answering);
    expect(contexts).toMatchObject([
      { principal: ada, requestId: '1', auth: auth('one') },
      { principal: ada, requestId: '2' },
    ]);
    // What came with the token is gone once the run has waited.
    expect(contexts[1]?.auth).toEqual({ clientId: 'desktop', scopes: ['one'] });
  });

  test('the end of the process cancels what is not over', async () => {
    const store = new Store({ 'tool-a': never });
    await store.start(graph([ask('sure', 'confirm', { timeoutMs: 1_000 })]));
    await store.start(graph([done('out', lit(1))]));
    const started = store.start(graph([call('a')]));
    store.store.endAll('the server was stopped');
    expect(await started).toMatchObject({ status: 'cancelled' });
    expect(await store.get('run-1')).toMatchObject({
      status: 'cancelled',
      error: { message: expect.stringContaining('the server was stopped') },
    });
    expect(await store.get('run-2')).toMatchObject({ status: 'completed' });
    expect(store.clock.pending).toBe(0);
  });
});

describe('a run without answers', () => {
  const DAY = 86_400_000;

  test('is cancelled after a day, with its report', async () => {
    const store = new Store({ 'tool-a': () => ok('kept') });
    await store.start(graph(chain(call('a'), ask('sure'))));
    store.clock.pass(DAY - 1);
    expect(await store.store.list(ada)).toMatchObject([{ status: 'waiting' }]);
    store.clock.pass(1);
    expect(await store.get('run-1')).toMatchObject({
      status: 'cancelled',
      actions: [],
      error: { code: 'E_IDLE', message: expect.stringContaining(`${DAY} ms`), partial: { a: 'kept' } },
    });
    expect(codeOf(await store.submit('run-1', { result: true }))).toBe('WORKFLOW_CANCELLED');
  });

  test('is kept for as long as somebody asks for it', async () => {
    const store = new Store({}, { idleMs: 1_000 });
    await store.start(graph(chain(ask('one'), ask('two'))));
    store.clock.pass(999);
    expect(await store.get('run-1')).toMatchObject({ status: 'waiting' });
    store.clock.pass(999);
    await store.submit('run-1', { result: true });
    store.clock.pass(999);
    expect(await store.get('run-1')).toMatchObject({ status: 'waiting' });
    // Somebody else does not count.
    store.clock.pass(500);
    await store.store.get(eve, 'run-1');
    store.clock.pass(500);
    expect(await store.get('run-1')).toMatchObject({ error: { code: 'E_IDLE' } });
  });

  test('is not idle while it goes on by itself, or is attended', async () => {
    const store = new Store({ 'tool-a': never }, { idleMs: 1_000 });
    void store.start(graph([call('a', {}, { timeoutMs: 60_000 })]));
    await store.start(graph([wait('nap', { durationMs: lit(60_000) })]));
    const elicit = { peer: { elicit: never } };
    void store.start(sure, {}, { request: elicit });
    store.clock.pass(2_000);
    expect((await store.store.list(ada)).map(({ status }) => status)).toEqual([
      'waiting',
      'waiting',
      'running',
    ]);
  });
});

describe('limits', () => {
  test('open runs of one owner', async () => {
    const store = new Store({}, { maxOpenRuns: 2 });
    await store.start(sure);
    await store.start(sure);
    const refused = await store.store.start({ owner: ada, graph: sure, input: {} }, store.waiter());
    expect(refused).toMatchObject({
      failure: { code: 'RESOURCE_EXHAUSTED', message: expect.stringContaining('2') },
    });
    expect((await store.store.start({ owner: bob, graph: sure, input: {} }, store.waiter())).ok).toBe(true);
    await store.submit('run-1', { result: true });
    expect((await store.start(sure)).status).toBe('waiting');
  });

  test('open actions of one owner', async () => {
    const store = new Store({}, { maxPendingActions: 2 });
    await store.start(both);
    const refused = await store.store.start({ owner: ada, graph: sure, input: {} }, store.waiter());
    expect(codeOf(refused)).toBe('RESOURCE_EXHAUSTED');
    await store.submit('run-1', { actionId: 'left#1', result: true });
    expect((await store.start(sure)).status).toBe('waiting');
  });

  test('no run is cancelled to make room for another one', async () => {
    const store = new Store({}, { maxOpenRuns: 1 });
    await store.start(sure);
    const refused = await store.store.start({ owner: ada, graph: sure, input: {} }, store.waiter());
    expect(codeOf(refused)).toBe('RESOURCE_EXHAUSTED');
    expect(await store.get('run-1')).toMatchObject({ status: 'waiting' });
  });

  test('open runs without an authenticated owner, by address and in total', async () => {
    const store = new Store({}, { maxOpenRuns: 2, maxAnonymousRuns: 3 });
    const owner = { kind: 'anonymous' } as const;
    const start = async (remoteAddress?: string) => {
      const request = remoteAddress === undefined ? {} : { remoteAddress };
      return codeOf(await store.store.start({ owner, graph: sure, input: {} }, store.waiter({ request })));
    };
    expect([await start('a'), await start('a'), await start('a')]).toEqual([
      'accepted',
      'accepted',
      'RESOURCE_EXHAUSTED',
    ]);
    expect([await start(), await start()]).toEqual(['accepted', 'RESOURCE_EXHAUSTED']);
    await store.store.cancel(owner, 'run-1', {}, store.waiter());
    expect(await start('a')).toBe('accepted');
  });

  test('finished runs by number, and by age', async () => {
    const store = new Store({}, { maxFinishedRuns: 2, finishedRunMs: 1_000 });
    const quick = graph([done('out', lit(1))]);
    for (let run = 0; run < 3; run += 1) await store.start(quick);
    await store.start(sure);
    expect((await store.store.list(ada)).map(({ workflow_id, status }) => [workflow_id, status])).toEqual([
      ['run-4', 'waiting'],
      ['run-3', 'completed'],
      ['run-2', 'completed'],
    ]);
    store.clock.pass(999);
    expect((await store.store.list(ada)).length).toBe(3);
    store.clock.pass(1);
    expect((await store.store.list(ada)).map(({ workflow_id }) => workflow_id)).toEqual(['run-4']);
  });
});

test('a fault of our own ends the run, and is logged', async () => {
  const store = new Store({ 'tool-a': never });
  await store.start(graph(chain(ask('sure'), call('a'))));
  const setTimer = store.clock.setTimer.bind(store.clock);
  let timers = 0;
  store.clock.setTimer = (...timer) => {
    timers += 1;
    // The first one is the request's, the second one bounds the call.
    if (timers === 2) throw new Error('out of timers');
    return setTimer(...timer);
  };
  const answer = await store.submit('run-1', { result: true });
  expect(envelopeIn(answer)).toMatchObject({
    status: 'failed',
    error: { code: 'E_INTERNAL', message: 'The run failed inside the server: out of timers' },
  });
  expect(store.log).toEqual([expect.stringContaining('out of timers')]);
  expect(await store.get('run-1')).toStrictEqual(envelopeIn(answer));
  expect(store.clock.pending).toBe(0);
});

describe('the journal', () => {
  test('has what a run waits for, its end, and nothing of runs that are forgotten', async () => {
    const journal = new MemoryJournal();
    const store = new Store({}, {}, journal);
    await store.start(sure);
    const { state } = journal.read('run-1') ?? {};
    expect(state && commandsOf(state)).toMatchObject([{ id: 'sure#1', kind: 'requestAction' }]);
    await store.submit('run-1', { result: true });
    expect(journal.read('run-1')?.state.run).toMatchObject({ status: 'succeeded', result: true });
    expect(journal.read('run-1')?.entries.at(-1)?.events[0]).toMatchObject({
      kind: 'actionSubmitted',
      value: { confirmed: true },
    });
    store.clock.pass(3_600_000);
    await store.store.list(ada);
    expect(journal.runs).toEqual([]);
  });
});

import { describe, expect, test, vi } from 'vitest';
import type { Expr } from '../../../graph/expression/tree.js';
import { ask, body, foreach, parallel, undo } from '../../engine/constructs.fixture.js';
import {
  again,
  call,
  chain,
  compute,
  done,
  graph,
  input,
  list,
  lit,
  read,
  step,
} from '../../engine/graph.fixture.js';
import { snapshot } from '../../engine/snapshot.js';
import { tablesOf } from '../../engine/tables.fixture.js';
import { type CallContext, type CallPort, runRef, type ToolOutcome } from '../../tools/port.js';
import { TURN_MS, Turns } from './clock.js';
import { type InProcessRun, never, ok, port, Setup, type Tool } from './setup.fixture.js';

describe('a run', () => {
  test('goes from step to step and ends with its result', async () => {
    const setup = new Setup();
    const steps = chain(
      call('list'),
      read('guide', lit('res://guide')),
      call('add', { to: step('list', 'page'), task: input('task'), how: step('guide', 'text') }),
      done('out', step('add')),
    );
    const outcome = await setup.run(
      graph(steps),
      {
        'tool-list': () => ok({ page: 'Website' }),
        'tool-add': (given) => ok({ added: given }),
      },
      { input: { task: 'fix' } },
    );
    expect(outcome).toMatchObject({
      status: 'succeeded',
      result: { added: { to: 'Website', task: 'fix', how: 'text of res://guide' } },
    });
    expect(outcome).not.toHaveProperty('failure');
    expect(setup.facts.map((fact) => fact.kind)).toEqual([
      ...['nodeStarted', 'callIssued', 'callReturned', 'nodeSucceeded'],
      ...['nodeStarted', 'resourceRequested', 'callReturned', 'nodeSucceeded'],
      ...['nodeStarted', 'callIssued', 'callReturned', 'nodeSucceeded'],
      ...['nodeStarted', 'nodeSucceeded', 'finished'],
    ]);
    expect(setup.clock.pending).toBe(0);
  });

  test('tells each call the secrets of the run, and what was derived from them so far', async () => {
    const seen: unknown[] = [];
    const look = (_given: unknown, { mask }: CallContext) => ok(seen.push(mask?.text('sesame SESAME')));
    const shout: Expr = { kind: 'call', fn: 'toUpperCase.js', args: [input('pass')] };
    const nodes = chain(
      call('a'),
      compute('up', shout),
      call('b', { key: step('up') }),
      call('c', { size: lit(1) }),
    );
    const pass = { name: 'pass', description: 'pass', schema: {}, required: true, secret: true };
    await new Setup().run(
      graph(nodes, { inputs: [pass] }),
      { 'tool-a': look, 'tool-b': look, 'tool-c': look },
      { input: { pass: 'sesame' } },
    );
    expect(seen).toEqual(['•••• SESAME', '•••• ••••', '•••• ••••']);
  });

  test('gives each call its context', async () => {
    const seen: CallContext[] = [];
    const auth = { clientId: 'c', scopes: [] };
    const setup = new Setup();
    await setup.run(
      graph([call('a')]),
      { 'tool-a': (_given, context) => ok(seen.push(context)) },
      {
        context: { requestId: '9', auth, progress: () => {} },
      },
    );
    expect(seen[0]).toMatchObject({
      requestId: '9',
      auth,
      idempotencyKey: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(seen[0]?.signal.aborted).toBe(false);
  });

  test('tells a call whose it is, and which values are secret', async () => {
    const seen: CallContext[] = [];
    const secret = { description: '', schema: {}, required: true, secret: true };
    await new Setup().run(
      graph([call('a')], {
        inputs: [
          { ...secret, name: 'token' },
          { ...secret, name: 'pin' },
          { ...secret, name: 'login' },
          { ...secret, name: 'missing' },
          { ...secret, name: 'plain', secret: false },
        ],
      }),
      { 'tool-a': (_given, context) => ok(seen.push(context)) },
      { input: { token: 't0ken', pin: 1234, login: { user: 'ada', keys: ['k3y-1'] }, plain: 'text' } },
    );
    expect(seen[0]).toMatchObject({
      origin: { source: 'workflow', workflow: 'sample', run: runRef('run-1'), node: 'a' },
    });
    const { mask } = seen[0] as CallContext;
    expect(mask?.text('t0ken 1234 k3y-1 text')).toBe('•••• •••• •••• text');
  });

  test('has functions evaluated, on copies of their arguments', async () => {
    const given = { name: ['Ada'] };
    const outcome = await new Setup().run(
      graph([
        compute('a', list(input('name')), { function: { name: 'f', hash: '' } }),
        compute('b', list(), { function: { name: 'nothing', hash: '' } }),
      ]),
      {},
      {
        input: given,
        calls: {
          ...port({}),
          async evaluate({ name }, args) {
            (args[0] as string[] | undefined)?.push('changed');
            return name === 'nothing' ? { ok: true } : { ok: true, value: [name, ...args] };
          },
        },
      },
    );
    expect(tablesOf(outcome.state).outputs).toEqual({ a: ['f', ['Ada', 'changed']] });
    expect(outcome.state.input).toEqual({ name: ['Ada'] });
  });

  test('a function that fails is a failure of its node', async () => {
    const failure = { code: 'E_FUNCTION', message: 'no' };
    const calls: CallPort = { ...port({}), evaluate: async () => ({ ok: false, failure }) };
    const node = compute('a', list(), { function: { name: 'f', hash: '' } });
    expect(await new Setup().run(graph([node]), {}, { calls })).toMatchObject({ status: 'failed', failure });
  });

  test('waits for the delay before it tries again, with the same idempotency key', async () => {
    const setup = new Setup();
    const calls: { readonly at: number; readonly key: string | undefined }[] = [];
    const retry = again(2, { delayMs: 200, backoff: 'exponential' });
    const running = setup.run(graph([call('a', {}, { retry })]), {
      'tool-a': (_given, { idempotencyKey }) => {
        calls.push({ at: setup.clock.now(), key: idempotencyKey });
        if (calls.length === 3) return ok('done');
        return { ok: false, attempted: true, failure: { code: 'E_TOOL', message: 'busy' } };
      },
    });
    for (const delay of [200, 400]) {
      const before = calls.length;
      await expect.poll(() => setup.facts.filter(({ kind }) => kind === 'retrying')).toHaveLength(before);
      setup.clock.pass(delay - 1);
      expect(calls).toHaveLength(before);
      setup.clock.pass(1);
    }
    expect(await running).toMatchObject({ status: 'succeeded' });
    expect(calls.map(({ at }) => at)).toEqual([1_000, 1_200, 1_600]);
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
    expect(setup.clock.pending).toBe(0);
  });

  test('draws a number of its own for the jitter', async () => {
    const outcome = await new Setup().run(graph([]), {});
    expect(outcome.state.run.random).toBeGreaterThanOrEqual(0);
    expect(outcome.state.run.random).toBeLessThan(1);
  });

  test('fails with the tool’s failure', async () => {
    const failure = { code: 'E_TOOL', message: 'disk full' };
    const outcome = await new Setup().run(graph([call('a')]), {
      'tool-a': () => ({ ok: false, attempted: true, failure }),
    });
    expect(outcome).toMatchObject({ status: 'failed', failure, node: 'a' });
    expect(outcome).not.toHaveProperty('result');
  });

  test('fails with the resource’s failure', async () => {
    const failure = { code: 'E_RESOURCE', message: 'gone' };
    const calls: CallPort = { ...port({}), readResource: async () => ({ ok: false, failure }) };
    const outcome = await new Setup().run(graph([read('a')]), {}, { calls });
    expect(outcome).toMatchObject({ status: 'failed', failure, node: 'a' });
  });

  test('a graph that cannot run is an outcome', async () => {
    const outcome = await new Setup().run(graph([call('a', {}, { after: ['x'] })]), {});
    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'E_GRAPH' } });
  });

  test('a question has no user to answer it: the step fails, or uses its fallback', async () => {
    const outcome = await new Setup().run(graph([ask('sure')]), {});
    expect(outcome).toMatchObject({ status: 'failed', node: 'sure', failure: { code: 'E_NOBODY_TO_ASK' } });
    const handled = ask('sure', 'confirm', { onError: { value: lit('yes') } });
    const other = await new Setup().run(graph([handled], { returns: step('sure') }), {});
    expect(other).toMatchObject({ status: 'succeeded', result: 'yes' });
  });

  test('a run that waits for values of a model alone is left there, once its calls have returned', async () => {
    const value = ask('value', 'model', { expects: { type: 'string' } });
    const both = parallel('both', { left: body([call('slow')]), right: body([value]) });
    const tools = { 'tool-slow': async () => ok({ id: 1 }) };
    const left = await new Setup().run(graph([both]), tools, { leavesValues: true });
    expect(left).toMatchObject({ status: 'running', state: { run: { status: 'running' } } });
    expect(left.failure).toBeUndefined();
    const alone = await new Setup().run(graph([value]), {});
    expect(alone).toMatchObject({ status: 'failed', failure: { code: 'E_NOBODY_TO_ASK' } });
    const asked = await new Setup().run(graph([value, ask('sure')]), {}, { leavesValues: true });
    expect(asked).toMatchObject({ status: 'failed', failure: { code: 'E_NOBODY_TO_ASK' } });
  });

  test('branches run side by side, and what they did is undone where one fails', async () => {
    const made: string[] = [];
    const left = call('left', {}, { compensate: undo('cancel-left', { id: step('left', 'id') }) });
    const both = parallel(
      'both',
      { left: body([left]), right: body([call('right')]) },
      { onPartialFailure: 'rollback' },
    );
    const outcome = await new Setup().run(graph([both]), {
      'tool-left': () => ok({ id: 7 }),
      'tool-right': () => ({ ok: false, attempted: true, failure: { code: 'FULL', message: 'full' } }),
      'cancel-left': (given) => ok(made.push(`cancelled ${String(given.id)}`)),
    });
    expect([outcome.failure?.code, made]).toEqual(['E_PARTIAL_FAILURE', ['cancelled 7']]);
  });

  test('a tool that changes its input or keeps the run’s does not change the state', async () => {
    const given = { list: [1] };
    const outcome = await new Setup().run(
      graph(chain(call('a', { list: input('list') }), call('b', { list: input('list') }))),
      {
        'tool-a': (received) => {
          (received.list as number[]).push(2);
          given.list.push(3);
          return ok(null);
        },
        'tool-b': (received) => ok(received),
      },
      { input: given },
    );
    expect(tablesOf(outcome.state).outputs.b).toEqual({ list: [1] });
    expect(outcome.state.input).toEqual({ list: [1] });
  });

  test('independent calls are in flight together', async () => {
    let inFlight = 0;
    let most = 0;
    const slow: Tool = async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await Promise.resolve();
      inFlight -= 1;
      return ok(null);
    };
    await new Setup().run(graph([call('a'), call('b')]), { 'tool-a': slow, 'tool-b': slow });
    expect(most).toBe(2);
  });
});

test('how tools may be repeated is looked up once for each graph and set of tools', async () => {
  const of = graph(chain(call('a'), call('b', {}, { after: ['a'] })));
  const asked: string[] = [];
  const toolSafety = (tool: string) => {
    asked.push(tool);
    return tool === 'tool-a' ? 'readOnly' : 'none';
  };
  const tools = { 'tool-a': () => ok(1), 'tool-b': () => ok(2) };
  for (const run of ['run-1', 'run-2']) {
    const { state } = await new Setup().run(of, tools, { toolSafety, runId: run });
    expect(state.start.value?.tools).toEqual({ 'tool-a': 'readOnly' });
  }
  expect(asked).toEqual(['tool-a', 'tool-b']);
  await new Setup().run(of, tools, { toolSafety: () => 'none' });
  const other = await new Setup().run(of, tools, { toolSafety: () => 'idempotent' });
  expect(other.state.start.value?.tools).toEqual({ 'tool-a': 'idempotent', 'tool-b': 'idempotent' });
});

describe('a port with a fault', () => {
  test.each<[string, Tool, string]>([
    ['an error', () => Promise.reject(new Error('oops')), 'oops'],
    ['text', () => Promise.reject('plain'), 'plain'],
    ['anything else', () => Promise.reject(Object.create(null)), 'without a message'],
  ])('rejecting with %s is a failure', async (_name, tool, message) => {
    const outcome = await new Setup().run(graph([call('a')]), { 'tool-a': tool });
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: { code: 'E_INTERNAL', outcomeUnknown: true },
    });
    expect(outcome.failure?.message).toContain(message);
  });

  test('failing with details of megabytes has their size in their place', async () => {
    const failure = { code: 'E_TOOL', message: 'no', details: { log: 'x'.repeat(3_000_000) } };
    const outcome = await new Setup().run(graph([call('a')]), {
      'tool-a': () => Promise.resolve({ ok: false, attempted: true, failure }),
    });
    const details = { details_omitted: { size: 3_000_010, limit: 65_536 } };
    expect(outcome.failure).toMatchObject({ code: 'E_TOOL', message: 'no', details });
  });

  test('throwing at once is a failure, for tools, resources and functions', async () => {
    const calls = {
      callTool: () => {
        throw new Error('no promise');
      },
      readResource: () => {
        throw new Error('no promise');
      },
      evaluate: () => {
        throw new Error('no promise');
      },
    };
    const computed = compute('a', list(), { function: { name: 'f', hash: '' } });
    for (const node of [call('a'), read('a'), computed]) {
      const outcome = await new Setup().run(graph([node]), {}, { calls });
      expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'E_INTERNAL' }, node: 'a' });
    }
  });
});

describe('limits', () => {
  test('E17: a call that never comes back times out, is aborted and leaves no timer', async () => {
    const setup = new Setup();
    let signal: AbortSignal | undefined;
    const running = setup.run(graph([call('a', {}, { timeoutMs: 500 })]), {
      'tool-a': (_given, context) => {
        signal = context.signal;
        return never();
      },
    });
    setup.clock.pass(499);
    expect(signal?.aborted).toBe(false);
    setup.clock.pass(1);
    const outcome = await running;
    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'E_TIMEOUT', outcomeUnknown: true } });
    expect(signal?.aborted).toBe(true);
    expect(setup.clock.pending).toBe(0);
  });

  test.each([
    ['its port ends it', {}, 'E_TIMEOUT'],
    ['the deadline of the run comes', { deadlineMs: 2_000 }, 'E_DEADLINE'],
  ])('E17: a call of a port that limits calls itself waits until %s', async (_when, options, code) => {
    const setup = new Setup();
    let end = (): void => {};
    const timedOut = new Promise<ToolOutcome>((resolve) => {
      const failure = { code: 'E_CANCELLED', message: 'no' };
      end = () => resolve({ ok: false, attempted: true, failure, isTimedOut: true });
    });
    const calls = { ...port({ 'tool-a': () => timedOut }), limits: true };
    const running = setup.run(graph([call('a', {}, { timeoutMs: 500 })]), {}, { calls, ...options });
    let isOver = false;
    void running.then(() => {
      isOver = true;
    });
    setup.clock.pass(1_000);
    await Promise.resolve();
    expect(isOver).toBe(false);
    setup.clock.pass(1_000);
    end();
    const { failure } = await running;
    expect(failure).toMatchObject({ code, outcomeUnknown: true });
  });

  test('the deadline counts from the start of the run', async () => {
    const setup = new Setup();
    const running = setup.run(graph([call('a')]), { 'tool-a': never }, { deadlineMs: 300 });
    setup.clock.pass(300);
    expect(await running).toMatchObject({ status: 'failed', failure: { code: 'E_DEADLINE' } });
  });

  test('a result that comes after the run has ended changes nothing', async () => {
    const setup = new Setup();
    let answer: (outcome: ToolOutcome) => void = () => expect.unreachable();
    let report: CallContext['progress'] = () => expect.unreachable();
    const running = setup.run(graph([call('a', {}, { timeoutMs: 5 })]), {
      'tool-a': (_given, context) =>
        new Promise((resolve) => {
          answer = resolve;
          report = context.progress;
        }),
    });
    report(1, 2, 'half');
    setup.clock.pass(5);
    const outcome = await running;
    const before = JSON.stringify([snapshot(outcome.state), setup.facts]);
    report(2, 2, 'late');
    answer(ok('late'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(JSON.stringify([snapshot(outcome.state), setup.facts])).toBe(before);
    expect(setup.progress).toEqual([[1, 2, 'half', 'a']]);
  });
});

describe('cancellation', () => {
  test('the caller’s abort ends the run as cancelled and aborts what is in flight', async () => {
    const setup = new Setup();
    const signals: AbortSignal[] = [];
    const hang: Tool = (_given, context) => {
      signals.push(context.signal);
      return never();
    };
    const running = setup.run(graph([call('a'), call('b'), call('c', {}, { after: ['a'] })]), {
      'tool-a': hang,
      'tool-b': hang,
    });
    setup.abort.abort(new Error('the client closed the request'));
    const outcome = await running;
    expect(outcome).toMatchObject({
      status: 'cancelled',
      failure: { code: 'E_CANCELLED', message: 'The run was cancelled: the client closed the request' },
    });
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
    expect(setup.clock.pending).toBe(0);
  });

  test('an abort before the start attempts nothing', async () => {
    const setup = new Setup();
    setup.abort.abort();
    const tool = vi.fn<Tool>(() => ok(null));
    expect((await setup.run(graph([call('a')]), { 'tool-a': tool })).status).toBe('cancelled');
    expect(tool).not.toHaveBeenCalled();
    expect(setup.clock.pending).toBe(0);
  });

  test('an abort from within a call keeps those from starting that were about to', async () => {
    const setup = new Setup();
    const second = vi.fn<Tool>(() => ok(null));
    const outcome = await setup.run(graph([call('a'), call('b')]), {
      'tool-a': () => {
        setup.abort.abort();
        return never();
      },
      'tool-b': second,
    });
    expect(outcome.status).toBe('cancelled');
    expect(second).not.toHaveBeenCalled();
    expect(setup.clock.pending).toBe(0);
    const returned = setup.facts.flatMap((fact) => (fact.kind === 'callReturned' ? [fact] : []));
    const told = returned.map(({ node, attempted, outcome: { ok, ...rest } }) => [
      node,
      attempted,
      ok || !('failure' in rest) ? undefined : rest.failure.outcomeUnknown,
    ]);
    // The outcome of the first is unknown; the second had no effect.
    expect(told).toEqual([
      ['a', true, true],
      ['b', false, undefined],
    ]);
  });

  test('comes through between tools that answer at once', async () => {
    const setup = new Setup();
    let now = 0;
    const clock = Object.assign(setup.clock, { turns: new Turns(() => now) });
    let calls = 0;
    const loop = foreach('each', lit(Array.from({ length: 100 }, () => 0)), body([call('a')]));
    const quick = (): ToolOutcome => {
      calls += 1;
      now += TURN_MS;
      if (calls === 1) setImmediate(() => setup.abort.abort());
      return ok(calls);
    };
    const outcome = await setup.run(graph([loop]), { 'tool-a': quick }, { clock });
    expect(outcome.status).toBe('cancelled');
    expect(calls).toBeLessThan(100);
    expect(setup.clock.pending).toBe(0);
  });

  test('no listener stays on the caller’s signal, and a call that has returned is not aborted', async () => {
    const setup = new Setup();
    const added = vi.spyOn(setup.abort.signal, 'addEventListener');
    const removed = vi.spyOn(setup.abort.signal, 'removeEventListener');
    let signal: AbortSignal | undefined;
    const outcome = await setup.run(graph([call('a')]), {
      'tool-a': (_given, context) => {
        signal = context.signal;
        return ok(1);
      },
    });
    expect(added).toHaveBeenCalledOnce();
    expect(removed.mock.calls[0]?.slice(0, 2)).toEqual(added.mock.calls[0]?.slice(0, 2));
    setup.abort.abort();
    expect(outcome.status).toBe('succeeded');
    expect(signal?.aborted).toBe(false);
  });
});

describe('a fault of our own', () => {
  test('rejects, and still leaves no timer and no call behind', async () => {
    const setup = new Setup();
    const signals: AbortSignal[] = [];
    const hang: Tool = (_given, context) => {
      signals.push(context.signal);
      return never();
    };
    const running = setup.run(
      graph([call('a'), call('b')]),
      { 'tool-a': hang, 'tool-b': hang },
      {
        clock: {
          now: () => setup.clock.now(),
          setTimer() {
            throw new Error('no more timers');
          },
        },
      },
    );
    await expect(running).rejects.toThrow('no more timers');
    expect(setup.clock.pending).toBe(0);
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
  });
});

describe('observers', () => {
  const tools = { 'tool-a': () => ok(1) };

  test('are told facts in order, also when one of them makes the caller abort', async () => {
    const setup = new Setup();
    const kinds: string[] = [];
    const outcome = await setup.run(graph(chain(call('a'), call('b'))), tools, {
      observe(fact) {
        kinds.push(fact.kind);
        if (fact.kind === 'callReturned') setup.abort.abort();
      },
    });
    expect(outcome.status).toBe('cancelled');
    expect(kinds).toEqual([
      ...['nodeStarted', 'callIssued', 'callReturned', 'nodeSucceeded', 'nodeStarted', 'callIssued'],
      ...['callReturned', 'nodeCancelled', 'finished'],
    ]);
  });

  test('one that throws does not change the run, and what it threw is told', async () => {
    const told: unknown[] = [];
    const outcome = await new Setup().run(graph([call('a')]), tools, {
      observe: (fact) => {
        throw new Error(fact.kind);
      },
      onObserverError: (error, fact) => told.push([(error as Error).message, fact.kind]),
    });
    expect(outcome.status).toBe('succeeded');
    expect(told).toHaveLength(5);
    expect(told[0]).toEqual(['nodeStarted', 'nodeStarted']);
  });

  test.each<[string, Partial<InProcessRun>]>([
    ['no listener', {}],
    [
      'a hook that throws as well',
      {
        onObserverError: () => {
          throw new Error('hook');
        },
      },
    ],
  ])('with %s a process warning says so', async (_name, options) => {
    const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const observe = () => {
      throw new Error('observer');
    };
    const outcome = await new Setup().run(graph([call('a')]), tools, { observe, ...options });
    expect(outcome.status).toBe('succeeded');
    expect(warning).toHaveBeenCalledTimes(5);
    warning.mockRestore();
  });
});

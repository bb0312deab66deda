import { describe, expect, test } from 'vitest';
import type { SamplingRequest } from '../../decorators/client.js';
import type { Node } from '../../graph/kinds/node.js';
import { body, delegate, foreach, item, required, shell, wait } from '../engine/constructs.fixture.js';
import { call, chain, done, error, graph, input, lit, step, text } from '../engine/graph.fixture.js';
import { valuePort } from './actions/model-values.js';
import { Agent, childrenIn } from './children.fixture.js';
import { memoryStore } from './operate/run-stores.js';
import { ada, codeOf, Store, settle } from './store.fixture.js';

const ls = graph(chain(shell('ls', lit('ls -l')), done('out', step('ls'))));
const issue = graph(
  chain(
    call('issue', { title: lit('x') }, { executor: 'client', tool: 'github.create' }),
    done('out', step('issue')),
  ),
);
const plan = (responseSchema?: { readonly type: string }) =>
  graph(
    chain(
      delegate('plan', { agent: null, ...(responseSchema === undefined ? {} : { responseSchema }) }),
      done('out', step('plan', 'response')),
    ),
  );

/** The agent of the one item of a loop with these nodes. */
async function inChild(store: Store, ...nodes: readonly Node[]) {
  const each = foreach('each', lit(['a']), body(chain(...nodes)), {
    agent: '@task',
    onItemError: 'continue',
  });
  const envelope = await store.start(graph([each]));
  return { id: envelope.workflow_id, agent: new Agent(store, ada, childrenIn(envelope)[0]) };
}

describe('an action of the client', () => {
  test('has the parameters of its kind', async () => {
    const store = new Store();
    const actions = [];
    for (const each of [ls, issue, plan()]) actions.push((await store.start(each)).action);
    expect(actions).toMatchObject([
      { type: 'shell', timeout_seconds: 30 },
      { type: 'mcp_call', timeout_seconds: 30 },
      { type: 'delegate', timeout_seconds: 300 },
    ]);
    expect(actions.map((action) => action?.parameters)).toEqual([
      { command: 'ls -l', timeout: 30 },
      { tool: 'github.create', args: { title: 'x' } },
      { instructions: 'do plan', agent: null },
    ]);
  });

  test('expires its limit and 30 seconds after the first response that has it', async () => {
    const store = new Store();
    const at = store.clock.now();
    const envelope = await store.start(ls);
    const expiry = new Date(at + 60_000).toISOString();
    expect(envelope.action).toMatchObject({ expires_at: expiry });
    store.clock.pass(10_000);
    expect((await store.get(envelope.workflow_id)).action).toMatchObject({ expires_at: expiry });
    store.clock.pass(50_000);
    await settle();
    expect(await store.get(envelope.workflow_id)).toMatchObject({
      status: 'failed',
      error: { code: 'E_TIMEOUT' },
    });
    const { action } = envelope;
    const late = { actionId: action?.action_id ?? '', result: { exit_code: 0 } };
    expect(await store.submit(envelope.workflow_id, late)).toMatchObject({
      warnings: [{ code: 'W_NOT_USED' }],
    });
  });

  test.each([
    ['a command', shell('work', text('login ', input('key')))],
    ['a tool of the client', call('work', { key: input('key') }, { executor: 'client' })],
    ['an agent', delegate('work', { prompt: text('use ', input('key')) })],
  ])('fails before %s gets a secret', async (_, work) => {
    const store = new Store();
    const inputs = [{ ...required('key'), secret: true }];
    const fallback = { value: error('code') };
    const secretive = graph(chain({ ...work, onError: fallback }, done('out', step('work'))), { inputs });
    expect(await store.start(secretive, { key: 'hunter2-hunter2' })).toMatchObject({
      ...{ status: 'completed', result: 'E_WORK_SECRET' },
    });
    expect(await store.start(secretive, { key: 'x' })).toMatchObject({ result: 'E_WORK_SECRET' });
  });

  test('takes the result of a command', async () => {
    const store = new Store();
    const { workflow_id: id } = await store.start(ls);
    expect(codeOf(await store.submit(id, { result: { stdout: 'a' } }))).toBe('E_RESULT_SHAPE');
    expect(await store.submit(id, { result: { exit_code: 2 } })).toMatchObject({
      envelope: { status: 'completed', result: { exit_code: 2, stdout: '', stderr: '' } },
    });
  });

  test('takes the result of a tool as the tool returned it', async () => {
    const store = new Store();
    const { workflow_id: id } = await store.start(issue);
    const result = { content: [{ type: 'text', text: '{"id":7}' }] };
    expect(await store.submit(id, { result })).toMatchObject({ envelope: { result: { id: 7 } } });
    const { workflow_id: other } = await store.start(issue);
    const failure = { content: [{ type: 'text', text: 'no such repository' }], isError: true };
    expect(await store.submit(other, { result: failure })).toMatchObject({
      envelope: { status: 'failed', error: { code: 'E_TOOL_ERROR', message: 'no such repository' } },
    });
  });

  test('asks an agent for JSON at most three times', async () => {
    const store = new Store();
    const { workflow_id: id } = await store.start(plan({ type: 'array' }));
    const first = await store.submit(id, { result: 'a list' });
    expect(first).toMatchObject({
      failure: { code: 'E_RESULT_SHAPE', message: expect.stringContaining('still open') },
    });
    await store.submit(id, { result: '{}' });
    const { action } = await store.get(id);
    expect(action?.refused_values).toHaveLength(2);
    const last = await store.submit(id, { result: '7' });
    expect(last).toMatchObject({ failure: { message: expect.stringContaining('the step has failed') } });
    expect(await store.get(id)).toMatchObject({ status: 'failed', error: { code: 'E_RESULT_SHAPE' } });
  });

  test('takes JSON of an agent in a fence, after one that did not fit', async () => {
    const store = new Store();
    const { workflow_id: id } = await store.start(plan({ type: 'array' }));
    await store.submit(id, { result: '{}' });
    expect(await store.submit(id, { result: '```json\n["a"]\n```' })).toMatchObject({
      envelope: { status: 'completed', result: ['a'] },
    });
  });
});

describe('work of a child', () => {
  test('is delivered with its step, and expires then', async () => {
    const store = new Store();
    const { id, agent } = await inChild(store, shell('cat', text('cat ', item('item'))));
    store.clock.pass(3_600_000);
    await settle();
    const expiry = new Date(store.clock.now() + 60_000).toISOString();
    expect(await agent.next()).toMatchObject({
      next: { step: { step_id: 'cat', parameters: { command: 'cat a' }, expires_at: expiry } },
    });
    store.clock.pass(60_000);
    await settle();
    expect(await agent.send({ stepId: 'cat', result: { exit_code: 0 } })).toMatchObject({
      failure: { code: 'ACTION_EXPIRED' },
    });
    expect(await agent.next()).toMatchObject({ next: { status: 'error', error: { code: 'E_TIMEOUT' } } });
    expect(await store.get(id)).toMatchObject({ status: 'completed' });
  });

  test('waits for a time, and says how long', async () => {
    const store = new Store();
    const { agent } = await inChild(store, wait('nap', { durationMs: lit(5_000) }), shell('cat'));
    store.clock.pass(1_000);
    expect(await agent.next()).toEqual({ ok: true, next: { status: 'waiting', retry_after_ms: 4_000 } });
    store.clock.pass(4_000);
    await settle();
    expect(await agent.next()).toMatchObject({ next: { step: { step_id: 'cat' } } });
  });
});

describe('a task for the agent that called', () => {
  /** A store with an operator that allows sampling, and a client with these answers. */
  const sampling = (graphOf: ReturnType<typeof plan>, ...answers: readonly string[]) => {
    const asked: string[] = [];
    const sample = async ({ messages }: SamplingRequest) => {
      asked.push(JSON.stringify(messages));
      return {
        role: 'assistant',
        content: { type: 'text', text: answers[asked.length - 1] ?? '' },
        model: 'm',
      } as const;
    };
    const { options, waiter } = new Store();
    const values = valuePort({ allowSampling: true, schemas: options.schemas, log: () => {} });
    const store = memoryStore({ ...options, values });
    const start = () =>
      store.start({ owner: ada, graph: graphOf, input: {} }, waiter({ request: { peer: { sample } } }));
    return { asked, start };
  };

  test('is done by the model of the client, where the operator allows it', async () => {
    const { asked, start } = sampling(plan(), 'First this, then that.');
    expect(await start()).toMatchObject({
      envelope: { status: 'completed', result: 'First this, then that.' },
    });
    expect(asked).toEqual([expect.stringContaining('do plan')]);
    expect(asked[0]).not.toContain('JSON');
  });

  test('is asked for again with what was wrong, where it wants JSON', async () => {
    const { asked, start } = sampling(plan({ type: 'array' }), 'a list', '["a"]');
    expect(await start()).toMatchObject({ envelope: { status: 'completed', result: ['a'] } });
    expect(asked[1]).toContain('did not fit');
  });

  test('is left to the caller, where an agent is named', async () => {
    const { asked, start } = sampling(graph([delegate('plan', { agent: '@planner' })]));
    expect(await start()).toMatchObject({ envelope: { action: { type: 'delegate' } } });
    expect(asked).toEqual([]);
  });
});

describe('the message of a time that a run waits for', () => {
  const given = { description: '', schema: {}, required: true };
  const inputs = [
    { ...given, name: 'zone' },
    { ...given, name: 'key', secret: true },
  ];
  const message = async (...guidance: (string | ReturnType<typeof input>)[]) => {
    const node = wait('dns', { durationMs: lit(60_000), guidance: text(...guidance) });
    const { action } = await new Store().start(graph([node], { inputs }), {
      zone: 'example.org',
      key: 'sesame',
    });
    return action?.parameters;
  };

  test('is the guidance of its step, without secrets', async () => {
    expect(await message('waits for ', input('zone'), ' with ', input('key'))).toEqual({
      duration: 60,
      message: 'waits for •••• with ••••',
    });
  });

  test('is a sentence where the guidance is empty or has no value', async () => {
    const sentence = { duration: 60, message: 'Continues by itself.' };
    expect(await message('')).toEqual(sentence);
    expect(await message('for ', input('absent'))).toEqual(sentence);
  });
});

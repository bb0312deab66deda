import { describe, expect, test } from 'vitest';
import { required } from '../engine/constructs.fixture.js';
import { call, chain, done, graph, input, step } from '../engine/graph.fixture.js';
import { memoryStore } from './operate/run-stores.js';
import { broken, codeOf, envelopeIn, ok, Store, type Tool } from './store.fixture.js';

const nodes = chain(call('a', { n: input('n') }), call('b', { x: step('a') }), done('out', step('b')));
const task = graph(nodes, { task: true, inputs: [required('n')] });

/** A store with a tool that fails at first, so many times. */
function failingStore(times = 1): Store {
  let left = times;
  const a: Tool = () => {
    left -= 1;
    return left >= 0 ? broken('no such file') : ok('tried again');
  };
  return new Store({ 'tool-a': a, 'tool-b': ({ x }) => ok([x ?? null]) });
}

describe('a step of a task that fails', () => {
  test('is an action that says what failed, and how its call is made', async () => {
    const store = failingStore();
    const envelope = await store.start(task, { n: 1 });
    expect(envelope).toMatchObject({
      status: 'waiting',
      action: {
        step_id: 'a',
        type: 'step',
        parameters: {
          failure: { code: 'E_TOOL_ERROR', message: 'no such file' },
          tool: 'tool-a',
          args: { n: 1 },
        },
      },
    });
    expect(envelope.action).not.toHaveProperty('expires_at');
    expect(envelope.action).not.toHaveProperty('timeout_seconds');
  });

  test('takes the result of its tool as the tool returned it, once', async () => {
    const store = failingStore();
    const { workflow_id: id, action } = await store.start(task, { n: 1 });
    const answer = {
      actionId: action?.action_id ?? '',
      result: { content: [{ type: 'text', text: 'done' }] },
    };
    expect(await store.submit(id, answer)).toMatchObject({
      envelope: { status: 'completed', result: ['done'] },
    });
    expect(codeOf(await store.submit(id, answer))).toBe('accepted');
    expect(codeOf(await store.submit(id, { ...answer, result: 'other' }))).toBe('ALREADY_SUBMITTED');
    expect((await store.get(id)).result).toEqual(['done']);
  });

  test('stays open for a result that is an error, and for one that its tool cannot return', async () => {
    const plain = failingStore();
    const resultFailure = (_: string, value: unknown) =>
      value === 'wrong' ? { code: 'E_OUTPUT_SCHEMA', message: 'not what it returns' } : undefined;
    const store = memoryStore({ ...plain.options, resultFailure });
    const started = envelopeIn(
      await store.start(
        { owner: { kind: 'principal', subject: 'ada' }, graph: task, input: { n: 1 } },
        plain.waiter(),
      ),
    );
    const submit = (sent: object) =>
      store.submit({ kind: 'principal', subject: 'ada' }, started.workflow_id, sent, plain.waiter());
    const isError = { content: [{ type: 'text', text: 'still away' }], isError: true };
    expect(codeOf(await submit({ result: isError }))).toBe('RESULT_IS_ERROR');
    expect(codeOf(await submit({ error: { message: 'I could not' } }))).toBe('RESULT_IS_ERROR');
    expect(codeOf(await submit({ result: 'wrong' }))).toBe('E_OUTPUT_SCHEMA');
    expect(await submit({ result: 'right' })).toMatchObject({ envelope: { status: 'completed' } });
  });

  test('shows its input without secrets, and takes its result all the same', async () => {
    const store = failingStore();
    const secret = graph(nodes, { task: true, inputs: [{ ...required('n'), secret: true }] });
    const envelope = await store.start(secret, { n: 'hunter2-hunter2' });
    expect(envelope.status).toBe('waiting');
    expect(JSON.stringify(envelope)).not.toContain('hunter2');
    expect(await store.submit(envelope.workflow_id, { result: 1 })).toMatchObject({
      envelope: { status: 'completed', result: [1] },
    });
  });

  test('takes a call that its client made once: a repeated one has no warning, also after the end', async () => {
    const store = failingStore();
    const { workflow_id: id } = await store.start(task, { n: 1 });
    const made = { tool: 'tool-a', stepId: 'a', args: { n: 1 }, result: 'by hand' };
    for (const sent of [made, made])
      expect(await store.submit(id, sent)).toStrictEqual({
        ok: true,
        envelope: expect.objectContaining({ status: 'completed', result: ['by hand'] }),
      });
    expect(await store.submit(id, { ...made, result: 'late' })).toMatchObject({
      warnings: [{ code: 'W_NOT_USED' }],
      envelope: { result: ['by hand'] },
    });
  });

  describe('beside another one with its tool and its input', () => {
    const first = call('a', { n: input('n') });
    const second = call('b', { n: input('n') }, { tool: 'tool-a', after: ['a'] });
    const both = graph([first, second, done('out', step('b'))], { task: true, inputs: [required('n')] });
    const made = { tool: 'tool-a', args: { n: 1 }, result: 'by hand' };
    const waitingAt = (node: string) => ({ envelope: { status: 'waiting', action: { step_id: node } } });
    const completed = { envelope: { status: 'completed', result: 'by hand' } };

    test('takes one of two equal calls each', async () => {
      const store = failingStore(2);
      const { workflow_id: id } = await store.start(both, { n: 1 });
      expect(await store.submit(id, made)).toMatchObject(waitingAt('b'));
      expect(await store.submit(id, made)).toMatchObject(completed);
      const again = await store.submit(id, made);
      expect(again).toMatchObject(completed);
      expect(again).not.toHaveProperty('warnings');
    });

    test.each([
      ['the same result', made],
      ['another result', { ...made, result: 'made again' }],
    ])('takes a request once that is sent again with %s', async (_, repeated) => {
      const store = failingStore(2);
      const { workflow_id: id } = await store.start(both, { n: 1 });
      const sent = [made, repeated].map((each) => store.submit(id, { ...each, requestKey: 'k-1' }));
      for (const answer of await Promise.all(sent)) {
        expect(answer).toMatchObject(waitingAt('b'));
        expect(answer).not.toHaveProperty('warnings');
      }
      expect(await store.submit(id, { ...made, requestKey: 'k-2' })).toMatchObject(completed);
    });
  });

  test('is withdrawn with its run', async () => {
    const store = failingStore();
    const { workflow_id: id } = await store.start(task, { n: 1 });
    await store.store.cancel({ kind: 'principal', subject: 'ada' }, id, {}, store.waiter());
    expect(await store.get(id)).toMatchObject({ status: 'cancelled' });
    expect(codeOf(await store.submit(id, { result: 1 }))).toBe('WORKFLOW_CANCELLED');
  });
});

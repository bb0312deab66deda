import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/model.js';
import { desk } from '../composite/fixture/registry.js';
import { ask, returns, step, workflow } from '../composite/fixture/workflows.js';
import { listening, tokenOf } from '../composite/http.js';
import { asTasks } from '../tasks/tasks.js';
import { post, REVISION } from './client.js';

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const FORMS = { ...TASKS, elicitation: { form: {} } };

interface Reply {
  readonly status: number;
  readonly result?: Readonly<Record<string, unknown>> & { readonly taskId?: string };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** What sends requests of a user with some capabilities, each complete in itself. */
function requester(url: URL, capabilities: object = FORMS, user = 'ada') {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const authorization = `Bearer ${tokenOf('desktop', { sub: user })}`;
  return async (method: string, params: Readonly<Record<string, unknown>>): Promise<Reply> => {
    const name = { 'mcp-name': String(params.taskId ?? params.name) };
    const response = await post(url, method, {
      params: { ...params, _meta },
      headers: { ...name, authorization },
    });
    return { status: response.status, ...((await response.json()) as object) };
  };
}

type Send = ReturnType<typeof requester>;

async function started(send: Send, name: string, args: object = {}): Promise<string> {
  const { result } = await send('tools/call', { name, arguments: args });
  expect(result?.resultType).toBe('task');
  return String(result?.taskId);
}

const get = async (send: Send, taskId: string) => (await send('tasks/get', { taskId })).result;

/** The ids of the questions of a task, once it has so many. */
async function questionsOf(send: Send, taskId: string, count: number): Promise<readonly string[]> {
  let ids: readonly string[] = [];
  await expect
    .poll(async () => {
      ids = Object.keys((await get(send, taskId))?.inputRequests ?? {});
      return ids.length;
    })
    .toBe(count);
  return ids;
}

// Its questions are asked at once.
const both: Graph = {
  ...workflow('both', []),
  nodes: [
    ask('first'),
    ask('second', { mode: 'text' }),
    { ...returns(step('second', 'input')), after: ['first', 'second'] },
  ],
};
const workflows = asTasks();
const yes = { action: 'accept', content: { confirmed: true } };

describe('a call of a tool that may be a task', () => {
  test('is one for a client with tasks, without a word of the client, and has the result of a plain call', async () => {
    const send = requester(await listening(desk({ workflows }).server));
    const { result } = await send('tools/call', { name: 'w_book', arguments: { city: 'Rome' } });
    expect(Object.keys(result ?? {}).toSorted()).toEqual([
      '_meta',
      'createdAt',
      'lastUpdatedAt',
      'pollIntervalMs',
      'resultType',
      'status',
      'taskId',
      'ttlMs',
    ]);
    expect(result).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: 1_000 });
    const taskId = String(result?.taskId);
    await expect.poll(() => get(send, taskId)).toMatchObject({ status: 'completed', resultType: 'complete' });
    const plain = requester(await listening(desk({ workflows }).server), {});
    const call = await plain('tools/call', { name: 'w_book', arguments: { city: 'Rome' } });
    expect(call.result).toMatchObject({ resultType: 'complete' });
    expect((await get(send, taskId))?.result).toMatchObject({
      content: call.result?.content,
      structuredContent: call.result?.structuredContent,
    });
  });

  test('completes with the result of a failed call', async () => {
    const send = requester(await listening(desk({ workflows }).server));
    const taskId = await started(send, 'w_pay', { card: '4711' });
    await expect
      .poll(() => get(send, taskId))
      .toMatchObject({ status: 'completed', result: { isError: true } });
    expect(JSON.stringify(await get(send, taskId))).not.toContain('4711');
  });

  test('is updated with an object of answers alone', async () => {
    const send = requester(await listening(desk({ workflows }).server));
    const taskId = await started(send, 'w_careful', { city: 'Rome' });
    const message = expect.stringContaining('inputResponses: expected an object with the answers');
    for (const inputResponses of [undefined, null, [], 'x', 5])
      expect(await send('tasks/update', { taskId, inputResponses })).toMatchObject({
        error: { code: -32_602, message },
      });
    expect((await send('tasks/update', { taskId, inputResponses: {} })).result).toBeDefined();
  });

  test('is refused where it must be one and the client has no tasks', async () => {
    const url = await listening(desk({ workflows: asTasks('required') }).server);
    const refused = {
      status: 400,
      error: { code: -32_021, data: { requiredCapabilities: TASKS } },
    };
    expect(
      await requester(url, {})('tools/call', { name: 'w_book', arguments: { city: 'Rome' } }),
    ).toMatchObject(refused);
    const send = requester(url);
    const taskId = await started(send, 'w_slow');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect(await requester(url, {})(method, { taskId, inputResponses: {} })).toMatchObject(refused);
    expect(await get(send, taskId)).toMatchObject({ status: 'working' });
  });

  test('with input that does not fit starts no task, and has the result of a refused call', async () => {
    const send = requester(await listening(desk({ workflows }).server));
    const { result } = await send('tools/call', { name: 'w_book', arguments: {} });
    expect(result).toMatchObject({ resultType: 'complete', isError: true });
    expect(JSON.stringify(result)).toContain('E_INPUT_INVALID');
  });

  test('exists for its caller alone', async () => {
    const url = await listening(desk({ workflows }).server);
    const taskId = await started(requester(url), 'w_slow');
    const foreign = requester(url, FORMS, 'bob');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const refused = await foreign(method, { taskId, inputResponses: {} });
      expect(refused).toMatchObject({ error: { code: -32_602, message: expect.stringContaining(taskId) } });
    }
    expect(await get(requester(url), taskId)).toMatchObject({ status: 'working' });
  });

  test('is cancelled, and once it is over a second time without effect', async () => {
    const send = requester(await listening(desk({ workflows }).server));
    const [taskId, over] = [await started(send, 'w_slow'), await started(send, 'w_book', { city: 'Rome' })];
    await expect.poll(() => get(send, over)).toMatchObject({ status: 'completed' });
    for (const id of [taskId, taskId, over]) {
      const { result } = await send('tasks/cancel', { taskId: id });
      expect(Object.keys(result ?? {}).toSorted()).toEqual(['_meta', 'resultType']);
    }
    expect(await get(send, taskId)).toMatchObject({ status: 'cancelled' });
    expect(await get(send, over)).toMatchObject({ status: 'completed' });
  });
});

describe('a task that asks', () => {
  test('has its questions, and continues with the answers, one at a time', async () => {
    const { server } = desk({ workflows: asTasks('optional', [both]) });
    const send = requester(await listening(server));
    const taskId = await started(send, 'w_both');
    const [first, second] = (await questionsOf(send, taskId, 2)) as [string, string];
    const state = await get(send, taskId);
    expect(state).toMatchObject({
      status: 'input_required',
      inputRequests: {
        [first]: { method: 'elicitation/create', params: { message: 'first?' } },
        [second]: { method: 'elicitation/create', params: { message: 'second?' } },
      },
    });
    const update = (inputResponses: object) => send('tasks/update', { taskId, inputResponses });
    expect((await update({ [first]: yes, 'other#1': yes })).result).toMatchObject({ resultType: 'complete' });
    expect(await questionsOf(send, taskId, 1)).toEqual([second]);
    expect((await update({ [first]: yes })).result).toMatchObject({ resultType: 'complete' });
    await update({ [second]: { action: 'accept', content: { input: 'fine' } } });
    await expect
      .poll(() => get(send, taskId))
      .toMatchObject({ status: 'completed', result: { structuredContent: { result: 'fine' } } });
  });

  test('refuses an answer that does not fit, and takes the others', async () => {
    const { server } = desk({ workflows: asTasks('optional', [both]) });
    const send = requester(await listening(server));
    const taskId = await started(send, 'w_both');
    const [first, second] = (await questionsOf(send, taskId, 2)) as [string, string];
    const misfit = { action: 'accept', content: { confirmed: 'perhaps' } };
    const answers = { [first]: misfit, [second]: { action: 'accept', content: { input: 'fine' } } };
    expect(await send('tasks/update', { taskId, inputResponses: answers })).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining(`'${first}'`) },
    });
    expect(await questionsOf(send, taskId, 1)).toEqual([first]);
    const accept = (content: unknown) => ({ action: 'accept', content });
    const malformed = [{}, { action: 'maybe' }, { roots: [] }, accept('x'), null, 5, 'x', []];
    for (const answer of [...malformed, accept({}), accept({ confirmed: 5 }), accept({ other: 'x' })])
      expect(await send('tasks/update', { taskId, inputResponses: { [first]: answer } })).toMatchObject({
        error: { code: -32_602, message: expect.stringContaining(`'${first}'`) },
      });
    expect(await questionsOf(send, taskId, 1)).toEqual([first]);
    await send('tasks/update', { taskId, inputResponses: { [first]: { action: 'decline' } } });
    await expect
      .poll(() => get(send, taskId))
      .toMatchObject({ status: 'completed', result: { isError: true } });
  });

  test('works, for a client that asks no user, and says how it is answered', async () => {
    const url = await listening(desk({ workflows: asTasks('optional', [both]) }).server);
    const taskId = await started(requester(url, TASKS), 'w_both');
    await questionsOf(requester(url), taskId, 2);
    const state = await get(requester(url, TASKS), taskId);
    expect(state).toMatchObject({
      status: 'working',
      statusMessage: expect.stringContaining('submit_result'),
    });
    expect(state).not.toHaveProperty('inputRequests');
  });
});

describe('a subscription to tasks', () => {
  const listen = (url: URL, taskIds: unknown, capabilities: object = FORMS, more: object = {}) =>
    post(url, 'subscriptions/listen', {
      params: {
        notifications: { taskIds, ...more },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': REVISION,
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
      headers: { authorization: `Bearer ${tokenOf('desktop', { sub: 'ada' })}` },
    });

  test('has each state of its tasks, and not those of other callers', async () => {
    const url = await listening(desk({ workflows: asTasks('optional', [both]) }).server);
    const send = requester(url);
    const taskId = await started(send, 'w_both');
    const foreign = await started(requester(url, FORMS, 'bob'), 'w_both');
    const [first, second] = (await questionsOf(send, taskId, 2)) as [string, string];
    const response = await listen(url, [taskId, foreign]);
    const seen: { readonly method: string; readonly params: Readonly<Record<string, unknown>> }[] = [];
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const reading = (async () => {
      const decoder = new TextDecoder();
      for (let read = await reader.read(); !read.done; read = await reader.read())
        for (const [, data = ''] of decoder.decode(read.value).matchAll(/^data: (.*)$/gm))
          seen.push(JSON.parse(data));
    })();
    await expect.poll(() => seen[0]?.params).toMatchObject({ notifications: { taskIds: [taskId] } });
    expect(seen[0]?.params.notifications).toEqual({ taskIds: [taskId] });
    const text = { action: 'accept', content: { input: 'fine' } };
    await send('tasks/update', { taskId, inputResponses: { [first]: yes } });
    await send('tasks/update', { taskId, inputResponses: { [second]: text } });
    await expect
      .poll(() => seen.at(-1))
      .toMatchObject({
        method: 'notifications/tasks',
        params: {
          taskId,
          status: 'completed',
          result: { structuredContent: { result: 'fine' } },
          _meta: { 'io.modelcontextprotocol/subscriptionId': 1 },
        },
      });
    expect(seen.slice(1).every(({ params }) => params.taskId === taskId)).toBe(true);
    await reader.cancel();
    await reading;
  });

  test('is refused where a part of its filter does not fit', async () => {
    const url = await listening(desk({ workflows }).server);
    const taskId = await started(requester(url), 'w_slow');
    const refused = (message: string) => ({
      error: { code: -32_602, message: expect.stringContaining(message) },
    });
    for (const more of [{ toolsListChanged: 'yes' }, { resourceSubscriptions: 'x' }]) {
      const response = await listen(url, [taskId], FORMS, more);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject(refused('SubscriptionFilter'));
    }
    for (const taskIds of ['x', [5], [taskId, null], null, { 0: taskId }]) {
      const response = await listen(url, taskIds);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject(refused('notifications.taskIds'));
    }
  });

  test('is refused where the client has no tasks', async () => {
    const url = await listening(desk({ workflows }).server);
    const response = await listen(url, ['x'], {});
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: -32_021, data: { requiredCapabilities: TASKS } },
    });
  });
});

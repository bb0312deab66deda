import { CallToolResultSchema, TaskStatusNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { atDesk, callOf, clientOf, textIn } from '../composite/client.js';
import { desk } from '../composite/fixture/registry.js';
import { refusal } from '../server/connected.js';
import { asTasks, getTask, resultOf, startTask, streamed } from './tasks.js';

const RELATED = 'io.modelcontextprotocol/related-task';

describe('a workflow that may be called as a task', () => {
  test('says so in its listing', async () => {
    const { client } = await atDesk({ workflows: asTasks() });
    const { tools } = await client.listTools();
    const support = new Map(tools.map(({ name, execution }) => [name, execution?.taskSupport]));
    expect(support.get('w_book')).toBe('optional');
    expect(support.get('search')).toBeUndefined();
    expect(support.get('submit_result')).toBeUndefined();
    expect(client.getServerCapabilities()?.tasks).toEqual({
      list: {},
      cancel: {},
      requests: { tools: { call: {} } },
    });
  });

  test('has the result of a plain call', async () => {
    const { client } = await atDesk({ workflows: asTasks() });
    const { task } = await startTask(client, 'w_book', { city: 'Rome' }, { ttl: 60_000 });
    expect(task).toMatchObject({ status: 'working', ttl: 60_000, pollInterval: 1_000 });
    const result = await resultOf(client, task.taskId);
    expect(result._meta?.[RELATED]).toEqual({ taskId: task.taskId });
    expect(await getTask(client, task.taskId)).toMatchObject({ status: 'completed', ttl: 60_000 });
    const plain = await callOf(client, 'w_book', { city: 'Rome' });
    expect(result.structuredContent).toEqual({ ...plain.structuredContent, id: 'b-1' });
    expect(result.isError).toBeUndefined();
  });

  test('is a run under the same id, which is stored before the answer', async () => {
    const { client } = await atDesk({ workflows: asTasks() });
    const { task } = await startTask(client, 'w_slow');
    const { structuredContent } = await callOf(client, 'get_workflow_status', { workflow_id: task.taskId });
    expect(structuredContent).toMatchObject({ workflow_id: task.taskId, status: 'running' });
  });

  test('fails with the result of the failed call', async () => {
    const { client } = await atDesk({ workflows: asTasks() });
    const { task } = await startTask(client, 'w_pay', { card: '4711' });
    const result = await resultOf(client, task.taskId);
    expect(result.isError).toBe(true);
    const state = await getTask(client, task.taskId);
    expect(state).toMatchObject({ status: 'failed', statusMessage: expect.stringContaining('E_DECLINED') });
    expect(JSON.stringify([result, state])).not.toContain('4711');
  });

  test('is kept no longer than the server keeps runs, nor than the caller wants it', async () => {
    const { client } = await atDesk({ workflows: asTasks(), runs: { finishedRunMs: 5_000 } });
    expect((await startTask(client, 'w_book', { city: 'Rome' }, { ttl: 60_000 })).task.ttl).toBe(5_000);
    expect((await startTask(client, 'w_book', { city: 'Rome' })).task.ttl).toBe(5_000);
    const { task } = await startTask(client, 'w_book', { city: 'Rome' }, { ttl: 0 });
    await expect
      .poll(() => getTask(client, task.taskId).catch(({ code }: { readonly code?: number }) => code))
      .toBe(-32602);
  });

  test('continues after its time to live, and is then kept for as long again', async () => {
    const { client, desk: made } = await atDesk({ workflows: asTasks() });
    const { taskId } = (await startTask(client, 'w_slow', {}, { ttl: 400 })).task;
    await made.begun;
    await new Promise((resolve) => setTimeout(resolve, 450));
    expect(await getTask(client, taskId)).toMatchObject({ status: 'working', ttl: 400 });
    made.finish({ done: true });
    await expect.poll(() => getTask(client, taskId)).toMatchObject({ status: 'completed' });
    expect((await resultOf(client, taskId)).structuredContent).toEqual({ result: { done: true } });
    await expect
      .poll(() => getTask(client, taskId).catch(({ code }: { readonly code?: number }) => code))
      .toBe(-32602);
  });
});

describe('a task that asks', () => {
  test('requires input, and puts the question to the user of the request for its result', async () => {
    const asked: unknown[] = [];
    const { client } = await atDesk({ workflows: asTasks() }, (question) => {
      asked.push(question);
      return {
        action: 'accept',
        content: question.message === 'Book Rome?' ? { confirmed: true } : { input: 'Holiday' },
      };
    });
    const { task } = await startTask(client, 'w_careful', { city: 'Rome' });
    await expect
      .poll(() => getTask(client, task.taskId))
      .toMatchObject({
        status: 'input_required',
        statusMessage: expect.stringContaining('Book Rome?'),
      });
    expect(asked).toEqual([]);
    expect((await resultOf(client, task.taskId)).structuredContent).toEqual({ result: 'Holiday' });
    const _meta = { [RELATED]: { taskId: task.taskId } };
    expect(asked).toMatchObject([
      { message: 'Book Rome?', _meta },
      { message: 'What shall it be called?', _meta },
    ]);
  });

  test('is answered by a tool where no user can be asked', async () => {
    const { client, desk: made } = await atDesk({ workflows: asTasks() });
    const { task } = await startTask(client, 'w_careful', { city: 'Rome' });
    const result = resultOf(client, task.taskId);
    const workflow_id = task.taskId;
    await expect.poll(() => getTask(client, workflow_id)).toMatchObject({ status: 'input_required' });
    await callOf(client, 'submit_result', { workflow_id, result: true });
    expect(made.booked).toEqual(['Rome']);
    await callOf(client, 'submit_result', { workflow_id, result: 'Holiday' });
    expect((await result).structuredContent).toEqual({ result: 'Holiday' });
  });

  test('notifies the client that started it of each state', async () => {
    const { client } = await atDesk({ workflows: asTasks() });
    const states: unknown[] = [];
    client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => {
      states.push([params.taskId, params.status]);
    });
    const { task } = await startTask(client, 'w_careful', { city: 'Rome' });
    const workflow_id = task.taskId;
    await expect.poll(() => states).toContainEqual([workflow_id, 'input_required']);
    await callOf(client, 'submit_result', { workflow_id, result: false });
    await callOf(client, 'submit_result', { workflow_id, result: 'Trip' });
    await expect.poll(() => states.at(-1)).toEqual([workflow_id, 'completed']);
  });

  test('waits for a time as a task that works', async () => {
    const { client } = await atDesk({ workflows: asTasks() });
    const { task } = await startTask(client, 'w_nap');
    await expect
      .poll(() => getTask(client, task.taskId))
      .toMatchObject({
        status: 'working',
        statusMessage: expect.stringContaining('waits'),
      });
  });
});

describe('cancellation', () => {
  test('ends a task, once', async () => {
    const { client, desk: made } = await atDesk({ workflows: asTasks() });
    const { task } = await startTask(client, 'w_slow');
    const signal = await made.begun;
    const cancelled = await client.experimental.tasks.cancelTask(task.taskId);
    expect(cancelled).toMatchObject({ taskId: task.taskId, status: 'cancelled' });
    expect(signal.aborted).toBe(true);
    expect(await refusal(client.experimental.tasks.cancelTask(task.taskId))).toMatchObject({
      code: -32602,
      message: expect.stringContaining('cancelled already'),
    });
    const result = await resultOf(client, task.taskId);
    expect(result).toMatchObject({ isError: true });
    expect(textIn(result)).toContain('the client cancelled the task');
  });

  test('of the request for a result does not end the task', async () => {
    const { client, desk: made } = await atDesk({ workflows: asTasks() });
    const { task } = await startTask(client, 'w_slow');
    await made.begun;
    const controller = new AbortController();
    const options = { signal: controller.signal };
    const result = client.experimental.tasks.getTaskResult(task.taskId, undefined, options);
    controller.abort();
    await expect(result).rejects.toThrow();
    made.finish({ done: true });
    expect((await resultOf(client, task.taskId)).structuredContent).toEqual({ result: { done: true } });
  });
});

test.each(['drain', 'stop'] as const)('%s of the server ends a request for a result', async (how) => {
  const { client, server } = await atDesk({ workflows: asTasks(), drainTimeoutMs: 3_600_000 });
  const { taskId } = (await startTask(client, 'w_careful', { city: 'Rome' })).task;
  await expect.poll(() => getTask(client, taskId)).toMatchObject({ status: 'input_required' });
  const result = refusal(resultOf(client, taskId));
  // It is answered after the request before it has begun.
  await getTask(client, taskId);
  await server[how]();
  expect(await result).toMatchObject({
    code: -32004,
    message: expect.stringMatching(/is not over.*ask for its result again/),
  });
});

describe('a list of tasks', () => {
  test('has the tasks of the caller, a page at a time', async () => {
    const { client } = await atDesk({ workflows: asTasks(), pageSize: 2 });
    const ids: string[] = [];
    for (const city of ['Rome', 'Oslo', 'Bonn'])
      ids.unshift((await startTask(client, 'w_book', { city })).task.taskId);
    const first = await client.experimental.tasks.listTasks();
    expect(first.tasks.map(({ taskId }) => taskId)).toEqual(ids.slice(0, 2));
    const second = await client.experimental.tasks.listTasks(first.nextCursor);
    expect(second.tasks.map(({ taskId }) => taskId)).toEqual(ids.slice(2));
    expect(second.nextCursor).toBeUndefined();
    expect(await refusal(client.experimental.tasks.listTasks('bm9uZQ'))).toMatchObject({ code: -32602 });
  });

  test('has no tasks of others, who cannot reach them either', async () => {
    const { server } = desk({ workflows: asTasks() });
    const client = await clientOf(server);
    const { task } = await startTask(client, 'w_careful', { city: 'Rome' });
    const { client: other } = await atDesk({ workflows: asTasks() });
    expect((await other.experimental.tasks.listTasks()).tasks).toEqual([]);
    for (const request of [
      getTask(other, task.taskId),
      resultOf(other, task.taskId),
      other.experimental.tasks.cancelTask(task.taskId),
    ])
      expect(await refusal(request)).toMatchObject({
        code: -32602,
        message: expect.stringContaining('not found'),
      });
  });
});

describe('a call that cannot be made in this way', () => {
  test.each([
    ['a workflow that may not be a task', 'w_book', { city: 'Rome' }, -32601],
    ['a tool', 'search', { city: 'Rome' }, -32601],
    ['a tool that looks after runs', 'list_workflows', {}, -32601],
    ['a tool that is not there', 'w_nothing', {}, -32602],
  ])('as a task: %s', async (_what, name, args, code) => {
    const { client } = await atDesk();
    expect(await refusal(startTask(client, name, args))).toMatchObject({ code });
  });

  test('not as a task: a workflow that has to be one', async () => {
    const { client, desk: made } = await atDesk({ workflows: asTasks('required') });
    const call = client.request(
      { method: 'tools/call', params: { name: 'w_book', arguments: { city: 'Rome' } } },
      CallToolResultSchema,
    );
    expect(await refusal(call)).toMatchObject({ code: -32601 });
    expect(made.booked).toEqual([]);
    expect((await streamed(client, 'w_book', { city: 'Rome' })).result.structuredContent).toMatchObject({
      id: 'b-1',
    });
  });

  test.each([
    [{ seats: 0, city: 'Rome' }, {}],
    [{ city: 'Rome' }, { ttl: -1 }],
    [{ city: 'Rome' }, { ttl: 'long' }],
  ])('with params that do not fit: %j, %j', async (args, task) => {
    const { client, desk: made } = await atDesk({ workflows: asTasks() });
    expect(await refusal(startTask(client, 'w_book', args, task))).toMatchObject({ code: -32602 });
    expect(made.booked).toEqual([]);
  });

  test.each([
    { _task_id: 7 },
    { _task_id: null },
    { _task_id: 'x', _step: ['y'] },
    { 'stepwright/idempotencyKey': 7 },
  ])('with a task to continue, or a key, that is not a string: %j', async (_meta) => {
    const { client, desk: made } = await atDesk();
    const params = { name: 'create-booking', arguments: { city: 'Rome', seats: 1 }, _meta };
    const call = client.request({ method: 'tools/call', params }, CallToolResultSchema);
    expect(await refusal(call)).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/_meta\.(_task_id|_step|stepwright\/idempotencyKey): must be a string/),
    });
    expect(made.booked).toEqual([]);
  });

  test('beyond the open runs of a caller', async () => {
    const { client } = await atDesk({ workflows: asTasks(), runs: { maxOpenRuns: 1 } });
    await startTask(client, 'w_slow');
    expect(await refusal(startTask(client, 'w_slow'))).toMatchObject({
      code: -32005,
      data: { code: 'RESOURCE_EXHAUSTED' },
    });
  });
});

test('the streaming client of the SDK reaches the result of a plain client', async () => {
  const { client } = await atDesk({ workflows: asTasks() }, ({ message }) => ({
    action: 'accept',
    content: message === 'Book Rome?' ? { confirmed: false } : { input: 'Holiday' },
  }));
  const { states, result } = await streamed(client, 'w_careful', { city: 'Rome' });
  expect(states[0]).toBe('working');
  const plain = await callOf(client, 'w_careful', { city: 'Rome' });
  expect(result.structuredContent).toEqual(plain.structuredContent);
  expect(result.content).toEqual(plain.content);
});

import {
  getNumber,
  getString,
  getTyped,
  ProtocolFault,
  type RequestContext,
  readProgress,
  type StepwrightServer,
  TaskVariableError,
} from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { desk } from './fixture/registry.js';
import { argument, built, call, input, returns, step, workflow } from './fixture/workflows.js';

const trip = workflow(
  'trip',
  [
    call('search', 'search', { city: input('city') }),
    call('booking', 'create-booking', { city: input('city'), seats: input('seats') }),
    returns(step('booking')),
  ],
  {
    inputs: [
      argument('city', { type: 'string' }),
      argument('seats', { type: 'integer' }, { required: false }),
    ],
    task: true,
  },
);

const [ada, bob] = ['ada', 'bob'].map(
  (sub): RequestContext => ({
    auth: { clientId: 'c', scopes: [], extra: { sub } },
    requestId: '1',
    signal: new AbortController().signal,
    progress: () => {},
  }),
) as [RequestContext, RequestContext];

/** A task that waits for its second step, without seats. */
async function paused(pageSize = 100): Promise<{ server: StepwrightServer; id: string }> {
  const { server } = desk({ store: 'memory', workflows: built([trip]), pageSize });
  return { server, id: await startTrip(server) };
}

async function startTrip(server: StepwrightServer): Promise<string> {
  const prompt = await server.getPrompt('trip', { city: 'Rome' }, ada);
  const id = '_meta' in prompt ? prompt._meta?.task_id : undefined;
  if (typeof id !== 'string') throw new Error('the prompt has no task');
  return id;
}

/** The code and the failure of a request that is refused. */
async function faultOf(request: Promise<unknown>): Promise<{ code: number; message: string; data: unknown }> {
  const fault: unknown = await request.catch((error: unknown) => error);
  if (!(fault instanceof ProtocolFault)) throw new Error('the request was not refused', { cause: fault });
  const { code, message, data } = fault;
  return { code, message, data };
}

describe('a task', () => {
  test('has its progress, the results of its steps and why it is paused among its variables', async () => {
    const { server, id } = await paused();
    const task = await server.tasks.get(id, ada);
    expect(task).toMatchObject({ id, status: 'working', version: 0 });
    expect(readProgress(task.variables['_workflow.progress'] ?? null).steps).toStrictEqual([
      { name: 'search', tool: 'search', status: 'completed' },
      { name: 'booking', tool: 'create-booking', status: 'failed' },
    ]);
    expect(task.variables).toMatchObject({
      '_workflow.result.search': { flights: ['to Rome'] },
      '_workflow.pause_reason': { blockedStep: 'booking' },
    });
  });

  test('has variables that a program sets, replaces and deletes', async () => {
    const { server, id } = await paused();
    const { tasks } = server;
    await tasks.setVariables(id, { region: 'eu', tries: 1, gone: true }, ada);
    const task = await tasks.setVariables(id, { tries: 2, gone: null }, ada, 1);
    expect(task).toMatchObject({ version: 2, variables: { region: 'eu', tries: 2 } });
    expect(task.variables).not.toHaveProperty('gone');
    expect(await tasks.get(id, ada)).toStrictEqual(task);
  });

  test.each([
    [
      'for a name of the server',
      { fits: 1, '_workflow.progress': {} },
      undefined,
      'E_TASK_VARIABLES',
      -32602,
    ],
    [
      'for a text that is too long',
      { fits: 1, long: 'x'.repeat(65_537) },
      undefined,
      'E_TASK_VARIABLES',
      -32602,
    ],
    ['for another version', { fits: 1 }, 7, 'E_TASK_VERSION', -32603],
  ])('is not changed %s', async (_, changes, version, failure, code) => {
    const { server, id } = await paused();
    const fault = await faultOf(server.tasks.setVariables(id, changes, ada, version));
    expect(fault).toMatchObject({ code, data: { code: failure } });
    const task = await server.tasks.get(id, ada);
    expect(task.version).toBe(0);
    expect(task.variables).not.toHaveProperty('fits');
  });

  test('of another caller does not exist', async () => {
    const { server, id } = await paused();
    const { tasks } = server;
    const requests = (task: string) => [
      tasks.get(task, bob),
      tasks.setVariables(task, { a: 1 }, bob),
      tasks.setVariables(task, { '_workflow.progress': 1 }, bob),
      tasks.cancel(task, bob),
    ];
    const foreign = await Promise.all(requests(id).map(faultOf));
    const unknown = await Promise.all(requests('no-such-task').map(faultOf));
    const named = unknown.map((fault) => ({ ...fault, message: fault.message.replace('no-such-task', id) }));
    expect(foreign).toStrictEqual(named);
    expect((await tasks.list(undefined, bob)).tasks).toStrictEqual([]);
    expect(await tasks.get(id, ada)).toMatchObject({ status: 'working', version: 0 });
  });

  test('is cancelled once, and is read afterwards', async () => {
    const { server, id } = await paused();
    const { tasks } = server;
    await tasks.setVariables(id, { region: 'eu' }, ada);
    expect(await tasks.cancel(id, ada)).toMatchObject({ id, status: 'cancelled' });
    expect(await faultOf(tasks.cancel(id, ada))).toMatchObject({ code: -32602 });
    expect(await faultOf(tasks.setVariables(id, { region: 'us' }, ada))).toMatchObject({
      code: -32602,
      data: { code: 'E_TASK_OVER' },
    });
    expect(await tasks.get(id, ada)).toMatchObject({ status: 'cancelled', variables: { region: 'eu' } });
  });
});

test('tasks are listed page by page, the latest first', async () => {
  const { server, id } = await paused(2);
  const ids = [id, await startTrip(server), await startTrip(server)];
  const first = await server.tasks.list(undefined, ada);
  const second = await server.tasks.list(first.nextCursor, ada);
  expect([first, second].map(({ tasks }) => tasks.map((task) => task.id))).toStrictEqual([
    [ids[2], ids[1]],
    [ids[0]],
  ]);
  expect(second).not.toHaveProperty('nextCursor');
});

test('variables are read by their types', async () => {
  const variables = { region: 'eu', tries: 2, seat: { row: 7 } };
  expect(getString(variables, 'region')).toBe('eu');
  expect(getNumber(variables, 'tries')).toBe(2);
  expect(await getTyped(variables, 'seat', z.object({ row: z.number() }))).toStrictEqual({ row: 7 });
  expect([getString(variables, 'toString'), getNumber(variables, 'none')]).toStrictEqual([
    undefined,
    undefined,
  ]);
  expect(await getTyped(variables, 'none', z.number())).toBeUndefined();
  expect(() => getString(variables, 'tries')).toThrow(new TaskVariableError('tries', 'is not text'));
  expect(() => getNumber(variables, 'region')).toThrow(new TaskVariableError('region', 'is not a number'));
  await expect(getTyped(variables, 'seat', z.object({ row: z.string() }))).rejects.toThrow(
    "variable 'seat' does not match its schema: `/row`: ",
  );
});

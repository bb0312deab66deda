import {
  getNumber,
  getString,
  getTyped,
  ProtocolFault,
  type RequestContext,
  readProgress,
  type StepwrightServer,
  type TaskCall,
  TaskRouter,
  TaskVariableError,
} from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Expr } from '../../../src/graph/expression/tree.js';
import type { Node } from '../../../src/graph/kinds/node.js';
import type { Graph } from '../../../src/graph/model.js';
import { body, foreach } from '../../../src/runtime/engine/constructs.fixture.js';
import { refusal } from '../server/connected.js';
import { startTask } from '../tasks/tasks.js';
import { clientOf } from './client.js';
import { desk } from './fixture/registry.js';
import { argument, ask, built, call, input, lit, returns, step, workflow } from './fixture/workflows.js';

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

/** The call that the paused step waits for. */
const booking = {
  tool: 'create-booking',
  args: { city: 'Rome', seats: 2 },
  result: { id: 'b-7', city: 'Rome', seats: 2 },
};

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

  const [search] = trip.nodes;
  const searched = (nodes: readonly Node[]): Graph => ({
    ...trip,
    nodes: [search, ...nodes].flatMap((node) => node ?? []),
  });
  const bookingStep = (more: Readonly<Record<string, Expr>>) =>
    call('booking', 'create-booking', { city: input('city'), seats: lit(2), ...more });

  test.each([
    ['a field', trip, "required field 'seats' is missing", 'create-booking'],
    [
      'a parameter',
      searched([bookingStep({ city: step('search', 'best', 'city') })]),
      "parameter 'city' has no value",
      'create-booking',
    ],
    [
      'an output',
      searched([
        { ...call('found', 'search', { city: lit('Oslo') }), when: lit(false) },
        bookingStep({ city: step('found', 'city') }),
      ]),
      "step 'found', which it depends on, did not complete",
      'create-booking',
    ],
  ])('that lacks %s says so in two sentences, and how it continues', async (_, graph, reason, tool) => {
    const { server } = desk({ store: 'memory', workflows: built([graph]) });
    const id = await startTrip(server);
    const { message = '' } = await server.tasks.get(id, ada);
    expect(message).toBe(
      `Step 'booking' is paused: ${reason}. To continue, call '${tool}' with _meta {"_task_id":"${id}","_step":"booking"}.`,
    );
    expect(message.length).toBeLessThan(300);
    const { tasks } = await server.tasks.list(undefined, ada);
    expect(tasks).toMatchObject([{ id, message }]);
  });

  test('at a call that is not safe to repeat says to check it first', async () => {
    const payment = call('booking', 'process-payment', { card: lit('4711-0815') });
    const { server } = desk({ store: 'memory', workflows: built([searched([payment])]) });
    const { message = '' } = await server.tasks.get(await startTrip(server), ada);
    expect(message).toMatch(
      /^Step 'booking' is paused: card •+ is declined\. Check that it had no effect, then call 'process-payment' with _meta /,
    );
    expect(message.length).toBeLessThan(300);
  });

  test('names the tool that tries a step again which its client cannot make, and what is asked beside it', async () => {
    const graph = searched([foreach('booking', step('search', 'none'), body([])), ask('sure')]);
    const { server } = desk({ store: 'memory', workflows: built([graph]) });
    const id = await startTrip(server);
    const { message } = await server.tasks.get(id, ada);
    expect(message).toContain(`To continue, call 'resume_workflow' with {"workflow_id":"${id}"}.`);
    expect(message).toContain('submit_result');
  });

  test('has variables that a program sets, replaces and deletes', async () => {
    const { server, id } = await paused();
    const { tasks } = server;
    await tasks.setTaskVariables(id, { region: 'eu', tries: 1, gone: true }, ada);
    const task = await tasks.setTaskVariables(id, { tries: 2, gone: null }, ada, 1);
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
    const fault = await faultOf(server.tasks.setTaskVariables(id, changes, ada, version));
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
      tasks.setTaskVariables(task, { a: 1 }, bob),
      tasks.setTaskVariables(task, { '_workflow.progress': 1 }, bob),
      tasks.cancel(task, bob),
      tasks.handleWorkflowContinuation(task, booking, bob),
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
    await tasks.setTaskVariables(id, { region: 'eu' }, ada);
    expect(await tasks.cancel(id, ada)).toMatchObject({ id, status: 'cancelled' });
    expect(await faultOf(tasks.cancel(id, ada))).toMatchObject({ code: -32602 });
    expect(await faultOf(tasks.setTaskVariables(id, { region: 'us' }, ada))).toMatchObject({
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

describe('a router', () => {
  test('starts a workflow by its name, with or without a tool', async () => {
    const { server } = await paused();
    const task = await server.tasks.createWorkflowTask('trip', { city: 'Rome', seats: 2 }, ada, 5_000);
    expect(task).toMatchObject({ status: 'working', ttlMs: 5_000 });
    expect(await server.tasks.result(task.id, ada)).toMatchObject({ structuredContent: { id: 'b-1' } });
    expect(await faultOf(server.tasks.createWorkflowTask('none', {}, ada))).toMatchObject({ code: -32602 });
  });

  test('records a call at the step that waits for it, and the task continues', async () => {
    const { server, id } = await paused();
    const meta = await server.tasks.handleWorkflowContinuation(id, booking, ada);
    expect(meta).toMatchObject({
      task_id: id,
      task_status: 'completed',
      results: { booking: { id: 'b-7' } },
    });
    expect(
      await server.tasks.handleWorkflowContinuation(id, { ...booking, tool: 'search' }, ada),
    ).toMatchObject({ task_warnings: [{ code: 'W_NOT_USED' }] });
  });

  test('does not complete a task, which completes by itself', async () => {
    const { server, id } = await paused();
    expect(await faultOf(server.tasks.completeWorkflowTask(id, {}, ada))).toMatchObject({
      code: -32601,
      message: expect.stringContaining("'completeWorkflowTask'"),
      data: { code: 'E_TASK_UNSUPPORTED', method: 'completeWorkflowTask' },
    });
    expect(await server.tasks.get(id, ada)).toMatchObject({ status: 'working' });
  });

  test('refuses each method that it does not have', async () => {
    const router = new TaskRouter();
    const requests: Readonly<Record<Exclude<keyof TaskRouter, 'constructor'>, Promise<unknown>>> = {
      start: router.start({ tool: 't', input: {} }, ada),
      status: router.status('i', ada),
      get: router.get('i', ada),
      list: router.list(undefined, ada),
      cancel: router.cancel('i', ada),
      result: router.result('i', ada),
      questions: router.questions('i', ada),
      update: router.update('i', {}, ada),
      follow: router.follow('i', ada, () => {}),
      createWorkflowTask: router.createWorkflowTask('w', {}, ada),
      setTaskVariables: router.setTaskVariables('i', {}, ada),
      handleWorkflowContinuation: router.handleWorkflowContinuation('i', booking, ada),
      completeWorkflowTask: router.completeWorkflowTask('i', null, ada),
    };
    const faults = await Promise.all(
      Object.entries(requests).map(async ([method, request]) => [method, (await faultOf(request)).data]),
    );
    expect(faults).toStrictEqual(
      Object.keys(requests).map((method) => [method, { code: 'E_TASK_UNSUPPORTED', method }]),
    );
  });

  test('of a program takes the place of that of the server', async () => {
    const started: string[] = [];
    class Recorded extends TaskRouter {
      constructor(readonly runs: TaskRouter) {
        super();
      }
      override start(call: TaskCall, context: RequestContext) {
        started.push(call.tool);
        return this.runs.start(call, context);
      }
      override follow(...how: Parameters<TaskRouter['follow']>) {
        return this.runs.follow(...how);
      }
    }
    const { server } = desk({
      store: 'memory',
      workflows: built([trip]),
      taskRouter: (runs) => new Recorded(runs),
    });
    const client = await clientOf(server);
    await startTask(client, 'w_trip', { city: 'Rome', seats: 2 });
    expect(started).toEqual(['w_trip']);
    expect(await refusal(client.experimental.tasks.listTasks())).toMatchObject({
      code: -32601,
      data: { code: 'E_TASK_UNSUPPORTED', method: 'list' },
    });
    expect(() => desk({ taskRouter: {} as never })).toThrow('taskRouter must be a function');
  });

  test('is an object whose methods can be replaced', async () => {
    const list = async () => ({ tasks: [] });
    const { server } = desk({ store: 'memory', taskRouter: (runs) => Object.assign(runs, { list }) });
    expect(server.tasks.list).toBe(list);
    expect(String(server.tasks)).toBe('[object Object]');
  });
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

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type CompiledPrograms, compilePrograms } from '../../compiled-programs.js';
import { nightlyTest } from '../../nightly.js';
import { type Answer, callOf, clientOf, clientWith } from '../composite/client.js';
import { desk } from '../composite/fixture/registry.js';
import { built, call, input, step, trip } from '../composite/fixture/workflows.js';
import { listening, sessionOf, tokenOf } from '../composite/http.js';
import { asTasks, startTask } from './tasks.js';

const source = fileURLToPath(new URL('../composite/fixture/task-program.ts', import.meta.url));

let programs: CompiledPrograms;
beforeAll(async () => {
  programs = await compilePrograms({ program: source });
}, 120_000);
afterAll(() => programs.remove());

/** A server and the clients that it can have. */
interface Served {
  client(user?: string): Promise<Client>;
  stop(): Promise<void>;
}

/** A process for its one client. It ends with it. */
async function overStdio(file: string): Promise<Served> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [programs.file('program'), file],
    stderr: 'pipe',
  });
  const client = clientWith();
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client: async () => client, stop: () => client.close() };
}

async function overHttp(file: string): Promise<Served> {
  const { server } = desk({ store: `sqlite:${file}`, workflows: built([trip]) });
  const url = await listening(server);
  onTestFinished(() => server.stop());
  return {
    client: async (user = 'ada') =>
      (await sessionOf(url, { token: tokenOf('desktop', { sub: user }) })).client,
    stop: () => server.stop(),
  };
}

function storeFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-tasks-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'runs.db');
}

/** The id of a task that waits for its booking. */
async function pausedTask(client: Client): Promise<string> {
  const { _meta } = await client.getPrompt({ name: 'trip', arguments: { city: 'Rome' } });
  expect(_meta).toMatchObject({
    task_status: 'working',
    pause_reason: { type: 'schemaMismatch', blockedStep: 'booking', missingFields: ['seats'] },
    next: [{ step: 'booking', tool: 'create-booking' }],
  });
  return String(_meta?.task_id);
}

/** The answer of a tool that is called for a task. */
async function book(client: Client, task: string, seats = 2): Promise<Answer> {
  const call = {
    name: 'create-booking',
    arguments: { city: 'Rome', seats },
    _meta: { _task_id: task, _step: 'booking' },
  };
  return (await client.callTool(call)) as Answer;
}

async function statusOf(client: Client, task: string): Promise<unknown> {
  return (await callOf(client, 'get_workflow_status', { workflow_id: task })).structuredContent?.status;
}

describe.each([
  ['stdio', overStdio],
  ['HTTP', overHttp],
] as const)('a paused task over %s', { timeout: 60_000 }, (_, serving) => {
  nightlyTest('completes by a call after a restart, and a later call changes nothing', async () => {
    const file = storeFile();
    const first = await serving(file);
    const task = await pausedTask(await first.client());
    await first.stop();

    const second = await serving(file);
    const client = await second.client();
    expect(await statusOf(client, task)).toBe('waiting');
    const { structuredContent, _meta } = await book(client, task);
    expect(structuredContent).toEqual({ id: 'b-1', city: 'Rome', seats: 2 });
    expect(_meta).toMatchObject({
      task_id: task,
      task_status: 'completed',
      results: { search: { flights: ['to Rome'] }, booking: structuredContent },
    });
    expect(_meta).not.toHaveProperty('next');

    const late = await book(client, task, 5);
    expect(late.structuredContent).toMatchObject({ seats: 5 });
    expect(late._meta).toMatchObject({
      task_status: 'completed',
      results: { booking: structuredContent },
      task_warnings: [{ code: 'W_NOT_USED' }],
    });
    await second.stop();

    const third = await serving(file);
    expect(await statusOf(await third.client(), task)).toBe('completed');
    await third.stop();
  });

  nightlyTest('says what continues it when it is resumed, but not once it is cancelled', async () => {
    const served = await serving(storeFile());
    const client = await served.client();
    const task = await pausedTask(client);
    const resumed = await callOf(client, 'resume_workflow', { workflow_id: task });
    expect(resumed._meta).toMatchObject({
      task_status: 'working',
      pause_reason: { type: 'schemaMismatch' },
      next: [{ step: 'booking' }],
      results: { search: { flights: ['to Rome'] } },
    });
    await client.experimental.tasks.cancelTask(task);
    const { _meta } = await book(client, task);
    expect(_meta).toMatchObject({ task_status: 'cancelled', task_warnings: [{ code: 'W_NOT_USED' }] });
    expect(_meta).not.toHaveProperty('pause_reason');
    expect(_meta).not.toHaveProperty('next');
    await served.stop();
  });

  test('sends its progress until it is over', async () => {
    const served = await serving(storeFile());
    const client = await served.client();
    const reports: Progress[] = [];
    const { task } = await startTask(client, 'w_trip', { city: 'Rome' }, {}, (each) => reports.push(each));
    await expect.poll(() => reports.length).toBe(2);
    expect((await book(client, task.taskId))._meta).toMatchObject({ task_status: 'completed' });
    await expect.poll(() => reports.length).toBe(3);
    const _meta = { 'io.modelcontextprotocol/related-task': { taskId: task.taskId } };
    expect(reports).toEqual([
      { progress: 0, total: 2, message: 'Step 1/2: search', _meta },
      { progress: 1, total: 2, message: 'Step 2/2: booking', _meta },
      { progress: 2, total: 2, message: 'Workflow execution complete', _meta },
    ]);
    await served.stop();
  });

  test('is unknown by another id: the call is answered', async () => {
    const served = await serving(storeFile());
    const client = await served.client();
    const { structuredContent, _meta } = await book(client, 'no-such-task');
    expect(structuredContent).toMatchObject({ city: 'Rome', seats: 2 });
    expect(_meta).toMatchObject({ task_id: 'no-such-task', task_error: { code: 'WORKFLOW_NOT_FOUND' } });
    expect(_meta).not.toHaveProperty('task_status');
    await served.stop();
  });
});

test('a run without `task` takes no calls, and says so', async () => {
  const { server } = desk({ store: 'memory', workflows: asTasks() });
  const client = await clientOf(server);
  const { taskId } = (await startTask(client, 'w_careful', { city: 'Rome' })).task;
  expect((await book(client, taskId))._meta).toMatchObject({
    task_id: taskId,
    task_error: { code: 'E_TASK_UNSUPPORTED', message: expect.stringContaining('get_workflow_status') },
  });
});

describe('a paused task of one of several callers', () => {
  test('is unknown to another user, and its call changes nothing', async () => {
    const served = await overHttp(storeFile());
    const [ada, eve] = [await served.client('ada'), await served.client('eve')];
    const task = await pausedTask(ada);
    const foreign = await book(eve, task, 9);
    expect(foreign.structuredContent).toMatchObject({ seats: 9 });
    const unknown = await book(eve, 'no-such-task', 9);
    const shape = JSON.stringify(unknown._meta).replaceAll('no-such-task', task);
    expect(JSON.stringify(foreign._meta)).toBe(shape);
    expect(foreign._meta).toMatchObject({ task_error: { code: 'WORKFLOW_NOT_FOUND' } });

    expect(await statusOf(ada, task)).toBe('waiting');
    expect((await book(ada, task))._meta).toMatchObject({
      task_status: 'completed',
      results: { booking: { seats: 2 } },
    });
  });

  test('takes a request once that a client sends again in its session', async () => {
    const [search, booking] = trip.nodes;
    const more = call('again', 'create-booking', { city: step('booking', 'city'), seats: input('seats') });
    const nodes = [search, booking, more].flatMap((node) => node ?? []);
    const served = desk({ store: 'memory', workflows: built([{ ...trip, nodes }]) });
    const url = await listening(served.server);
    const { client } = await sessionOf(url);
    const task = await pausedTask(client);
    const params = {
      name: 'create-booking',
      arguments: { city: 'Rome', seats: 2 },
      _meta: { _task_id: task },
    };
    const send = async (id: string): Promise<string> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-session-id': client.transport?.sessionId ?? '',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }),
      });
      return response.text();
    };
    for (const id of ['r-1', 'r-1']) {
      const text = await send(id);
      expect(text).toContain('"next":[{"step":"again"');
      expect(text).not.toContain('task_warnings');
    }
    expect(await send('r-2')).toContain('"task_status":"completed"');
    expect(served.desk.booked).toHaveLength(3);
  });

  test('takes exactly one of two calls that two clients make at once', async () => {
    const served = await overHttp(storeFile());
    const clients = [await served.client(), await served.client()] as const;
    const task = await pausedTask(clients[0]);
    const answers = await Promise.all(clients.map((client, index) => book(client, task, index + 1)));
    const recorded = answers.filter(({ _meta }) => _meta?.task_warnings === undefined);
    expect(recorded).toHaveLength(1);
    const { structuredContent } = recorded[0] ?? {};
    for (const { _meta } of answers) {
      expect(_meta).toMatchObject({ task_status: 'completed', results: { booking: structuredContent } });
      expect(_meta).not.toHaveProperty('task_error');
    }
    const status = await callOf(clients[1], 'get_workflow_status', { workflow_id: task });
    expect(status.structuredContent).toMatchObject({ status: 'completed', result: structuredContent });
  });
});

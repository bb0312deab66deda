import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Progress, ProgressNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Tool, type ToolContext } from 'stepwright';
import { createServer, MemoryJournal, type ServerSettings } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callOf, clientOf, type User } from '../composite/client.js';
import { desk } from '../composite/fixture/registry.js';
import { listening, sessionOf, tokenOf } from '../composite/http.js';
import { refusal } from '../server/connected.js';
import { registryOf } from '../server/fixture/registry-of.js';
import { asTasks, getTask, resultOf, startTask, streamed, transports } from './tasks.js';

type Store = Pick<ServerSettings, 'store' | 'journal'>;

const stores: Readonly<Record<string, () => Store>> = {
  memory: () => ({ journal: new MemoryJournal() }),
  SQLite: () => {
    const folder = mkdtempSync(join(tmpdir(), 'stepwright-tasks-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return { store: `sqlite:${join(folder, 'runs.db')}` };
  },
};

const cases = Object.keys(stores).flatMap((store) =>
  Object.keys(transports).map((transport) => [store, transport] as const),
);

function partsOf(store: string, transport: string) {
  const [open, connect] = [stores[store], transports[transport]];
  if (open === undefined || connect === undefined) throw new Error('no such case');
  return { kept: open(), connect };
}

const traveller: User = ({ message }) => ({
  action: 'accept',
  content: message === 'Book Rome?' ? { confirmed: true } : { input: 'Holiday' },
});

/** Work that a test ends, of a tool that may be called as a task. */
class Work {
  calls = 0;
  end: (value: unknown) => void = () => {};
  report: ToolContext['progress'] = () => {};
}

@Tool({ name: 'index', description: 'Builds an index', task: 'optional', retrySafety: 'idempotent' })
class BuildIndex {
  constructor(readonly work: Work) {}

  execute({ folder }: { folder: string }, { progress }: ToolContext) {
    this.work.calls += 1;
    this.work.report = progress;
    if (folder === 'missing') throw Object.assign(new Error('there is no such folder'), { code: 'E_FOLDER' });
    return new Promise((resolve) => {
      this.work.end = () => resolve({ folder, documents: 12 });
      if (folder === 'small') this.work.end(undefined);
    });
  }
}

const tools = registryOf({
  tools: [
    {
      class: BuildIndex,
      input: {
        type: 'object',
        properties: { folder: { type: 'string' } },
        required: ['folder'],
        additionalProperties: false,
      },
    },
  ],
});

function indexing(store: Store) {
  const work = new Work();
  const server = createServer(tools, {
    ...store,
    log: () => {},
    tools: { index: () => new BuildIndex(work) },
  });
  return { server, work };
}

describe.each(cases)('with runs in %s, over %s', (store, transport) => {
  test('a task that waits for an answer continues on another server', async () => {
    const { kept, connect } = partsOf(store, transport);
    const first = desk({ ...kept, workflows: asTasks('optional', withoutSecrets()) });
    const client = await connect(first.server);
    const { taskId } = (await startTask(client, 'w_careful', { city: 'Rome' })).task;
    await expect.poll(() => getTask(client, taskId)).toMatchObject({ status: 'input_required' });
    await client.close();
    await first.server.stop();

    const second = desk({ ...kept, workflows: asTasks('optional', withoutSecrets()) });
    onTestFinished(() => second.server.stop());
    const [user, plain] = [await connect(second.server, traveller), await connect(second.server)];
    expect(await getTask(plain, taskId)).toMatchObject({
      status: 'input_required',
      statusMessage: expect.stringContaining('Book Rome?'),
    });
    const result = await resultOf(user, taskId);
    expect(await getTask(plain, taskId)).toMatchObject({ status: 'completed' });
    expect(second.desk.booked).toEqual(['Rome']);
    expect(result.structuredContent).toEqual({ result: 'Holiday' });
    expect((await callOf(user, 'w_careful', { city: 'Rome' })).structuredContent).toEqual({
      result: 'Holiday',
    });
  });

  test('the call of a tool continues on another server', async () => {
    const { kept, connect } = partsOf(store, transport);
    const first = indexing(kept);
    const client = await connect(first.server);
    const { taskId } = (await startTask(client, 'index', { folder: 'docs' })).task;
    await expect.poll(() => first.work.calls).toBe(1);
    await client.close();
    await first.server.stop();

    const second = indexing(kept);
    onTestFinished(() => second.server.stop());
    const other = await connect(second.server);
    await expect.poll(() => second.work.calls).toBe(1);
    expect(await getTask(other, taskId)).toMatchObject({ status: 'working' });
    second.work.end(undefined);
    expect((await resultOf(other, taskId)).structuredContent).toEqual({ folder: 'docs', documents: 12 });
  });
});

describe.each(Object.entries(transports))(
  'over %s, progress is reported after the id of a task',
  (_, connect) => {
    test('of what a tool reports', async () => {
      const { server, work } = indexing({});
      const client = await connect(server);
      const reports: Progress[] = [];
      const { taskId } = (
        await startTask(client, 'index', { folder: 'docs' }, {}, (each) => reports.push(each))
      ).task;
      await expect.poll(() => work.calls).toBe(1);
      work.report(1, 12, 'a.md');
      work.report(1, 12, 'the same again');
      work.report(5, 12);
      await expect.poll(() => reports.length).toBe(2);
      const result = resultOf(client, taskId);
      work.report(11, 12, 'z.md');
      await expect.poll(() => reports.length).toBe(3);
      const { report } = work;
      work.end(undefined);
      await result;
      report(12, 12, 'too late');
      const _meta = { 'io.modelcontextprotocol/related-task': { taskId } };
      expect(reports).toEqual([
        { progress: 1, total: 12, message: 'a.md', _meta },
        { progress: 5, total: 12, _meta },
        { progress: 11, total: 12, message: 'z.md', _meta },
      ]);
    });

    test('of the steps of a workflow', async () => {
      const { server } = desk({ workflows: asTasks() });
      const client = await connect(server);
      const reports: Progress[] = [];
      const { task } = await startTask(client, 'w_careful', { city: 'Rome' }, {}, (each) =>
        reports.push(each),
      );
      const answer = (result: unknown) =>
        callOf(client, 'submit_result', { workflow_id: task.taskId, result });
      await expect.poll(() => getTask(client, task.taskId)).toMatchObject({ status: 'input_required' });
      await answer(true);
      await answer('Holiday');
      await resultOf(client, task.taskId);
      await expect.poll(() => reports.at(-1)?.message).toBe('Workflow execution complete');
      const messages = reports.map(({ message }) => message);
      expect(messages[0]).toMatch(/^Step 1\/\d: /);
      expect(messages.length).toBe(new Set(messages).size);
      const values = reports.map(({ progress }) => progress);
      expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
    });
  },
);

test('without a token no progress is sent', async () => {
  const { server, work } = indexing({});
  const client = await clientOf(server);
  const sent: unknown[] = [];
  client.fallbackNotificationHandler = async ({ method }) => void sent.push(method);
  client.setNotificationHandler(ProgressNotificationSchema, ({ params }) => void sent.push(params));
  const { taskId } = (await startTask(client, 'index', { folder: 'docs' })).task;
  await expect.poll(() => work.calls).toBe(1);
  work.report(1, 12);
  work.end(undefined);
  await resultOf(client, taskId);
  expect(sent.filter((each) => each !== 'notifications/tasks/status')).toEqual([]);
});

/** A store in a file takes no workflow with secrets. */
function withoutSecrets() {
  return asTasks()
    .map(({ graph }) => graph)
    .filter(({ name }) => name !== 'pay');
}

describe('a tool that may be called as a task', () => {
  test('has the result of a plain call', async () => {
    const { server } = indexing({});
    const client = await clientOf(server);
    const { tools: listed } = await client.listTools();
    expect(listed).toMatchObject([{ name: 'index', execution: { taskSupport: 'optional' } }]);
    const { result } = await streamed(client, 'index', { folder: 'small' });
    const { _meta: _, ...task } = result;
    expect(task).toEqual(await callOf(client, 'index', { folder: 'small' }));
  });

  test.each([{ folder: 'missing' }, { folder: 7 }])('fails as a plain call does: %j', async (input) => {
    const { server } = indexing({});
    const client = await clientOf(server);
    const { task } = await startTask(client, 'index', input);
    const result = await resultOf(client, task.taskId);
    const plain = await callOf(client, 'index', input);
    expect(result).toMatchObject({ isError: true, content: plain.content });
    expect(result._meta?.['stepwright/failure']).toEqual(plain._meta?.['stepwright/failure']);
    expect(await getTask(client, task.taskId)).toMatchObject({ status: 'failed' });
  });

  test('is reached by its caller alone', async () => {
    const { server, work } = indexing({});
    const url = await listening(server);
    const as = (name: string) => sessionOf(url, { token: tokenOf(name, { sub: name }) });
    const [{ client: ada }, { client: bob }] = [await as('ada'), await as('bob')];
    const { taskId } = (await startTask(ada, 'index', { folder: 'docs' })).task;
    expect(await refusal(getTask(bob, taskId))).toMatchObject({ code: -32602 });
    expect((await bob.experimental.tasks.listTasks()).tasks).toEqual([]);
    expect((await ada.experimental.tasks.listTasks()).tasks).toMatchObject([{ taskId }]);
    await expect.poll(() => work.calls).toBe(1);
    expect(await ada.experimental.tasks.cancelTask(taskId)).toMatchObject({ status: 'cancelled' });
  });
});

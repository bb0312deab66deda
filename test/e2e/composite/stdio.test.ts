import { fileURLToPath } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type CompiledPrograms, compilePrograms } from '../../compiled-programs.js';
import { nightlyTest } from '../../nightly.js';
import { callOf, clientWith, runIn, type User } from './client.js';

const source = fileURLToPath(new URL('./fixture/program.ts', import.meta.url));

let programs: CompiledPrograms;

beforeAll(async () => {
  programs = await compilePrograms({ program: source });
}, 120_000);

afterAll(() => programs.remove());

async function started(user?: User) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [programs.file('program')],
    stderr: 'pipe',
  });
  const client = clientWith(user);
  await client.connect(transport);
  onTestFinished(() => client.close());
  await client.listTools();
  return client;
}

nightlyTest('a run waits from request to request', async () => {
  const client = await started();
  const workflow_id = runIn(await callOf(client, 'w_careful', { city: 'Rome' }));
  await callOf(client, 'submit_result', { workflow_id, result: true });
  const end = await callOf(client, 'submit_result', { workflow_id, result: 'Holiday' });
  expect(end.structuredContent).toMatchObject({ status: 'completed', result: 'Holiday' });
});

test('the user lists the runs of the process, and no other process', async () => {
  const [client, other] = await Promise.all([started(), started()]);
  const workflow_id = runIn(await callOf(client, 'w_careful', { city: 'Rome' }));
  const runs = async (of: typeof client) => (await callOf(of, 'list_workflows')).structuredContent?.runs;
  expect(await runs(client)).toMatchObject([{ workflow_id, status: 'waiting' }]);
  expect(await runs(other)).toEqual([]);
});

test('a question is put to the user', async () => {
  const client = await started(({ message }) => ({
    action: 'accept',
    content: message === 'Book Rome?' ? { confirmed: true } : { input: 'Holiday' },
  }));
  expect((await callOf(client, 'w_careful', { city: 'Rome' })).structuredContent).toEqual({
    result: 'Holiday',
  });
});

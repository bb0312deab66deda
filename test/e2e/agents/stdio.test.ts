import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type CompiledPrograms, compilePrograms } from '../../compiled-programs.js';
import { callOf, clientWith, runIn } from '../composite/client.js';
import { FILES, finish, promptsIn, SubAgent } from './agents.js';

const source = fileURLToPath(new URL('./fixture/program.ts', import.meta.url));
const files = Object.keys(FILES);

let programs: CompiledPrograms;

beforeAll(async () => {
  programs = await compilePrograms({ program: source });
}, 120_000);

afterAll(() => programs.remove());

/** An agent with a server process of its own, on a store that it shares with others. */
async function started(store: string) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [programs.file('program'), store],
    stderr: 'pipe',
  });
  const client = clientWith();
  await client.connect(transport);
  onTestFinished(() => client.close());
  await client.listTools();
  return { client, kill: () => process.kill(transport.pid ?? 0, 'SIGKILL') };
}

function storeFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-agents-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'runs.db');
}

test('a main agent and two sub-agents, each with a process of its own', async () => {
  const store = storeFile();
  const { client } = await started(store);
  const start = await callOf(client, 'start_workflow', { name: 'analyze-codebase', inputs: { files } });
  const workflow_id = runIn(start);
  const [one, two] = promptsIn(start);
  const agents = [
    new SubAgent((await started(store)).client, one),
    new SubAgent((await started(store)).client, two),
  ];
  const ends = await Promise.all(agents.map((agent) => agent.work()));
  expect(ends.map(({ structuredContent }) => structuredContent)).toMatchObject([
    { status: 'complete', final_result: 'fine' },
    { status: 'complete', final_result: 'raises' },
  ]);
  expect((await finish(client, workflow_id)).structuredContent).toMatchObject({
    status: 'completed',
    result: { findings: ['fine', 'raises'], enough: true },
  });
});

test('servers that are killed leave the same steps to others', async () => {
  const store = storeFile();
  const main = await started(store);
  const start = await callOf(main.client, 'start_workflow', { name: 'analyze-codebase', inputs: { files } });
  const workflow_id = runIn(start);
  const [one, two] = promptsIn(start);
  const lost = await started(store);
  const agent = new SubAgent(lost.client, one);
  const second = await agent.act(await agent.next());
  main.kill();
  lost.kill();

  const later = await started(store);
  const status = await callOf(later.client, 'get_workflow_status', { workflow_id });
  expect(promptsIn(status)).toEqual(promptsIn(start));
  const [successor, other] = [new SubAgent(later.client, one), new SubAgent(later.client, two)];
  expect((await successor.next()).structuredContent).toMatchObject({
    status: 'pending_step',
    step: (second.structuredContent as { step: object }).step,
  });
  await Promise.all([successor.work(), other.work()]);
  expect((await finish(later.client, workflow_id)).structuredContent).toMatchObject({
    status: 'completed',
    result: { findings: ['fine', 'raises'] },
  });
});

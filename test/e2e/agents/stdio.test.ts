import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type CompiledPrograms, compilePrograms } from '../../compiled-programs.js';
import { nightlyTest } from '../../nightly.js';
import { type Answer, callOf, clientWith, failureIn, runIn } from '../composite/client.js';
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

nightlyTest('servers that are killed leave the same steps to others', async () => {
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

interface OpenAction {
  readonly action_id: string;
  readonly type: string;
  readonly parameters: { readonly command?: string; readonly message?: string };
}

function openIn({ structuredContent }: Answer): readonly OpenAction[] {
  return (structuredContent?.actions ?? []) as readonly OpenAction[];
}

const several = (type: string) => Array.from({ length: 25 }, () => type);

nightlyTest(
  'fifty open actions are answered in any order by two agents, one of them after a kill',
  {
    timeout: 120_000,
  },
  async () => {
    const store = storeFile();
    const items = Array.from({ length: 50 }, (_, index) => `item-${index}`);
    const one = await started(store);
    const start = await callOf(one.client, 'start_workflow', { name: 'survey', inputs: { items } });
    const workflow_id = runIn(start);
    const commands = openIn(start);
    expect(commands.map(({ parameters }) => parameters.command)).toEqual(items.map((item) => `look ${item}`));
    const more = await callOf(one.client, 'start_workflow', { name: 'survey', inputs: { items: ['x'] } });
    expect(failureIn(more)).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    const unnamed = await callOf(one.client, 'submit_result', { workflow_id, result: { exit_code: 0 } });
    expect(failureIn(unnamed)).toMatchObject({ code: 'AMBIGUOUS_ACTION' });

    const answer = (client: Client, { action_id, parameters: { command, message } }: OpenAction) => {
      const text = (command ?? message ?? '').replace('look ', '');
      const result = command === undefined ? `saw ${text}` : { exit_code: 0, stdout: text };
      return callOf(client, 'submit_result', { workflow_id, action_id, result });
    };
    for (const command of commands.slice(25).reverse()) await answer(one.client, command);
    one.kill();

    const agents = [(await started(store)).client, (await started(store)).client] as const;
    const status = await callOf(agents[0], 'get_workflow_status', { workflow_id });
    const open = openIn(status);
    expect(open.map(({ type }) => type).sort()).toEqual([...several('prompt'), ...several('shell')]);
    // Both agents answer half of what is open, and one gives an answer of the other again.
    const half = (list: readonly OpenAction[], part: number) => list.filter((_, index) => index % 2 === part);
    await Promise.all(
      agents.map(async (client, part) => {
        for (const action of half(open, part)) await answer(client, action);
      }),
    );
    const [first] = open;
    if (first === undefined) throw new Error('no action is open');
    expect(failureIn(await answer(agents[1], first))).toBeUndefined();
    const rest = openIn(await callOf(agents[1], 'get_workflow_status', { workflow_id }));
    expect(rest.map(({ type }) => type)).toEqual(several('prompt'));
    let end: Answer | undefined;
    for (const action of rest) end = await answer(agents[1], action);
    expect(end?.structuredContent).toMatchObject({
      status: 'completed',
      result: items.map((item) => `saw ${item}`),
    });
  },
);

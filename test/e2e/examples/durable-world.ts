import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { createServer, emptyRegistry, type ServerSettings, type StepwrightServer } from 'stepwright/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { type Abilities, Agent } from '../../../examples/durable/agent.js';
import { Memory } from '../../../examples/durable/memory.js';
import { scriptedResponse } from '../../../examples/durable/mind.js';
import { runCommand } from '../../../examples/durable/shell.js';
import { programWithPackage } from '../../built-package.js';
import { nightlyTest } from '../../nightly.js';
import { clientOf } from '../composite/client.js';
import { ROOT } from './example-client.js';

/** What the user of an agent answers. */
export interface Person {
  readonly wish?: string;
  readonly isApproved?: boolean;
  /** Whether the agent stops where the user is asked for approval. */
  readonly vanishes?: boolean;
}

/** Compiles the tools, where no test has done so. */
export function compileTools(): string {
  return programWithPackage('examples/durable/tools.ts');
}

/** The workflow server of the example, and agents with the tools of the example. */
export interface World {
  readonly server: StepwrightServer;
  readonly memory: Memory;
  /** The messages that stubs did not send. */
  outbox(): { readonly to: string; readonly message: unknown }[];
  /** The instructions of the tasks that agents have done. */
  readonly tasks: readonly string[];
  /** An agent with a client of its own. Its sub-agents have clients of their own, too. */
  agent(person?: Person): Promise<Agent>;
}

export async function world(settings: Partial<ServerSettings> = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-durable-'));
  const server = createServer(emptyRegistry, {
    specs: { files: ['examples/durable/workflows/*.yaml'], root: ROOT, watch: false },
    log: () => {},
    ...settings,
  });
  const tasks: string[] = [];
  const tools = new Client({ name: 'test', version: '0.1.0' });
  await tools.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [compileTools(), folder],
      stderr: 'inherit',
    }),
  );
  onTestFinished(async () => {
    await server.stop();
    await tools.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const agent = async (person: Person = {}): Promise<Agent> =>
    new Agent(callsOf(await clientOf(server)), abilities(person));
  const abilities = ({ wish = '', isApproved = true, vanishes = false }: Person): Abilities => ({
    runCommand,
    callTool: (name, args) => tools.callTool({ name, arguments: args }),
    async doTask(instructions) {
      tasks.push(instructions);
      return scriptedResponse(instructions);
    },
    async askUser(message, schema) {
      if (vanishes && message.includes('proceed')) throw new Error('the agent is gone');
      return answerFor(schema, { input: wish, confirmed: isApproved });
    },
    async startSubAgent(_name, prompt) {
      const sub = await agent();
      await sub.obey(prompt);
    },
  });
  const outbox: World['outbox'] = () =>
    readFileSync(join(folder, 'outbox.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { server, memory: new Memory(folder), outbox, tasks, agent };
}

/** Calls of the tools that the server lists, and of no other. */
function callsOf(
  client: Client,
): (tool: string, args: Readonly<Record<string, unknown>>) => Promise<CallToolResult> {
  return async (name, args) => {
    const { tools } = await client.listTools();
    if (!tools.some((tool) => tool.name === name)) throw new Error(`the server lists no tool ${name}`);
    return (await client.callTool({ name, arguments: args })) as CallToolResult;
  };
}

/** The members of the answer that the schema has. */
function answerFor(schema: unknown, answers: Readonly<Record<string, unknown>>): unknown {
  const names = Object.keys((schema as { properties?: object }).properties ?? {});
  const members = Object.entries(answers).filter(([name]) => names.includes(name));
  return members.length === 0 ? { acknowledged: true } : Object.fromEntries(members);
}

/**
 * Declares tests of the four workflows.
 *
 * @param settings of the server of each test.
 */
export function testAgents(settings: () => Partial<ServerSettings> = () => ({})): void {
  nightlyTest('and makes a plan with sub-agents, which the user approves', async () => {
    const { agent, memory } = await world(settings());
    const main = await agent({ wish: 'sign users in', isApproved: true });
    expect(await main.start('interactive-planning', { max_research_tasks: 3 })).toMatchObject({
      status: 'completed',
    });
    const entries = memory.entries();
    expect(entries.map(({ key }) => key.replace(/_[0-9a-f]{64}$/, ''))).toEqual([
      'plan',
      ...Array.from({ length: 3 }, () => 'research'),
    ]);
    expect(entries[0]?.value).toMatchObject({
      request: 'sign users in',
      plan: expect.stringContaining('Update the implementation plan'),
    });
  });

  nightlyTest('and saves no plan that the user rejects', async () => {
    const { agent, memory } = await world(settings());
    const main = await agent({ wish: 'fly to the moon', isApproved: false });
    expect(await main.start('interactive-planning', { max_research_tasks: 1 })).toMatchObject({
      status: 'completed',
    });
    expect(memory.entries().map(({ key }) => key.split('_')[0])).toEqual(['research']);
  });

  nightlyTest('and has the files of a folder analysed', async () => {
    const { agent, tasks } = await world(settings());
    const inputs = { repository: join(ROOT, 'examples/durable'), file_patterns: ['*.ts'] };
    expect(await (await agent()).start('analyze-codebase', inputs)).toMatchObject({ status: 'completed' });
    expect(tasks).toHaveLength(1);
    expect(tasks[0]).toMatch(
      /"file": "[^"]*durable\/memory\.ts", "issues": \["line \d+ blocks while it waits/,
    );
  });

  test.each([
    [3, ['github.merge_pr']],
    [80, ['slack.notify']],
  ])('and looks after pull request %i', async (pr_number, sent) => {
    const { agent, outbox } = await world(settings());
    expect(await (await agent()).start('pr-automation', { pr_number })).toMatchObject({
      status: 'completed',
    });
    expect(outbox().map(({ to }) => to)).toEqual(sent);
  });

  test('and deploys a service', async () => {
    const { agent, outbox } = await world(settings());
    const inputs = { service_name: 'web shop', environment: 'staging' };
    expect(await (await agent()).start('deploy-service', inputs)).toMatchObject({ status: 'completed' });
    expect(outbox()).toEqual([
      { to: 'kubernetes.apply', message: { manifest: 'k8s/staging/web shop.yaml' } },
    ]);
  });

  test('and continues the run of one that is gone, while another one has a run of its own', async () => {
    const { agent, memory, server } = await world(settings());
    const gone = await agent({ wish: 'sign users in', vanishes: true });
    const other = await agent({ wish: 'fly to the moon', isApproved: false });
    const inputs = { max_research_tasks: 1 };
    const [left, rejected] = await Promise.allSettled([
      gone.start('interactive-planning', inputs),
      other.start('interactive-planning', inputs),
    ]);
    expect(left).toMatchObject({ status: 'rejected', reason: new Error('the agent is gone') });
    expect(rejected).toMatchObject({ status: 'fulfilled', value: { status: 'completed' } });
    const request = { requestId: 'r', local: true, peer: {}, progress: () => {} };
    const { signal } = new AbortController();
    const { structuredContent } = await server.callTool('list_runs', {}, { ...request, signal });
    const { runs } = structuredContent as unknown as {
      readonly runs: readonly { readonly workflow_id: string; readonly status: string }[];
    };
    const [open, ...more] = runs.filter(({ status }) => status === 'waiting');
    expect(more).toEqual([]);
    const heir = await agent({ isApproved: true });
    expect(await heir.continue(open?.workflow_id ?? '')).toMatchObject({ status: 'completed' });
    expect(memory.entries().filter(({ key }) => key.startsWith('plan_'))).toMatchObject([
      { value: { request: 'sign users in' } },
    ]);
  });
}

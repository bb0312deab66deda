import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { compileTools, world } from './durable-world.js';
import { ROOT } from './example-client.js';

beforeAll(compileTools, 300_000);

describe('an agent that knows no workflow does what the answers say', () => {
  test('and makes a plan with sub-agents, which the user approves', async () => {
    const { agent, memory } = await world();
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

  test('and saves no plan that the user rejects', async () => {
    const { agent, memory } = await world();
    const main = await agent({ wish: 'fly to the moon', isApproved: false });
    expect(await main.start('interactive-planning', { max_research_tasks: 1 })).toMatchObject({
      status: 'completed',
    });
    expect(memory.entries().map(({ key }) => key.split('_')[0])).toEqual(['research']);
  });

  test('and has the files of a folder analysed', async () => {
    const { agent, tasks } = await world();
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
    const { agent, outbox } = await world();
    expect(await (await agent()).start('pr-automation', { pr_number })).toMatchObject({
      status: 'completed',
    });
    expect(outbox().map(({ to }) => to)).toEqual(sent);
  });

  test('and deploys a service', async () => {
    const { agent, outbox } = await world();
    const inputs = { service_name: 'web shop', environment: 'staging' };
    expect(await (await agent()).start('deploy-service', inputs)).toMatchObject({ status: 'completed' });
    expect(outbox()).toEqual([
      { to: 'kubernetes.apply', message: { manifest: 'k8s/staging/web shop.yaml' } },
    ]);
  });

  test('and continues the run of one that is gone, while another one has a run of its own', async () => {
    const { agent, memory, server } = await world();
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
});

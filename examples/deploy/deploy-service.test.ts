import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'stepwright/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { Cluster } from './cluster.js';
import { registry } from './generated/deploy.registry.js';
import { deployTools } from './tools.js';

function setUp() {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-deploy-'));
  const cluster = new Cluster(join(folder, 'cluster.jsonl'));
  const server = createServer(registry, {
    name: 'test',
    store: 'memory',
    tools: deployTools(cluster),
    log: () => {},
  });
  onTestFinished(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  const request = { requestId: '1', signal: new AbortController().signal, progress: () => {} };
  const prompt = async (args: {
    service: string;
    approved_by?: string;
  }): Promise<Record<string, unknown>> => {
    const result = await server.getPrompt('deploy_service', args, request);
    return '_meta' in result ? { ...result._meta } : {};
  };
  const resume = (workflow_id: string) => server.callTool('resume_workflow', { workflow_id }, request);
  return { cluster, server, request, prompt, resume };
}

const wanted = { service: 'shop', version: '2.4.0', zone: 'eu-2', replicas: 3 };

test('a deployment without an approval pauses, and is continued by the call that names who approved', async () => {
  const { cluster, server, request, prompt } = setUp();
  const meta = await prompt({ service: 'shop' });
  expect(meta).toMatchObject({
    task_status: 'working',
    pause_reason: { failedStep: 'deployment', code: 'APPROVAL_MISSING' },
    next: [{ step: 'deployment', tool: 'deploy_service', arguments: wanted }],
  });
  expect(cluster.deployments()).toEqual([]);

  const continues = { task: String(meta.task_id) };
  const unapproved = await server.callTool('deploy_service', wanted, { ...request, continues });
  expect(unapproved).toMatchObject({
    isError: true,
    _meta: { pause_reason: { code: 'APPROVAL_MISSING' } },
  });

  const approved = { ...wanted, approved_by: 'Grace' };
  const { _meta: after } = await server.callTool('deploy_service', approved, { ...request, continues });
  expect(after).toMatchObject({
    task_status: 'working',
    results: { deployment: { deployment: 'D-1' } },
    pause_reason: { failedStep: 'verified', code: 'NOT_READY' },
    next: [{ step: 'verified', tool: 'verify_deployment', arguments: { deployment: 'D-1' } }],
  });
  expect(cluster.deployments()).toEqual([{ id: 'D-1', ...approved }]);
});

test('an approved deployment is verified again by resume_workflow', async () => {
  const { cluster, prompt, resume } = setUp();
  const meta = await prompt({ service: 'shop', approved_by: 'Grace' });
  expect(meta).toMatchObject({ pause_reason: { failedStep: 'verified', code: 'NOT_READY' } });
  cluster.markReady('D-1');
  const { structuredContent } = await resume(String(meta.task_id));
  expect(structuredContent).toMatchObject({
    status: 'completed',
    result: { deployment: 'D-1', ready: 3 },
  });
});

test.each([
  ['blog', 'config', 'CONFIG_MISSING'],
  ['search', 'resources', 'NO_CAPACITY'],
])('service %s pauses at step %s with %s', async (service, failedStep, code) => {
  const meta = await setUp().prompt({ service, approved_by: 'Grace' });
  expect(meta).toMatchObject({ task_status: 'working', pause_reason: { failedStep, code } });
});

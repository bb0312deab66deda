import { createServer } from 'stepwright/runtime';
import { expect, test } from 'vitest';
import { callOf, failureIn, runIn, textIn } from '../composite/client.js';
import { listening, sessionOf, tokenOf } from '../composite/http.js';
import { registryOf } from '../server/fixture/registry-of.js';
import { FILES, finish, promptsIn, SubAgent } from './agents.js';
import { workflows } from './fixture/workflows.js';

const files = Object.keys(FILES);
const ada = { token: tokenOf('desktop', { sub: 'ada' }) };
const eve = { token: tokenOf('desktop', { sub: 'eve' }) };

async function started() {
  const url = await listening(createServer(registryOf({ tools: [] }), { workflows, log: () => {} }));
  const { client } = await sessionOf(url, ada);
  const start = await callOf(client, 'start_workflow', { name: 'analyze-codebase', inputs: { files } });
  const agentOf = async (index: number, visitor = ada) =>
    new SubAgent((await sessionOf(url, visitor)).client, promptsIn(start)[index]);
  return { url, client, start, workflow_id: runIn(start), agentOf };
}

test('a main agent and two sub-agents in sessions of their own', async () => {
  const { client, start, workflow_id, agentOf } = await started();
  expect(textIn(start)).toContain('You need to process 2 items in parallel using @reviewer.');
  const [one, two] = [await agentOf(0), await agentOf(1)];
  await Promise.all([one.work(), two.work()]);
  expect((await finish(client, workflow_id)).structuredContent).toMatchObject({
    status: 'completed',
    result: { findings: ['fine', 'raises'], enough: true },
  });
});

test('the answers say what to do next', async () => {
  const { client, start, workflow_id, agentOf } = await started();
  const agent = await agentOf(0);
  const step = await agent.next();
  expect(textIn(step)).toContain('Step "read-file" has a command for you to run:');
  expect(textIn(step)).toContain('submit_step_result');
  const submitted = await callOf(client, 'submit_result', { workflow_id, result: 'done' });
  expect(failureIn(submitted)).toMatchObject({ code: 'ACTION_OF_AGENTS' });
  expect(JSON.stringify(start)).not.toContain('cat a.py');
});

test('submit_result takes the id of a child, and its answer is the next step', async () => {
  const { client, agentOf } = await started();
  const { id } = await agentOf(0);
  const answer = await callOf(client, 'submit_result', { workflow_id: id, result: { exit_code: 0 } });
  expect(answer.structuredContent).toMatchObject({ status: 'pending_step', step: { step_id: 'look' } });
});

test('a child does not exist for another user, nor for the tools of runs', async () => {
  const { client, agentOf } = await started();
  const agent = await agentOf(0, eve);
  const unknown = { code: 'WORKFLOW_NOT_FOUND' };
  expect(failureIn(await agent.next())).toMatchObject(unknown);
  for (const tool of ['get_workflow_status', 'cancel_workflow'])
    expect(failureIn(await callOf(client, tool, { workflow_id: agent.id }))).toMatchObject(unknown);
});

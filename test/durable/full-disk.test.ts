import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Answer, failureIn, runIn, textIn } from '../e2e/composite/client.js';
import { type Child, programOf } from './child.js';
import { addressOf, toolCall } from './tool-call.js';

const start = programOf('ledger-server');

test('a server whose disk is full refuses runs, keeps those it has, and goes on when there is space', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-full-'));
  const files = [join(folder, 'runs.db'), join(folder, 'ledger.txt'), 'http', 'stateless'];
  let server: Child = start.limited(400, ...files);
  onTestFinished(async () => {
    await server.kill();
    rmSync(folder, { recursive: true });
  });
  let url = await addressOf(server);
  const acknowledged: string[] = [];
  let refused: Answer | undefined;
  while (refused === undefined) {
    const answer = await toolCall(url, 'w_line');
    if (answer.isError) refused = answer;
    else acknowledged.push(runIn(answer));
  }
  expect(failureIn(refused)?.code).toBe('E_STORE');
  expect(textIn(refused)).not.toContain(folder);
  expect(acknowledged.length).toBeGreaterThan(5);
  for (const workflow_id of acknowledged) {
    const { structuredContent } = await toolCall(url, 'get_workflow_status', { workflow_id });
    expect(structuredContent).toMatchObject({ status: 'waiting' });
  }
  await server.kill();

  server = start(...files);
  url = await addressOf(server);
  for (const workflow_id of acknowledged) {
    const answer = await toolCall(url, 'submit_result', { workflow_id, action_id: 'go#1', result: true });
    expect(answer.structuredContent).toMatchObject({ action: { action_id: 'sure#1' } });
  }
});

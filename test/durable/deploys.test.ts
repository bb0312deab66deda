import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../src/graph/json.js';
import { runIn } from '../e2e/composite/client.js';
import { nightlyTest } from '../nightly.js';
import type { Child } from './child.js';
import { ledgerServers } from './ledger-servers.js';
import { addressOf, toolCall } from './tool-call.js';

const servers = ledgerServers();

/** A server of one of two versions: that with the tool `slow`, or the old one without it. */
async function served(version: 'old' | 'new'): Promise<{ readonly child: Child; readonly url: URL }> {
  const child = servers.start('http', version === 'old' ? 'edited' : 'stateless');
  return { child, url: await addressOf(child) };
}

const statusOf = async (url: URL, workflow_id: string): Promise<JsonObject> =>
  (await toolCall(url, 'get_workflow_status', { workflow_id })).structuredContent as JsonObject;

/** Starts so many runs at once. */
async function started(url: URL, tool: string, count: number): Promise<readonly string[]> {
  return Promise.all(Array.from({ length: count }, async () => runIn(await toolCall(url, tool))));
}

const answered = (url: URL, workflow_id: string) =>
  toolCall(url, 'submit_result', { workflow_id, action_id: 'go#1', result: true });

/** Waits until all runs are completed, as a server shows them; how many called `slow`, each with one key. */
async function completed(url: URL, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await vi.waitFor(async () => expect(await statusOf(url, id)).toMatchObject({ status: 'completed' }), {
      timeout: 30_000,
      interval: 100,
    });
  }
  const slow = servers.effects().filter((line) => line.startsWith('slow '));
  expect(new Set(slow).size).toBe(ids.length);
}

describe('servers of two versions on one file', { timeout: 90_000 }, () => {
  test('complete all runs while both are up, whichever gets the answers and the times', async () => {
    const old = await served('old');
    const { url } = await served('new');
    const ids = [...(await started(url, 'w_gate', 20)), ...(await started(url, 'w_nap', 10))];
    const answers = await Promise.all(ids.map((id, index) => answered(index % 2 === 0 ? old.url : url, id)));
    // The old one hands an answer on to the new one, and its sender gets what that made of it.
    for (const { isError } of answers) expect(isError).toBeUndefined();
    await completed(url, ids);
    await completed(old.url, ids);
  });

  nightlyTest(
    'complete all runs after the new one was away, with answers and times that came meanwhile',
    async () => {
      const old = await served('old');
      const first = await served('new');
      const [gates, naps] = [await started(first.url, 'w_gate', 10), await started(first.url, 'w_nap', 10)];
      for (const id of naps) void answered(first.url, id).catch(() => undefined);
      await delay(500);
      await first.child.kill();
      const [answer] = await Promise.all(gates.map((id) => answered(old.url, id)));
      expect(answer?.isError).toBeUndefined();
      expect(answer?.structuredContent).toMatchObject({
        status: 'waiting',
        missing_capabilities: [{ kind: 'tool', name: 'slow' }],
        warnings: [{ code: 'W_STORED', message: expect.stringContaining("does not have tool 'slow'") }],
      });
      await delay(5_000);
      for (const id of gates) expect(await statusOf(old.url, id)).toMatchObject({ status: 'waiting' });
      const { url } = await served('new');
      await completed(url, [...gates, ...naps]);
    },
  );
});

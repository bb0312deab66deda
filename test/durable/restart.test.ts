import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { runs } from '../../src/cli/commands/runs/store.fixture.js';
import type { JsonObject } from '../../src/graph/json.js';
import { runRef } from '../../src/runtime/tools/port.js';
import { failureIn, runIn, textIn } from '../e2e/composite/client.js';
import { desk } from '../e2e/composite/fixture/registry.js';
import { freshCall, listening } from '../e2e/composite/http.js';
import { nightlyTest } from '../nightly.js';
import { ledgerServers } from './ledger-servers.js';
import { addressOf } from './tool-call.js';

const servers = ledgerServers();
const { effects, start: begin } = servers;

const statusOf = async (url: URL, workflow_id: string) =>
  (await freshCall(url, 'get_workflow_status', { workflow_id })).structuredContent as JsonObject;

describe('a server that is killed', { timeout: 90_000 }, () => {
  nightlyTest('goes on with its runs when it is back, and applies no effect under two keys', async () => {
    let server = begin();
    let url = await addressOf(server);
    const workflow_id = runIn(await freshCall(url, 'w_line'));
    await server.kill();

    server = begin();
    url = await addressOf(server);
    expect(await statusOf(url, workflow_id)).toMatchObject({ status: 'waiting', action: { step_id: 'go' } });
    const answer = { workflow_id, action_id: 'go#1', result: true };
    // The server is killed between two steps, before it answers.
    void freshCall(url, 'submit_result', answer).catch(() => undefined);
    await server.printed(2);
    await server.kill();
    for (let round = 0; round < 3; round += 1) {
      server = begin();
      await server.printed(1);
      await server.kill();
    }

    server = begin();
    url = await addressOf(server);
    await vi.waitFor(
      async () => expect(await statusOf(url, workflow_id)).toMatchObject({ status: 'waiting' }),
      { timeout: 30_000 },
    );
    // The same answer once more gets the stored response.
    const again = await freshCall(url, 'submit_result', answer);
    expect(again.structuredContent).toMatchObject({ status: 'waiting', action: { action_id: 'sure#1' } });
    const late = await freshCall(url, 'submit_result', { ...answer, result: false });
    expect(failureIn(late)?.code).toBe('ALREADY_SUBMITTED');
    const done = await freshCall(url, 'submit_result', { workflow_id, action_id: 'sure#1', result: true });
    expect(done.structuredContent).toMatchObject({ status: 'completed', result: 'g' });

    const applied = new Set(effects());
    expect([...applied].map((line) => line.split(' ')[0])).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    await server.kill();
    url = await addressOf(begin());
    expect(await statusOf(url, workflow_id)).toMatchObject({ status: 'completed', result: 'g' });
  });

  nightlyTest('leaves the time in which it was away out of the limit of a call', async () => {
    let server = begin('http', 'hangs');
    let url = await addressOf(server);
    const workflow_id = runIn(await freshCall(url, 'w_limited'));
    void freshCall(url, 'submit_result', { workflow_id, result: true }).catch(() => undefined);
    await server.printed(2);
    await server.kill();
    const killedAt = Date.now();
    // Its limit passes meanwhile.
    await vi.waitFor(() => expect(Date.now() - killedAt).toBeGreaterThan(2_500), { timeout: 10_000 });
    server = begin();
    url = await addressOf(server);
    await vi.waitFor(
      async () => expect(await statusOf(url, workflow_id)).toMatchObject({ status: 'waiting' }),
      { timeout: 30_000 },
    );
    expect(await statusOf(url, workflow_id)).toMatchObject({ action: { step_id: 'sure' } });
    const [first, ...others] = effects().filter((line) => line.startsWith('slow'));
    expect(others).toEqual([first]);
  });

  test('does not repeat a call that may not be repeated, and says which', async () => {
    let server = begin();
    let url = await addressOf(server);
    const [workflow_id, decided] = [
      runIn(await freshCall(url, 'w_bill')),
      runIn(await freshCall(url, 'w_bill')),
    ];
    for (const each of [workflow_id, decided]) {
      void freshCall(url, 'submit_result', { workflow_id: each, result: true }).catch(() => undefined);
    }
    await server.printed(3);
    await server.kill();

    for (let round = 0; round < 2; round += 1) {
      server = begin();
      url = await addressOf(server);
      // The lease of the one that was killed ends first.
      await vi.waitFor(
        async () =>
          expect(await statusOf(url, workflow_id)).toMatchObject({
            status: 'waiting',
            paused_steps: [{ step_id: 'charge', tool: 'charge' }],
          }),
        { timeout: 30_000 },
      );
      const status = await freshCall(url, 'get_workflow_status', { workflow_id });
      expect(textIn(status)).toContain("is paused at step 'charge'");
      const answer = await freshCall(url, 'submit_result', { workflow_id, result: false });
      expect(failureIn(answer)).toMatchObject({
        code: 'NO_OPEN_ACTION',
        message: expect.stringContaining('until an operator decides'),
      });
      if (round === 0) await server.kill();
    }
    const { out } = await runs(
      'answer',
      runRef(decided),
      'happened',
      '{}',
      '--store',
      `sqlite:${servers.path}`,
    );
    expect(out).toBe(`run ${runRef(decided)} has taken it\n`);
    expect(await statusOf(url, decided)).toMatchObject({ status: 'completed', result: true });
    expect(effects()).toHaveLength(2);
    const ended = await freshCall(url, 'cancel_workflow', { workflow_id });
    expect(ended.structuredContent).toMatchObject({
      status: 'cancelled',
      error: { unknown_outcomes: [{ step: 'charge', tool: 'charge' }] },
    });
  });
});

nightlyTest(
  'a run keeps its workflow on a server with an edited one, and goes on where its tools are',
  {
    timeout: 60_000,
  },
  async () => {
    let server = begin();
    let url = await addressOf(server);
    const workflow_id = runIn(await freshCall(url, 'w_gate'));
    expect(await statusOf(url, workflow_id)).toMatchObject({ status: 'waiting', definition_changed: false });
    await server.kill();

    server = begin('http', 'edited');
    url = await addressOf(server);
    const status = await freshCall(url, 'get_workflow_status', { workflow_id });
    expect(status.structuredContent).toMatchObject({
      ...{
        status: 'waiting',
        definition_changed: true,
        missing_capabilities: [{ kind: 'tool', name: 'slow' }],
      },
      action: { step_id: 'go' },
    });
    expect(textIn(status)).toContain("does not have tool 'slow'");
    expect(textIn(status)).toContain('goes on with the one it started with');
    const stored = await freshCall(url, 'submit_result', { workflow_id, result: true });
    expect(stored.structuredContent).toMatchObject({ status: 'waiting', warnings: [{ code: 'W_STORED' }] });
    const later = runIn(await freshCall(url, 'w_gate'));
    expect(await statusOf(url, later)).toMatchObject({ definition_changed: false });
    expect(await statusOf(url, later)).not.toHaveProperty('missing_capabilities');
    await server.kill();

    url = await addressOf(begin());
    await vi.waitFor(
      async () =>
        expect(await statusOf(url, workflow_id)).toMatchObject({ status: 'completed', result: 'a' }),
      { timeout: 30_000 },
    );
    // The step `a` is not in the edited workflow.
    expect(effects().map((line) => line.split(' ')[0])).toEqual(['a', 'slow']);
  },
);

test('a workflow with secrets does not start in a file that is not encrypted', async () => {
  const { server } = desk({ store: `sqlite:${servers.path}` });
  const url = await listening(server);
  const refused = await freshCall(url, 'w_pay', { card: '4111' });
  expect(failureIn(refused)?.code).toBe('E_STORE_SECRETS');
  const trip = await freshCall(url, 'w_careful', { city: 'Oslo' });
  expect(trip.isError).toBeUndefined();
  await server.stop();
  expect(readFileSync(servers.path).includes('4111')).toBe(false);
});

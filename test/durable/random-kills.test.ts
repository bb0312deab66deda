import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { failureIn, runIn } from '../e2e/composite/client.js';
import { Random } from '../simulation/random.js';
import { type Child, programOf } from './child.js';
import { addressOf, toolCall } from './tool-call.js';

const start = programOf('ledger-server');

// `npm run test:faults` kills more often.
const { KILLS = '2', KILL_SEED = '1' } = process.env;

/** They start runs and answer their first questions until the server is killed. */
const CLIENTS = 7;

const STEPS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

test(`nothing is lost or done twice by servers that are killed at ${KILLS} moments (seed ${KILL_SEED})`, {
  timeout: 60_000 + Number(KILLS) * 10_000,
}, async () => {
  const random = new Random(Number(KILL_SEED));
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-kills-'));
  const ledger = join(folder, 'ledger.txt');
  let server: Child | undefined;
  onTestFinished(async () => {
    await server?.kill();
    rmSync(folder, { recursive: true });
  });
  const begin = (): Promise<URL> => {
    server = start(join(folder, 'runs.db'), ledger, 'http', 'stateless');
    return addressOf(server);
  };

  const acknowledged: string[] = [];
  const answered: string[] = [];
  for (let kill = 0; kill < Number(KILLS); kill += 1) {
    const url = await begin();
    let begun = () => {};
    const isUnderLoad = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const client = async (): Promise<never> => {
      for (;;) {
        const workflow_id = runIn(await toolCall(url, 'w_line'));
        acknowledged.push(workflow_id);
        begun();
        await toolCall(url, 'submit_result', { workflow_id, action_id: 'go#1', result: true });
        answered.push(workflow_id);
      }
    };
    // Each ends with the server.
    const over = Promise.allSettled(Array.from({ length: CLIENTS }, client));
    await Promise.race([isUnderLoad, over]);
    await delay(random.below(200));
    await server?.kill();
    await over;
  }

  const url = await begin();
  const statusOf = async (workflow_id: string) =>
    (await toolCall(url, 'get_workflow_status', { workflow_id })).structuredContent;
  /** Answers a question, unless that was done. */
  const answer = async (workflow_id: string, action_id: string): Promise<void> => {
    await toolCall(url, 'submit_result', { workflow_id, action_id, result: true });
  };
  for (const workflow_id of answered) {
    // What was acknowledged is there: another answer to the same question is refused.
    const again = await toolCall(url, 'submit_result', { workflow_id, action_id: 'go#1', result: false });
    expect(failureIn(again)?.code).toBe('ALREADY_SUBMITTED');
  }
  for (const workflow_id of acknowledged) {
    await answer(workflow_id, 'go#1');
    // Those that the killed server had are taken over when its lease has ended.
    await vi.waitFor(
      async () => expect(await statusOf(workflow_id)).toMatchObject({ action: { action_id: 'sure#1' } }),
      { timeout: 30_000 },
    );
    await answer(workflow_id, 'sure#1');
    expect(await statusOf(workflow_id)).toMatchObject({ status: 'completed', result: 'g' });
  }
  const lines = existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : [];
  const names = [...new Set(lines)].map((line) => line.split(' ')[0] ?? '');
  // Each effect has one key. A run whose start was not acknowledged may be there, and waits for its first answer.
  for (const step of STEPS) expect(names.filter((name) => name === step)).toHaveLength(acknowledged.length);
  expect(acknowledged.length).toBeGreaterThanOrEqual(Number(KILLS));
  // A kill repeats what was in flight, and no more: one call for each run that was open.
  expect(lines.length - names.length).toBeLessThanOrEqual(Number(KILLS) * CLIENTS);
  process.stdout.write(
    `${KILLS} kills, ${acknowledged.length} runs, ${names.length} effects, ${lines.length - names.length} repeated\n`,
  );
});

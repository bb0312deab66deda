import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { runRef } from '../../src/runtime/tools/port.js';
import { compilePrograms } from '../compiled-programs.js';
import { runIn, textIn } from '../e2e/composite/client.js';
import { programOf } from './child.js';
import { addressOf, toolCall } from './tool-call.js';

const start = programOf('ledger-server');
let programs: Awaited<ReturnType<typeof compilePrograms>>;
beforeAll(async () => {
  const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
  programs = await compilePrograms({ cli: main });
}, 60_000);
afterAll(() => programs.remove());

test('commands of an operator say what became of them, with a server and without one', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-operator-'));
  const server = start(join(folder, 'runs.db'), join(folder, 'ledger.txt'), 'http', 'stateless');
  onTestFinished(async () => {
    await server.kill();
    rmSync(folder, { recursive: true });
  });
  const runs = (...args: readonly string[]) => {
    const given = [programs.file('cli'), 'runs', ...args, '--store', `sqlite:${join(folder, 'runs.db')}`];
    const { status, stdout, stderr } = spawnSync(process.execPath, given, { encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  const url = await addressOf(server);
  const workflow_id = runIn(await toolCall(url, 'w_gate'));
  const ref = runRef(workflow_id);
  const wrong = runs('answer', ref, 'true', '--action', 'none#1', '--override', '--reason', 'test');
  expect(wrong).toMatchObject({ status: 1, stdout: '' });
  expect(wrong.stderr).toContain("'none#1'");
  expect(runs('answer', ref, 'true', '--action', 'go#1', '--override', '--reason', 'test')).toEqual({
    ...{ status: 0, stderr: '', stdout: `run ${ref} has taken it\n` },
  });
  const status = () => toolCall(url, 'get_workflow_status', { workflow_id });
  await expect.poll(status).toMatchObject({ structuredContent: { status: 'completed' } });

  const undone = runIn(await toolCall(url, 'w_gate'));
  expect(runs('cancel', runRef(undone)).stdout).toContain('has taken it');
  const cancelled = await toolCall(url, 'get_workflow_status', { workflow_id: undone });
  expect(textIn(cancelled)).toContain('an operator cancelled it');

  const left = runRef(runIn(await toolCall(url, 'w_gate')));
  await server.kill();
  const stored = runs('cancel', left, '--wait', '1');
  expect(stored).toMatchObject({ status: 0, stderr: '' });
  expect(stored.stdout).toContain(`stored for run ${left}`);
});

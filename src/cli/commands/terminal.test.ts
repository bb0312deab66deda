import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runProgram } from './terminal.js';

const { signal } = new AbortController();

/** Starts a program outside of its own group, which holds its pipes. */
const APART = `require('node:child_process').spawn('sleep', ['9'], { detached: true, stdio: 'inherit' })`;

/** Timers that keep the process alive. */
const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stepwright-terminal-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a program', () => {
  test('has the arguments as they are, without a shell', async () => {
    const printed = await runProgram({ command: 'printf', argv: ['%s|', '$HOME', '; echo no'], signal });
    expect(printed).toEqual({ stdout: '$HOME|; echo no|', stderr: '', exit_code: 0 });
  });

  test.concurrent.each([
    ['whose shell waits for another program', { command: 'sleep 600; echo no' }],
    ['that ignores the request to end', { command: `trap '' TERM; sleep 600; echo no` }],
    ['that leaves another one with its pipes', { command: process.execPath, argv: ['-e', APART] }],
  ])('%s ends at its limit', async (_what, program) => {
    await expect(runProgram({ ...program, timeoutMs: 400, signal })).rejects.toMatchObject({
      name: 'TimeoutError',
      message: 'Timed out after 400 ms.',
    });
  });

  test('ends with those that it started', async () => {
    const stop = new AbortController();
    const child = `(trap 'echo ended > end; exit' TERM; echo > ready; while :; do sleep 0.02; done) & wait`;
    const run = runProgram({ command: `cd '${folder}'; ${child}`, signal: stop.signal });
    const failure = expect(run).rejects.toThrow('interrupted');
    await vi.waitFor(() => readFile(path.join(folder, 'ready')), { timeout: 20_000 });
    stop.abort(new Error('interrupted'));
    await failure;
    expect(await readFile(path.join(folder, 'end'), 'utf8')).toBe('ended\n');
  });

  test('that cannot be started has no timer', async () => {
    const before = timers();
    const program = { command: 'no-such-program', argv: [], timeoutMs: 60_000, signal };
    const runs = await Promise.allSettled(Array.from({ length: 20 }, () => runProgram(program)));
    expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 'rejected'));
    expect(timers() - before).toBeLessThan(runs.length);
  });
});

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { dispatched } from '../dispatched.fixture.js';
import { endServer } from './dev-servers.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-dev-servers-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a process that runs until it is killed, or until it handles the command `stop`. */
async function start(onMessage: string): Promise<ChildProcess> {
  const file = path.join(folder, 'server.mjs');
  writeFileSync(
    file,
    `for (const event of ['SIGTERM', 'disconnect']) process.on(event, () => {});
     process.on('message', () => { ${onMessage} });
     setInterval(() => {}, 1_000);
     process.send('ready');`,
  );
  const child = fork(file, { execArgv: [] });
  await once(child, 'message');
  return child;
}

const end = (child: ChildProcess, killAfterMs: number) =>
  endServer({ process: child, say: (command) => void child.send(command) }, killAfterMs);

test('a store of no known kind is refused before a process starts', async () => {
  expect(await dispatched('dev', '--store', 'foo:bar', '--root', folder)).toEqual({
    code: 2,
    out: '',
    err: expect.stringMatching(/^stepwright: --store is 'memory', .*, not 'foo:bar'\n$/),
  });
});

test('a process that ignores the command to stop is killed', async () => {
  const child = await start('');
  const exit = once(child, 'exit');
  await end(child, 100);
  expect(await exit).toEqual([null, 'SIGKILL']);
  await end(child, 100);
});

test('a process that has lost its connection and does not end is killed', async () => {
  const child = await start('');
  const exit = once(child, 'exit');
  child.disconnect();
  await once(child, 'disconnect');
  await end(child, 100);
  expect(await exit).toEqual([null, 'SIGKILL']);
});

test('a process that hangs after its connection is closed is killed; one that ends is not', async () => {
  const hung = await start('process.disconnect();');
  const ended = await start('process.exit(0);');
  const exits = Promise.all([once(hung, 'exit'), once(ended, 'exit')]);
  await Promise.all([end(hung, 100), end(ended, 60_000)]);
  expect(await exits).toEqual([
    [null, 'SIGKILL'],
    [0, null],
  ]);
});

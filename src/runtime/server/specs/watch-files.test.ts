import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FSWatcher } from 'chokidar';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchSpecFiles } from './watch-files.js';

test('links that are replaced at once begin a few watches, all of which end', async () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'watch-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const folder of ['1', '2']) {
    mkdirSync(path.join(root, folder));
    writeFileSync(path.join(root, folder, 'a.yaml'), folder);
  }
  symlinkSync('1', path.join(root, 'flows'));
  const begun = vi.spyOn(FSWatcher.prototype, 'add');
  const ended = vi.spyOn(FSWatcher.prototype, 'close');
  onTestFinished(() => void vi.restoreAllMocks());
  let changed = (): void => {};
  const isChanged = new Promise<void>((resolve) => {
    changed = resolve;
  });
  const watcher = await watchSpecFiles(
    ['flows/*.yaml'],
    root,
    () => changed(),
    ({ message }) => expect.unreachable(message),
  );
  for (let count = 0; count < 100; count += 1) {
    symlinkSync(count % 2 === 0 ? '2' : '1', path.join(root, 'next'));
    renameSync(path.join(root, 'next'), path.join(root, 'flows'));
  }
  await isChanged;
  await watcher.close();
  expect(begun.mock.calls.length).toBeGreaterThan(1);
  expect(begun.mock.calls.length).toBeLessThan(10);
  expect(ended).toHaveBeenCalledTimes(begun.mock.calls.length);
});

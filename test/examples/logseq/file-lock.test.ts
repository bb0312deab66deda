import { readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LockTimeout, withFileLock } from '../../../examples/logseq/file-lock.js';
import { temporaryGraph } from './temp-graph.js';

describe('withFileLock', () => {
  test('does one work after the other, whatever each returns, and removes its file', async () => {
    const folder = await temporaryGraph({});
    const path = join(folder, 'lock');
    let working = 0;
    const works = Array.from({ length: 20 }, (_, index) =>
      withFileLock(path, async () => {
        working += 1;
        const seen = [working, await readdir(folder)];
        working -= 1;
        if (index % 5 === 0) throw new Error('failed');
        return seen;
      }).catch(String),
    );
    const results = await Promise.all(works);
    expect(new Set(results.map((result) => JSON.stringify(result)))).toEqual(
      new Set(['[1,["lock"]]', '"Error: failed"']),
    );
    expect(await readdir(folder)).toEqual([]);
  });

  test('takes over a file that a killed process left', async () => {
    const folder = await temporaryGraph({ lock: 'of process 4711' });
    expect(await withFileLock(join(folder, 'lock'), async () => 'done')).toBe('done');
    expect(await readdir(folder)).toEqual([]);
  });

  test('fails at its limit, and when it is aborted; the holder keeps the lock', async () => {
    const path = join(await temporaryGraph({}), 'lock');
    const never = async (): Promise<never> => {
      throw new Error('worked without the lock');
    };
    await withFileLock(path, async () => {
      const late = withFileLock(path, never, { limitMs: 1 });
      await expect(late).rejects.toThrow(LockTimeout);
      await expect(late).rejects.toThrow(
        `'${path}' was locked by another program for 1 ms; nothing was written`,
      );
      const controller = new AbortController();
      const aborted = withFileLock(path, never, { signal: controller.signal });
      controller.abort(new Error('gone'));
      await expect(aborted).rejects.toThrow(/gone|aborted/);
      await expect(withFileLock(path, never, { limitMs: 1 })).rejects.toThrow(LockTimeout);
    });
    expect(await withFileLock(path, async () => 'free')).toBe('free');
  });

  test('does not lock what a link leads to', async () => {
    const folder = await temporaryGraph({ target: 'secret' });
    await symlink(join(folder, 'target'), join(folder, 'lock'));
    await expect(withFileLock(join(folder, 'lock'), async () => {})).rejects.toThrow('ELOOP');
    expect(await readFile(join(folder, 'target'), 'utf8')).toBe('secret');
  });
});

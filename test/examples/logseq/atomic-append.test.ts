import { writeFileSync } from 'node:fs';
import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { appendAtomically, NotAPlainFile } from '../../../examples/logseq/atomic-append.js';
import { temporaryGraph } from './temp-graph.js';

describe('appendAtomically', () => {
  test('keeps what was there, byte for byte, and the mode of the file', async () => {
    const folder = await temporaryGraph({ 'a.md': '' });
    const path = join(folder, 'a.md');
    await chmod(path, 0o640);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), async (bytes) => {
        await writeFile(path, bytes);
        await appendAtomically(path, () => 'end');
        expect((await readFile(path)).equals(Buffer.concat([bytes, Buffer.from('end')]))).toBe(true);
      }),
      { numRuns: 20 },
    );
    expect((await stat(path)).mode & 0o777).toBe(0o640);
    expect(await readdir(folder)).toEqual(['a.md']);
  });

  test('creates a missing file, and writes nothing for an empty addition', async () => {
    const folder = await temporaryGraph({ 'a.md': 'a' });
    await appendAtomically(join(folder, 'new.md'), (before) => `[${before}]`);
    await appendAtomically(join(folder, 'none.md'), () => '');
    expect(await readFile(join(folder, 'new.md'), 'utf8')).toBe('[]');
    expect(await readdir(folder)).toEqual(['a.md', 'new.md']);
  });

  test('starts over when another program wrote meanwhile', async () => {
    const folder = await temporaryGraph({ 'a.md': 'a' });
    const path = join(folder, 'a.md');
    let rounds = 0;
    await appendAtomically(path, (before) => {
      rounds += 1;
      if (rounds === 1) writeFileSync(path, `${before}!`);
      return '.';
    });
    expect(rounds).toBe(2);
    expect(await readFile(path, 'utf8')).toBe('a!.');
  });

  test('fails without damage when the file keeps changing', async () => {
    const folder = await temporaryGraph({ 'a.md': 'a' });
    const path = join(folder, 'a.md');
    const restless = appendAtomically(path, (before) => {
      writeFileSync(path, `${before}!`);
      return 'lost';
    });
    await expect(restless).rejects.toThrow(
      "'a.md' kept changing while it was written; nothing was added to it",
    );
    expect(await readFile(path, 'utf8')).toBe('a!!!!!');
    expect(await readdir(folder)).toEqual(['a.md']);
  });

  test('refuses links and folders', async () => {
    const folder = await temporaryGraph({ 'target.md': 'secret', 'folder/x.md': '' });
    await symlink(join(folder, 'target.md'), join(folder, 'link.md'));
    await expect(appendAtomically(join(folder, 'link.md'), () => 'x')).rejects.toThrow(NotAPlainFile);
    await expect(appendAtomically(join(folder, 'folder'), () => 'x')).rejects.toThrow(NotAPlainFile);
    expect(await readFile(join(folder, 'target.md'), 'utf8')).toBe('secret');
    expect((await lstat(join(folder, 'link.md'))).isSymbolicLink()).toBe(true);
  });
});

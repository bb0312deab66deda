import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { REGISTRY_HEADER } from './emit/registry.js';
import { isForeign, outputState, writeOutput } from './writer.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'stepwright-writer-'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const output = { file: 'generated/registry.ts', text: `${REGISTRY_HEADER}\nexport {};\n` };

async function put(text: string): Promise<void> {
  await mkdir(path.join(root, 'generated'), { recursive: true });
  await writeFile(path.join(root, output.file), text);
}

describe('outputState', () => {
  test.each([
    ['current', output.text],
    ['current', output.text.replaceAll('\n', '\r\n')],
    ['stale', `${output.text}// edited by hand\n`],
    ['stale', ''],
    ['foreign', 'export const mine = 1;\n'],
    ['foreign', `// mine\n${output.text}`],
  ])('is %s for %j', async (state, text) => {
    await put(text);
    expect(await outputState(root, output)).toBe(state);
  });

  test('is missing where there is no file, and where there is no folder', async () => {
    expect(await outputState(root, output)).toBe('missing');
    await writeFile(path.join(root, 'generated'), 'a file where a folder should be');
    expect(await outputState(root, output)).toBe('missing');
  });

  test('is foreign for a folder of that name', async () => {
    await mkdir(path.join(root, output.file), { recursive: true });
    expect(await outputState(root, output)).toBe('foreign');
  });
});

test.each([
  [`${REGISTRY_HEADER}\n`, false],
  ['', false],
  ['export const mine = 1;\n', true],
])('a file with %j is foreign: %s', async (text, expected) => {
  expect(await isForeign(root, output.file)).toBe(false);
  await put(text);
  expect(await isForeign(root, output.file)).toBe(expected);
});

describe('writeOutput', () => {
  test('says which part of the path is a file', async () => {
    await writeFile(path.join(root, 'generated'), 'a file where a folder should be');
    expect((await writeOutput(root, output))?.message).toBe(
      '`generated/registry.ts` cannot be written: `generated` is no folder',
    );
  });

  test('creates folders, writes the whole text and leaves nothing else behind', async () => {
    expect(await writeOutput(root, output)).toBeUndefined();
    expect(await readFile(path.join(root, output.file), 'utf8')).toBe(output.text);
    expect(await readdir(path.join(root, 'generated'))).toEqual(['registry.ts']);
  });

  test('replaces the file instead of writing into it', async () => {
    await put('old');
    const before = await stat(path.join(root, output.file));
    await writeOutput(root, output);
    expect((await stat(path.join(root, output.file))).ino).not.toBe(before.ino);
  });

  test('reports what the file system refuses, and cleans up', async () => {
    await mkdir(path.join(root, output.file), { recursive: true });
    const fault = await writeOutput(root, output);
    expect(fault).toMatchObject({ code: 'SW9005' });
    expect(fault?.message).not.toContain(root);
    expect(fault?.message).toContain('it is a folder');
    expect(await readdir(path.join(root, 'generated'))).toEqual(['registry.ts']);
  });
});

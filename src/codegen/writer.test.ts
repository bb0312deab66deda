import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { REGISTRY_HEADER } from './emit/registry.js';
import { isForeign, outputState, removeStaleFiles, takeTemporaryName, writeOutput } from './writer.js';

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
    expect(outputState(root, output)).toBe(state);
  });

  test.each(['\u{1f600}', '\ud83d\u{1f600}', '\ud83d\ud83d\u{1f600}'])(
    'is current for a large file with %j wherever it is read in parts',
    async (characters) => {
      for (let before = 65_530; before < 65_540; before++) {
        const text = `${output.text.padEnd(before)}${characters}\n`;
        await put(text);
        expect(outputState(root, { ...output, text })).toBe('current');
        expect(outputState(root, { ...output, text: `${text} ` })).toBe('stale');
      }
    },
  );

  test('is missing where there is no file, and where there is no folder', async () => {
    expect(outputState(root, output)).toBe('missing');
    await writeFile(path.join(root, 'generated'), 'a file where a folder should be');
    expect(outputState(root, output)).toBe('missing');
  });

  test('is foreign for a folder of that name', async () => {
    await mkdir(path.join(root, output.file), { recursive: true });
    expect(outputState(root, output)).toBe('foreign');
  });
});

test.each([
  [`${REGISTRY_HEADER}\n`, false],
  ['', false],
  ['export const mine = 1;\n', true],
])('a file with %j is foreign: %s', async (text, expected) => {
  expect(isForeign(root, output.file)).toBe(false);
  await put(text);
  expect(isForeign(root, output.file)).toBe(expected);
});

describe('writeOutput', () => {
  test('names the part of the path that is a file', async () => {
    await writeFile(path.join(root, 'generated'), 'a file where a folder should be');
    expect((await writeOutput(root, output))?.message).toBe(
      '`generated/registry.ts` cannot be written: `generated` is not a folder',
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

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-temporary-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const LONG_AGO = new Date('2020-01-01');

/** The name that a process of this machine writes under. */
function nameOf(pid: number | undefined, target = 'registry.ts'): string {
  const { temporary, release } = takeTemporaryName(path.join(folder, target));
  release();
  return path.basename(temporary).replace(`-${process.pid}-`, `-${pid}-`);
}

function putFile(name: string, time?: Date): string {
  const file = path.join(folder, name);
  writeFileSync(file, 'half of a regist');
  if (time !== undefined) utimesSync(file, time, time);
  return name;
}

const remove = () => removeStaleFiles(folder, (name) => name === 'registry.ts');

test('removes the temporary files of dead processes and of this one', () => {
  // It has ended by now.
  const { pid: dead } = spawnSync(process.execPath, ['--version']);
  putFile(nameOf(dead));
  putFile(nameOf(process.pid));
  remove();
  expect(readdirSync(folder)).toEqual([]);
});

test('keeps files that a process is writing', () => {
  const { temporary, release } = takeTemporaryName(path.join(folder, 'registry.ts'));
  const own = putFile(path.basename(temporary));
  const parent = putFile(nameOf(process.ppid));
  const elsewhere = putFile(nameOf(1).replace(/\.[0-9a-f]{8}-/, '.00000000-'));
  remove();
  expect(readdirSync(folder).sort()).toEqual([own, parent, elsewhere].sort());
  release();
  remove();
  expect(readdirSync(folder).sort()).toEqual([parent, elsewhere].sort());
});

test('removes old files of unknown processes', () => {
  putFile(nameOf(process.ppid), LONG_AGO);
  putFile(nameOf(1).replace(/\.[0-9a-f]{8}-/, '.00000000-'), LONG_AGO);
  remove();
  expect(readdirSync(folder)).toEqual([]);
});

test('keeps files that codegen did not write', () => {
  const names = ['.registry.ts.swp', '.registry.ts.tmp', 'registry.ts', nameOf(2 ** 30, 'other.ts'), 'a.tmp'];
  for (const name of names) putFile(name, LONG_AGO);
  remove();
  expect(readdirSync(folder).sort()).toEqual([...names].sort());
});

test('accepts a missing folder', () => {
  expect(() => removeStaleFiles(path.join(folder, 'none'), () => true)).not.toThrow();
});

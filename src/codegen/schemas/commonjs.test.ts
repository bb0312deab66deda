import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCommonJs } from './commonjs.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'stepwright-commonjs-'));
  await mkdir(path.join(root, 'module/deep'), { recursive: true });
  await mkdir(path.join(root, 'broken'));
  await writeFile(path.join(root, 'package.json'), '{ "name": "no type" }');
  await writeFile(path.join(root, 'module/package.json'), '{ "type": "module" }');
  await writeFile(path.join(root, 'broken/package.json'), '{');
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe('isCommonJs', () => {
  test.each([
    ['a.ts', true],
    ['a.mts', false],
    ['module/a.ts', false],
    ['module/deep/a.tsx', false],
    ['module/a.cts', true],
    ['broken/a.ts', true],
  ])('%s: %j', (file, expected) => {
    expect(isCommonJs(path.join(root, file))).toBe(expected);
  });
});

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileFault, isCommonJs, moduleCandidates, transformOptions } from './compile.js';

describe('isCommonJs', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stepwright-commonjs-'));
    await mkdir(path.join(folder, 'module/deep'), { recursive: true });
    await mkdir(path.join(folder, 'broken'));
    await writeFile(path.join(folder, 'package.json'), '{ "name": "no type" }');
    await writeFile(path.join(folder, 'module/package.json'), '{ "type": "module" }');
    await writeFile(path.join(folder, 'broken/package.json'), '{');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each([
    ['a.ts', true],
    ['a.mts', false],
    ['module/a.ts', false],
    ['module/deep/a.tsx', false],
    ['module/a.cts', true],
    ['broken/a.ts', true],
  ])('%s: %j', (file, expected) => {
    expect(isCommonJs(path.join(folder, file))).toBe(expected);
  });
});

test.each([
  ['/a/b.js', ['/a/b.ts', '/a/b.tsx']],
  ['/a/b.mjs', ['/a/b.mts']],
  ['/a/b.cjs', ['/a/b.cts']],
  ['/a/b.jsx', ['/a/b.tsx']],
  [
    '/a/b.test',
    [
      ...['/a/b.test.ts', '/a/b.test.tsx', '/a/b.test.mts', '/a/b.test.cts', '/a/b.test.js'],
      ...['/a/b.test/index.ts', '/a/b.test/index.js'],
    ],
  ],
])('%s may refer to %j', (written, expected) => {
  expect(moduleCandidates(written)).toEqual(expected);
});

describe.each([true, false])('with experimentalDecorators: %s', (experimentalDecorators) => {
  const compile = async (text: string) =>
    (await transform(text, transformOptions('/a/b.ts', 'esm', { experimentalDecorators }))).code;

  test('a decorated class keeps its name and is handed to its decorator', async () => {
    const code = await compile(`const seen: unknown[] = [];
const note = (value: unknown) => { seen.push(value); };
@note class Count { static first = Count.name; @((_: unknown, _context: unknown) => {}) limit = 1; }
export const found = [seen.length, (seen[0] as { name: string }).name, Count.first];`);
    const module = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    expect(module.found).toEqual([1, 'Count', 'Count']);
  });
});

test('a syntax error names file, line and column', async () => {
  const file = '/a/b.ts';
  const fault = await transform('function f(): void {\n  await g();\n}', {
    ...transformOptions(file, 'esm', { experimentalDecorators: true }),
  }).catch((error: unknown) => compileFault(error, file));
  expect(fault).toEqual(new SyntaxError('/a/b.ts:2:3: "await" can only be used inside an "async" function'));
});

test('whatever else is thrown stays an error', () => {
  const error = new RangeError('too large');
  expect(compileFault(error, '/a/b.ts')).toBe(error);
  expect(compileFault('gone', '/a/b.ts')).toEqual(new Error('gone'));
});

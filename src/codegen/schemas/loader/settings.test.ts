import { expect, test } from 'vitest';
import { aliasedPaths } from './compile.js';

const paths = {
  '@app': ['/p/src/index.ts'],
  '@app/*': ['/p/src/*', '/p/lib/*'],
  '@app/deep/*': ['/p/deep/*.ts'],
  '*.json': ['/p/data/*.json'],
  '*': ['/p/*'],
};

test.each([
  ['@app', ['/p/src/index.ts']],
  ['@app/a', ['/p/src/a', '/p/lib/a']],
  ['@app/deep/b', ['/p/deep/b.ts']],
  ['@app/$&', ['/p/src/$&', '/p/lib/$&']],
  ['zod', ['/p/zod']],
  ['./a', []],
  ['..', []],
  ['/a', []],
  ['node:fs', []],
  ['constructor', ['/p/constructor']],
])('%s may be %j', (specifier, expected) => {
  expect(aliasedPaths(specifier, { experimentalDecorators: true, paths })).toEqual(expected);
});

test('without a pattern that matches there is none', () => {
  expect(
    aliasedPaths('zod', { experimentalDecorators: true, paths: { '@app/*': ['/p/*'], 'a*a': ['/b'] } }),
  ).toEqual([]);
  expect(aliasedPaths('a', { experimentalDecorators: true, paths: { 'a*a': ['/b'] } })).toEqual([]);
  expect(aliasedPaths('zod', { experimentalDecorators: true })).toEqual([]);
});

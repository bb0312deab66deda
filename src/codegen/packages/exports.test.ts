import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../graph/json.js';
import { entryPoints, type PackageBuild } from './exports.js';

const sources = ['src/index.ts', 'src/a/index.ts', 'src/tools/page.ts', 'src/tools/search.mts'];

const found = (manifest: JsonObject, build: Partial<PackageBuild> = {}): readonly string[] =>
  entryPoints('@acme/tools', manifest, { folder: '', sources, outDirs: [], ...build }).map(
    ({ specifier, source }) => `${specifier} ${source ?? '?'}`,
  );

describe('entryPoints', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    ['one module', { exports: './dist/index.js' }, ['@acme/tools src/index.ts']],
    ['conditions', { exports: { types: './dist/index.d.ts', default: null } }, ['@acme/tools src/index.ts']],
    ['`types` and `main`', { types: 'dist/a/index.d.ts', main: 'lib.cjs' }, ['@acme/tools src/a/index.ts']],
    ['what is not a module', { exports: { './package.json': './package.json' } }, []],
    ['a source', { exports: { '.': './src/a/index.ts' } }, ['@acme/tools src/a/index.ts']],
    ['a module without a source', { exports: { './x': './dist/x.js' } }, ['@acme/tools/x ?']],
    [
      'a pattern, and one that is written out',
      { exports: { './*': './dist/tools/*.js', './page': './dist/a/index.js' } },
      ['@acme/tools/page src/a/index.ts', '@acme/tools/search src/tools/search.mts'],
    ],
  ])('reads %s', (_, manifest, expected) => {
    expect(found(manifest)).toEqual(expected);
  });

  test('follows the folders of the compiler options', () => {
    const exports = { '.': './out/js/tools/page.js' };
    expect(found({ exports }, { outDirs: ['out/js'], rootDir: 'src' })).toEqual([
      '@acme/tools src/tools/page.ts',
    ]);
    expect(found({ exports }, { outDirs: ['out/js'], rootDir: 'lib' })).toEqual(['@acme/tools ?']);
  });

  test('finds a package below the root', () => {
    const build = { folder: 'packages/tools', sources: ['packages/tools/src/index.ts'] };
    expect(found({ exports: './dist/index.js' }, build)).toEqual(['@acme/tools packages/tools/src/index.ts']);
  });
});

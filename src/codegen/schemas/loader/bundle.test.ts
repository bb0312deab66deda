import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Bundle, Bundler, canBundle } from './bundle.js';
import type { LoaderSettings } from './compile.js';

let root: string;
let bundlers: Bundler[];

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'stepwright-bundle-'));
  bundlers = [];
  write('package.json', '{ "name": "own", "type": "module", "imports": { "#named": "./src/named.js" } }');
});

afterEach(async () => {
  await Promise.all(bundlers.map((each) => each.dispose()));
  rmSync(root, { recursive: true, force: true });
});

const at = (file: string): string => path.join(root, file);

function write(file: string, text: string): void {
  mkdirSync(path.dirname(at(file)), { recursive: true });
  writeFileSync(at(file), text);
}

function bundlerOf(files: readonly string[], settings: Partial<LoaderSettings> = {}): Bundler {
  const all = { experimentalDecorators: true, ...settings };
  const bundler = new Bundler(at('.stepwright/dev'), files.map(at), all);
  bundlers.push(bundler);
  return bundler;
}

const load = ({ files }: Bundle, file: string): Promise<Record<string, unknown>> =>
  import(/* @vite-ignore */ pathToFileURL(files[at(file)] ?? '').href);

describe('a bundle', () => {
  test('shares the modules of all that it was asked for, and follows a change', async () => {
    write('src/shared.ts', 'export class Shared { static where = import.meta.url; }');
    write('src/one.ts', "export { Shared } from './shared.js'; export const value: number = 1;");
    write('src/two.ts', "export * from './shared';");
    const bundler = bundlerOf(['src/one.ts', 'src/two.ts']);
    const first = await bundler.build();
    const [one, two] = [await load(first, 'src/one.ts'), await load(first, 'src/two.ts')];
    expect(one.Shared).toBe(two.Shared);
    const { name, where } = one.Shared as { readonly name: string; readonly where: string };
    expect([name, where]).toEqual(['Shared', pathToFileURL(at('src/shared.ts')).href]);
    write('src/one.ts', 'export const value = 2;');
    const second = await bundler.build();
    expect(await bundler.build()).toBe(second);
    write('src/new.ts', '');
    expect(await bundler.build()).not.toBe(second);
    expect((await load(second, 'src/one.ts')).value).toBe(2);
    expect((await load(first, 'src/one.ts')).value).toBe(1);
  });

  test('resolves as the loader of single modules', async () => {
    write('src/named.ts', "export const name = 'named';");
    write('src/alias.ts', "export const alias = 'alias';");
    write('src/twice.ts', "export const twice = 'source';\nexport default 'default';");
    write('src/twice.js', "export const twice = 'compiled long ago';");
    write('src/value.json', '{ "number": 1 }');
    write('src/late.ts', "export const late = 'late';");
    write(
      'src/one.ts',
      `import { name } from '#named';
import { alias } from '@/alias.js';
import whole, { twice } from './twice.js';
import { number } from './value.json';
export const all = [name, alias, whole, twice, number, (await import('./late.js')).late];`,
    );
    const bundle = await bundlerOf(['src/one.ts'], { paths: { '@/*': [at('src/*')] } }).build();
    expect((await load(bundle, 'src/one.ts')).all).toEqual([
      'named',
      'alias',
      'default',
      'source',
      1,
      'late',
    ]);
  });

  test('has modules without a file', async () => {
    write('src/one.ts', "export const value: string = 'one';");
    const program = at('src/program.ts');
    let text = "export { value } from './one.js';";
    const textOf = (module: string) => (module === program ? text : undefined);
    const bundler = new Bundler(at('.stepwright/dev'), [program], { experimentalDecorators: true }, textOf);
    bundlers.push(bundler);
    const first = await bundler.build();
    expect(await load(first, 'src/program.ts')).toMatchObject({ value: 'one' });
    expect([...first.states.keys()].sort()).toEqual([at('src'), at('src/one.ts'), program]);
    text = "import { value as name } from './one.js';\nexport { name };";
    expect(await load(await bundler.build(), 'src/program.ts')).toMatchObject({ name: 'one' });
  });

  test('leaves packages, CommonJS and other packages outside, and loads packages ahead', async () => {
    const count = 'globalThis.loadsOfBundleTest = (globalThis.loadsOfBundleTest ?? 0) + 1;';
    write('node_modules/dep/package.json', '{ "name": "dep", "type": "module", "exports": "./index.js" }');
    write('node_modules/dep/index.js', `${count}\nexport const dep = import.meta.url;`);
    write('src/common.cjs', 'exports.file = __filename;');
    write('other/package.json', '{ "type": "module" }');
    write('other/index.js', 'export const other = import.meta.url;');
    write(
      'src/one.ts',
      `import { dep } from 'dep';
import { file } from './common.cjs';
import { other } from '../other/index.js';
export const all = [dep, file, other];`,
    );
    const bundle = await bundlerOf(['src/one.ts']).build();
    await import(/* @vite-ignore */ pathToFileURL(bundle.packages).href);
    expect(globalThis).toMatchObject({ loadsOfBundleTest: 1 });
    const { all } = await load(bundle, 'src/one.ts');
    const urlOf = (file: string): string => pathToFileURL(at(file)).href;
    expect(all).toEqual([urlOf('node_modules/dep/index.js'), at('src/common.cjs'), urlOf('other/index.js')]);
    expect(globalThis).toMatchObject({ loadsOfBundleTest: 1 });
  });

  test.each([
    ['a computed name', "export const load = (name: string) => import('./' + name);", 'by a computed name'],
    [
      'the own package by name',
      "export * from 'own/shared';",
      'imports `own/shared`, its own package, by name',
    ],
    ['a syntax error', 'export const a = ;', 'Unexpected ";"'],
    ['a missing module', "export * from './missing.js';", 'Could not resolve "./missing.js"'],
  ])('is refused for %s', async (_, text, message) => {
    write('src/one.ts', text);
    await expect(bundlerOf(['src/one.ts']).build()).rejects.toThrow(message);
  });
});

test('only ES modules in TypeScript are bundled', () => {
  write('common/package.json', '{}');
  const files = ['src/a.ts', 'src/a.mts', 'src/a.cts', 'src/a.js', 'common/a.ts', 'common/a.mts'];
  expect(files.filter((file) => canBundle(at(file)))).toEqual(['src/a.ts', 'src/a.mts', 'common/a.mts']);
});

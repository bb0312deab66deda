import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openClosures, openDisk, specifiersOf } from './dependencies.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'stepwright-closure-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;

async function write(files: Files): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
}

const closureOf = (entry: string) => openClosures(openDisk()).of([path.join(root, entry)]);

/** A project in which the tool depends on something in every way there is. */
const project: Files = {
  'package.json': JSON.stringify({ name: 'me', imports: { '#lib/*': { default: './lib/*.js' } } }),
  'src/tool.ts': `import { a } from './a.js';
    import lib from '#lib/one';
    import { z } from 'zod';
    import shared from '@me/shared/sub';
    import old from 'old';
    import { self } from 'me';`,
  'src/a.ts': "export * from './deep/index.js'; const data = require('./data.json'); import './folder';",
  'src/deep/index.ts': "export { b } from '../b.mjs';",
  'src/b.mts': "export const b = () => import('./lazy.js');",
  'src/lazy.tsx': "import './a.js';",
  'src/data.json': '{}',
  'src/folder/index.js': '',
  'lib/one.ts': '',
  'package-lock.json': '{}',
  'node_modules/zod/package.json': '{ "version": "4.0.0" }',
  'node_modules/.package-lock.json': '{}',
  'shared/package.json': '{ "name": "@me/shared", "exports": { "./sub": { "import": "./out/sub.js" } } }',
  'shared/out/sub.js': "import './inner.js';",
  'shared/out/inner.js': '',
  'old/package.json': '{ "main": "start" }',
  'old/start.js': '',
};

async function writeProject(): Promise<void> {
  await write({ ...project, 'src/unrelated.ts': '', 'src/types.ts': '' });
  await mkdir(path.join(root, 'node_modules/@me'));
  await symlink(path.join(root, 'shared'), path.join(root, 'node_modules/@me/shared'), 'dir');
  await symlink(path.join(root, 'old'), path.join(root, 'node_modules/old'), 'dir');
}

describe('a closure', () => {
  test('is another one when any file of it changes', async () => {
    await writeProject();
    const { hash, isComplete } = closureOf('src/tool.ts');
    expect(isComplete).toBe(true);
    for (const [file, text] of Object.entries(project)) {
      await write({ [file]: `${text} ` });
      expect({ file, same: closureOf('src/tool.ts').hash === hash }).toEqual({ file, same: false });
      await write({ [file]: text });
      expect(closureOf('src/tool.ts').hash).toBe(hash);
    }
  });

  test('follows aliases of the project, in all places that they may lead to', async () => {
    const files = {
      'tool.ts': "import '@app/a';",
      'one/a.ts': "import '@app/b';",
      'two/a/index.ts': '',
      'two/b.ts': '',
    };
    await write({ ...files, 'package.json': '{}' });
    const paths = { '@app/*': [path.join(root, 'one/*'), path.join(root, 'two/*')] };
    const hashOf = () =>
      openClosures(openDisk(), { experimentalDecorators: true, paths }).of([path.join(root, 'tool.ts')]).hash;
    const hash = hashOf();
    for (const [file, text] of Object.entries({ ...files, 'one/b.ts': '' })) {
      await write({ [file]: `${text} ` });
      expect({ file, same: hashOf() === hash }).toEqual({ file, same: false });
      await write({ [file]: text });
    }
  });

  test('is the same whatever happens to files that it does not load', async () => {
    await writeProject();
    const { hash } = closureOf('src/tool.ts');
    await write({ 'src/unrelated.ts': '1', 'src/more.ts': '2', 'node_modules/zod/index.js': '3' });
    expect(closureOf('src/tool.ts').hash).toBe(hash);
  });

  test.each([
    ['a.js', 'src/a.js'],
    ['a file before a folder', 'src/folder.ts'],
    ['a package that was missing', 'src/node_modules/zod/package.json'],
    ['a package.json between', 'src/deep/package.json'],
    ['a lockfile above', 'pnpm-lock.yaml'],
    ['a target as it is written', 'lib/one.js'],
  ])('is another one when a file comes up that may be loaded instead: %s', async (_, file) => {
    await writeProject();
    const { hash } = closureOf('src/tool.ts');
    await write({ [file]: '{}' });
    expect(closureOf('src/tool.ts').hash).not.toBe(hash);
  });

  test('is another one when a file goes, and stays one where modules import each other', async () => {
    await writeProject();
    const { hash } = closureOf('src/tool.ts');
    await rm(path.join(root, 'src/lazy.tsx'));
    expect(closureOf('src/tool.ts').hash).not.toBe(hash);
  });

  test('tells that a module far down loads what it does not name', async () => {
    await writeProject();
    await write({ 'src/lazy.tsx': 'export const load = (path: string) => import(path);' });
    expect(closureOf('src/tool.ts').isComplete).toBe(false);
  });

  const styles = [
    (to: string) => `import '${to}';`,
    (to: string) => `import { x as y } from "${to}";`,
    (to: string) => `export * from '${to}';`,
    (to: string) => `void import('${to}');`,
    (to: string) => `// it's\nrequire(\`${to}\`);`,
  ];
  const count = 7;
  const graphs = fc.record({
    edges: fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1), fc.nat(styles.length - 1)), {
      maxLength: 12,
    }),
    changed: fc.nat(count - 1),
  });

  test('of any graph of imports changes with a file if, and only if, the file is reached', async () => {
    const name = (index: number): string => `${index % 2 === 0 ? '.' : './odd'}/m${index}`;
    await fc.assert(
      fc.asyncProperty(graphs, async ({ edges, changed }) => {
        const files = Array.from({ length: count }, (_, index) => {
          const own = edges.filter(([from]) => from === index);
          const lines = own.map(([, to, style]) => {
            const way = path.posix.relative(path.posix.dirname(name(index)), name(to));
            return styles[style]?.(`${way.startsWith('.') ? '' : './'}${way}.js`) ?? '';
          });
          return [`${name(index)}.ts`, lines.join('\n')] as const;
        });
        const reached = new Set([0]);
        for (const at of reached) for (const [from, to] of edges) if (from === at) reached.add(to);
        await write(Object.fromEntries(files));
        const { hash } = closureOf('m0.ts');
        const [file, text] = files[changed] ?? ['', ''];
        await write({ [file]: `${text}\n` });
        expect(closureOf('m0.ts').hash !== hash).toBe(reached.has(changed));
      }),
      { numRuns: 150 },
    );
  });
});

describe('specifiersOf', () => {
  test.each([
    ["import './a.js';", ['./a.js']],
    ["import a, { b as c } from './a.js';", ['./a.js']],
    ["import {\n  a,\n  b,\n} from '../x/a.js';", ['../x/a.js']],
    ['import*as a from\'zod\';import{b}from"@me/b/deep"', ['zod', '@me/b/deep']],
    ["export * from './a.js';\nexport { b } from './b.js'", ['./a.js', './b.js']],
    ["const a = await import('./a.js'); const b = require(`./b.cjs`);", ['./a.js', './b.cjs']],
    ["import a = require('./a.js');", ['./a.js']],
    ["import { type A, b } from './a.js';", ['./a.js']],
    ["import data from './a.json' with { type: 'json' };", ['./a.json']],
    ["import './a.js?fresh';", ['./a.js?fresh']],
    ["// don't\nimport /* it's */ './a.js';", ['./a.js']],
    ["const file = new URL('./a.txt', import.meta.url);", ['./a.txt']],
    ["import '.'; import '..';", ['.', '..']],
    [`Buffer.from(\`$\{a}\`); Array.from("ab"); join("..", "a")`, []],
    ["/* import type { A } from './none.js'; */ export {}", ['./none.js']],
    ["// import type {\nimport { a } from './a.js';", ['./a.js']],
    ["import type from './a.js';", ['./a.js']],
  ])('finds all of %j', (text, named) => {
    expect(specifiersOf(text)).toEqual({ named, isComplete: true });
  });

  test.each([
    ["import type { A } from './a.js';"],
    ["import type {\n  A,\n  B,\n} from './a.js';"],
    ["import type A from './a.js';"],
    ["import type * as a from './a.js';"],
    ["export type { A } from './a.js';"],
    ["export type * from './a.js';"],
  ])('leaves out what is erased: %j', (text) => {
    expect(specifiersOf(text)).toEqual({ named: [], isComplete: true });
  });

  test.each([
    ['await import(path);'],
    [`import(\`./$\{name}.js\`);`],
    ['require(path)'],
    ['require.resolve(path)'],
    ["import(/* lazy */ './a.js')"],
    ['const load = createRequire(import.meta.url);'],
    ['import.meta.resolve(name)'],
    ["import './\\x61.js';"],
  ])('knows that it does not know: %j', (text) => {
    expect(specifiersOf(text).isComplete).toBe(false);
  });
});

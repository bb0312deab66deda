import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { CodegenOptions } from '../../src/codegen/codegen.js';
import { formatDiagnostics } from '../../src/graph/diagnostics/format.js';
import { runCodegen } from '../built-package.js';
import { nightlyTest } from '../nightly.js';
import { createProject, type Project, stepwright } from './project.fixture.js';

/** A tool that appends a line to a file whenever its module is imported. */
const tool = (name: string, head = '', schema = 'z.object({ a: z.string().refine(Boolean) })'): string => `
import { appendFileSync } from 'node:fs';
import { Tool } from 'stepwright';
import { z } from 'zod';
${head}
appendFileSync('imported.log', '${name}\\n');
@Tool({ name: '${name}', description: 'A tool', input: ${schema} })
export class T { execute(input: object): object { return input; } }
`;

let project: Project;
afterEach(() => project.remove());

const registryFile = 'generated/registry.ts';
const cacheFolder = 'node_modules/.cache/stepwright';

/** Runs codegen, and returns the modules that it imported. */
async function codegen(options: CodegenOptions = {}): Promise<{ imported: string[]; text: string }> {
  await project.write({ 'imported.log': '' });
  const result = await runCodegen({ root: project.root, ...options });
  const imported = (await project.read('imported.log')).split('\n').filter((line) => line !== '');
  return { imported: imported.sort(), text: formatDiagnostics(result.diagnostics, result.readSource) };
}

const warm = { imported: [], text: '' };
const registry = (): Promise<string> => project.read(registryFile);

// Each test starts Node processes with a compiler in them.
describe('the cache of schemas', { timeout: 240_000 }, () => {
  test('starts no process for unchanged modules, and writes the same output', async () => {
    project = await createProject({
      'src/a.ts': tool('a'),
      'src/b.ts': tool('b', "import './c.js';"),
      'src/c.ts': '',
    });
    expect(await codegen({ cache: false })).toEqual({ imported: ['a', 'b'], text: '' });
    await expect(readdir(path.join(project.root, cacheFolder))).rejects.toThrow('ENOENT');
    const written = await registry();
    expect(await codegen()).toEqual({ imported: ['a', 'b'], text: '' });
    await rm(path.join(project.root, registryFile));
    // With a limit of no time, a child that is started at all fails.
    expect(await codegen({ moduleLimits: { memoryMb: 1 } })).toEqual(warm);
    expect(await registry()).toBe(written);
    expect(await codegen({ check: true })).toEqual(warm);
    expect(await codegen({ cache: false })).toEqual({ imported: ['a', 'b'], text: '' });

    await project.write({ 'src/c.ts': 'export {};' });
    expect(await codegen()).toEqual({ imported: ['b'], text: '' });
    expect(await codegen()).toEqual(warm);
  });

  nightlyTest('imports a module again when anything that it depends on changes', async () => {
    const head = `import { readdirSync, readFileSync } from 'node:fs';
      import { far } from './near.js';
      import { linked } from 'linked';
      import { inside } from './folder';
      import required from './required.cjs';
      const has = process.env.CACHE_TEST_WORD ?? 'none';
      const file = readFileSync('words.txt', 'utf8').trim();
      const listed = readdirSync('words').join(' ');`;
    const schema = 'z.object({ a: z.enum([far, linked, inside, required, has, file, listed] as string[]) })';
    const files = {
      'src/tool.ts': tool('a', head, schema),
      'src/near.ts': "export * from './far.js';",
      'src/far.ts': "export const far: string = 'far-1';",
      'src/folder/index.ts': "export const inside: string = 'inside-1';",
      'src/required.cjs': "module.exports = require('./inner.cjs');",
      'src/inner.cjs': "module.exports = 'required-1';",
      'words.txt': 'file-1',
      'words/listed-1': '',
      'linked/package.json': '{ "name": "linked", "type": "module", "exports": "./index.js" }',
      'linked/index.js': "export { linked } from './inner.js';",
      'linked/inner.js': "export const linked = 'linked-1';",
    };
    project = await createProject(files);
    await symlink(path.join(project.root, 'linked'), path.join(project.root, 'node_modules/linked'), 'dir');
    const again = { imported: ['a'], text: '' };
    expect(await codegen()).toEqual(again);
    expect(await codegen()).toEqual(warm);

    const changes: readonly (readonly [string, string, string?])[] = [
      ['src/far.ts', "export const far: string = 'far-2';", 'far-2'],
      ['linked/inner.js', "export const linked = 'linked-2';", 'linked-2'],
      ['src/folder/index.ts', "export const inside: string = 'inside-2';", 'inside-2'],
      ['src/folder.ts', "export const inside: string = 'inside-3';", 'inside-3'],
      ['src/inner.cjs', "module.exports = 'required-2';", 'required-2'],
      ['words.txt', 'file-2', 'file-2'],
      ['words/listed-2', '', 'listed-1 listed-2'],
      [
        'tsconfig.json',
        (await project.read('tsconfig.json')).replace(
          '"experimentalDecorators":true',
          '"experimentalDecorators":false',
        ),
      ],
    ];
    for (const [file, text, word] of changes) {
      await project.write({ [file]: text });
      expect({ file, ...(await codegen()) }).toEqual({ file, ...again });
      if (word !== undefined) expect(await registry()).toContain(word);
      expect({ file, ...(await codegen()) }).toEqual({ file, ...warm });
    }
    process.env.CACHE_TEST_WORD = 'word-2';
    try {
      expect(await codegen()).toEqual(again);
      expect(await registry()).toContain('word-2');
      expect(await codegen()).toEqual(warm);
    } finally {
      delete process.env.CACHE_TEST_WORD;
    }
  });

  nightlyTest(
    'does not cache failures and modules that start processes, and follows computed imports',
    async () => {
      project = await createProject({
        'src/computed.ts': tool('computed', "const name = './part.js'; await import(name);"),
        'src/fine.ts': tool('fine'),
        'src/part.ts': '',
        'src/throws.ts': `${tool('throws')}\nthrow new Error('not today');`,
      });
      const faulty = { imported: ['computed', 'fine', 'throws'], text: expect.stringContaining('SW6001') };
      expect(await codegen()).toEqual(faulty);
      expect(await codegen()).toEqual({ ...faulty, imported: ['throws'] });
      await project.write({ 'src/part.ts': 'export {};' });
      expect(await codegen()).toEqual({ ...faulty, imported: ['computed', 'throws'] });
      await project.write({ 'src/throws.ts': 'export {};' });
      expect(await codegen()).toEqual(warm);

      await rm(path.join(project.root, 'src/computed.ts'));
      expect(await codegen()).toEqual(warm);
      await project.write({
        'src/fine.ts': tool('fine', "import { execSync } from 'node:child_process'; execSync('true');"),
      });
      expect(await codegen()).toEqual({ imported: ['fine'], text: '' });
      expect(await codegen()).toEqual({ imported: ['fine'], text: '' });
    },
  );

  nightlyTest('ignores a corrupt cache, and one that cannot be written', async () => {
    project = await createProject({ 'src/a.ts': tool('a') });
    const again = { imported: ['a'], text: '' };
    expect(await codegen()).toEqual(again);
    const folder = path.join(project.root, cacheFolder);
    // The memo, and the sources for servers.
    const entries = await readdir(folder);
    expect(entries).toHaveLength(2);
    for (const spoil of [() => '', () => '{}', () => '\u0000', (text: string) => text.slice(0, -9)]) {
      for (const entry of entries) {
        const text = await project.read(`${cacheFolder}/${entry}`);
        await writeFile(path.join(folder, entry), spoil(text));
      }
      expect(await codegen()).toEqual(again);
      expect(await codegen()).toEqual(warm);
    }
    expect(await readdir(folder)).toEqual(entries);
    for (const entry of entries) {
      await rm(path.join(folder, entry));
      await mkdir(path.join(folder, entry, 'in-the-way'), { recursive: true });
    }
    expect(await codegen()).toEqual(again);
    await rm(folder, { recursive: true });
    await writeFile(folder, 'in the way');
    expect(await codegen()).toEqual(again);
    expect(await codegen()).toEqual(again);
  });

  nightlyTest('is not used with --no-cache', async () => {
    project = await createProject({ 'src/a.ts': tool('a'), 'imported.log': '' });
    const imports = async (): Promise<number> => (await project.read('imported.log')).split('\n').length - 1;
    const command = async (...args: string[]) => {
      const { code, stderr } = await stepwright(args, project.root);
      return `${code}${stderr}`;
    };
    expect([await command('codegen', '--no-cache'), await imports()]).toEqual(['0', 1]);
    await expect(readdir(path.join(project.root, cacheFolder))).rejects.toThrow('ENOENT');
    expect([await command('codegen'), await imports()]).toEqual(['0', 2]);
    expect([await command('check'), await imports()]).toEqual(['0', 2]);
    expect([await command('check', '--no-cache'), await imports()]).toEqual(['0', 3]);
  });
});

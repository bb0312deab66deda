import { rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { builtPackage, importBuilt, runCodegen } from '../built-package.js';
import { nightlyTest } from '../nightly.js';
import { createProject, type Project, run } from './project.fixture.js';

let project: Project;
afterEach(() => project.remove());

/** A tool whose schema derives from a type, and a workflow that calls it. */
const files = {
  'src/tool.ts': `
    import { Tool } from 'stepwright';
    import type { Linked } from 'linked';
    import type { Input } from './types.js';
    @Tool({ name: 'greet', description: 'Greets' })
    export class Greet { execute(input: Input): { text: Linked } { return { text: input.name }; } }
  `,
  'src/imported.ts': `
    import { Tool } from 'stepwright';
    import { z } from 'zod';
    export const word = process.env.RUN_TEST_WORD;
    @Tool({ name: 'take', description: 'Takes', input: z.object({}).refine(Boolean) })
    export class Take { execute(): { text: string } { return { text: '' }; } }
  `,
  'src/types.ts': 'export interface Input { name: string }',
  'src/workflow.ts': `
    import { Arg, call, Step, Workflow } from 'stepwright';
    import { Greet } from './tool.js';
    @Workflow({ name: 'hello', description: 'Greets' })
    export class Hello {
      @Arg({ description: 'Who' }) name!: Arg<string>;
      @Step() hello = call(Greet, { name: this.name });
    }
  `,
  'linked/package.json':
    '{ "name": "linked", "type": "module", "exports": { ".": { "types": "./index.d.ts" } } }',
  'linked/index.d.ts': 'export type Linked = string;',
};

async function begin(): Promise<void> {
  project = await createProject(files);
  await symlink(path.join(project.root, 'linked'), path.join(project.root, 'node_modules/linked'), 'dir');
}

async function recalled() {
  const { recallRun } = await importBuilt<typeof import('../../src/codegen/incremental/run-record.js')>(
    'codegen/incremental/run-record.js',
  );
  return recallRun({ root: project.root });
}

// Each run starts Node with a compiler in it.
describe('a run that changes nothing', { timeout: 240_000 }, () => {
  nightlyTest('is recalled, as long as nothing is different that it has looked at', async () => {
    await begin();
    // All packages of types are included without an import.
    const { compilerOptions, ...rest } = JSON.parse(await project.read('tsconfig.json'));
    const options = { ...compilerOptions, types: ['*'] };
    await project.write({ 'tsconfig.json': JSON.stringify({ ...rest, compilerOptions: options }) });
    expect(await recalled()).toBeUndefined();
    const result = await runCodegen({ root: project.root });
    expect(result.diagnostics).toEqual([]);
    const run = { diagnostics: [], files: ['generated/registry.ts'] };
    expect(await recalled()).toMatchObject(run);

    const registry = await project.read('generated/registry.ts');
    const config = await project.read('tsconfig.json');
    const changes: readonly (readonly [file: string, text: string, before?: string])[] = [
      ...Object.entries(files).map(([file, text]) => [file, `${text} `, text] as const),
      ['generated/registry.ts', `${registry}\n`, registry],
      ['tsconfig.json', `${config} `, config],
      // What was looked for, and what may be a source now.
      ['stepwright.config.json', '{}'],
      ['src/new.ts', ''],
      ['src/types.tsx', ''],
      ['linked/index.ts', ''],
      ['node_modules/@types/linked/index.d.ts', ''],
      ['package-lock.json', '{}'],
      [
        'package.json',
        '{ "type": "module", "stepwright": {} }',
        JSON.stringify({ name: 'author', type: 'module' }),
      ],
    ];
    for (const [file, text, before] of changes) {
      await project.write({ [file]: text });
      expect({ file, run: await recalled() }).toEqual({ file, run: undefined });
      const added = file.replace(/@types\/.*/, '@types');
      if (before === undefined) await rm(path.join(project.root, added), { recursive: true });
      else await project.write({ [file]: before });
      expect({ file, run: await recalled() }).toMatchObject({ file, run });
    }
    process.env.RUN_TEST_WORD = 'Greets';
    try {
      expect(await recalled()).toBeUndefined();
    } finally {
      delete process.env.RUN_TEST_WORD;
    }
    await project.write({ 'notes.md': 'not a source', 'dist/tool.js': '' });
    expect(await recalled()).toMatchObject(run);
  });

  test('is recalled behind links, as long as they lead to the same', async () => {
    await begin();
    const at = (file: string): string => path.join(project.root, file);
    // The packages of another project, as pnpm, Bazel and Nix have them.
    await rename(at('node_modules'), at('shared'));
    await symlink('shared', at('node_modules'));
    await project.write({
      'inner.ts': "export const word = 'one';\n",
      'other.ts': "export const word = 'two';\n",
    });
    const imported = files['src/imported.ts'].replace('process.env.RUN_TEST_WORD', 'inner');
    await project.write({
      'src/imported.ts': `import { word as inner } from './inner.js';${imported}`,
      'real/workflow.ts': files['src/workflow.ts']
        .replaceAll("'./tool.js'", "'../tool.js'")
        .replace("'hello'", "'behind'"),
    });
    await symlink('../real', at('src/linked'));
    await symlink('../inner.ts', at('src/inner.ts'));
    const result = await runCodegen({ root: project.root });
    expect(result.diagnostics).toEqual([]);
    expect(result.workflows.map(({ graph }) => graph.name).sort()).toEqual(['behind', 'hello']);
    const run = { diagnostics: [], files: ['generated/registry.ts'] };
    expect(await recalled()).toMatchObject(run);
    const differs = async (change: () => Promise<void>, back: () => Promise<void>): Promise<void> => {
      await change();
      expect(await recalled()).toBeUndefined();
      await back();
      expect(await recalled()).toMatchObject(run);
    };
    const point = async (target: string): Promise<void> => {
      await rm(at('src/inner.ts'));
      await symlink(target, at('src/inner.ts'));
    };
    await differs(
      () => point('../other.ts'),
      () => point('../inner.ts'),
    );
    await differs(
      () => project.write({ 'real/new.ts': '' }),
      () => rm(at('real/new.ts')),
    );
    await differs(
      () => project.write({ 'inner.ts': '' }),
      () => project.write({ 'inner.ts': "export const word = 'one';\n" }),
    );
  });

  nightlyTest('is not recalled after a fault, nor without a cache', async () => {
    await begin();
    await runCodegen({ root: project.root, cache: false });
    expect(await recalled()).toBeUndefined();
    await project.write({ 'src/workflow.ts': files['src/workflow.ts'].replace('this.name', 'this.nme') });
    expect((await runCodegen({ root: project.root })).diagnostics).not.toEqual([]);
    expect(await recalled()).toBeUndefined();
  });

  test('of a session is recalled by other processes, as long as the registry is what it came to', async () => {
    await begin();
    const { CodegenSession } =
      await importBuilt<typeof import('../../src/codegen/index.js')>('codegen/index.js');
    const options = { root: project.root, session: new CodegenSession() };
    const text = files['src/workflow.ts'];
    const edited = text.replace("description: 'Greets'", "description: 'Greets all'");
    await runCodegen(options);
    await project.write({ 'src/workflow.ts': edited });
    expect(await recalled()).toBeUndefined();
    expect((await runCodegen(options)).written).toEqual(['generated/registry.ts']);
    expect(await recalled()).toMatchObject({ files: ['generated/registry.ts'] });
    const registry = await project.read('generated/registry.ts');
    await project.write({ 'generated/registry.ts': registry.replace('Greets', 'Greet') });
    expect(await recalled()).toBeUndefined();
  });

  nightlyTest('loads no compiler, and prints the same', async () => {
    await begin();
    const without = (compilers: string): string => `
      const Module = require('node:module');
      const load = Module._load;
      Module._load = (name, ...rest) => {
        if (/^(${compilers})$/.test(name)) throw new Error('a compiler is loaded');
        return load(name, ...rest);
      };`;
    const typescript = '@ts-morph\\/.*|ts-morph|typescript';
    await project.write({
      'no-compiler.cjs': without(`${typescript}|esbuild`),
      'no-typescript.cjs': without(typescript),
    });
    const command = [path.join(builtPackage(), 'dist/cli/main.js'), 'codegen'];
    const withoutCompiler = ['--require', './no-compiler.cjs', ...command];
    expect((await run(withoutCompiler, project.root)).code).toBe(3);
    await run(command, project.root);
    const second = await run([...command, '--no-cache'], project.root);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(await run(withoutCompiler, project.root)).toEqual(second);
    expect((await run([...withoutCompiler, '--check'], project.root)).code).toBe(0);
    const list = ['--require', './no-typescript.cjs', path.join(builtPackage(), 'dist/cli/main.js'), 'list'];
    expect(await run(list, project.root)).toMatchObject({ code: 0, stderr: '' });
    await project.write({ 'src/types.ts': 'export interface Input { name: number }' });
    expect((await run([...command, '--check'], project.root)).code).toBe(1);
    expect((await run(list, project.root)).code).toBe(3);
  });
});

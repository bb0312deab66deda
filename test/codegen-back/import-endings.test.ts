import { afterEach, describe, expect, test } from 'vitest';
import { formatDiagnostics } from '../../src/graph/diagnostics/format.js';
import { runCodegen } from '../built-package.js';
import { nightlyTest, smoke } from '../nightly.js';
import { createProject, type Project, tsc } from './project.fixture.js';

const tool = `import { Tool } from 'stepwright';
@Tool({ name: 'find-page', description: 'Finds a page' })
export class FindPage {
  execute({ name }: { name: string }): { path: string } {
    return { path: name };
  }
}
`;

const workflow = (specifier: string): string => `import { Arg, call, done, Step, Workflow } from 'stepwright';
import { FindPage } from '${specifier}';
@Workflow({ name: 'find', description: 'Finds' })
export class Find {
  @Arg({ description: 'Page' }) page!: Arg<string>;
  @Step() found = call(FindPage, { name: this.page });
  output = done({ path: this.found.path });
}
`;

const ES = { module: 'ESNext', moduleResolution: 'bundler' };
/** It knows no `exports` of a package. */
const NODE10 = {
  ...{ module: 'CommonJS', moduleResolution: 'node10' },
  paths: {
    stepwright: ['./node_modules/stepwright/dist/index.d.ts'],
    'stepwright/runtime': ['./node_modules/stepwright/dist/runtime/index.d.ts'],
  },
};
const EVERY = ['typescript-5', 'typescript', 'typescript-7'];

let project: Project;
afterEach(() => project.remove());

async function written(compilerOptions: object, files: Readonly<Record<string, string>>): Promise<string[]> {
  const all = {
    ...{ target: 'ES2022', lib: ['ES2023'], types: [], noEmit: true, strict: true, rootDir: '.' },
    ...{ experimentalDecorators: true, skipLibCheck: true, ...compilerOptions },
  };
  const tsconfig = JSON.stringify({ compilerOptions: all, include: ['src', 'generated'] });
  project = await createProject({ 'tsconfig.json': tsconfig, 'src/tool.ts': tool, ...files });
  const { diagnostics, readSource } = await runCodegen({ root: project.root });
  expect(formatDiagnostics(diagnostics, readSource)).toBe('');
  const registry = await project.read('generated/registry.ts');
  return [...registry.matchAll(/ from '(\..*)';$/gm)].map(([, specifier = '']) => specifier);
}

// Each test starts Node processes with a compiler in them.
describe('a registry imports the files of the project', { timeout: 240_000 }, () => {
  test.each(
    smoke([
      ['NodeNext', { module: 'NodeNext' }, './tool.js', '.js', EVERY],
      ['Node16', { module: 'Node16' }, './tool.js', '.js', EVERY],
      [
        'NodeNext with .ts',
        { module: 'NodeNext', allowImportingTsExtensions: true },
        './tool.ts',
        '.ts',
        EVERY,
      ],
      [
        'NodeNext that rewrites',
        { module: 'NodeNext', noEmit: false, outDir: 'dist', rewriteRelativeImportExtensions: true },
        ...(['./tool.ts', '.ts', EVERY] as const),
      ],
      ['a bundler', ES, './tool', '', EVERY],
      ['a bundler with .js', ES, './tool.js', '.js', EVERY],
      ['a bundler with .ts', { ...ES, allowImportingTsExtensions: true }, './tool.ts', '.ts', EVERY],
      ['a bundler that could', { ...ES, allowImportingTsExtensions: true }, './tool', '', EVERY],
      ['node10', NODE10, './tool', '', ['typescript-5']],
      ['node10 in 6.0', { ...NODE10, ignoreDeprecations: '6.0' }, './tool', '', ['typescript']],
    ] as const),
  )('as those of %s do', async (_, options, specifier, ending, compilers) => {
    const specifiers = await written(options, { 'src/find.ts': workflow(specifier) });
    expect(specifiers).toEqual([`../src/find${ending}`, `../src/tool${ending}`]);
    for (const compiler of compilers)
      expect({ compiler, ...(await tsc(project, compiler)) }).toMatchObject({
        compiler,
        code: 0,
        stdout: '',
      });
  });

  nightlyTest(
    'with the ending that most of them have, and writes another once most have another',
    async () => {
      const other = "export type { FindPage } from './tool.js';\n";
      const files = { 'src/find.ts': workflow('./tool'), 'src/a.ts': other, 'src/b.ts': other };
      expect(await written(ES, files)).toEqual(['../src/find.js', '../src/tool.js']);
      await project.write({ 'src/a.ts': other.replace('.js', '') });
      await runCodegen({ root: project.root });
      expect(await project.read('generated/registry.ts')).toContain("from '../src/tool';");
    },
  );
});

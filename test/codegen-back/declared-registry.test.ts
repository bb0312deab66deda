import { afterEach, expect, test } from 'vitest';
import { nightlyTest, smoke } from '../nightly.js';
import { command, createProject, type Project, stepwright, tsc } from './project.fixture.js';
import { SPEC_FILES } from './spec-project.fixture.js';

/** Entries of every kind, beside tools and workflows of the usual one. */
const KINDS = {
  'src/kinds.ts': `import { Arg, type ArgsOf, call, done, Prompt, type PromptMessages, Resource, Step, Tool, user, Workflow } from 'stepwright';
interface Page {
  readonly title: string;
}
@Tool({ name: 'read-page', description: 'Reads a page', hints: { category: 'read' } })
export default class ReadPage {
  execute({ name }: { name: string }): { pages: Page[] } {
    return { pages: [{ title: name }] };
  }
}
@Resource({ name: 'guide', description: 'How to write' })
export class Guide {
  static readonly uri = 'doc://guide';
  read(): string {
    return 'Write.';
  }
}
// Its type names one that the module keeps to itself.
export function titlesOf(pages: readonly Page[]): string[] {
  return pages.map(({ title }) => title);
}
@Workflow({ name: 'look-up', description: 'Looks a page up' })
export class LookUp {
  @Arg({ description: 'Name' }) page!: Arg<string>;
  @Step() read = call(ReadPage, { name: this.page });
  @Step() titles = titlesOf(this.read.pages);
  output = done({ titles: this.titles });
}
@Workflow({ name: 'exposed', description: 'Is a tool as well', expose: ['prompt', 'tool'] })
export class Exposed {
  @Arg({ description: 'Name', name: 'page-name' }) page!: Arg<string>;
  @Step() read = call(ReadPage, { name: this.page });
  output = done({ first: this.read.pages[0]?.title ?? '' });
}
@Prompt({ name: 'ask', description: 'Asks' })
export class Ask {
  @Arg({ description: 'What' }) what!: Arg<string>;
  render({ what }: ArgsOf<Ask>): PromptMessages {
    return [user(what)];
  }
}
`,
};

const { 'stepwright.config.json': _config, ...specFree } = SPEC_FILES;
const REGISTRIES = {
  classes: { ...specFree, ...KINDS },
  'classes and spec files': { ...SPEC_FILES, ...KINDS },
};

const OPTIONS = {
  ...{ target: 'ES2022', lib: ['ES2023'], types: [], strict: true, skipLibCheck: true },
  ...{ experimentalDecorators: true, rootDir: '.', outDir: 'dist', emitDeclarationOnly: true },
};
const RESOLUTIONS = {
  nodenext: { ...OPTIONS, module: 'NodeNext', composite: true },
  bundler: { ...OPTIONS, module: 'ESNext', moduleResolution: 'bundler', declaration: true },
};
const COMPILERS = ['typescript-7', 'typescript', 'typescript-5'];

let project: Project;
afterEach(() => project.remove());

// In the nightly run each test runs three compilers.
test.each(
  smoke(
    Object.entries(REGISTRIES).flatMap(([kinds, files]) =>
      Object.entries(RESOLUTIONS).map(([name, options]) => ({ kinds, files, name, options })),
    ),
  ),
)('a registry of $kinds has declarations under $name', { timeout: 240_000 }, async ({ files, options }) => {
  const config = JSON.stringify({ compilerOptions: options, include: ['src', 'generated'] });
  project = await createProject({ ...files, 'tsconfig.json': config });
  expect(await command(['codegen'], project.root)).toMatchObject({ code: 0, stderr: '' });
  for (const compiler of smoke(COMPILERS)) {
    expect([compiler, await tsc(project, compiler)]).toMatchObject([compiler, { code: 0, stdout: '' }]);
    const declared = await project.read('dist/generated/registry.d.ts');
    const named = [...declared.matchAll(/\bimport\(["']([^"']+)["']\)/g)].map((match) => match[1] ?? '');
    expect(named.filter((name) => !/^stepwright(?:\/runtime)?$/.test(name))).toEqual([]);
    expect(declared).toMatch(/graph: .*\bGraph\b/);
  }
});

/** A module that asks the registry for its types, as servers do. */
const MAIN = `import { createServer, type RequestContext } from 'stepwright/runtime';
import { registry } from '../generated/registry.js';
declare const request: RequestContext;
const server = createServer(registry);
export const named: Promise<unknown> = server.callTool('read-page', { name: 'a' }, request);
// @ts-expect-error the tool has no such argument
export const wrong: Promise<unknown> = server.callTool('read-page', { nam: 'a' }, request);
`;

nightlyTest.each(COMPILERS.slice(0, 2))(
  'a registry says all its types under isolatedDeclarations of %s',
  {
    timeout: 240_000,
  },
  async (compiler) => {
    const options = { ...RESOLUTIONS.nodenext, isolatedDeclarations: true };
    project = await createProject({
      ...{ ...SPEC_FILES, ...KINDS, 'src/main.ts': MAIN },
      'tsconfig.json': JSON.stringify({ compilerOptions: options, include: ['src', 'generated'] }),
    });
    expect(await command(['codegen'], project.root)).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await tsc(project, compiler);
    const faults = stdout.split('\n').filter((line) => /^(?:generated|src\/main)/.test(line));
    expect(faults).toEqual([]);
    // Those of steps without a type are the author's.
    expect(stdout).toContain('TS9012');
    expect(await stepwright(['run', 'look-up', '--arg', 'page=a', '--json'], project.root)).toMatchObject({
      code: 0,
    });
  },
);

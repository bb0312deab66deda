import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { recallRun } from '../../src/codegen/incremental/run-record.js';
import { runCodegen } from '../../src/codegen/index.js';
import { manifestChecksum } from '../../src/codegen/manifest.js';
import { createProvider } from './package-tools.fixture.js';
import { createProject, type Project } from './project.fixture.js';

const projects: Project[] = [];
afterEach(async () => {
  for (const project of projects.splice(0)) await project.remove();
});

const INSTALLED = 'node_modules/@acme/tools';
const MANIFEST = `${INSTALLED}/stepwright.manifest.json`;

const closed = { type: 'object', additionalProperties: false };

const search = {
  exports: [{ module: '@acme/tools', name: 'Search' }],
  description: 'Searches',
  inputSchema: { ...closed, properties: { query: { type: 'string' } }, required: ['query'] },
  outputSchema: { ...closed, properties: { hit: { type: 'string' } }, required: ['hit'] },
  fingerprint: 'f',
};

/** A manifest of one tool, as codegen would write it. */
function manifestOf(changes: object = {}): string {
  const content = {
    ...{ manifestVersion: 1, registryVersion: 1, package: { name: '@acme/tools', version: '1.2.0' } },
    ...{ tools: { search }, resources: {} },
    ...changes,
  };
  return JSON.stringify({ ...content, checksum: manifestChecksum(content) });
}

const find = (body: string, head = "import { Search } from '@acme/tools';"): string => `
import { Arg, call, done, read, Step, Tool, Workflow } from 'stepwright';
${head}
@Workflow({ name: 'find', description: 'Finds' })
export class Find {
  @Arg({ description: 'What' }) what!: Arg<string>;
  ${body}
}
`;

const CALL = '@Step() found = call(Search, { query: this.what });\n  output = done({ hit: this.found.hit });';

const PACKAGE: Readonly<Record<string, string>> = {
  [`${INSTALLED}/package.json`]:
    '{ "name": "@acme/tools", "version": "1.2.0", "type": "module", "exports": "./index.js" }',
  [`${INSTALLED}/index.js`]: 'export class Search {}\nexport class Helper {}\n',
  [`${INSTALLED}/index.d.ts`]: `export declare class Search { execute(input: { query: string }): { hit: string }; }
export declare class Helper {}
`,
  [MANIFEST]: manifestOf(),
};

/** A consumer of an installed package. */
async function consumer(files: Readonly<Record<string, string>> = {}): Promise<Project> {
  const project = await createProject({ ...PACKAGE, 'src/find.ts': find(CALL), ...files });
  projects.push(project);
  return project;
}

async function faultsOf({ root }: Project): Promise<readonly string[]> {
  const { diagnostics } = await runCodegen({ root });
  return diagnostics.map(({ code, message, place }) => `${place?.file}:${place?.span[0]} ${code} ${message}`);
}

const damaged = (problem: string): string =>
  `src/find.ts:7 SW6031 the manifest \`${MANIFEST}\` of package \`@acme/tools\` is damaged: ${problem}`;

// Each test reads a project with a compiler.
describe('a manifest that cannot be used', { timeout: 120_000 }, () => {
  test('is reported where it is missing, once for a package', async () => {
    const project = await consumer({
      'src/other.ts': find(CALL).replace("'find'", "'other'").replace('class Find', 'class Other'),
    });
    await rm(path.join(project.root, MANIFEST));
    expect(await faultsOf(project)).toEqual([
      'src/find.ts:7 SW6030 codegen cannot read `Search` of `@acme/tools`: package `@acme/tools` has no manifest',
    ]);
  });

  test.each<[string, string, string]>([
    ['is not JSON', '{', damaged('it is not valid JSON')],
    ['is another value', '[]', damaged('it has no number `manifestVersion`')],
    [
      'was edited',
      manifestOf().replace('Searches', 'Finds'),
      damaged('its checksum does not match its content: it was edited by hand, or written only in part'),
    ],
    [
      'has a part of another shape',
      manifestOf({ tools: { search: { ...search, inputSchema: 1 } } }),
      damaged('what is at `/tools/search/inputSchema` does not belong there'),
    ],
    [
      'has a tool whose name is not valid',
      manifestOf({ tools: { 'a b': search } }),
      damaged('what is at `/tools/a b` does not belong there'),
    ],
    [
      'has another format',
      JSON.stringify({ manifestVersion: 2 }),
      `src/find.ts:7 SW6032 the manifest \`${MANIFEST}\` of package \`@acme/tools\` has format 2, this version of stepwright reads format 1`,
    ],
    [
      'is for other registries',
      manifestOf({ registryVersion: 0 }),
      `src/find.ts:7 SW6032 the manifest \`${MANIFEST}\` of package \`@acme/tools\` has registry version 0, this version of stepwright reads registry version 1`,
    ],
    [
      'is of another version of the package',
      manifestOf({ package: { name: '@acme/tools', version: '1.1.0' } }),
      `src/find.ts:7 SW6033 the manifest \`${MANIFEST}\` is that of \`@acme/tools@1.1.0\`, and the package beside it is \`@acme/tools@1.2.0\``,
    ],
  ])('is reported where it %s', async (_, manifest, fault) => {
    expect(await faultsOf(await consumer({ [MANIFEST]: manifest }))).toEqual([fault]);
  });

  test('is reported where it does not list a class that is called', async () => {
    const body = '@Step() found = call(Helper as never, { query: this.what });';
    const head = "import { Helper } from '@acme/tools';";
    expect(await faultsOf(await consumer({ 'src/find.ts': find(body, head) }))).toEqual([
      'src/find.ts:7 SW6034 the manifest of package `@acme/tools` does not list `Helper` of `@acme/tools` as a tool or a resource',
    ]);
  });

  test('is reported where it lists a class that the package does not export', async () => {
    const gone = await consumer({
      [`${INSTALLED}/index.d.ts`]: 'export declare class Helper {}\n',
    });
    expect(await faultsOf(gone)).toEqual([
      'src/find.ts:7 SW6034 the manifest of package `@acme/tools` lists `Search` of `@acme/tools`, which does not export it',
    ]);
  });
});

describe('a tool of a package', { timeout: 120_000 }, () => {
  test('has calls that are checked against its schemas', async () => {
    const body = CALL.replace('query:', 'text:').replace('found.hit ', 'found.hits ');
    expect(await faultsOf(await consumer({ 'src/find.ts': find(body) }))).toEqual([
      expect.stringContaining('`query`'),
      expect.stringContaining('`text`'),
      expect.stringContaining('hits'),
    ]);
  });

  test('shares no name with a tool of the project', async () => {
    const own = `import { Tool } from 'stepwright';
@Tool({ name: 'search', description: 'Searches' })
export class Own { execute(): { hit: string } { return { hit: '' }; } }
`;
    expect(await faultsOf(await consumer({ 'src/own.ts': own }))).toEqual([
      'src/find.ts:7 SW1004 two tools are named `search`',
    ]);
  });

  test.each([
    [
      'a re-export',
      "import { Seek as Search } from './tools.js';",
      "export { Search as Seek } from '@acme/tools';",
    ],
    ['a module that passes all on', "import { Search } from './tools.js';", "export * from '@acme/tools';"],
  ])('is found through %s', async (_, head, tools) => {
    const project = await consumer({ 'src/find.ts': find(CALL, head), 'src/tools.ts': tools });
    expect(await faultsOf(project)).toEqual([]);
    expect(await project.read('generated/registry.ts')).toContain("import { Search } from '@acme/tools';");
  });

  test('of a package that is installed under another name is imported by that name', async () => {
    const files = Object.entries(PACKAGE).map(([file, text]) => [file.replace('@acme/tools', 'seek'), text]);
    const project = await createProject({
      ...Object.fromEntries(files),
      'src/find.ts': find(CALL, "import { Search } from 'seek';"),
    });
    projects.push(project);
    expect(await faultsOf(project)).toEqual([]);
    expect(await project.read('generated/registry.ts')).toContain("import { Search } from 'seek';");
  });

  test('is read again when the manifest changes, and only then', async () => {
    const project = await consumer();
    const { root } = project;
    expect(await runCodegen({ root })).toMatchObject({ written: ['generated/registry.ts'] });
    expect(recallRun({ root })).toMatchObject({ files: ['generated/registry.ts'] });
    await project.write({ [MANIFEST]: manifestOf({ tools: { seek: { ...search, description: 'Seeks' } } }) });
    expect(recallRun({ root })).toBeUndefined();
    expect(await runCodegen({ root, check: true })).toMatchObject({ diagnostics: [{ code: 'SW9001' }] });
    expect(await runCodegen({ root })).toMatchObject({ diagnostics: [], written: ['generated/registry.ts'] });
    const registry = await project.read('generated/registry.ts');
    expect(registry).toContain("export type ToolName = 'seek';");
    expect(registry).toContain('"tool": "seek"');
  });

  test('that no workflow names is not in the registry', async () => {
    const tools = { search, other: { ...search, exports: [{ module: '@acme/tools', name: 'Helper' }] } };
    const hints = { next: ['other', 'search'], requires: ['other'] };
    const manifest = manifestOf({ tools: { ...tools, search: { ...search, hints } } });
    const project = await consumer({ [MANIFEST]: manifest });
    expect(await faultsOf(project)).toEqual([]);
    const registry = await project.read('generated/registry.ts');
    expect(registry).toContain("export type ToolName = 'search';");
    expect(registry).toContain("hints: { next: ['search'], requires: [] }");
  });
});

describe('the manifest of a package', { timeout: 120_000 }, () => {
  const provider = async (more: Readonly<Record<string, string>> = {}): Promise<Project> => {
    const project = await createProvider(more);
    projects.push(project);
    return project;
  };

  test('is written once, compared, and noticed when it was changed', async () => {
    const project = await provider();
    const { root } = project;
    const files = ['src/registry.ts', 'stepwright.manifest.json'];
    expect(await runCodegen({ root })).toMatchObject({ diagnostics: [], written: files });
    const text = await project.read('stepwright.manifest.json');
    expect(recallRun({ root })).toMatchObject({ files });
    await project.write({ 'stepwright.manifest.json': text.replace('Searches', 'Finds') });
    expect(recallRun({ root })).toBeUndefined();
    expect(await runCodegen({ root, check: true })).toMatchObject({
      diagnostics: [{ code: 'SW9001', params: { file: 'stepwright.manifest.json' } }],
    });
    await runCodegen({ root, cache: false });
    expect(await project.read('stepwright.manifest.json')).toBe(text);
  });

  test('lists no class that the package does not export', async () => {
    const project = await provider({ 'src/index.ts': "export { Guide } from './guide.js';\n" });
    const { diagnostics } = await runCodegen({ root: project.root });
    expect(diagnostics).toMatchObject([
      {
        code: 'SW6035',
        place: { file: 'src/search.ts' },
        message:
          '`Search` cannot be listed in the manifest of package `@acme/tools`: no entry point of the package exports it',
        hint: 'export it from one of them: `@acme/tools` (`src/index.ts`), `@acme/tools/pages` (`src/pages/page.ts`)',
      },
    ]);
  });

  test('lists no resource whose file is not embedded', async () => {
    const project = await provider({ 'src/guide.md': 'x'.repeat(65 * 1024) });
    expect(await faultsOf(project)).toEqual([
      'src/guide.ts:2 SW6035 `Guide` cannot be listed in the manifest of package `@acme/tools`: the file `guide.md` is too large to be embedded, or is not text',
    ]);
  });

  test.each([
    ['has no version', { name: '@acme/tools' }, 'has no `version`'],
    ['has no name', { version: '1.2.0' }, 'has no `name`'],
    ['leaves it out', { name: 'a', version: '1.0.0', files: ['dist'] }, 'would not publish the manifest'],
  ])('is refused where package.json %s', async (_, packageFile, problem) => {
    const project = await provider({ 'package.json': JSON.stringify({ type: 'module', ...packageFile }) });
    expect(await faultsOf(project)).toEqual([
      expect.stringMatching(new RegExp(`^stepwright\\.config\\.json:1 SW9002 .*${problem}`)),
    ]);
  });

  test('does not replace a file that codegen did not write', async () => {
    const project = await provider({ 'stepwright.manifest.json': '{}' });
    expect(await faultsOf(project)).toEqual([expect.stringContaining('SW9004')]);
  });
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CodegenResult } from '../../src/codegen/codegen.js';
import { formatDiagnostics } from '../../src/graph/diagnostics/format.js';
import { runCodegen } from '../built-package.js';
import { nightlyTest } from '../nightly.js';
import { createProject, type Project, runModule, stepwright, tsc } from './project.fixture.js';

const tools = `import { Tool } from 'stepwright';
import { z } from 'zod';

@Tool({
  name: 'find-page',
  description: 'Finds a page',
  input: z.object({ text: z.string().refine(Boolean) }),
  output: z.object({ path: z.string() }),
})
export class FindPage {
  async execute({ text }: { text: string }): Promise<{ path: string }> {
    return { path: text };
  }
}

@Tool({ name: 'add-line', description: 'Adds a line', input: z.object({ path: z.string(), line: z.string() }) })
export default class AddLine {
  async execute({ line }: { path: string; line: string }): Promise<{ id: string }> {
    return { id: line };
  }
}
`;

const workflow = `import { Arg, call, done, Resource, Step, Workflow } from 'stepwright';
import AddLine, { FindPage } from './tools.js';

@Resource({ name: 'intro', description: 'How it works', file: './intro.md' })
export class Intro {
  static readonly uri = 'resource://author/intro';
}

@Workflow({ name: 'add-task', description: 'Adds a task', instructions: [Intro] })
export class AddTask {
  @Arg({ description: 'What needs doing' }) task!: Arg<string>;
  @Arg({ description: 'Where' }) page?: Arg<string>;

  @Step({ guidance: 'Pick the page for {task}' }) found = call(FindPage, { text: this.page ?? this.task });
  @Step() added = call(AddLine, { path: this.found.path, line: \`TODO \${this.task}\` });
  output = done({ id: this.added.id });
}
`;

const files = { 'src/tools.ts': tools, 'src/add-task.ts': workflow, 'src/intro.md': '# Intro\n' };

/** Sources that declare nothing: no module has to be imported. */
const nothing = { 'src/tools.ts': 'export {};', 'src/add-task.ts': 'export {};' };

let project: Project;
beforeEach(async () => {
  project = await createProject(files);
});
afterEach(() => project.remove());

interface Outcome extends CodegenResult {
  /** The diagnostics as the command prints them. */
  readonly text: string;
}

async function codegen(options: { check?: boolean; configFile?: string } = {}): Promise<Outcome> {
  const result = await runCodegen({ root: project.root, ...options });
  return { ...result, text: formatDiagnostics(result.diagnostics, result.readSource) };
}

const registryFile = 'generated/registry.ts';

// Each test starts Node processes with a compiler in them.
describe('codegen', { timeout: 240_000 }, () => {
  test('as a command writes a registry that compiles, loads and agrees with its classes', async () => {
    await project.write({ 'src/tools.ts': `console.log('printed by a module');\n${tools}` });
    const ran = await stepwright(['codegen', '--root', '.'], project.root);
    expect(ran).toEqual({ code: 0, stdout: `wrote ${registryFile}\n`, stderr: 'printed by a module\n' });
    expect(await project.read(registryFile)).not.toContain(project.root);

    await project.write({
      'src/use.ts': `import { createServer } from 'stepwright/runtime';
import { registry, type ResourceName, type ToolName, type WorkflowArgs, type WorkflowName, type WorkflowResult } from '../generated/registry.js';

export const names: readonly [ToolName, ToolName, ResourceName, WorkflowName] = ['add-line', 'find-page', 'intro', 'add-task'];
// @ts-expect-error no tool has this name
export const noTool: ToolName = 'add-task';
export const args: WorkflowArgs<'add-task'> = { task: 'a' };
// @ts-expect-error the argument is required
export const noArgs: WorkflowArgs<'add-task'> = {};
export const result: WorkflowResult<'add-task'> = { id: 'a' };
// @ts-expect-error the id is text
export const noResult: WorkflowResult<'add-task'> = { id: 1 };

const entries = [registry.tools, registry.resources, registry.workflows].flatMap((table) => Object.values(table));
// It compares the checksum, and the fingerprint of each entry with its class.
createServer(registry);
console.log(JSON.stringify({
  entries: entries.length,
  text: registry.resources.intro.text,
  nodes: registry.workflows['add-task'].graph.nodes.map((node) => node.id),
}));
`,
    });
    expect(await tsc(project)).toEqual({ code: 0, stdout: '', stderr: '' });
    const used = await runModule(project, 'src/use.ts');
    expect(used.stderr).toBe('');
    expect(JSON.parse(used.stdout.replace('printed by a module\n', ''))).toEqual({
      entries: 4,
      text: '# Intro\n',
      nodes: ['found', 'added', 'output'],
    });
  });

  nightlyTest('as a command prints diagnostics with their frames, and exits with 1', async () => {
    await project.write({ 'src/add-task.ts': workflow.replace('this.found.path', 'this.found.pathh') });
    const { code, stdout, stderr } = await stepwright(['codegen', '--check', '--root', project.root], '/');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^src\/add-task\.ts:15:\d+ - error SW4005: /);
    expect(stderr).toContain('15 |   @Step() added = call(AddLine, { path: this.found.pathh,');
    expect(stderr).toContain('   |                                         ^^^^^^^^^^^^^^^^\n');
    expect(stderr).toContain('hint: did you mean `path`?');
  });

  nightlyTest('finds its output current, byte for byte', async () => {
    expect(await codegen()).toMatchObject({ written: [registryFile], current: [], text: '' });
    const registry = await project.read(registryFile);
    expect(await codegen({ check: true })).toMatchObject({ written: [], current: [registryFile], text: '' });
    expect(await codegen()).toMatchObject({ written: [], current: [registryFile] });
    expect(await project.read(registryFile)).toBe(registry);
    // Lines above a workflow do not change its output.
    await project.write({ 'src/add-task.ts': `// A comment.\n\n${workflow}` });
    expect(await codegen({ check: true })).toMatchObject({ current: [registryFile], text: '' });
  });

  nightlyTest('writes an empty registry that compiles, and reports it missing before', async () => {
    await project.write(nothing);
    expect((await codegen({ check: true })).text).toContain(
      'error SW9001: `generated/registry.ts` is missing',
    );
    await expect(project.read(registryFile)).rejects.toThrow('ENOENT');
    expect(await codegen()).toMatchObject({
      written: [registryFile],
      diagnostics: [{ code: 'SW9006', severity: 'warning' }],
    });
    expect(await tsc(project)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await runModule(project, registryFile)).code).toBe(0);
  });

  test('--check names a registry that is stale or edited by hand, and writes nothing', async () => {
    await codegen();
    const written = await project.read(registryFile);
    await project.write({ 'src/intro.md': '# Changed\n' });
    const stale = await codegen({ check: true });
    expect(stale.text).toContain('error SW9001: `generated/registry.ts` is stale');
    expect(stale.text).toContain('stepwright codegen');
    expect(await project.read(registryFile)).toBe(written);

    const edited = written.replace('Adds a line', 'Adds two lines');
    await project.write({ 'src/intro.md': files['src/intro.md'], [registryFile]: edited });
    expect((await codegen({ check: true })).text).toContain('SW9001');
    expect(await codegen()).toMatchObject({ written: [registryFile], text: '' });
    expect(await project.read(registryFile)).toBe(written);
  });

  test('overwrites no file of another origin', async () => {
    await project.write({ ...nothing, [registryFile]: 'export const mine = 1;\n' });
    expect((await codegen()).text).toContain('error SW9004: `generated/registry.ts`');
    expect(await project.read(registryFile)).toBe('export const mine = 1;\n');
  });

  test('reports the use of a renamed tool class, and keeps the registry', async () => {
    await codegen();
    const written = await project.read(registryFile);
    await project.write({ 'src/tools.ts': tools.replace('class FindPage', 'class LocatePage') });
    const { text } = await codegen();
    expect(text).toMatch(/src\/add-task\.ts:14:\d+ - error SW3007: `\.\/tools\.js` exports no `FindPage`/);
    expect(text).toContain('call(FindPage, {');
    expect(await project.read(registryFile)).toBe(written);
  });

  nightlyTest('names both locations of two tools with one name', async () => {
    await project.write({ 'src/tools.ts': tools.replace("name: 'add-line'", "name: 'find-page'") });
    const { text } = await codegen();
    expect(text).toMatch(/src\/tools\.ts:\d+:\d+ - error SW1004: two tools are named `find-page`/);
    expect(text).toMatch(/ = .*: src\/tools\.ts:\d+:\d+/);
  });

  test('reports only the syntax error of a file that has one, and checks the other files', async () => {
    await project.write({
      'src/tools.ts': `${tools}\nexport const half = ;\n`,
      'src/other.ts': `import { call, Step, Workflow } from 'stepwright';
import { FindPage } from './tools.js';
@Workflow({ name: 'other', description: 'Another one' })
export class Other {
  @Step() found = call(FindPage, { text: this.nothing });
}
`,
    });
    const { text, diagnostics } = await codegen();
    expect(diagnostics.map(({ code, place }) => [place?.file, code])).toEqual([
      ['src/other.ts', 'SW3001'],
      ['src/tools.ts', 'SW1001'],
    ]);
    expect(text).toMatch(/src\/tools\.ts:23:\d+ - error SW1001: /);
  });

  nightlyTest('reports a module that cannot be imported once, without its consequences', async () => {
    await project.write({ 'src/tools.ts': `throw new Error('not today');\n${tools}` });
    const { text, diagnostics } = await codegen();
    expect(text).toMatch(/src\/tools\.ts:11:14 - error SW6001: `src\/tools\.ts` .*: Error: not today/);
    expect(diagnostics).toHaveLength(1);
  });

  test('checks the input of calls against the schemas of the tools', async () => {
    await project.write({ 'src/add-task.ts': workflow.replace('path: this.found', 'paht: this.found') });
    const { diagnostics } = await codegen();
    expect(diagnostics.map(({ code }) => code).sort()).toEqual(['SW4003', 'SW4004']);
  });

  nightlyTest('gives a value that a model supplies the schema of the input', async () => {
    const added = "path: this.found.path, line: ask.model('Write a line')";
    const asking = workflow
      .replace(/path: this\.found\.path, line: .*? \}/, `${added} }`)
      .replace('{ Arg, call', '{ Arg, ask, call');
    await project.write({
      'src/add-task.ts': asking,
      'src/tools.ts': tools.replace('line: z.string() }) })', 'line: z.string().min(2).max(9) }) })'),
    });
    const { text, workflows } = await codegen();
    expect(text).toBe('');
    const asked = workflows[0]?.graph.nodes.find(({ kind }) => kind === 'ask');
    expect(asked).toMatchObject({
      id: 'added.line',
      expects: { type: 'string', minLength: 2, maxLength: 9 },
      feeds: { node: 'added', path: ['line'] },
    });
  });

  nightlyTest('writes each registry of a configuration, or none', async () => {
    const registries = [
      { include: ['src/*.ts'], out: registryFile },
      { include: ['more/*.ts'], out: 'more/generated.ts' },
    ];
    await project.write({
      'settings.json': JSON.stringify({ registries }),
      'more/bad.ts': `import { Workflow } from 'stepwright';\n@Workflow({ name: 'more', description: 'M' })\nexport class More {}\n`,
    });
    expect((await codegen({ configFile: 'settings.json' })).text).toContain('SW1009');
    await expect(project.read(registryFile)).rejects.toThrow('ENOENT');

    await project.write({ 'more/bad.ts': 'export {};' });
    expect(await codegen({ configFile: 'settings.json' })).toMatchObject({
      written: [registryFile, 'more/generated.ts'],
      found: { tools: 2, resources: 1, workflows: 1 },
      diagnostics: [{ code: 'SW9006' }],
    });
  });
});

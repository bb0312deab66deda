import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Ajv } from 'ajv';
import { afterEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { formatDiagnostics } from '../../src/graph/diagnostics/format.js';
import { builtPackage, importBuilt, runCodegen } from '../built-package.js';
import { nightlyTest } from '../nightly.js';
import { command, type Project, run, tsc } from './project.fixture.js';
import { createSpecProject, SPEC_FILES } from './spec-project.fixture.js';

let projects: Project[] = [];
afterEach(async () => {
  for (const project of projects) await project.remove();
  projects = [];
});

async function begin(files: Readonly<Record<string, string>> = {}, prefix?: string): Promise<Project> {
  const project = await createSpecProject(files, prefix);
  projects.push(project);
  return project;
}

const OUT = 'generated/registry.ts';
const SCHEMA = 'generated/registry.specs.schema.json';
const book = SPEC_FILES['workflows/book.yaml'] ?? '';

const SERVER = `
  import { serve } from 'stepwright/runtime';
  import { registry } from '../generated/registry.js';
  await serve(registry);
`;

const loader = new URL('../../scripts/register.mjs', import.meta.url).href;

/** What a client of the server of a project sees. */
async function served(project: Project) {
  return withClient(project, async (client) => {
    const { prompts } = await client.listPrompts();
    const tool = await client.callTool({ name: 'w_book', arguments: { origin: 'NYC' } });
    const prompt = await client.getPrompt({ name: 'book', arguments: { origin: 'NYC', passenger: 'Bob' } });
    return {
      prompts: prompts.map(({ name }) => name),
      tool: tool.structuredContent,
      messages: JSON.stringify(prompt.messages),
    };
  });
}

/** The overview of the domain of a project. */
async function overviewOf(project: Project): Promise<string> {
  return withClient(project, async (client) => {
    const { contents } = await client.readResource({ uri: 'workflow://travel/overview' });
    return contents.map((each) => ('text' in each ? each.text : '')).join('');
  });
}

async function withClient<T>({ root }: Project, use: (client: Client) => Promise<T>): Promise<T> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--import', loader, path.join(root, 'src/serve.ts')],
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production' } as Record<string, string>,
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** Runs codegen, and returns its diagnostics as lines. */
async function said(project: Project): Promise<string[]> {
  const { diagnostics } = await runCodegen({ root: project.root });
  return diagnostics.map(({ code, place, message, hint }) => {
    const at = place === undefined ? '' : `${place.file}:${place.span[0]}:${place.span[1]} `;
    return `${at}${code} ${message}${hint === undefined ? '' : ` (${hint})`}`;
  });
}

// Each test starts Node processes with a compiler in them.
describe('spec files in a registry', { timeout: 240_000 }, () => {
  nightlyTest('bring what they and the configuration say about domains', async () => {
    const project = await begin({
      'stepwright.config.json': JSON.stringify({
        specs: ['workflows/**/*.{yaml,json,xml}'],
        domains: [{ name: 'travel', rules: ['Be kind.'], docs: 'Prices are in euros.' }],
      }),
      'workflows/book.yaml': book
        .replace('domain: travel', 'domain: travel\nrules: [Ask first.]')
        .replace('    params:', '    expose: [tool, resource]\n    params:'),
    });
    expect(await said(project)).toEqual([]);
    expect((await project.read(OUT)).replace(/\s+/g, ' ')).toContain(
      "domains: [{ name: 'travel', rules: ['Be kind.', 'Ask first.'], docs: 'Prices are in euros.' }]",
    );
    await project.write({ 'src/serve.ts': SERVER });
    expect(await overviewOf(project)).toMatch(
      /guide\n\nPrices are in euros\.\n[\s\S]*- Be kind\.\n- Ask first\.\n/,
    );
  });

  test('are written with types, and run without the files', async () => {
    const project = await begin();
    const ran = await command(['codegen'], project.root);
    expect(ran).toEqual({ code: 0, stdout: `wrote ${OUT}\nwrote ${SCHEMA}\n`, stderr: '' });
    expect((await command(['codegen', '--check', '--no-cache'], project.root)).code).toBe(0);
    await project.write({
      'src/types.ts': `
        import type { WorkflowArgs, WorkflowName, WorkflowResult } from '../generated/registry.js';
        type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
        const same = <A, B>(_: Same<A, B>): void => {};
        same<WorkflowName, 'book' | 'find' | 'read_and_book'>(true);
        same<WorkflowArgs<'book'>, { origin: string; passenger?: string; age?: number }>(true);
        same<WorkflowArgs<'find'>, { origin: string }>(true);
        same<WorkflowResult<'book'>, { booking: string; note: string }>(true);
        same<WorkflowResult<'find'>, { id: string }>(true);
        same<WorkflowResult<'read_and_book'>, string>(true);
        import { createServer, type RequestContext } from 'stepwright/runtime';
        import { registry } from '../generated/registry.js';
        const server = createServer(registry);
        export const call = async (request: RequestContext) => {
          const { structuredContent: book } = await server.callTool('w_book', { origin: 'NYC', age: 4 }, request);
          if (book !== undefined && 'booking' in book) same<typeof book.booking, string>(true);
          await server.getPrompt('read_and_book', { origin: 'NYC' }, request);
          // @ts-expect-error the origin is missing
          await server.callTool('w_book', {}, request);
          // @ts-expect-error there is no such argument
          await server.callTool('w_read_and_book', { origin: 'NYC', age: 4 }, request);
        };
        // @ts-expect-error no such workflow
        export type No = WorkflowArgs<'bok'>;
      `,
    });
    expect(await tsc(project)).toEqual({ code: 0, stdout: '', stderr: '' });
    await rm(path.join(project.root, 'workflows'), { recursive: true });
    await project.write({ 'src/serve.ts': SERVER });
    expect(await served(project)).toEqual({
      prompts: ['book', 'find', 'read_and_book'],
      tool: { booking: 'NYC-1 for Ann', note: 'Booked for\nAnn\n' },
      messages: expect.stringContaining('NYC-1 for Bob'),
    });
  });

  test('are checked with the classes, and all faults are reported at once', async () => {
    const project = await begin({
      'src/tools.ts': (SPEC_FILES['src/tools.ts'] ?? '').replace('this.origin', 'this.orign'),
      'workflows/book.yaml': book
        .replace('flightId: $flight.id', 'flightId: $flight.idd')
        .replace('passenger: { name', 'pasenger: { name'),
      'workflows/both.json': (SPEC_FILES['workflows/both.json'] ?? '')
        .replace('files_read', 'files_raed')
        .replace('travel/book', 'travel/bok'),
      'workflows/third.xml': `<workflows>
  <workflow id="third" description="Finds">
    <graph>
      <step id="a"><call tool="search_flights"/><args><arg name="origin" json="5"/></args></step>
      <step id="b" depends_on="a"><call tool="files_read"/><args><arg name="path" value="$a.flightz"/></args></step>
    </graph>
  </workflow>
</workflows>
`,
    });
    const { diagnostics, readSource, written } = await runCodegen({ root: project.root });
    expect(written).toEqual([]);
    const lines = diagnostics.map(({ place, code }) => `${place?.file}:${place?.span[0]} ${code}`);
    expect(lines).toEqual([
      'src/tools.ts:37 SW3001',
      'workflows/book.yaml:21 SW4003',
      'workflows/book.yaml:21 SW4005',
      'workflows/book.yaml:22 SW4004',
      'workflows/both.json:13 SW4001',
      'workflows/both.json:19 SW4026',
      'workflows/third.xml:4 SW4012',
      'workflows/third.xml:5 SW4005',
    ]);
    const text = formatDiagnostics(diagnostics, readSource);
    expect(text).toContain('flightId: $flight.idd');
    expect(text).toContain('did you mean `files_read`?');
    const github = await command(['codegen', '--format', 'github'], project.root);
    expect(github.code).toBe(1);
    expect(github.stdout).toContain('::error file=workflows/both.json,line=13');
  });

  test('name a workflow with its domain', async () => {
    const both = SPEC_FILES['workflows/both.json'] ?? '';
    const project = await begin({ 'workflows/both.json': both.replace('travel/book', 'hotels/book') });
    expect(await said(project)).toEqual([
      'workflows/both.json:20:23 SW4026 workflow `read_and_book` requires workflow `hotels/book`, which is not registered (did you mean `travel/book`?)',
    ]);
  });

  test('share names with classes only at a fault', async () => {
    const project = await begin({
      'workflows/again.yaml':
        'workflows:\n  find:\n    description: d\n    graph: { a: { call: files_read, args: { path: x } } }\n',
      'workflows/twice.yaml': book.split('\n').slice(1).join('\n'),
    });
    expect(await said(project)).toEqual([
      'workflows/again.yaml:2:3 SW1004 two workflows are named `find` (give one of them another name)',
      expect.stringContaining('workflows/twice.yaml:4:3 SW5004 `book` is written twice'),
    ]);
  });

  test('are those of an editor that are not saved', async () => {
    const { root } = await begin();
    const overlay = new Map([['workflows/book.yaml', book.replace('create_booking', 'create_bookin')]]);
    const { diagnostics } = await runCodegen({ root, overlay });
    expect(diagnostics.filter(({ code }) => code !== 'SW9001')).toMatchObject([
      { code: 'SW4001', place: { file: 'workflows/book.yaml', span: [17, 7, 17, 14] } },
    ]);
  });

  nightlyTest('report no echo of a tool that cannot be read', async () => {
    const project = await begin({
      'src/upstream.ts': (SPEC_FILES['src/upstream.ts'] ?? '').replace("name: 'files_read'", 'name: 5'),
    });
    expect((await said(project)).filter((line) => line.startsWith('workflows/'))).toEqual([]);
    expect(await said(project)).not.toEqual([]);
  });

  test('count by the severities of the configuration', async () => {
    const before = '      before:\n        workflow: find\n        args: { origin: $origin }\n';
    const flow = book
      .replace('      reserve:\n', `${before}      reserve:\n`)
      .replace('[search]', '[before]');
    const project = await begin({ 'workflows/book.yaml': flow });
    expect(await said(project)).toEqual([expect.stringMatching(/^workflows\/book.yaml:24:\d+ SW5030 /)]);
    const config = { specs: ['workflows/*'], severity: { SW5030: 'error' } };
    await project.write({ 'stepwright.config.json': JSON.stringify(config) });
    expect((await command(['codegen'], project.root)).code).toBe(1);
    const off = { specs: ['workflows/*'], severity: { SW5030: 'off' } };
    await project.write({ 'stepwright.config.json': JSON.stringify(off) });
    expect(await said(project)).toEqual([]);
  });

  test('are configured for a registry, or for the one that there is', async () => {
    const project = await begin();
    const configured = async (config: object) => {
      await project.write({ 'stepwright.config.json': JSON.stringify(config, undefined, 1) });
      return said(project);
    };
    const registry = { include: ['src/*.ts'], out: 'generated/all.registry.ts' };
    const specs = ['workflows/**/*.yaml', 'workflows/*.json'];
    expect(await configured({ registries: [{ ...registry, specs }] })).toEqual([]);
    expect(await project.read('generated/all.registry.specs.schema.json')).toContain('search_flights');
    expect(await configured({ specs, registries: [registry] })).toEqual([
      'stepwright.config.json:2:2 SW9002 configuration `stepwright.config.json`: `/specs` is for projects without `registries`: write `specs` in a registry',
    ]);
    expect(await configured({ specs: ['flows/*.yaml'] })).toEqual([
      'stepwright.config.json:2:11 SW9003 no spec file matches `flows/*.yaml` (correct the patterns, or add the files)',
    ]);
    expect(await configured({ registries: [{ ...registry, specs: ['../*.yaml'] }] })).toEqual([
      expect.stringContaining('must not leave the project'),
    ]);
    await project.write({ [SCHEMA]: '{}' });
    expect(await configured({ specs })).toEqual([expect.stringContaining(`SW9004 \`${SCHEMA}\``)]);
    expect(await project.read(SCHEMA)).toBe('{}');
  });

  test('fit the schema that is written for editors', async () => {
    const project = await begin();
    await command(['codegen'], project.root);
    const validate = new Ajv({ strict: false }).compile(JSON.parse(await project.read(SCHEMA)));
    for (const file of ['workflows/book.yaml', 'workflows/both.json'])
      expect({ file, isValid: validate(parse(await project.read(file))) }).toEqual({ file, isValid: true });
    expect(validate(parse(book.replace('create_booking', 'create_bookin')))).toBe(false);
    expect(validate(parse(book.replace('flightId:', 'flight:')))).toBe(false);
  });

  nightlyTest('give the same bytes elsewhere, and with line ends of Windows', async () => {
    const windows = Object.entries(SPEC_FILES).map(([file, text]) => [file, text.replaceAll('\n', '\r\n')]);
    const one = await begin();
    const other = await begin(Object.fromEntries(windows), '§ A path (with spaces)-');
    for (const { root } of [one, other]) expect((await command(['codegen'], root)).code).toBe(0);
    for (const file of [OUT, SCHEMA]) expect(await other.read(file)).toBe(await one.read(file));
  });

  test('that are as they were load neither a compiler nor a reader of YAML', async () => {
    const project = await begin({
      'no-readers.cjs': `
        const Module = require('node:module');
        const load = Module._load;
        Module._load = (name, ...rest) => {
          if (/^(ts-morph|typescript|esbuild)$/.test(name)) throw new Error(name + ' is loaded');
          return load(name, ...rest);
        };
        const hook = (url, context, next) => {
          if (/\\/read-(yaml|xml)\\.js$/.test(url)) throw new Error(url + ' is loaded');
          return next(url, context);
        };
        Module.register('data:text/javascript,' + encodeURIComponent('export const load = ' + hook));`,
    });
    expect(readdirSync(path.join(builtPackage(), 'dist/chunks'))).toEqual(
      expect.arrayContaining(['read-yaml.js', 'read-xml.js']),
    );
    await command(['codegen'], project.root);
    const bare = ['--require', './no-readers.cjs', path.join(builtPackage(), 'dist/cli/main.js'), 'codegen'];
    const same = { code: 0, stdout: `${OUT} is current\n${SCHEMA} is current\n`, stderr: '' };
    expect(await run(bare, project.root)).toEqual(same);
    const { recallRun } = await importBuilt<typeof import('../../src/codegen/incremental/run-record.js')>(
      'codegen/incremental/run-record.js',
    );
    const isRecalled = () => recallRun({ root: project.root }) !== undefined;
    expect(isRecalled()).toBe(true);
    const changes: readonly (readonly [file: string, text: string])[] = [
      ['workflows/book.yaml', `${book}# more`],
      ['workflows/deep/new.yaml', ''],
      ['workflows/new.xml', ''],
      [SCHEMA, `${await project.read(SCHEMA)}\n`],
    ];
    for (const [file, text] of changes) {
      const before = await project.read(file).catch(() => undefined);
      await project.write({ [file]: text });
      expect({ file, isRecalled: isRecalled() }).toEqual({ file, isRecalled: false });
      if (before === undefined) await rm(path.join(project.root, file));
      else await project.write({ [file]: before });
      expect({ file, isRecalled: isRecalled() }).toEqual({ file, isRecalled: true });
    }
    await rm(path.join(project.root, 'workflows/both.json'));
    expect(isRecalled()).toBe(false);
    // None of them is a spec file.
    await project.write({
      ...{ 'workflows/both.json': SPEC_FILES['workflows/both.json'] ?? '' },
      ...{ 'notes.yaml': '', 'workflows/readme.md': '', 'workflowsx/other.yaml': '' },
    });
    expect(isRecalled()).toBe(true);
  });
});

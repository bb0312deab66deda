import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { upstreamCassette } from 'stepwright/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownServer } from '../../../src/cli/commands/pull/own-server.js';
import { programWithPackage } from '../../built-package.js';
import { command, createProject, type Project, stepwright, tsc } from '../../codegen-back/project.fixture.js';
import { nightlyTest } from '../../nightly.js';
import { httpFixture } from './http.fixture.js';
import { FIXTURE_TOOLS, modernServer } from './server.fixture.js';
import { publishedServer } from './servers.js';

const WORKFLOW = `
import { Arg, call, done, Step, Workflow } from 'stepwright';
import { FilesReadTextFile } from './upstream/files.js';
import { MemoryCreateEntities, MemorySearchNodes } from './upstream/memory.js';

@Workflow({ name: 'remember', description: 'Remembers what a file says' })
export class Remember {
  @Arg({ description: 'The file' }) path!: Arg<string>;
  @Step() file = call(FilesReadTextFile, { path: this.path });
  @Step() noted = call(MemoryCreateEntities, {
    entities: [{ name: 'file', entityType: 'file', observations: [this.file.content] }],
  });
  @Step() found = call(MemorySearchNodes, { query: 'file' });
  result = done({ text: this.file.content, found: this.found.entities[0]?.name ?? 'nothing' });
}
`;

const configuration = (more: object = {}) =>
  JSON.stringify({
    upstream: {
      files: publishedServer('filesystem', 'notes'),
      memory: { ...publishedServer('memory'), env: { MEMORY_FILE_PATH: `$\{MEMORY_FILE}` } },
      ...more,
    },
  });

const SHOP = `
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

export const server = new McpServer({ name: 'shop', version: '1.0.0' });
const stock = new Map([['pen', 5]]);
server.registerTool('reserve', {
  description: 'Reserves one',
  inputSchema: z.object({ product: z.string() }),
  outputSchema: z.object({ left: z.number() }),
}, ({ product }) => {
  stock.set(product, (stock.get(product) ?? 0) - 1);
  return { content: [], structuredContent: { left: stock.get(product) } };
});
`;

const ORDER = `
import { Arg, call, done, Step, Workflow } from 'stepwright';
import { ShopReserve } from './upstream/shop.js';

@Workflow({ name: 'order', description: 'Orders two' })
export class Order {
  @Arg({ description: 'The product' }) product!: Arg<string>;
  @Step() first = call(ShopReserve, { product: this.product });
  @Step() second = call(ShopReserve, { product: this.product });
  result = done({ left: this.second.left, before: this.first.left });
}
`;

describe('the server of the project', { timeout: 240_000 }, () => {
  let project: Project;
  beforeAll(async () => {
    project = await createProject({
      'stepwright.config.json':
        '{\n  // kept\n  "registries": [{ "include": ["src/**/*.ts"], "out": "generated/registry.ts" }]\n}\n',
      'dist/shop.js': SHOP,
      'dist/other.js': 'export const mcp = 1;',
      'src/order.workflow.ts': ORDER,
    });
  }, 240_000);
  afterAll(() => project.remove());
  const cli = (...args: string[]) => (args[0] === 'run' ? stepwright : command)(args, project.root);

  test('is recorded and added to the configuration, and its steps run in one process', async () => {
    const pulled = await cli('pull', 'shop', '--self', 'dist/shop.js');
    const files = ['src/upstream/shop.json', 'src/upstream/shop.ts', 'src/upstream/shop.doubles.ts'];
    const written = [...files, 'stepwright.config.json'].map((file) => `wrote ${file}\n`);
    expect(pulled).toEqual({ code: 0, stdout: written.join(''), stderr: '' });
    expect(await project.read('stepwright.config.json')).toBe(
      '{\n  "upstream": {\n    "shop": {"module":"dist/shop.js"}\n  },\n  // kept\n  "registries": [{ "include": ["src/**/*.ts"], "out": "generated/registry.ts" }]\n}\n',
    );
    expect(await cli('codegen')).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await cli('run', 'order', '--arg', 'product=pen', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ status: 'succeeded', result: { left: 3, before: 4 } });
  });

  test('is not added where a module exports no server', async () => {
    const { code, stderr } = await cli('pull', 'other', '--self', 'dist/other.js');
    expect(code).toBe(1);
    expect(stderr).toContain(
      '`dist/other.js` has no server: it exports `mcp`; export the server by default, as',
    );
    expect(await project.read('stepwright.config.json')).not.toContain('other');
  });

  test('has one entry, whose name is that of the package by default', async () => {
    const config = '{ "upstream": { "shop": { "command": "node", "args": ["a b.js", "-x"] } } }';
    await project.write({
      'own/stepwright.config.json': config,
      'own/package.json': '{ "name": "@acme/Till" }',
    });
    const own = (server: string, name?: string) =>
      ownServer({
        ...{ root: path.join(project.root, 'own'), server, ...(name === undefined ? {} : { name }) },
        servers: JSON.parse(config).upstream,
      });
    expect(own("node 'a b.js' -x", 'shop')).toMatchObject({ name: 'shop', servers: {} });
    expect(own('node till.js')).toMatchObject({
      name: 'till',
      servers: { till: { command: 'node', args: ['till.js'] } },
      text: '{ "upstream": {\n    "till": {"command":"node","args":["till.js"]}, "shop": { "command": "node", "args": ["a b.js", "-x"] } } }',
    });
    expect(() => own('node b.js', 'shop')).toThrow("has another upstream server 'shop'");
    expect(() => own('node b.js', '1st')).toThrow("'1st' is not the name of an upstream server");
    expect(() => own('dist/tll.js')).toThrow('there is no file `dist/tll.js`');
    expect(() => own(' ')).toThrow('needs a module that exports the server, or a command');
    expect(() => own("node o'brien.js")).toThrow('a command with every quote closed');
  });
});

describe('the tools of published servers', { timeout: 240_000 }, () => {
  let project: Project;
  beforeAll(async () => {
    project = await createProject({
      'stepwright.config.json': configuration(),
      'notes/today.txt': 'sunny',
      'src/remember.workflow.ts': WORKFLOW,
    });
  }, 240_000);
  afterAll(() => project.remove());
  const env = () => ({ MEMORY_FILE: path.join(project.root, 'memory.jsonl') });
  const cli = (...args: string[]) => (args[0] === 'run' ? stepwright : command)(args, project.root, env());

  test('are recorded, once, and become classes that compile', async () => {
    const files = ['src/upstream/files.json', 'src/upstream/files.ts', 'src/upstream/files.doubles.ts'];
    expect(await cli('pull', 'files')).toEqual({
      code: 0,
      stdout: files.map((file) => `wrote ${file}\n`).join(''),
      stderr: '',
    });
    const all = await cli('pull');
    expect(all).toMatchObject({ code: 0, stderr: '' });
    expect(all.stdout.split('\n')).toEqual([
      ...files.map((file) => `${file} is current`),
      'wrote src/upstream/memory.json',
      'wrote src/upstream/memory.ts',
      'wrote src/upstream/memory.doubles.ts',
      '',
    ]);
    expect(await project.read('src/upstream/memory.json')).not.toContain('memory.jsonl');
    expect(await cli('codegen')).toEqual({ code: 0, stdout: 'wrote generated/registry.ts\n', stderr: '' });
    expect(await tsc(project)).toMatchObject({ code: 0, stdout: '' });
  });

  test('have the schemas of the snapshot in the registry', async () => {
    const { tools } = JSON.parse(await project.read('src/upstream/files.json'));
    const { stdout } = await cli('list', '--json');
    const [{ tools: listed }] = JSON.parse(stdout) as [{ tools: readonly { name: string }[] }];
    expect(tools.length).toBeGreaterThan(10);
    for (const { name } of tools) expect(listed.map((tool) => tool.name)).toContain(`files_${name}`);
    const registry = (await project.read('generated/registry.ts')).replaceAll(/\s+/g, ' ');
    const read = tools.find(({ name }: { name: string }) => name === 'read_text_file');
    for (const schema of [read.inputSchema, read.outputSchema])
      expect(registry.replaceAll(/ /g, '')).toContain(JSON.stringify(schema).replaceAll(' ', ''));
  });

  nightlyTest('are called by a run', async () => {
    const { code, stdout } = await cli('run', 'remember', '--arg', `path=${project.root}/notes/today.txt`);
    expect({ code, result: JSON.parse(stdout) }).toEqual({
      code: 0,
      result: { text: 'sunny', found: 'file' },
    });
    expect(await project.read('memory.jsonl')).toContain('sunny');
  });

  nightlyTest('are recorded by a run, and answer a test without their servers', async () => {
    const file = 'test/remember.cassette.json';
    const path = `${project.root}/notes/today.txt`;
    const { code, stderr } = await cli('run', 'remember', '--arg', `path=${path}`, '--record', file);
    expect({ code, said: stderr.split('\n').at(-2) }).toEqual({ code: 0, said: `wrote ${file}` });
    const upstream = upstreamCassette(`${project.root}/${file}`);
    const call = { signal: new AbortController().signal, progress: () => {} };
    const read = { server: 'files', tool: 'read_text_file' };
    expect(await upstream.call(read, { path }, call)).toMatchObject({
      structuredContent: { content: 'sunny' },
    });
  });

  nightlyTest('fail a run with the text of the server', async () => {
    const { code, stderr } = await cli('run', 'remember', '--arg', 'path=/elsewhere.txt');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^E_TOOL_ERROR: Access denied/m);
  });

  nightlyTest('fail a run whose server is not configured completely', async () => {
    const { code, stderr } = await stepwright(
      ['run', 'remember', '--arg', `path=${project.root}/notes/today.txt`],
      project.root,
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/^E_UPSTREAM_CONFIG: .*'memory' needs the environment variable MEMORY_FILE/m);
  });
});

describe('stepwright pull', { timeout: 240_000 }, () => {
  let project: Project;
  beforeAll(async () => {
    const broken = {
      command: process.execPath,
      args: ['-e', 'console.error("no licence"); process.exit(1)'],
    };
    project = await createProject({
      'stepwright.config.json': configuration({
        broken,
        mine: { ...publishedServer('memory'), out: 'src/mine.ts' },
      }),
      'src/mine.ts': 'export const mine = 1;\n',
    });
  }, 240_000);
  afterAll(() => project.remove());
  const pull = (...args: string[]) => command(['pull', ...args], project.root);

  test('says why a server cannot be reached, and what it logged', async () => {
    const { code, stderr } = await pull('broken');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^upstream server 'broken': no licence$/m);
    expect(stderr).toMatch(/^stepwright: The upstream server 'broken' cannot be reached: /m);
  });

  test('overwrites no file of somebody else', async () => {
    const { code, stderr } = await pull('mine');
    expect(code).toBe(1);
    expect(stderr).toMatch(/SW9004: `src\/mine\.ts` was not written by stepwright/);
    expect(await project.read('src/mine.ts')).toBe('export const mine = 1;\n');
  });

  test.each([
    [['nothing'], /no upstream server `nothing` \(known: `broken`, `files`, `memory`, `mine`\)/],
    [['file'], /no upstream server `file` \(did you mean `files`\?\)/],
    [['files', 'memory'], /takes one argument, and was given `memory`/],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await pull(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

nightlyTest(
  'servers of 2026-07-28, and of both revisions, are recorded over stdio and HTTP',
  {
    timeout: 240_000,
  },
  async () => {
    const later = await httpFixture(undefined, true);
    const handler = createMcpHandler(modernServer);
    const revisions = new Set<string | null>();
    const answer = async (request: Request) => {
      revisions.add(request.headers.get('mcp-protocol-version'));
      return handler.fetch(request);
    };
    const http = createServer(getRequestListener(answer, { overrideGlobalObjects: false }));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const { port } = http.address() as AddressInfo;
    const program = programWithPackage('test/e2e/upstream/server.fixture.ts');
    const started = (revision: string) => ({ command: process.execPath, args: [program, revision] });
    const upstream = {
      later: { url: later.url },
      'later-process': started('2026-07-28'),
      both: { url: `http://127.0.0.1:${port}/mcp` },
      'both-process': started('both'),
    };
    const project = await createProject({ 'stepwright.config.json': JSON.stringify({ upstream }) });
    try {
      expect(await command(['pull'], project.root)).toMatchObject({ code: 0, stderr: '' });
      for (const name of Object.keys(upstream)) {
        const snapshot = JSON.parse(await project.read(`src/upstream/${name}.json`));
        expect(snapshot.server).toEqual({ name: 'fixture', version: '1.0.0' });
        expect(snapshot.tools).toEqual(FIXTURE_TOOLS.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
      }
      // Without the handshake of the revision before it.
      expect([...revisions]).toEqual(['2026-07-28']);
    } finally {
      await project.remove();
      await later.close();
      await handler.close();
      http.closeAllConnections();
      http.close();
    }
  },
);

test('a malformed server is reported where it is configured', { timeout: 240_000 }, async () => {
  const project = await createProject({
    'stepwright.config.json':
      '{\n  "upstream": {\n    "a": { "command": "node", "arg": ["x"] },\n    "b": {}\n  }\n}\n',
  });
  try {
    const { code, stderr } = await command(['pull'], project.root);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /stepwright\.config\.json:3:31 - error SW9002: .*`\/upstream\/a\/arg` is not a setting/,
    );
    expect(stderr).toContain('did you mean `args`?');
    expect(stderr).toMatch(
      /stepwright\.config\.json:4:10 - error SW9002: .*`\/upstream\/b\/command` is missing/,
    );
  } finally {
    await project.remove();
  }
});

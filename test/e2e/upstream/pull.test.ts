import path from 'node:path';
import { upstreamCassette } from 'stepwright/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProject, type Project, stepwright, tsc } from '../../codegen-back/project.fixture.js';
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
  const cli = (...args: string[]) => stepwright(args, project.root, env());

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

  test('are called by a run', async () => {
    const { code, stdout } = await cli('run', 'remember', '--arg', `path=${project.root}/notes/today.txt`);
    expect({ code, result: JSON.parse(stdout) }).toEqual({
      code: 0,
      result: { text: 'sunny', found: 'file' },
    });
    expect(await project.read('memory.jsonl')).toContain('sunny');
  });

  test('are recorded by a run, and answer a test without their servers', async () => {
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

  test('fail a run with the text of the server', async () => {
    const { code, stderr } = await cli('run', 'remember', '--arg', 'path=/elsewhere.txt');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^E_TOOL_ERROR: Access denied/m);
  });

  test('fail a run whose server is not configured completely', async () => {
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
  const pull = (...args: string[]) => stepwright(['pull', ...args], project.root);

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

test('a malformed server is reported where it is configured', { timeout: 240_000 }, async () => {
  const project = await createProject({
    'stepwright.config.json':
      '{\n  "upstream": {\n    "a": { "command": "node", "arg": ["x"] },\n    "b": {}\n  }\n}\n',
  });
  try {
    const { code, stderr } = await stepwright(['pull'], project.root);
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

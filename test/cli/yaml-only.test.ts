import { existsSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishedServer } from '../e2e/upstream/servers.js';
import { nightlyTest } from '../nightly.js';
import { bareProject, type CliProject } from './cli-project.fixture.js';

const WORKFLOW = `workflows:
  remember:
    description: Remembers a fact
    params: { name: { type: str, required: true }, fact: { type: str, required: true } }
    graph:
      note:
        call: memory/create_entities
        args: { entities: [{ name: $name, entityType: thing, observations: [$fact] }] }
      match:
        call: memory/search_nodes
        depends_on: [note]
        args: { query: $name }
    returns: { names: $match.entities }
`;

describe('a project without TypeScript and without compilers', { timeout: 240_000 }, () => {
  let project: CliProject;
  beforeAll(() => {
    project = bareProject();
    const env = { MEMORY_FILE_PATH: path.join(project.root, 'memory.jsonl') };
    const hints = { search_nodes: { category: 'search', next: ['create_entities'] } };
    const memory = { ...publishedServer('memory'), env, hints };
    const config = { specs: ['workflows/*.yaml'], upstream: { memory } };
    project.write('stepwright.config.json', JSON.stringify(config));
    project.write('workflows/remember.yaml', WORKFLOW);
  }, 240_000);
  afterAll(() => project.remove());
  const facts = ['--arg', 'name=Ada', '--arg', 'fact=wrote a program'];

  test('says that tools have to be recorded', () => {
    const { code, out, err } = project.stepwright('run', 'remember', ...facts);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('error SW9021: there is no snapshot `src/upstream/memory.json`');
    expect(err).not.toContain('SW4001');
  });

  test('pull records a snapshot and the schema for editors, and writes no classes', async () => {
    const pulled = await project.command('pull');
    const files = ['src/upstream/memory.json', 'generated/registry.specs.schema.json'];
    expect(pulled).toEqual({ code: 0, out: files.map((file) => `wrote ${file}\n`).join(''), err: '' });
    expect(existsSync(path.join(project.root, 'src/upstream/memory.ts'))).toBe(false);
    expect(await project.command('pull', '--check')).toMatchObject({
      code: 0,
      out: 'memory is as recorded\n',
    });
  });

  test('list, graph, check and validate read snapshots and spec files', async () => {
    const listed = await project.command('list', '--json');
    const [{ tools, workflows }] = JSON.parse(listed.out);
    expect(workflows).toMatchObject([{ name: 'remember' }]);
    expect(tools).toHaveLength(9);
    expect((await project.command('graph', 'remember')).out).toContain(
      '- note: call memory_create_entities\n',
    );
    expect(await project.command('check')).toEqual({ code: 0, out: '', err: '' });
    const valid = { code: 0, out: '1 workflow without errors: remember\n', err: '' };
    expect(await project.command('validate')).toEqual(valid);
    expect(await project.command('validate', 'workflows/remember.yaml')).toEqual(valid);
  });

  test('codegen writes the schema for editors alone', async () => {
    const schema = 'generated/registry.specs.schema.json';
    expect(await project.command('codegen')).toEqual({ code: 0, out: `${schema} is current\n`, err: '' });
    expect(existsSync(path.join(project.root, 'generated/registry.ts'))).toBe(false);
  });

  test('faults are reported by the contracts of snapshots, at their places', async () => {
    project.write('workflows/remember.yaml', WORKFLOW.replace('query:', 'qeury:'));
    const faulty = /workflows\/remember\.yaml:12:15 - error SW4003: .*no `query`/;
    for (const command of ['check', 'validate', 'list', 'graph', 'run']) {
      const args = command === 'graph' || command === 'run' ? ['remember'] : [];
      const { code, err } = await project.command(command, ...args);
      expect({ command, code, err }).toMatchObject({ code: 1, err: expect.stringMatching(faulty) });
    }
    project.write('workflows/remember.yaml', WORKFLOW);
  });

  nightlyTest('run calls the servers, and run --dry calls no tool', () => {
    const dry = project.stepwright('run', 'remember', '--dry', ...facts);
    expect(dry).toMatchObject({
      code: 0,
      out: expect.stringContaining('result {"entities":[{"name":"stub"'),
    });
    expect(existsSync(path.join(project.root, 'memory.jsonl'))).toBe(false);
    for (const target of ['remember', 'workflows/remember.yaml']) {
      const { code, out } = project.stepwright('run', target, ...facts);
      expect(code).toBe(0);
      expect(JSON.parse(out)).toEqual({
        names: [{ name: 'Ada', entityType: 'thing', observations: ['wrote a program'] }],
      });
    }
  });

  nightlyTest('serve offers the workflows, and follows their files', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const args = [project.main, 'serve'];
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd: project.root, stderr: 'ignore' }),
    );
    try {
      const names = async () => (await client.listPrompts()).prompts.map(({ name }) => name);
      expect(await names()).toEqual(['remember']);
      const result = await client.getPrompt({
        name: 'remember',
        arguments: { name: 'Ada', fact: 'wrote a program' },
      });
      expect(JSON.stringify(result.messages)).toContain('memory_search_nodes');
      project.write('workflows/more.yaml', WORKFLOW.replace('remember:', 'note-down:'));
      await expect.poll(names, { timeout: 20_000 }).toEqual(['note-down', 'remember']);
    } finally {
      await client.close();
    }
  });

  test.each([['codegen', '--watch'], ['dev']])(
    '%s %s name the command that follows spec files',
    async (...args) => {
      const { code, err } = await project.command(...args);
      expect(code).toBe(2);
      expect(err).toContain('has spec files alone: `stepwright serve` follows them');
    },
  );

  test('options in TypeScript need the compilers', async () => {
    const { code, err } = await project.command('list', '--options', 'options.ts');
    expect({ code, err }).toEqual({
      code: 1,
      err: 'stepwright: `stepwright list` needs `ts-morph` and `esbuild`, which are not installed: run `npm install --save-dev ts-morph@28 esbuild@0`\n',
    });
  });
});

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nightlyTest, smoke } from '../nightly.js';
import { type CliProject, cliProject } from './cli-project.fixture.js';

const TOOLS = `import { Tool } from 'stepwright';

/** What to count. */
interface Range { from: number; steps: number }

@Tool({ name: 'count', description: 'Counts up' })
export class Count {
  constructor(private readonly limit: number) {}
  execute({ from, steps }: Range): { end: number } {
    console.log('counting');
    if (from + steps > this.limit) throw new Error('too far');
    return { end: from + steps };
  }
}
`;

const WORKFLOW = `import { Arg, call, done, Step, Workflow } from 'stepwright';
import { Count } from './tools.js';

@Workflow({ name: 'count-twice', description: 'count in two steps' })
export class CountTwice {
  @Arg({ description: 'Where to begin' }) from!: Arg<number>;
  @Step() first = call(Count, { from: this.from, steps: 1 });
  @Step() second = call(Count, { from: this.first.end, steps: 1 });
  output = done({ end: this.second.end });
}
`;

const MODEL_WORKFLOW = `import { Arg, ask, call, done, Step, Workflow } from 'stepwright';
import { Count } from './tools.js';

@Workflow({ name: 'count-on', description: 'count as a model says' })
export class CountOn {
  @Arg({ description: 'Where to begin' }) from!: Arg<number>;
  @Step({ guidance: '1. Count.\\n2. Stop.' })
  counted = call(Count, { from: this.from, steps: ask.model('How many steps?') });
  output = done(this.counted.end);
}
`;

const OPTIONS = `import { Count } from './src/tools.js';
export default { name: 'counter', tools: { count: () => new Count(10) } };
`;

const WITH_MODEL = `import options from './options.js';
export default { ...options, model: ({ errors }) => (errors.length === 0 ? 'two' : 2) };
`;

const COUNTING = `workflows:
  more:
    description: Counts up by two
    params: { from: { type: num, required: true } }
    graph:
      up: { call: count, args: { from: $from, steps: 2 } }
  from-file:
    description: Counts up twice
    params: { from: { type: num, required: true } }
    graph:
      first: { workflow: more, args: { from: $from } }
      second: { call: count, depends_on: [first], args: { from: $first.end, steps: 1 } }
`;

/** A run of it fails, and what would undo its step fails as well. */
const NOT_UNDONE = `workflows:
  not-undone:
    description: Counts and gives up
    params: { from: { type: num, required: true } }
    graph:
      both:
        type: parallel
        concurrency: 1
        branches:
          up:
            call: count
            args: { from: $from, steps: 2 }
            compensate: { call: count, args: { from: 10, steps: 1 } }
          again: { call: count, args: { from: 10, steps: 1 } }
        on_partial_failure: rollback_all
`;

describe('a command that uses registries', { timeout: 120_000 }, () => {
  let project: CliProject;
  let root = '';
  let main = '';

  const write = (file: string, text: string): void => project.write(file, text);
  const stepwright = (...args: string[]) => project.stepwright(...args);

  beforeAll(() => {
    project = cliProject({ types: [] });
    ({ root, main } = project);
    const registries = [{ include: ['src/*.ts'], out: 'generated/registry.ts' }];
    write('stepwright.config.json', JSON.stringify({ server: 'options.ts', registries }));
    write('bare.json', JSON.stringify({ registries }));
    write('src/tools.ts', TOOLS);
    write('src/count-twice.ts', WORKFLOW);
    write('src/count-on.ts', MODEL_WORKFLOW);
    write('options.ts', OPTIONS);
    write('with-model.ts', WITH_MODEL);
    expect(stepwright('list').err).toContain('`stepwright codegen` writes the registries');
    expect(stepwright('codegen')).toMatchObject({ code: 0, err: '' });
  }, 300_000);

  afterAll(() => project.remove());

  test('lists what the registry offers', () => {
    expect(stepwright('list')).toEqual({
      code: 0,
      err: '',
      out: `generated/registry.ts
  tools:
    count: Counts up
  workflows:
    count-on: count as a model says
      from: Where to begin
    count-twice: count in two steps
      from: Where to begin
`,
    });
    const [listed] = JSON.parse(stepwright('list', '--json').out);
    expect(listed.workflows[1].arguments).toEqual([
      { name: 'from', description: 'Where to begin', required: true, schema: { type: 'number' } },
    ]);
  });

  nightlyTest('runs a workflow, with its steps on stderr and its result on stdout', () => {
    const { code, out, err } = stepwright('run', 'count-twice', '--arg', 'from=3');
    expect({ code, out: JSON.parse(out) }).toEqual({ code: 0, out: { end: 5 } });
    expect(err).toBe('Step 1/2: first\ncounting\nStep 2/2: second\ncounting\nWorkflow execution complete\n');
    const json = stepwright('run', 'count-twice', '--arg', 'from=3', '--json');
    expect(JSON.parse(json.out)).toEqual({ status: 'succeeded', result: { end: 5 } });
  });

  test('validates and runs a workflow of a file with the tools of the registry', () => {
    write('counting.yaml', COUNTING);
    expect(stepwright('validate', 'counting.yaml')).toEqual({
      code: 0,
      err: '',
      out: '2 workflows without errors: more, from-file\n',
    });
    const { code, out } = stepwright('run', 'counting.yaml', '--workflow', 'from-file', '--arg', 'from=3');
    expect({ code, out: JSON.parse(out) }).toEqual({ code: 0, out: { end: 6 } });
    expect(stepwright('run', 'counting.yaml').err).toContain('choose one with `--workflow`');
    write('counting.yaml', COUNTING.replace('call: count', 'call: cuont'));
    const broken = stepwright('run', 'counting.yaml', '--workflow', 'more', '--arg', 'from=3');
    expect(broken).toMatchObject({ code: 1, out: '' });
    expect(broken.err).toContain('counting.yaml:6:7 - error SW4001: ');
    expect(broken.err).toContain('did you mean `count`?');
  });

  nightlyTest('asks the model of the options for a value', () => {
    const { code, out } = stepwright('run', 'count-on', '--arg', 'from=3', '--options', 'with-model.ts');
    expect({ code, out }).toEqual({ code: 0, out: '5\n' });
  });

  nightlyTest('ends with the calls that remain at a value that nothing supplies', () => {
    const left = stepwright('run', 'count-on', '--arg', 'from=3');
    expect({ code: left.code, out: left.out }).toEqual({ code: 1, out: '' });
    expect(left.err).toContain('How many steps?');
    expect(left.err).toContain("Guidance of step 'counted':\n\n1. Count.\n2. Stop.\n\n");
    expect(left.err).toContain('count with {"from":3,"steps":"<How many steps?>"}');
    const json = JSON.parse(stepwright('run', 'count-on', '--arg', 'from=3', '--json').out);
    expect(json).toMatchObject({
      status: 'left',
      handOff: expect.stringContaining('How many steps?'),
      calls: expect.arrayContaining([expect.objectContaining({ step: 'counted', tool: 'count' })]),
    });
  });

  nightlyTest('tells a run that fails', () => {
    const failed = stepwright('run', 'count-twice', '--arg', 'from=10', '--json');
    expect({ code: failed.code, out: JSON.parse(failed.out) }).toEqual({
      code: 1,
      out: {
        status: 'failed',
        failure: { code: 'E_TOOL_ERROR', message: expect.stringContaining('too far') },
      },
    });
    expect(stepwright('run', 'count-twice', '--arg', 'from=10')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('E_TOOL_ERROR: '),
    });
  });

  nightlyTest('says what a run that fails leaves behind', () => {
    write('not-undone.yaml', NOT_UNDONE);
    const { code, err } = stepwright('run', 'not-undone.yaml', '--arg', 'from=3');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('\nW_NOT_UNDONE: ') });
    expect(err).toContain('step \'up\' (to undo it: count {"from":10,"steps":1})');
    const json = JSON.parse(stepwright('run', 'not-undone.yaml', '--arg', 'from=3', '--json').out);
    expect(json).toMatchObject({
      status: 'failed',
      not_undone: [{ step: 'up', tool: 'count', input: { from: 10, steps: 1 } }],
      warnings: [{ code: 'W_NOT_UNDONE' }],
    });
  });

  const wrongRuns: [string[], string][] = [
    [['cont-twice'], 'there is no workflow `cont-twice` (did you mean `count-twice`?)'],
    [['count-twice', '--arg', 'form=1'], "Unknown argument 'form'. Did you mean 'from'?"],
    [['count-twice', '--arg', 'from=one'], 'one'],
    [['count-twice', '--arg', 'from'], '`--arg from` has no `=`'],
    [['count-twice', '--arg', 'from=1', '--arg', 'from=2'], 'argument `from` is given twice'],
    [[], '`stepwright run` needs the name of a workflow'],
    [['count-twice', '--registry', 'registri'], 'there is no registry `registri`'],
  ];
  nightlyTest.each(wrongRuns)('refuses %j', (args, text) => {
    const { code, out, err } = stepwright('run', ...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(text);
  });

  nightlyTest('says how to give factories', () => {
    const { code, err } = stepwright('run', 'count-twice', '--config', 'bare.json', '--arg', 'from=1');
    expect(code).toBe(1);
    expect(err).toContain('the constructor of Count takes parameters');
    expect(err).toContain('--options FILE');
    const given = ['--config', 'bare.json', '--options', 'options.ts', '--arg', 'from=1'];
    expect(stepwright('run', 'count-twice', ...given).code).toBe(0);
  });

  test('loads a compiled registry without the loader of TypeScript', () => {
    const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    for (const file of ['src/tools', 'src/count-on', 'src/count-twice', 'generated/registry', 'options']) {
      const source = readFileSync(path.join(root, `${file}.ts`), 'utf8');
      const { outputText } = ts.transpileModule(source, { compilerOptions: options });
      write(`dist/${file}.js`, outputText);
    }
    const compiled = ['--registry', 'dist/generated/registry.js', '--options', 'dist/options.js'];
    const { code, out } = stepwright('run', 'count-twice', '--arg', 'from=3', ...compiled);
    expect({ code, out: JSON.parse(out) }).toEqual({ code: 0, out: { end: 5 } });
  });

  const unusable: [string[], string][] = [
    [['--registry', 'dist/none.js'], 'cannot load `dist/none.js`: there is no such file'],
    [['--options', 'src/tools.ts'], 'cannot load `src/tools.ts`: its default export is not an object'],
    [['--options', 'none.ts'], 'cannot load `none.ts`: '],
  ];
  test.each(smoke(unusable))('names a module that cannot be used: %j', (args, text) => {
    expect(stepwright('list', ...args)).toMatchObject({ code: 1, err: expect.stringContaining(text) });
  });

  nightlyTest('serves over stdio', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [main, 'serve'],
        cwd: root,
        stderr: 'pipe',
      }),
    );
    expect(client.getServerVersion()).toMatchObject({ name: 'counter' });
    const input = { name: 'count', arguments: { from: 1, steps: 2 } };
    expect(await client.callTool(input)).toMatchObject({ structuredContent: { end: 3 } });
    await client.close();
  });

  test('serves workflows of files over stdio, and reads them again when they change', async () => {
    write('flows/count.yaml', COUNTING);
    const client = new Client({ name: 'test', version: '1.0.0' });
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [main, 'serve', 'flows/*.yaml'],
        cwd: root,
        stderr: 'pipe',
      }),
    );
    const input = { name: 'w_from-file', arguments: { from: 1 } };
    expect(await client.callTool(input)).toMatchObject({ structuredContent: { result: { end: 4 } } });
    write('flows/count.yaml', COUNTING.replace('steps: 2', 'steps: 3').replace('by two', 'by three'));
    await changed;
    expect(await client.callTool(input)).toMatchObject({ structuredContent: { result: { end: 5 } } });
    await client.close();
  });

  nightlyTest('serves no workflows', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const args = [main, 'serve', '--no-workflows'];
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd: root, stderr: 'pipe' }),
    );
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['count']);
    await client.close();
  });

  nightlyTest('serves no file with a fault', () => {
    write('broken.yaml', COUNTING.replace('call: count', 'call: cuont'));
    expect(stepwright('serve', 'broken.yaml')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/workflows of the server cannot be used:\nbroken\.yaml:6:7[\s\S]*`count`/),
    });
  });

  nightlyTest('warns once of tools that do not say what another call does', () => {
    const { err } = stepwright('serve', '--store', 'sqlite:serve.db');
    expect(err.match(/retrySafety: 'idempotent'/g)).toHaveLength(1);
  });

  nightlyTest('serves over HTTP, and drains on SIGTERM', async () => {
    const child = spawn(process.execPath, [main, 'serve', '--http', '--port', '0'], { cwd: root });
    const url = await new Promise<string>((resolve) => {
      let text = '';
      child.stderr.on('data', (chunk) => {
        text += chunk;
        const found = /http:[^;\s]+/.exec(text)?.[0];
        if (found !== undefined) resolve(found);
      });
    });
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('count');
    await client.close();
    const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  const wrongServers: [string[], string][] = [
    [['--stdio', '--http'], 'not both'],
    [['--port', '80'], '`--port` is for'],
    [['--http', '--port', '99999'], 'not `99999`'],
  ];
  nightlyTest.each(wrongServers)('serve refuses %j', (args, text) => {
    expect(stepwright('serve', ...args)).toMatchObject({ code: 2, err: expect.stringContaining(text) });
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CliProject, cliProject } from '../../cli/cli-project.fixture.js';
import { nightlyTest } from '../../nightly.js';

const TOOL = `import { Tool } from 'stepwright';

@Tool({ name: 'greet', description: 'Greets', annotations: { readOnlyHint: true } })
export class Greet {
  execute(): { text: string } {
    return { text: 'Hello' };
  }
}
`;

const WORKFLOW = `import { ask, call, done, Step, Workflow } from 'stepwright';
import { Greet } from './greet.js';

@Workflow({ name: 'hello', description: 'greet somebody' })
export class Hello {
  @Step() greeting = call(Greet);
  @Step() sure = ask.confirm('Say it?');
  output = done({ text: this.greeting.text, sure: this.sure });
}
`;

let project: CliProject;
let program: ChildProcess | undefined;
let printed = '';
let log = '';

beforeEach(() => {
  project = cliProject({ experimentalDecorators: true });
  project.write('src/greet.ts', TOOL);
  project.write('src/hello.ts', WORKFLOW);
  program = undefined;
}, 240_000);

afterEach(async () => {
  program?.kill('SIGTERM');
  if (program?.exitCode === null) await once(program, 'exit');
  project.remove();
}, 60_000);

function start(...options: readonly string[]): void {
  const args = [project.main, 'dev', '--no-types', ...options];
  program = spawn(process.execPath, args, { cwd: project.root, env: { ...process.env, NO_COLOR: '1' } });
  printed = '';
  log = '';
  for (const stream of [program.stdout, program.stderr])
    stream?.on('data', (text) => {
      printed += String(text);
      log += String(text);
    });
}

/** Waits for a text that is printed after the ones before it, and drops what comes up to it. */
async function print(pattern: RegExp): Promise<RegExpExecArray> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const match = pattern.exec(printed);
    if (match !== null) {
      printed = printed.slice(match.index + match[0].length);
      return match;
    }
    if (Date.now() > deadline || program?.exitCode !== null)
      throw new Error(`not printed: ${pattern}\n${printed}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '0.1.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

const served = async (): Promise<string> => (await print(/served at (\S+) \(\d+ ms/))[1] ?? '';

nightlyTest(
  'serves each change, keeps the last good server, and keeps runs',
  { timeout: 300_000 },
  async () => {
    start('--port', '0');
    let client = await connected(await served());
    const begun = await client.callTool({ name: 'w_hello', arguments: {} });
    const { workflow_id, status } = begun.structuredContent as { workflow_id: string; status: string };
    expect(status).toBe('waiting');
    await client.close();

    project.write('src/greet.ts', TOOL.replace('Hello', 'Good day'));
    let url = await served();
    client = await connected(url);
    expect((await client.callTool({ name: 'greet', arguments: {} })).structuredContent).toEqual({
      text: 'Good day',
    });
    await client.close();

    project.write('src/hello.ts', WORKFLOW.replace('greeting.text', 'greeting.txt'));
    await print(/error SW4005: the output of `greeting` has no `txt`/);
    await print(/errors; the last good server stays/);
    client = await connected(url);
    expect((await client.callTool({ name: 'greet', arguments: {} })).structuredContent).toEqual({
      text: 'Good day',
    });
    await client.close();

    project.write('src/hello.ts', `${WORKFLOW.replace('greeting.text', 'greeting.txt')}// the same\n`);
    await print(/errors; the last good server stays/);
    expect(printed).not.toContain('SW4005');

    project.write('src/hello.ts', `${WORKFLOW}// well again\n`);
    url = await served();
    client = await connected(url);
    const answer = { workflow_id, result: true };
    const ended = await client.callTool({ name: 'submit_result', arguments: answer });
    expect(ended.structuredContent).toMatchObject({
      status: 'completed',
      result: { text: 'Hello', sure: true },
    });
    await client.close();

    // Changes that arrive while a server is replaced are served together.
    for (const word of ['One', 'Two', 'Three', 'Four']) {
      project.write('src/greet.ts', TOOL.replace('Hello', word).replace('Greets', `Greets ${word}`));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const before = log.split('served at').length;
    let text: unknown;
    while (text !== 'Four') {
      client = await connected(await served());
      ({ text } = (await client.callTool({ name: 'greet', arguments: {} })).structuredContent as {
        text: unknown;
      });
      await client.close();
    }
    expect(log.split('served at').length - before).toBeLessThanOrEqual(2);
    // Its modules were bundled, and are those that its registry was made of, as the page of runs checks.
    expect(log).not.toContain('one by one');
    expect(log).not.toContain('stale');
  },
);

nightlyTest(
  'says that there is no server, and why, and serves the change that mends it',
  async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    project.write('src/hello.ts', WORKFLOW.replace('greeting.text', 'greeting.txt'));
    start('--port', String(port));
    await print(/errors; no server runs/);
    project.write('src/hello.ts', WORKFLOW);
    await print(/port \d+ .*in use.*\n?.*no server runs; the next change of a source tries again/);
    project.write('src/hello.ts', WORKFLOW.replace('greeting.text', 'greeting.txt'));
    await print(/errors; no server runs/);
    await new Promise((resolve) => other.close(resolve));
    project.write('src/hello.ts', `${WORKFLOW}// again\n`);
    await print(/served at/);
  },
  300_000,
);

nightlyTest(
  'ends after a server that could not start',
  async () => {
    project.write(
      'src/greet.ts',
      TOOL.replace('  execute', '  constructor(readonly word: string) {}\n  execute'),
    );
    start('--port', '0');
    await print(/no server runs; the next change/);
    program?.kill('SIGINT');
    if (program !== undefined) expect(await once(program, 'exit')).toEqual([0, null]);
  },
  120_000,
);

test('keeps the session of a host over stdio, and its runs', { timeout: 300_000 }, async () => {
  project.write('src/greet.ts', `${TOOL}console.log('a line of a module');\n`);
  const args = [project.main, 'dev', '--stdio', '--no-types'];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    cwd: project.root,
    stderr: 'pipe',
  });
  let reported = '';
  transport.stderr?.on('data', (text) => {
    reported += String(text);
  });
  const client = new Client({ name: 'test', version: '0.1.0' });
  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
  });
  // The first server is there when the project is compiled.
  await client.connect(transport, { timeout: 120_000 });
  const waiting = await client.callTool({ name: 'w_hello', arguments: {} });
  const { workflow_id } = waiting.structuredContent as { readonly workflow_id: string };

  project.write('src/greet.ts', TOOL.replace('Hello', 'Good day').replace('Greets', 'Greets by day'));
  await changed;
  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === 'greet')?.description).toBe('Greets by day');
  expect((await client.callTool({ name: 'greet', arguments: {} })).structuredContent).toEqual({
    text: 'Good day',
  });
  const answer = { workflow_id, result: true };
  const ended = await client.callTool({ name: 'submit_result', arguments: answer });
  expect(ended.structuredContent).toMatchObject({
    status: 'completed',
    result: { text: 'Hello', sure: true },
  });
  expect(reported).toContain('a line of a module');
  expect(reported).toMatch(/served over stdio \(\d+ ms/);
  await client.close();
});

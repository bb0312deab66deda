import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { programWithPackage } from '../../built-package.js';
import { nightlyTest, smoke } from '../../nightly.js';
import { textOf, textsOf } from './connected.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const program = programWithPackage('test/e2e/server/fixture/program.ts');

interface Started {
  readonly client: Client;
  readonly stderr: () => string;
  /** Lines on stdout that were no protocol messages. */
  readonly strays: readonly Error[];
}

async function started(mode?: string): Promise<Started> {
  const args = [program, ...(mode === undefined ? [] : [mode])];
  const transport = new StdioClientTransport({ command: process.execPath, args, cwd: root, stderr: 'pipe' });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  const strays: Error[] = [];
  client.onerror = (error) => strays.push(error);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, stderr: () => stderr, strays };
}

interface Child {
  readonly process: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<readonly [code: number | null, signal: string | null]>;
}

function spawned(mode?: string): Child {
  const child = spawn(process.execPath, [program, ...(mode === undefined ? [] : [mode])], { cwd: root });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close') as Promise<[number | null, string | null]>;
  return { process: child, stdout: () => stdout, stderr: () => stderr, ended };
}

const message = (body: object) => `${JSON.stringify({ jsonrpc: '2.0', ...body })}\n`;
const initialize = message({
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});
const hang = message({ id: 2, method: 'tools/call', params: { name: 'hang' } });

/** Settles when the child has written `text` to stdout. */
async function says(child: Child, text: string): Promise<void> {
  while (!child.stdout().includes(text)) {
    const { stdout } = child.process;
    if (stdout === null || stdout.readableEnded)
      throw new Error(`it ended without saying ${text}: ${child.stderr()}`);
    await Promise.race([once(stdout, 'data'), once(stdout, 'end')]);
  }
}

describe('a server program over stdio', () => {
  test('answers a real client, whatever its tools do to the process', async () => {
    const { client, stderr, strays } = await started();
    expect(client.getServerVersion()).toMatchObject({ name: 'fixture', version: '1.2.3' });
    expect(client.getInstructions()).toMatch(/^Say hello\.\n\nFor each request, take the first /);
    expect(client.getServerCapabilities()).toStrictEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      logging: {},
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    });
    const { prompts } = await client.listPrompts();
    expect(prompts.map((prompt) => prompt.name)).toContain('greet');

    const chat = await client.callTool({ name: 'chat' });
    expect(textOf((chat.content as unknown[])[0])).toBe('{"said":true}');
    const stray = await client.callTool({ name: 'stray' });
    expect(textOf((stray.content as unknown[])[0])).toBe('{"left":true}');

    const trace = await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } });
    expect(textsOf(trace)).toContain('Tool result:\n{\n  "text": "Hello Ada"\n}');
    expect(strays).toStrictEqual([]);
    for (const text of [
      'a stray line',
      "{ a: 'stray', object: true }",
      'no protocol message',
      'a forgotten promise',
      'a forgotten callback',
    ]) {
      expect(stderr()).toContain(text);
    }
  });

  nightlyTest('keeps stdout for the protocol, and names the tools that write to it', async () => {
    const { client, stderr, strays } = await started();
    const shouted = await client.callTool({ name: 'shout' });
    expect(textOf((shouted.content as unknown[])[0])).toBe('{"shouted":true}');
    await client.callTool({ name: 'shout' });
    await client.callTool({ name: 'chat' });
    expect(await client.ping()).toEqual({});
    expect(strays).toStrictEqual([]);
    const lines = stderr().split('\n');
    for (const line of [
      'past the stream',
      'past the module',
      'as a file',
      'at the end',
      'in pieces',
      'later',
      'as a stream',
    ])
      expect(lines.filter((each) => each === line)).toHaveLength(2);
    const reports = lines.filter((line) => line.startsWith('stdout belongs to the protocol'));
    expect(reports).toStrictEqual([
      expect.stringContaining('during the call of tool `shout` goes to stderr. Log with'),
      expect.stringContaining('during the call of tool `chat` goes to stderr. Log with'),
    ]);
  });

  nightlyTest('names the tool that ends the process', async () => {
    const child = spawned();
    child.process.stdin?.write(initialize);
    await says(child, '"serverInfo"');
    child.process.stdin?.write(message({ id: 2, method: 'tools/call', params: { name: 'quit' } }));
    expect(await child.ended).toStrictEqual([3, null]);
    expect(child.stderr()).toBe(
      'the process ends with exit code 3 during the call of tool `quit`. ' +
        'If that called `process.exit`: throw an error instead, which fails the call alone\n',
    );
  });

  nightlyTest('lives on after lines that are no messages, and answers each', async () => {
    const child = spawned();
    const overlong = 'x'.repeat(10 * 1024 * 1024 + 1);
    child.process.stdin?.write(`nonsense\n{}\n[]\n\n{"jsonrpc":"1.0","id":7}\n${overlong}\n${initialize}`);
    await says(child, '"serverInfo"');
    const answers = child.stdout().trim().split('\n');
    expect(answers.map((line) => JSON.parse(line))).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: null, error: { code: -32600 } },
      { id: null, error: { code: -32600 } },
      { id: 7, error: { code: -32600 } },
      { id: null, error: { code: -32600, message: expect.stringContaining('exceed 10485760 bytes') } },
      { id: 1, result: {} },
    ]);
    child.process.stdin?.end();
    expect(await child.ended).toStrictEqual([0, null]);
    expect(child.stderr().trim().split('\n')).toHaveLength(5);
  });

  nightlyTest('answers what was sent before stdin ended', async () => {
    const child = spawned();
    const echo = message({
      id: 2,
      method: 'tools/call',
      params: { name: 'echo', arguments: { text: 'bye' } },
    });
    child.process.stdin?.end(initialize + echo);
    expect(await child.ended).toStrictEqual([0, null]);
    expect(child.stdout()).toContain('"text":"bye"');
    expect(child.stderr()).toBe('');
  });

  test.each(smoke(['stdin', 'SIGTERM', 'SIGINT'] as const, 2))(
    'ends on %s, with a call in flight',
    async (how) => {
      const child = spawned('held');
      child.process.stdin?.write(initialize);
      await says(child, '"serverInfo"');
      child.process.stdin?.write(hang);
      child.process.stdin?.write(message({ id: 3, method: 'ping' }));
      await says(child, '"id":3');
      if (how === 'stdin') child.process.stdin?.end();
      else child.process.kill(how);
      expect(await child.ended).toStrictEqual([0, null]);
      expect(child.stderr()).toBe(
        how === 'stdin'
          ? 'the client hung up: 1 request was still in flight and aborted\n'
          : 'the server is being stopped: 1 request in flight may take 1 ms to finish\n' +
              'the server was stopped: cancelled 1 request and 0 runs that were not over\n',
      );
    },
  );

  nightlyTest('ends without a word when the client no longer reads', async () => {
    const child = spawned();
    child.process.stdin?.write(initialize);
    await says(child, '"serverInfo"');
    child.process.stdout?.destroy();
    child.process.stdin?.write(message({ id: 2, method: 'tools/list' }));
    expect(await child.ended).toStrictEqual([0, null]);
    expect(child.stderr()).toBe('');
  });

  test('refuses a stale registry, and says what to run', async () => {
    const child = spawned('stale');
    const [code] = await child.ended;
    expect(code).toBe(1);
    expect(child.stdout()).toBe('');
    expect(child.stderr()).toContain('the generated registry is stale:');
    expect(child.stderr()).toContain('Run `npx stepwright codegen`.');
    expect(child.stderr()).not.toContain('    at ');
  });

  nightlyTest('refuses to start without a factory it needs', async () => {
    const child = spawned('no-factory');
    const [code] = await child.ended;
    expect(code).toBe(1);
    expect(child.stderr()).toContain("'hang': () => new Hang(…)");
    expect(child.stderr()).not.toContain('    at ');
  });

  nightlyTest('refuses to start with a workflow that does not go with the registry', async () => {
    const child = spawned('broken-workflow');
    const [code] = await child.ended;
    expect(code).toBe(1);
    expect(child.stderr()).toContain(
      'the server cannot start:\n  - a built workflow is named `greet`, as a workflow of the registry is',
    );
    expect(child.stderr()).not.toContain('    at ');
  });
});

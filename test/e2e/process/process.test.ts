import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtPackage } from '../../built-package.js';
import type { CompiledPrograms } from '../../compiled-programs.js';
import { nightlyTest, smoke } from '../../nightly.js';
import { callOf, failureIn, textIn } from '../composite/client.js';
import { compileServer, start, startHttp, TRANSPORTS } from './server-process.js';

const LONG_MS = 600_000;

let programs: CompiledPrograms;
beforeAll(async () => {
  programs = await compileServer();
});
afterAll(() => programs.remove());

/** A program that stops its server while a run waits for an answer, for ten minutes at most. */
const STOPPED = (dist: string) => `
const { parseWorkflows } = await import('${dist}formats/index.js');
const { createServer, emptyRegistry } = await import('${dist}runtime/index.js');
const text = \`workflows:
  go:
    description: Asks
    graph:
      ask: { yield: "Go?", expects: { ok: { type: bool, required: true } }, timeout: 10m }\`;
const { workflows } = await parseWorkflows(text, { file: 'go.yaml', format: 'yaml' });
const server = createServer(emptyRegistry, { workflows });
await server.start();
const signal = new AbortController().signal;
const request = { local: true, requestId: '1', signal, progress: () => {} };
const { structuredContent } = await server.callTool('w_go', {}, request);
console.log(structuredContent.status);
await server.stop();
`;

nightlyTest('a program ends with its server, though a run waits', { timeout: 120_000 }, () => {
  const dist = pathToFileURL(path.join(builtPackage(), 'dist/')).href;
  const args = ['--input-type=module', '--eval', STOPPED(dist)];
  const ended = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
  expect(ended).toMatchObject({ status: 0, stdout: 'waiting\n' });
});

/** A program that leaves an error behind once its stdin has ended, and prints how many errors it was told of. */
const STRAY = (dist: string) => `
const { guardProcess } = await import('${dist}runtime/index.js');
guardProcess();
let errors = 0;
process.on('uncaughtException', () => { errors += 1; });
process.stdin.resume().once('end', () => {
  setTimeout(() => { throw new Error('stray'); });
  setTimeout(() => process.stdout.write(String(errors), () => process.exit()), 200);
});
process.stdout.write('ready ');
`;

nightlyTest(
  'an error that cannot be written, since nothing reads stderr any more, causes no other',
  async () => {
    const dist = pathToFileURL(path.join(builtPackage(), 'dist/')).href;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', STRAY(dist)]);
    const output = text(child.stdout);
    await once(child.stdout, 'data');
    child.stderr.destroy();
    child.stdin.end();
    expect(await output).toBe('ready 1');
  },
  120_000,
);

describe.each(smoke(TRANSPORTS))('a server process over %s', { timeout: 120_000 }, (transport) => {
  nightlyTest('serves on when a tool throws in a timer and leaves a rejection behind', async () => {
    const server = await start(transport, programs, LONG_MS);
    const client = await server.client();
    const other = await server.client();
    const held = callOf(other, 'hold');
    await server.says('held');
    expect((await callOf(client, 'stray')).structuredContent).toEqual({ left: true });
    await server.says('a forgotten promise');
    await server.says('a forgotten callback');
    server.kill('SIGUSR2');
    expect((await held).structuredContent).toEqual({ released: true });
    expect((await callOf(client, 'note')).structuredContent).toEqual({ noted: true });
    const log = server.stderr();
    expect(log).toContain(
      'An error was thrown outside of any call; the server keeps serving: Error: a forgotten',
    );
    expect(log).toContain(
      'A rejection was left unhandled; the server keeps serving: Error: a forgotten promise',
    );
    // The stack, and the cause with its own.
    expect(log).toMatch(/\n {4}at .*program\.mjs:\d+/);
    expect(log).toContain('caused by: Error: the disk is full');
  });

  test('takes no new requests after SIGTERM, lets a call finish, and ends with exit code 0', async () => {
    const server = await start(transport, programs, LONG_MS);
    const client = await server.client();
    const held = callOf(client, 'hold');
    await server.says('held');
    server.kill('SIGTERM');
    await server.says(`the server is being stopped: 1 request in flight may take ${LONG_MS} ms to finish`);
    await expect(callOf(client, 'note')).rejects.toMatchObject({
      code: -32004,
      message: expect.stringContaining('The server is shutting down and takes no further requests'),
    });
    await expect(client.listTools()).rejects.toMatchObject({ code: -32004 });
    server.kill('SIGUSR2');
    expect((await held).structuredContent).toEqual({ released: true });
    expect(await server.exit).toBe(0);
    expect(server.stderr()).not.toContain('cancelled');
    expect(server.stderr().match(/^(?:prepared|held|released)$/gm)).toEqual(['prepared', 'held', 'released']);
  });

  test('does not start when its hook fails, and says why', async () => {
    const { code, stderr } = await ended(programs.file('program'), transport, '1000', 'broken');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'the server cannot start: its `onStart` failed: the database does not answer\n',
    });
  });

  nightlyTest(
    'hands off what does not finish in time: a tool, a workflow as a tool and a prompt',
    async () => {
      const server = await start(transport, programs, 1_000);
      const client = await server.client();
      const answers = [callOf(client, 'hang'), callOf(client, 'w_slow')] as const;
      const prompt = client.getPrompt({ name: 'slow' });
      await server.says('hangs\nhangs\nhangs\n');
      server.kill('SIGTERM');
      const [tool, run] = await Promise.all(answers);
      expect(failureIn(tool)).toMatchObject({ code: 'E_CANCELLED', outcomeUnknown: true });
      expect(run.isError).toBe(true);
      expect(textIn(run)).toContain('the server was stopped');
      expect(failureIn(run)).toMatchObject({
        code: 'E_CANCELLED',
        partial: { first: { noted: true } },
      });
      const { messages, _meta } = await prompt;
      expect(_meta).toMatchObject({
        status: 'cancelled',
        calls: [{ step: 'last', tool: 'note' }],
      });
      expect(JSON.stringify(messages)).toContain('the server was stopped');
      const [handOff] = messages.slice(-1);
      expect(handOff?.content).toMatchObject({
        text: expect.stringMatching(
          /^Workflow 'slow' cancelled at step middle\. The outcome of this call is unknown/,
        ),
      });
      expect(await server.exit).toBe(0);
      expect(server.stderr()).toContain('3 requests in flight may take 1000 ms to finish');
      expect(server.stderr()).toMatch(
        /the server was stopped: cancelled 3 requests and 1 run that were not over/,
      );
    },
  );

  nightlyTest('does not wait for a run whose question has no user', async () => {
    const server = await start(transport, programs, LONG_MS);
    const client = await server.client();
    const { structuredContent } = await callOf(client, 'w_careful');
    expect(structuredContent).toMatchObject({ status: 'waiting' });
    server.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    expect(server.stderr()).toContain(
      'the server was stopped: cancelled 0 requests and 1 run that were not over',
    );
  });

  test('ends at once at the second signal', async () => {
    const server = await start(transport, programs, LONG_MS);
    const call = callOf(await server.client(), 'hang');
    // The connection ends without an answer, over HTTP when the client stops reconnecting.
    call.catch(() => {});
    await server.says('hangs');
    server.kill('SIGTERM');
    await server.says('the server is being stopped');
    server.kill('SIGINT');
    expect(await server.exit).toBe(130);
  });
});

nightlyTest('a client whose user is being asked gets the hand-off', { timeout: 120_000 }, async () => {
  for (const transport of TRANSPORTS) {
    let ask: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const user = () => {
      ask();
      return new Promise<never>(() => {});
    };
    const server = await start(transport, programs, 100, user);
    const client = await server.client(user);
    const answer = callOf(client, 'w_careful');
    await asked;
    server.kill('SIGTERM');
    expect(textIn(await answer)).toContain('the server was stopped');
    expect(await server.exit).toBe(0);
  }
});

nightlyTest('a client over stdio that leaves ends the process in order', { timeout: 120_000 }, async () => {
  const server = await start('stdio', programs, LONG_MS);
  await (await server.client()).close();
  expect(await server.exit).toBe(0);
  expect(server.stderr()).toBe('prepared\nreleased\n');
});

/** How a program that does not serve ended. */
async function ended(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { code, stderr };
}

/** The answer to a request with these headers. */
function answerTo(port: number, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers },
      async (response) => {
        let body = '';
        for await (const chunk of response) body += String(chunk);
        resolve({ status: response.statusCode ?? 0, body });
      },
    );
    sent.on('error', reject).end('{}');
  });
}

describe('a server process over HTTP', { timeout: 120_000 }, () => {
  nightlyTest('refuses foreign hosts and origins before it looks at the caller', async () => {
    const { port, client } = await startHttp(programs, LONG_MS);
    const host = `localhost:${port}`;
    const foreign = await answerTo(port, { host: `rebound.example:${port}` });
    expect(foreign.status).toBe(403);
    expect(JSON.parse(foreign.body)).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32000,
        message: `Forbidden: this server is not served as 'rebound.example:${port}'. Its operator lists its names in \`allowedHosts\`.`,
      },
    });
    const page = await answerTo(port, { host, origin: 'https://evil.example' });
    expect(page.status).toBe(403);
    expect(page.body).toContain("pages of 'https://evil.example' must not call this server");
    // The request is anonymous, and has passed the check.
    expect((await answerTo(port, { host })).status).toBe(401);
    expect((await answerTo(port, { host, origin: `http://${host}` })).status).toBe(401);
    expect((await callOf(await client(), 'note')).structuredContent).toEqual({ noted: true });
  });

  nightlyTest('opens no session while it is drained', async () => {
    const server = await startHttp(programs, LONG_MS);
    const held = callOf(await server.client(), 'hold');
    await server.says('held');
    server.kill('SIGTERM');
    await server.says('the server is being stopped');
    await expect(server.client()).rejects.toMatchObject({ code: 503 });
    server.kill('SIGUSR2');
    await held;
    expect(await server.exit).toBe(0);
  });

  test('ends with exit code 1 and a reason when it cannot listen', async () => {
    const { port } = await startHttp(programs, LONG_MS);
    const { code, stderr } = await ended(programs.file('program'), 'http', '1000', String(port));
    expect(code).toBe(1);
    expect(stderr).toContain(
      `port ${port} of 127.0.0.1 is in use: stop the other program, or choose another port`,
    );
    expect(stderr).toContain('released');
  });
});

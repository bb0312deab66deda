import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Connection } from '@temporalio/client';
import { buildSync } from 'esbuild';
import { afterAll, expect, inject, test } from 'vitest';
import { builtPackage } from '../built-package.js';
import { nightlyTest } from '../nightly.js';
import { createNamespace } from './find-server.js';
import { describeTemporal } from './host.js';

const ROOT = new URL('../../', import.meta.url).pathname;

/** The registry of examples/approval with the options of its server, with paths from the repository's root. */
const REGISTRY = `
import { Books } from './examples/approval/books.js';
import { PayExpense, ReleaseBudget, ReserveBudget } from './examples/approval/tools.js';
export { registry } from './examples/approval/generated/approval.registry.js';
const books = new Books(new URL('books.jsonl', import.meta.url).pathname);
const slow = (tool) => ({
  async execute(input, context) {
    console.error('a call begins');
    await new Promise((resolve) => setTimeout(resolve, Number(process.env.CALL_MS)));
    console.error('a call ends');
    return tool.execute(input, context);
  },
});
const reserve = new ReserveBudget(books);
export default {
  drainTimeoutMs: 60_000,
  onStop: () => console.error('onStop'),
  tools: {
    'reserve-budget': () => (process.env.CALL_MS ? slow(reserve) : reserve),
    'release-budget': () => new ReleaseBudget(books),
    'pay-expense': () => new PayExpense(books),
  },
};`;

const WORKFLOW = `
workflows:
  hold-budget:
    description: Reserves a budget, and releases it after a question
    params: { amount: { type: int, required: true } }
    graph:
      reserved: { call: reserve-budget, args: { purpose: paper, amount: $amount } }
      ask: { yield: Release it?, depends_on: [reserved], expects: { ok: { type: bool, required: true } } }
`;

const CLI = [join(builtPackage(), 'dist/cli/main.js')];

describeTemporal('commands on Temporal', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-commands-'));
  const query = new URLSearchParams({
    taskQueue: `commands-${randomUUID()}`,
    bundlePath: inject('temporalBundle'),
    worker: 'false',
  });
  const store = `temporal://${inject('temporalAddress')}/default?${query}`;
  const env = {
    ...(process.env as Record<string, string>),
    ...{ STEPWRIGHT_STORE: store, STEPWRIGHT_SOURCE_CHECK: 'off' },
  };
  const file = join(folder, 'registry.mjs');
  const registry = ['--registry', file, '--options', file];
  const spec = join(folder, 'hold.yaml');
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(builtPackage(), join(folder, 'node_modules/stepwright'), 'junction');
  buildSync({
    stdin: { contents: REGISTRY, resolveDir: ROOT },
    outfile: file,
    bundle: true,
    external: ['stepwright'],
    platform: 'node',
    format: 'esm',
    target: 'es2022',
    keepNames: true,
    logLevel: 'error',
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  });
  writeFileSync(spec, WORKFLOW);
  const processes: ChildProcess[] = [];
  afterAll(() => {
    for (const each of processes) each.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts `stepwright worker`. Resolves when it is ready. */
  async function worker(of = store): Promise<ChildProcess> {
    const child = spawn(process.execPath, [...CLI, 'worker', ...registry], {
      env: { ...env, STEPWRIGHT_STORE: of },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    processes.push(child);
    let stderr = '';
    const ready = new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk.toString();
        if (stderr.includes('the worker is ready')) resolve();
      });
      child.once('exit', () => reject(new Error(stderr)));
    });
    await ready;
    expect(stderr).not.toContain('questions.key');
    return child;
  }

  async function run(...args: readonly string[]): Promise<{ code: unknown; out: string; err: string }> {
    const child = spawn(process.execPath, [...CLI, ...args], {
      env,
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    return { code, out, err };
  }

  test('a run that a server starts is executed by workers, which end in order', {
    timeout: 90_000,
  }, async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...CLI, 'serve', spec, ...registry],
      env,
      cwd: folder,
    });
    const client = new Client({ name: 'test', version: '1.0.0' });
    const [first] = await Promise.all([worker(), client.connect(transport)]);
    const call = async (name: string, input: object) => {
      const { content, isError, structuredContent } = await client.callTool({
        name,
        arguments: { ...input },
      });
      if (isError === true) throw new Error(JSON.stringify(content));
      return structuredContent as { readonly status: string; readonly workflow_id: string };
    };
    const open = await call('w_hold-budget', { amount: 12 });
    expect(open.status).toBe('waiting');
    first.kill('SIGTERM');
    expect(await once(first, 'exit')).toEqual([0, null]);
    const second = await worker();
    const { workflow_id } = open;
    expect((await call('cancel_workflow', { workflow_id })).status).toBe('cancelled');
    second.kill('SIGINT');
    expect(await once(second, 'exit')).toEqual([0, null]);
    await client.close();
  });

  nightlyTest(
    'a server with its own worker that gets SIGTERM in a call responds, and calls `onStop` after the call',
    async () => {
      const own = store.replace('worker=false', 'worker=true').replace('taskQueue=', 'taskQueue=own-');
      const child = spawn(process.execPath, [...CLI, 'serve', spec, '--http', '--port', '0', ...registry], {
        env: { ...env, STEPWRIGHT_STORE: own, CALL_MS: '3000' },
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      processes.push(child);
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk.toString();
      });
      const says = async (words: RegExp) => {
        await expect.poll(() => stderr, { timeout: 60_000 }).toMatch(words);
        return words.exec(stderr)?.[1] ?? '';
      };
      const client = new Client({ name: 'test', version: '1.0.0' });
      const url = new URL(await says(/serving MCP at (\S+);/));
      await client.connect(new StreamableHTTPClientTransport(url));
      const call = client.callTool({ name: 'w_hold-budget', arguments: { amount: 12 } });
      await says(/a call begins/);
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect((await call).structuredContent).toMatchObject({ status: 'waiting' });
      expect(await ended).toEqual([0, null]);
      expect(stderr.match(/a call begins|a call ends|onStop/g)).toEqual([
        ...['a call begins', 'a call ends', 'onStop'],
      ]);
      await client.close();
    },
    120_000,
  );

  // The server takes minutes to let the poll of a deleted namespace go.
  nightlyTest(
    'a worker that ends by itself is reported, and ends its process',
    {
      timeout: 900_000,
    },
    async () => {
      const address = inject('temporalAddress') ?? '';
      const namespace = `removed-${randomUUID()}`;
      await createNamespace(address, namespace);
      const child = await worker(`temporal://${address}/${namespace}?${query}`);
      const exit = once(child, 'exit');
      const lines = text(child.stderr ?? Readable.from([]));
      const connection = await Connection.connect({ address });
      await connection.operatorService.deleteNamespace({ namespace });
      await connection.close();
      // The SDK asks again for a minute.
      expect(await exit).toEqual([1, null]);
      expect(await lines).toContain(
        `stepwright: the worker has ended, and executes no more runs: Namespace ${namespace} is not found.`,
      );
    },
  );

  nightlyTest('a name or a server that cannot be used is reported', { timeout: 60_000 }, async () => {
    const [option, gone, file] = await Promise.all([
      run('worker', ...registry, '--store', 'temporal://localhost:1/default?queue=a'),
      run('worker', ...registry, '--store', 'temporal://127.0.0.1:1'),
      run('worker', ...registry, '--store', 'sqlite:runs.db'),
    ]);
    expect(option).toMatchObject({ code: 1, out: '' });
    expect(option.err).toContain("it has the option 'queue', and those of a name are taskQueue");
    expect(gone.code).toBe(1);
    expect(gone.err).toContain(
      "the store 'temporal://127.0.0.1:1/default?taskQueue=stepwright' cannot be reached",
    );
    expect(file.code).toBe(2);
    expect(file.err).toContain('not `sqlite:runs.db`');
  });
});

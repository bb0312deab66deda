import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { hashToken } from '../../examples/secure/token-file.js';
import { compilePrograms } from '../compiled-programs.js';
import { statelessClient } from '../e2e/eras/client.js';
import { Child, programOf } from './child.js';
import { addressOf } from './tool-call.js';

const start = programOf('ledger-server');

/** Sends each request to the next of the servers. */
async function proxyOf(servers: URL[]): Promise<URL> {
  const proxy = createServer((from, to) => {
    const next = servers.shift() as URL;
    servers.push(next);
    const onward = request(
      next,
      { method: from.method, headers: { ...from.headers, host: next.host } },
      (answer) => {
        to.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(to);
      },
    );
    from.pipe(onward.on('error', () => to.destroy()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  return new URL(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`);
}

test('questions of a call outlast the server that asked them, behind a proxy without sticky sessions', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-rounds-'));
  const ledger = join(folder, 'ledger.txt');
  const begin = () => start(join(folder, 'runs.db'), ledger, 'http', 'stateless');
  const servers = [begin(), begin()];
  onTestFinished(async () => {
    for (const server of servers) await server.kill();
    rmSync(folder, { recursive: true });
  });
  const urls = await Promise.all(servers.map(addressOf));
  const ports = urls.map(({ port }) => port);
  const client = await statelessClient(await proxyOf(urls), { capabilities: { elicitation: { form: {} } } });
  let asked = 0;
  client.setRequestHandler('elicitation/create', async () => {
    asked += 1;
    // The server that has asked is the last one of the list.
    await servers[ports.indexOf(urls.pop()?.port ?? '')]?.kill();
    return { action: 'accept', content: { confirmed: true } };
  });
  const result = await client.callTool({ name: 'w_gate', arguments: {} });
  expect(result.isError).not.toBe(true);
  expect(asked).toBe(1);
  expect(result.structuredContent).not.toHaveProperty('action');
  const effects = readFileSync(ledger, 'utf8').trim().split('\n');
  expect(new Set(effects).size).toBe(effects.length);
});

/** The state of a run, in the result of a tool of examples/approval. */
interface Expense {
  readonly workflow_id: string;
  readonly status: string;
  readonly result?: unknown;
  readonly to_answer?: readonly { readonly workflow_id: string; readonly action_id: string }[];
}

test('an expense is approved over two servers, each of which is killed after its answer', {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-rounds-'));
  const source = fileURLToPath(new URL('../../scripts/approval-server.ts', import.meta.url));
  const programs = await compilePrograms({ server: source });
  const users = ['ada', 'bob'].map((subject) => {
    const rest = { scopes: [], audience: 'http://127.0.0.1/mcp', expiresAt: 4_102_444_800 };
    return [hashToken(subject), { subject, roles: ['lead'], ...rest }];
  });
  writeFileSync(join(folder, 'tokens.json'), JSON.stringify(Object.fromEntries(users)));
  const running = new Map<string, Child>();
  onTestFinished(async () => {
    for (const server of running.values()) await server.kill();
    await programs.remove();
    rmSync(folder, { recursive: true });
  });
  const begin = async (): Promise<URL> => {
    const server = new Child([process.execPath, programs.file('server'), folder]);
    const url = await new Promise<URL>((resolve, reject) => {
      server.process.stderr?.on('data', () => {
        const [, address] = /serving MCP at (http:\S+?\/mcp)\b/.exec(server.errors) ?? [];
        if (address !== undefined) resolve(new URL(address));
      });
      void server.closed.then(() => reject(new Error(`the server ended: ${server.errors}`)));
    });
    running.set(url.port, server);
    return url;
  };
  const urls = [await begin(), await begin()];
  const proxy = await proxyOf(urls);
  const calledBy = async (user: string) => {
    const client = await statelessClient(proxy, {}, { authorization: `Bearer ${user}` });
    return async (name: string, args: Record<string, unknown> = {}): Promise<Expense> => {
      const { structuredContent, content } = await client.callTool({ name, arguments: args });
      if (structuredContent === undefined) throw new Error(JSON.stringify(content));
      return structuredContent as unknown as Expense;
    };
  };
  /** Kills the server that has answered, the last one of the list; another one takes its place. */
  const replace = async (): Promise<void> => {
    await running.get(urls.pop()?.port ?? '')?.kill();
    urls.push(await begin());
  };
  const [ada, bob] = [await calledBy('ada'), await calledBy('bob')];
  const run = await ada('w_submit-expense', { purpose: 'a train ticket', amount: 120 });
  await replace();
  expect(run).toMatchObject({ status: 'waiting' });
  const [{ workflow_id = '', action_id = '' } = {}] = (await bob('list_workflows')).to_answer ?? [];
  await replace();
  await bob('submit_result', { workflow_id, action_id, result: true });
  await replace();
  const status = () => ada('get_workflow_status', { workflow_id: run.workflow_id });
  await expect
    .poll(status, { timeout: 60_000 })
    .toMatchObject({ status: 'completed', result: { payment: 'E-2' } });
  const books = readFileSync(join(folder, 'books.jsonl'), 'utf8').trim().split('\n');
  expect(books.map((line) => JSON.parse(line).kind)).toEqual(['reserved', 'paid']);
  expect(running.size).toBe(5);
});

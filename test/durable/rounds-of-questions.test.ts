import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { statelessClient } from '../e2e/eras/client.js';
import { programOf } from './child.js';
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

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createServer } from 'stepwright/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { registry } from '../../../examples/greeting/generated/greeting.registry.js';
import { httpHandler } from '../../../src/runtime/transports/http/endpoint.js';
import { plain } from './fixture/plain-adapter.js';

// The transports reach the protocol by their port alone: an adapter without the SDK is enough.

const call = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'greet', arguments: { name: 'Ada' } },
});

const greeted = {
  jsonrpc: '2.0',
  id: 1,
  result: { content: [{ type: 'text', text: expect.stringContaining('Ada') }] },
};

test('an adapter without the SDK answers over HTTP', async () => {
  const handler = httpHandler(plain, createServer(registry), {}, () => {});
  const answer = async (body: string) => {
    const response = await handler(new Request('http://localhost/mcp', { method: 'POST', body }));
    return { status: response.status, body: await response.json() };
  };
  expect(await answer(call)).toMatchObject({ status: 200, body: greeted });
  expect(await answer('[]')).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
  await handler.close();
});

test('an adapter without the SDK answers over stdio', { timeout: 120_000 }, async () => {
  const program = fileURLToPath(new URL('fixture/stdio-program.ts', import.meta.url));
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const flags = ['--conditions=@stepwright/source', '--import', './scripts/register.mjs'];
  const child = spawn(process.execPath, [...flags, program], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.write(`${call}\n`);
  const { value } = await lines.next();
  expect(JSON.parse(String(value))).toMatchObject(greeted);
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

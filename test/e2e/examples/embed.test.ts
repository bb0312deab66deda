import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, onTestFinished, test } from 'vitest';
import { programWithPackage } from '../../built-package.js';
import { clientWith } from '../composite/client.js';

/** A program beside a registry, in a process of its own. */
function embedded(program = 'examples/embed/main.ts') {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [programWithPackage(program)],
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const client = clientWith(undefined);
  onTestFinished(() => client.close());
  return { client, transport, stderr: () => stderr };
}

test('lists and calls the tools of the server and those of the registry', async () => {
  const { client, transport } = embedded();
  await client.connect(transport);
  expect(client.getServerVersion()).toMatchObject({ name: 'shop' });
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names[0]).toBe('products');
  expect(names).toEqual(expect.arrayContaining(['quote', 'w_check-order']));
  expect(await client.callTool({ name: 'products' })).toMatchObject({
    content: [{ type: 'text', text: 'pen, notebook' }],
  });
  expect(await client.callTool({ name: 'quote', arguments: { product: 'pen', count: 2 } })).toMatchObject({
    structuredContent: { available: 12, left: 10 },
  });
  expect(await client.callTool({ name: 'w_check-order', arguments: { product: 'pen' } })).toMatchObject({
    structuredContent: { left: 11 },
  });
  const prompt = await client.getPrompt({ name: 'check-order', arguments: { product: 'pen' } });
  expect(prompt._meta).toMatchObject({ status: 'succeeded' });
});

test('does not start when a tool of the server has the name of one in the registry', async () => {
  const { client, transport, stderr } = embedded('test/e2e/examples/fixture/collision.ts');
  await expect(client.connect(transport)).rejects.toThrow();
  expect(stderr()).toContain('AttachError');
  expect(stderr()).toContain('tool `quote` is in both: rename it in the registry or in the server');
});

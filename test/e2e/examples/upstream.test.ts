import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { programWithPackage } from '../../built-package.js';
import { ROOT } from './example-client.js';

const garden = 'The pears are ripe at the end of September.';
const boat = 'The boat needs a new coat of paint before April.';

describe('the example over upstream servers, over stdio', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-upstream-'));
  const client = new Client({ name: 'stepwright-test', version: '0.1.0' });
  const learn = (file: string) =>
    client.callTool({ name: 'w_learn-note', arguments: { file, topic: 'to do' } });

  beforeAll(async () => {
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [programWithPackage('examples/upstream/main.ts')],
        env: { ...getDefaultEnvironment(), UPSTREAM_MEMORY: join(folder, 'memory.jsonl') },
        cwd: ROOT,
        stderr: 'ignore',
      }),
    );
  }, 120_000);
  afterAll(async () => {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('offers the workflow, and none of the tools that it calls', async () => {
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('w_learn-note');
    expect(names.filter((name) => /^(filesystem|memory)_/.test(name))).toEqual([]);
  });

  test('remembers what notes say', async () => {
    expect(await learn('garden.md')).toMatchObject({ structuredContent: { facts: [garden] } });
    expect(await learn('boat.md')).toMatchObject({ structuredContent: { facts: [garden, boat] } });
  });

  test('shows the calls as a prompt', async () => {
    const { messages, _meta } = await client.getPrompt({
      name: 'learn-note',
      arguments: { file: 'garden.md', topic: 'pears' },
    });
    expect(_meta).toMatchObject({ status: 'succeeded', result: { facts: [garden] } });
    expect(JSON.stringify(messages)).toContain('filesystem_read_text_file');
  });

  test('fails with the text of the server', async () => {
    const failed = await learn('../secret.md');
    expect(failed).toMatchObject({
      isError: true,
      _meta: { 'stepwright/failure': { code: 'E_TOOL_ERROR', node: 'note' } },
    });
  });
});

import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { buildSync } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { cliProject } from '../cli/cli-project.fixture.js';
import { linkPackage } from '../installed-package.js';
import { fencesOf, page } from './fences.js';

const fences = fencesOf(page('docs/adopt.md'));
const named = (file: string) => fences.find((fence) => fence.file === file)?.body ?? '';

/** One side of the difference of the server. */
const side = (mark: '-' | '+') =>
  named('server.ts')
    .split('\n')
    .filter((line) => line.startsWith(' ') || line.startsWith(mark))
    .map((line) => line.slice(1))
    .join('\n');

test('the server of the page gets a workflow over its own tools', { timeout: 240_000 }, async () => {
  const project = cliProject({ experimentalDecorators: true });
  onTestFinished(() => project.remove());
  for (const name of ['@modelcontextprotocol/sdk', 'zod'])
    linkPackage(path.join(project.root, 'node_modules'), name);
  const compile = (...files: readonly string[]): void =>
    void buildSync({
      entryPoints: files.map((file) => path.join(project.root, file)),
      ...{ outdir: path.join(project.root, 'dist'), outbase: project.root, format: 'esm', target: 'es2022' },
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
    });
  const start = async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(
      new StdioClientTransport({ command: 'node', args: ['dist/server.js'], cwd: project.root }),
    );
    onTestFinished(() => client.close());
    const { tools } = await client.listTools();
    return { client, names: tools.map(({ name }) => name) };
  };

  project.write('server.ts', side('-'));
  compile('server.ts');
  const { names: own } = await start();
  expect(own).toEqual(fences[0]?.body.trim().split(/\s+/));
  expect(project.stepwright('pull', 'shop', '--self', 'node dist/server.js')).toMatchObject({ code: 0 });

  project.write('src/order.workflow.ts', named('src/order.workflow.ts'));
  expect(project.stepwright('codegen')).toMatchObject({ code: 0, err: '' });
  project.write('server.ts', side('+'));
  compile('server.ts', 'src/order.workflow.ts', 'src/upstream/shop.ts', 'generated/registry.ts');
  const { client, names } = await start();
  const more = ['w_order', 'submit_result', 'get_workflow_status', 'cancel_workflow', 'list_workflows'];
  expect([...names].sort()).toEqual([...own, ...more].sort());
  const { structuredContent } = await client.callTool({ name: 'w_order', arguments: { product: 'pen' } });
  expect(JSON.stringify(structuredContent)).toContain('Order one of 5?');
});

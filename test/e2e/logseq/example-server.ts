import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { GetPromptResult } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The example's server on a copy of its graph, with a real client; both end with the test. */
export interface Example {
  readonly client: Client;
  /** The copy of the graph. */
  readonly folder: string;
}

/** Starts the example over stdio. `graph` false leaves the folder of the graph out. */
export async function startExample({ graph = true } = {}): Promise<Example> {
  const parent = await mkdtemp(join(tmpdir(), 'stepwright-logseq-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const folder = join(parent, 'graph');
  if (graph) await cp(join(ROOT, 'examples/logseq/graph'), folder, { recursive: true });
  const client = new Client({ name: 'stepwright-test', version: '0.1.0' });
  const loader = new URL('../../../scripts/register.mjs', import.meta.url).href;
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [
        '--conditions=@stepwright/source',
        '--import',
        loader,
        join(ROOT, 'examples/logseq/main.ts'),
        folder,
      ],
      cwd: ROOT,
      stderr: 'inherit',
    }),
  );
  onTestFinished(() => client.close());
  return { client, folder };
}

/** A conversation as text: the role, then the indented content. Ids of new blocks are random, and shown as `<id>`. */
export function printTrace({ messages }: GetPromptResult): string {
  const printed = messages.map(({ role, content }) => {
    const text =
      content.type === 'text' ? content.text : content.type === 'resource' ? resourceText(content) : '';
    return `[${role}, ${content.type}]\n${text.trimEnd().replace(/^(?=.)/gm, '  ')}\n`;
  });
  return printed.join('\n').replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>');
}

/** The texts of a conversation, without their roles. */
export function texts({ messages }: GetPromptResult): string[] {
  return messages.map(({ content }) => (content.type === 'text' ? content.text : ''));
}

function resourceText({
  resource,
}: {
  resource: { uri: string; text?: string } | { uri: string; blob: string };
}): string {
  return `${resource.uri}\n${'text' in resource ? resource.text : ''}`;
}

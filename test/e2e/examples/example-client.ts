import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { GetPromptResult } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { programWithPackage } from '../../built-package.js';

/** The repository's root, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** As {@link openServer}; both end with the test. */
export async function startServer(example: string, ...args: readonly string[]): Promise<Client> {
  const client = await openServer(example, ...args);
  onTestFinished(() => client.close());
  return client;
}

/** Starts the server of an example over stdio, as its users do, with a real client. Closing the client ends both. */
export async function openServer(example: string, ...args: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'stepwright-test', version: '0.1.0' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [programWithPackage(`examples/${example}/main.ts`), ...args],
      cwd: ROOT,
      stderr: 'inherit',
    }),
  );
  return client;
}

type Content = GetPromptResult['messages'][number]['content'];

/** A conversation as text: the role, then the indented content. Ids of new blocks are random, and shown as `<id>`. */
export function printTrace({ messages }: GetPromptResult): string {
  const printed = messages.map(
    ({ role, content }) =>
      `[${role}, ${content.type}]\n${textOf(content)
        .trimEnd()
        .replace(/^(?=.)/gm, '  ')}\n`,
  );
  return printed.join('\n').replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>');
}

/** The texts of a conversation, without their roles. */
export function texts({ messages }: GetPromptResult): string[] {
  return messages.map(({ content }) => (content.type === 'text' ? content.text : ''));
}

function textOf(content: Content): string {
  switch (content.type) {
    case 'text':
      return content.text;
    case 'resource':
      return `${content.resource.uri}\n${'text' in content.resource ? content.resource.text : ''}`;
    case 'resource_link':
      return `${content.name}: ${content.uri}`;
    default:
      return content.mimeType;
  }
}

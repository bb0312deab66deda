import { join, relative } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect, onTestFinished, test } from 'vitest';
import { programWithPackage } from '../built-package.js';
import { fencesOf, page } from './fences.js';
import { pageProject } from './pages.js';

const PAGE = 'docs/opentelemetry.md';
const ROOT = join(import.meta.dirname, '../..');

interface Printed {
  readonly name: string;
  readonly id: string;
  readonly parent: string | undefined;
}

/** The spans that the exporter has printed, in the order in which they ended. */
function spansIn(text: string): Printed[] {
  return text.split(/^\{$/m).flatMap((span) => {
    const matchOf = (pattern: RegExp): string | undefined => pattern.exec(span)?.[1];
    const [name, id] = [matchOf(/^ {2}name: '(.*)',$/m), matchOf(/^ {2}id: '(\w+)',$/m)];
    const parent = matchOf(/^ {4}spanId: '(\w+)',$/m);
    return name === undefined || id === undefined ? [] : [{ name, id, parent }];
  });
}

function outline(spans: readonly Printed[], parent: string | undefined, indent = ''): string {
  return spans
    .filter((span) => span.parent === parent)
    .map(({ name, id }) => `${indent}${name}\n${outline(spans, id, `${indent}  `)}`)
    .join('');
}

test('the program of the page prints the spans that it shows', { timeout: 300_000 }, async () => {
  const { root, remove } = await pageProject(PAGE);
  onTestFinished(remove);
  const program = programWithPackage(relative(ROOT, join(root, 'src/main.ts')));
  const transport = new StdioClientTransport({ command: process.execPath, args: [program], stderr: 'pipe' });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise((resolve) => transport.stderr?.once('end', resolve));
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport as Transport);
  const { messages } = await client.getPrompt({ name: 'note', arguments: { text: 'hello' } });
  expect(JSON.stringify(messages)).toContain('hello');
  await client.close();
  await ended;
  const shown = fencesOf(page(PAGE)).find(({ language }) => language === 'text');
  expect(outline(spansIn(stderr), undefined)).toBe(shown?.body);
});

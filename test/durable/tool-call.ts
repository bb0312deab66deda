import type { JsonObject } from '../../src/graph/json.js';
import type { Answer } from '../e2e/composite/client.js';
import type { Child } from './child.js';

/** Calls a tool of a server without sessions. Rejects where the server ends before it answers. */
export async function toolCall(url: URL, name: string, args: JsonObject = {}): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  const data = text.startsWith('{') ? text : text.slice(text.lastIndexOf('data: ') + 6);
  const { result, error } = JSON.parse(data) as { readonly result?: Answer; readonly error?: unknown };
  if (result === undefined) throw new Error(JSON.stringify(error));
  return result;
}

/** The address that a server prints first. */
export async function addressOf(server: Child): Promise<URL> {
  const isUrl = (line: string): boolean => line.startsWith('http:');
  for (let count = 1; !server.lines.some(isUrl); count += 1) await server.printed(count);
  return new URL(server.lines.find(isUrl) ?? '');
}

import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import type { Message } from '../messages.js';

/** A JSON-RPC error for a request that goes no further. */
export function refusal(
  status: number,
  code: number,
  message: string,
  id: Message['id'] | null = null,
  data?: JsonObject,
): Response {
  const error = { code, message, ...defined({ data }) };
  return Response.json({ jsonrpc: '2.0', id, error }, { status });
}

/** A refusal of a request that its client may repeat. */
export function busy(status: 429 | 503, text: string, { id }: Message): Response {
  const response = refusal(status, -32_005, text, id);
  response.headers.set('retry-after', status === 429 ? '1' : '5');
  return response;
}

/** What web pages may send. */
const PAGE_HEADERS = [
  'Authorization',
  'Content-Type',
  'Accept',
  'Mcp-Session-Id',
  'Mcp-Protocol-Version',
  'Last-Event-ID',
] as const;

/** The answer to a web page that asks what it may send. @param more further headers. */
export function preflight(more: readonly string[]): Response {
  const headers = {
    'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
    'access-control-allow-headers': [...PAGE_HEADERS, ...more].join(', '),
    'access-control-max-age': '86400',
  };
  return new Response(null, { status: 204, headers });
}

/** Lets a web page of an allowed origin read the response. */
export function allowPage(headers: Headers, origin: string): void {
  headers.set('access-control-allow-origin', origin);
  headers.append('vary', 'Origin');
  headers.set('access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate, Retry-After');
}

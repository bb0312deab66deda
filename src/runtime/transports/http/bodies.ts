import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import type { Message } from '../messages.js';

/**
 * Reads the body of a request.
 *
 * @returns nothing for a body of more than `limit` bytes; the rest of it is not read.
 * @throws whatever went wrong with the connection.
 */
export async function readBody(request: Request, limit: number): Promise<string | undefined> {
  const announced = request.headers.get('content-length') ?? '';
  if (Number(announced) > limit) return undefined;
  // HTTP gives no more than that. Adapters of Node read a text without a stream of the web platform.
  if (/^\d+$/.test(announced)) return request.text();
  if (request.body === null) return '';
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Passes a stream on, and aborts it when more than `limitBytes` wait for a reader: what a client does not read must not
 * fill the memory.
 *
 * @param onEnd called once, when the stream has ended in any way. `isUnread`: it was aborted.
 */
export function boundedStream(
  source: ReadableStream<Uint8Array>,
  limitBytes: number,
  onEnd: (isUnread: boolean) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const pump = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    let isUnread = false;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        controller.enqueue(value);
        isUnread = (controller.desiredSize ?? 0) < 0;
        if (!isUnread) continue;
        controller.error(new Error('the client does not read'));
        await reader.cancel();
        return;
      }
      controller.close();
    } catch (error) {
      // The controller of a cancelled stream is closed already.
      controller.error(error);
    } finally {
      onEnd(isUnread);
    }
  };
  return new ReadableStream(
    {
      start: (controller) => void pump(controller),
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: limitBytes, size: (chunk) => chunk.byteLength },
  );
}

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

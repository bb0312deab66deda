import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';

/** The revision of the era without connections. */
export const REVISION = '2026-07-28';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A client of that revision; `elicitation` of its capabilities says whether it asks its user.
 *
 * @param headers of all its requests.
 * @param fetch sends them.
 */
export async function statelessClient(
  url: URL,
  options: ClientOptions = {},
  headers: Record<string, string> = {},
  fetch: Fetch = globalThis.fetch,
): Promise<Client> {
  const client = new Client(
    { name: 'new', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: REVISION } }, ...options },
  );
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch }));
  onTestFinished(() => client.close());
  return client;
}

/** The `_meta` of such a client's requests. */
export function envelope(capabilities: object = {}) {
  return {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
}

interface PostOptions {
  readonly params?: object;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  /** Sends the message. */
  readonly fetch?: Fetch;
}

/** Sends one message as such a client does. Members of `params` and of the headers replace its own. */
export function post(
  url: URL,
  method: string,
  { params = {}, headers = {}, signal, fetch = globalThis.fetch }: PostOptions = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    ...(signal === undefined ? {} : { signal }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta: envelope(), ...params } }),
  });
}

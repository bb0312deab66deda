import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  type Progress,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import type { UpstreamServer } from '../../upstream/config.js';
import { withLimit } from '../../upstream/long-timer.js';
import {
  reasonOf,
  type UpstreamCall,
  UpstreamError,
  type UpstreamListing,
  type UpstreamResult,
  upstreamTexts,
} from '../../upstream/port.js';
import { type ConnectionSecrets, SessionLostError, type UpstreamConnection } from '../../upstream/servers.js';
import { ClientCredentials, NoTokenError } from './client-credentials.js';
import { readTools } from './upstream-listing.js';
import { UpstreamProcess } from './upstream-process.js';

/** How long a server may take to start and to introduce itself. */
const CONNECT_TIMEOUT_MS = 30_000;

/** The longest timer: calls end by their signal. */
const NO_TIMEOUT_MS = 0x7fffffff;

export interface OpenRequest {
  readonly name: string;
  /** Its variables are filled in. */
  readonly server: UpstreamServer;
  /** The folder that its `cwd` is relative to. */
  readonly root: string;
  readonly say: (line: string) => void;
  readonly changed: () => void;
  readonly secrets: ConnectionSecrets;
  readonly signal: AbortSignal;
}

/** Connects to an upstream server by the client of the SDK. */
export async function openUpstream(request: OpenRequest): Promise<UpstreamConnection> {
  const client = new Client({ name: 'stepwright', version: '0.0.0' });
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => request.changed());
  const transport = transportOf(request);
  const timeout = Math.max(CONNECT_TIMEOUT_MS, request.server.timeoutMs ?? 0);
  try {
    await client.connect(transport, { timeout: Math.min(timeout, NO_TIMEOUT_MS), signal: request.signal });
  } catch (error) {
    // Before it is closed, which ends the process.
    const end = await endTextOf(transport);
    await client.close().catch(() => {});
    throw end === undefined ? error : new Error(end);
  }
  return new ClientConnection(client, closed, request, () => endTextOf(transport));
}

async function endTextOf(transport: Transport): Promise<string | undefined> {
  return transport instanceof UpstreamProcess ? transport.endText() : undefined;
}

function transportOf({ server, root, say, secrets }: OpenRequest): Transport {
  if ('url' in server) {
    const { url, headers = {}, auth } = server;
    const authorized =
      auth === undefined ? {} : { fetch: new ClientCredentials(server, auth, secrets).fetch };
    const options = { requestInit: { headers: { ...headers } }, ...authorized };
    // The members of the SDK's class are optional where those of its interface are not.
    return new StreamableHTTPClientTransport(new URL(url), options) as Transport;
  }
  const { command, args = [], env = {}, cwd = '.' } = server;
  const all = { ...getDefaultEnvironment(), ...env };
  const parameters = { command, args: [...args], env: all, cwd: path.resolve(root, cwd) };
  return new UpstreamProcess(parameters, say, secrets.mask);
}

function metaOf({ idempotencyKey, meta }: UpstreamCall): { readonly _meta?: Record<string, string> } {
  if (idempotencyKey === undefined && meta === undefined) return {};
  return {
    _meta: {
      ...meta,
      ...defined({ 'stepwright/idempotencyKey': idempotencyKey }),
    },
  };
}

class ClientConnection implements UpstreamConnection {
  #isClosed = false;

  constructor(
    readonly client: Client,
    readonly closed: Promise<void>,
    readonly request: OpenRequest,
    readonly endText: () => Promise<string | undefined>,
  ) {
    void closed.then(() => {
      this.#isClosed = true;
    });
  }

  close(): Promise<void> {
    return this.client.close();
  }

  async call(tool: string, input: JsonObject, call: UpstreamCall): Promise<UpstreamResult> {
    return withLimit(this.request.server.timeoutMs, call.signal, (signal, isLate) =>
      this.#call(tool, input, { ...call, signal }, isLate),
    );
  }

  async #call(
    tool: string,
    input: JsonObject,
    call: UpstreamCall,
    isLate: () => boolean,
  ): Promise<UpstreamResult> {
    const params = {
      name: tool,
      arguments: { ...input },
      ...metaOf(call),
    };
    try {
      const result = await this.client.request({ method: 'tools/call', params }, CallToolResultSchema, {
        signal: call.signal,
        timeout: NO_TIMEOUT_MS,
        onprogress: ({ progress, total, message }: Progress) => call.progress(progress, total, message),
      });
      return plainResult(result as unknown as Loose<UpstreamResult>);
    } catch (error) {
      if (isLate()) {
        const { name, server } = this.request;
        const text = `The call of '${tool}' of the upstream server '${name}' timed out after ${server.timeoutMs} ms`;
        throw new UpstreamError('E_TIMEOUT', text, { outcomeUnknown: true });
      }
      if (call.signal.aborted) throw call.signal.reason;
      throw await this.#failure(error, tool);
    }
  }

  async list(signal: AbortSignal): Promise<UpstreamListing> {
    const options = { signal, timeout: CONNECT_TIMEOUT_MS };
    const tools = await readTools(this.client, this.request.server, options).catch(async (error: unknown) => {
      if (signal.aborted) throw signal.reason;
      throw await this.#failure(error, 'tools/list');
    });
    const { name = this.request.name, version = '' } = this.client.getServerVersion() ?? {};
    return { server: { name, version }, ...tools };
  }

  async #failure(error: unknown, tool: string): Promise<Error> {
    const { name } = this.request;
    const why = reasonOf(error);
    if (error instanceof StreamableHTTPError) {
      const { code = 0 } = error;
      if (code === 404) return new SessionLostError(why);
      if (code >= 400 && code < 500)
        return new UpstreamError('E_UPSTREAM_REFUSED', upstreamTexts.refused(name, tool, why));
    } else if (!this.#isClosed && isAnswer(error)) {
      return new UpstreamError('E_UPSTREAM_REFUSED', upstreamTexts.refused(name, tool, why));
    }
    if (isUnsent(error) || error instanceof NoTokenError)
      return new UpstreamError('E_UPSTREAM_UNAVAILABLE', upstreamTexts.unavailable(name, why));
    const text = upstreamTexts.lost(name, tool, await this.endText());
    return new UpstreamError('E_UPSTREAM_LOST', text, { outcomeUnknown: true });
  }
}

/** An error that the server answered with has a code of JSON-RPC. */
function isAnswer(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}

/** Whether no byte of a request has been sent. */
function isUnsent(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { readonly code?: unknown } | undefined) : undefined;
  return (
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes(String(cause?.code)) ||
    (error instanceof Error && error.message === 'Not connected')
  );
}

/** What a parser of the SDK returns: members may be `undefined`. */
type Loose<T> = { readonly [K in keyof T]: T[K] | undefined };

function plainResult({ content, structuredContent, isError, _meta }: Loose<UpstreamResult>): UpstreamResult {
  return {
    content: content ?? [],
    ...defined({ structuredContent }),
    isError: isError === true,
    ...defined({ _meta }),
  };
}

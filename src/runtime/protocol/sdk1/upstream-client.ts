import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { auth, extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  getDefaultEnvironment,
  StdioClientTransport,
  type StdioServerParameters,
} from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  type Progress,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import { clipText, escapeUnprintable } from '../../../graph/printable-text.js';
import type { HttpUpstream, UpstreamServer } from '../../upstream/config.js';
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
import { readTools } from './upstream-listing.js';

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

/** So many lines of stderr are kept for the message of a server that has exited, each of this length at most. */
const LAST_LINES = 10;
const LONGEST_LINE = 300;

/** How long the rest of stderr may take. A process that the server has started may keep it open forever. */
const LAST_OUTPUT_MS = 1_000;

/** A server over stdio, with how its process ended. */
class UpstreamProcess extends StdioClientTransport {
  readonly #command: string;
  readonly #lines: string[] = [];
  readonly #written: Promise<unknown>;
  #exit: { readonly code: number | null; readonly signal: string | null } | undefined;

  /**
   * @param say receives what the server writes to stderr, a line at a time.
   * @param mask masks secrets: the part of one that is left of a shortened line could not be found any more.
   */
  constructor(
    parameters: StdioServerParameters,
    say: (line: string) => void,
    mask: (text: string) => string,
  ) {
    super({ ...parameters, stderr: 'pipe' });
    const command = [parameters.command, ...(parameters.args ?? [])].join(' ');
    this.#command = clipText(escapeUnprintable(mask(command)), LONGEST_LINE);
    const lines = createInterface({ input: this.stderr as Readable });
    lines.on('line', (line) => {
      say(line);
      if (line.trim() === '') return;
      this.#lines.push(clipText(escapeUnprintable(mask(line)), LONGEST_LINE));
      if (this.#lines.length > LAST_LINES) this.#lines.shift();
    });
    this.#written = once(lines, 'close');
  }

  override async start(): Promise<void> {
    await super.start();
    // The class of the SDK keeps the process to itself, and does not pass on how it ended.
    const { _process: process } = this as unknown as { readonly _process?: ChildProcess };
    process?.once('exit', (code, signal) => {
      this.#exit = { code, signal };
    });
  }

  /** How the process ended, as a sentence with the end of its stderr; nothing while it runs. */
  async endText(): Promise<string | undefined> {
    if (this.#exit === undefined) return undefined;
    await Promise.race([this.#written, delay(LAST_OUTPUT_MS, undefined, { ref: false })]);
    return upstreamTexts.exited(this.#command, this.#exit, this.#lines);
  }
}

/** How long each request for a token may take. */
const TOKEN_TIMEOUT_MS = 30_000;

/** Thrown where there is no token for a request, which was not handled then. */
class NoTokenError extends Error {
  override readonly name = 'NoTokenError';
}

/**
 * Sends the requests for an upstream server with tokens, by the grant for client credentials (RFC 6749, section 4.4). One
 * is asked for when the server asks for it, and again when it has expired. Tokens are kept in memory, for one connection.
 *
 * The transport of the SDK could do so by itself. It would refuse a call whose token expires while another call has got a
 * new one, and would send the headers of the server to its authorization server.
 */
class ClientCredentials {
  readonly #server: HttpUpstream;
  readonly #provider: ClientCredentialsProvider;
  readonly #secrets: ConnectionSecrets;
  #renewal: Promise<void> | undefined;

  constructor(
    server: HttpUpstream,
    { issuer, clientId, clientSecret, scope }: NonNullable<HttpUpstream['auth']>,
    secrets: ConnectionSecrets,
  ) {
    this.#server = server;
    this.#secrets = secrets;
    this.#provider = new ClientCredentialsProvider({
      clientId,
      clientSecret,
      clientName: 'stepwright',
      expectedIssuer: issuer,
      ...defined({ scope }),
    });
  }

  /** @throws NoTokenError */
  readonly fetch: FetchLike = async (url, init) => {
    const token = this.#token;
    const response = await fetch(url, this.#authorized(init));
    if (response.status !== 401) return response;
    await response.body?.cancel();
    // Another request may have got one in the meantime.
    if (this.#token === token) {
      this.#renewal ??= this.#renew(response).finally(() => {
        this.#renewal = undefined;
      });
      await this.#renewal;
    }
    return fetch(url, this.#authorized(init));
  };

  get #token(): string | undefined {
    return this.#provider.tokens()?.access_token;
  }

  #authorized(init: RequestInit = {}): RequestInit {
    const headers = new Headers(init.headers);
    if (this.#token !== undefined) headers.set('authorization', `Bearer ${this.#token}`);
    return { ...init, headers };
  }

  async #renew(refusal: Response): Promise<void> {
    try {
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refusal);
      await auth(this.#provider, {
        serverUrl: this.#server.url,
        ...defined({ resourceMetadataUrl, scope }),
        fetchFn: this.#fetchForToken,
      });
    } catch (error) {
      throw new NoTokenError(reasonOf(error), { cause: error });
    }
    if (this.#token !== undefined) this.#secrets.addToken(this.#token);
  }

  /** The server itself gets its headers, also where it says which authorization server it trusts. */
  readonly #fetchForToken: FetchLike = (url, init = {}) => {
    const { origin } = new URL(this.#server.url);
    const headers = new Headers(new URL(url).origin === origin ? this.#server.headers : {});
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    return fetch(url, { ...init, headers, signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS) });
  };
}

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Client,
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SERVER_INFO_META_KEY,
  StreamableHTTPClientTransport,
  type Transport,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/client';
import {
  getDefaultEnvironment,
  StdioClientTransport,
  type StdioServerParameters,
} from '@modelcontextprotocol/client/stdio';
import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import { clip, clipText, escapeUnprintable } from '../../../graph/printable-text.js';
import type { ModuleUpstream, UpstreamServer } from '../../upstream/config.js';
import { pageSchema, readTools } from '../../upstream/listing.js';
import {
  metaOf,
  reasonOf,
  START_TIMEOUT_MS,
  type UpstreamCall,
  UpstreamError,
  type UpstreamListing,
  type UpstreamResult,
  upstreamTexts,
} from '../../upstream/port.js';
import { type ConnectionSecrets, SessionLostError, type UpstreamConnection } from '../../upstream/servers.js';
import { fetchWithTokens, NoTokenError } from './auth.js';

/** How long a server may take to introduce itself, and to list its tools. */
const CONNECT_TIMEOUT_MS = 30_000;

/** After so long it is said that a process has not introduced itself. */
const SLOW_START_MS = 5_000;

/** How long a process is waited for that may not know `server/discover`, and does not answer it. */
const PROBE_TIMEOUT_MS = 10_000;

/** The delays before a subscription that has ended is made again. */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

/** The code of a call that lacks headers for its inputs. */
const HEADER_MISMATCH = -32020;

/** The longest timer: calls end by their signal. */
const NO_TIMEOUT_MS = 0x7fffffff;

export interface OpenRequest {
  readonly name: string;
  /** Its variables are filled in. */
  readonly server: Exclude<UpstreamServer, ModuleUpstream>;
  /** The folder that its `cwd` is relative to. */
  readonly root: string;
  readonly say: (line: string) => void;
  readonly changed: () => void;
  readonly secrets: ConnectionSecrets;
  readonly signal: AbortSignal;
}

/**
 * Connects to an upstream server by the client of the SDK, which asks for the revisions of the server first, and takes one
 * that does not say them for a server of 2025-11-25 or before.
 */
export async function openUpstream(request: OpenRequest): Promise<UpstreamConnection> {
  try {
    return await connect(request, 'auto');
  } catch (error) {
    // A server may end at a request that it does not know.
    if (!(error instanceof ProcessEndedError) || request.signal.aborted) throw error;
    // If it cannot start at all, it says the same again.
    const lines: string[] = [];
    let say = (line: string): void => void lines.push(line);
    const connection = await connect({ ...request, say: (line) => say(line) }, 'legacy');
    for (const line of lines) request.say(line);
    say = request.say;
    return connection;
  }
}

async function connect(request: OpenRequest, mode: 'auto' | 'legacy'): Promise<UpstreamConnection> {
  const { server, signal } = request;
  const probe = 'url' in server ? {} : { timeoutMs: PROBE_TIMEOUT_MS };
  const client = new Client(
    { name: 'stepwright', version: '0.0.0' },
    { versionNegotiation: { mode, probe }, inputRequired: { autoFulfill: false } },
  );
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => request.changed());
  const transport = transportOf(request);
  // A package manager that is ended while it installs may leave a folder that it never repairs.
  const longest = 'url' in server ? CONNECT_TIMEOUT_MS : START_TIMEOUT_MS;
  const timeout = Math.max(longest, server.timeoutMs ?? 0);
  const notice =
    'url' in server
      ? undefined
      : setTimeout(() => request.say(upstreamTexts.starting), SLOW_START_MS).unref();
  // Before a revision is agreed upon, the client does not look at the signal.
  const stop = (): void => void transport.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await client.connect(transport, { timeout: Math.min(timeout, NO_TIMEOUT_MS), signal });
  } catch (error) {
    // Before it is closed, which ends the process.
    const end = await endTextOf(transport);
    await client.close().catch(() => {});
    throw end === undefined ? refusalOf(error) : new ProcessEndedError(end);
  } finally {
    clearTimeout(notice);
    signal.removeEventListener('abort', stop);
  }
  const connection = new ClientConnection(client, closed, request, () => endTextOf(transport));
  void connection.follow();
  return connection;
}

/** Thrown for a server that ended before it was connected. */
class ProcessEndedError extends Error {
  override readonly name = 'ProcessEndedError';
}

/** Why a server cannot be connected: the client says in the cause, or beside its message, what the server said. */
function refusalOf(error: unknown): unknown {
  if (error instanceof SdkHttpError) {
    const { text } = error.data;
    return typeof text === 'string' && text !== '' && !error.message.includes(text)
      ? new Error(`${error.message}: ${text}`)
      : error;
  }
  return error instanceof SdkError && error.cause instanceof Error ? error.cause : error;
}

async function endTextOf(transport: Transport): Promise<string | undefined> {
  return transport instanceof UpstreamProcess ? transport.endText() : undefined;
}

function transportOf({ name, server, root, say, secrets }: OpenRequest): Transport {
  if ('url' in server) {
    const { url, headers = {}, auth } = server;
    const authorized = auth === undefined ? {} : { fetch: fetchWithTokens({ name, server, root }, secrets) };
    return new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
      ...authorized,
    });
  }
  const { command, args = [], env = {}, cwd = '.' } = server;
  const all = { ...getDefaultEnvironment(), ...env };
  const parameters = { command, args: [...args], env: all, cwd: path.resolve(root, cwd) };
  return new UpstreamProcess(parameters, say, secrets.mask);
}

class ClientConnection implements UpstreamConnection {
  readonly #isModern: boolean;
  #isClosed = false;
  /** What the last list of tools says of their inputs: calls over HTTP repeat some of them in headers. */
  #inputSchemas: ReadonlyMap<string, JsonObject> = new Map();

  constructor(
    readonly client: Client,
    readonly closed: Promise<void>,
    readonly request: OpenRequest,
    readonly endText: () => Promise<string | undefined>,
  ) {
    this.#isModern = client.getProtocolEra() === 'modern';
    void closed.then(() => {
      this.#isClosed = true;
    });
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** Subscribes to changes of the tools, which servers before 2026-07-28 report without. */
  async follow(): Promise<void> {
    if (!this.#isModern || this.client.getServerCapabilities()?.tools?.listChanged !== true) return;
    for (let delayMs = FIRST_DELAY_MS; !this.#isClosed; delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS)) {
      try {
        const subscription = await this.client.listen({ toolsListChanged: true });
        // What has changed in between is not known.
        if (delayMs > FIRST_DELAY_MS) this.request.changed();
        delayMs = FIRST_DELAY_MS;
        await subscription.closed;
      } catch (error) {
        // It does not offer them after all.
        if (error instanceof ProtocolError || (error instanceof SdkHttpError && error.status < 500)) return;
      }
      await Promise.race([this.closed, delay(delayMs, undefined, { ref: false })]);
    }
  }

  async call(tool: string, input: JsonObject, call: UpstreamCall): Promise<UpstreamResult> {
    try {
      const result = await this.#send(tool, input, call).catch(async (error: unknown) => {
        if (!(error instanceof ProtocolError) || error.code !== HEADER_MISMATCH) throw error;
        await this.#read(call.signal);
        return this.#send(tool, input, call);
      });
      return plainResult(result as unknown as Loose<UpstreamResult>);
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason;
      throw await this.#failure(error, tool);
    }
  }

  #send(tool: string, input: JsonObject, call: UpstreamCall) {
    const inputSchema = { type: 'object', ...this.#inputSchemas.get(tool) } as const;
    return this.client.callTool(
      { name: tool, arguments: { ...input }, _meta: metaOf(call) },
      {
        signal: call.signal,
        timeout: NO_TIMEOUT_MS,
        onprogress: ({ progress, total, message }) => call.progress(progress, total, message),
        // Without its output schema: results are checked by the snapshot.
        toolDefinition: { name: tool, inputSchema },
      },
    );
  }

  async list(signal: AbortSignal): Promise<UpstreamListing> {
    const tools = await this.#read(signal).catch(async (error: unknown) => {
      if (signal.aborted) throw signal.reason;
      throw await this.#failure(error, 'tools/list');
    });
    const { name = this.request.name, version = '' } = this.client.getServerVersion() ?? {};
    return { server: { name, version }, ...tools };
  }

  async #read(signal: AbortSignal): Promise<Pick<UpstreamListing, 'tools' | 'notes'>> {
    const { server } = this.request;
    const listing = await readTools(
      (params) =>
        this.client.request({ method: 'tools/list', params }, pageSchema, {
          signal,
          timeout: CONNECT_TIMEOUT_MS,
        }),
      server,
      this.#isModern && 'url' in server,
    );
    this.#inputSchemas = new Map(listing.tools.map(({ name, inputSchema }) => [name, inputSchema]));
    return listing;
  }

  async #failure(error: unknown, tool: string): Promise<Error> {
    const { name, server } = this.request;
    const refused = (why: string) =>
      new UpstreamError('E_UPSTREAM_REFUSED', upstreamTexts.refused(name, tool, why));
    if (error instanceof SdkHttpError) {
      const { status, data } = error;
      // Without sessions it is the answer to a method that the server does not have.
      const isAnswer = this.#isModern && String(data.text).includes('"jsonrpc"');
      if (status === 404 && !isAnswer) return new SessionLostError(error.message);
      if (status >= 400 && status < 500) return refused(error.message);
    } else if (error instanceof UnsupportedProtocolVersionError) {
      return new SessionLostError(error.message);
    } else if (error instanceof InsufficientScopeError) {
      return refused(scopeText(name, server, error));
    } else if (error instanceof ProtocolError && !this.#isClosed) {
      return refused(error.message);
    } else if (error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType) {
      return refused('it asks for input, and an upstream server cannot ask the clients of this one');
    } else if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) {
      const text = upstreamTexts.refused(name, tool, `its result is malformed: ${error.message}`);
      return new UpstreamError('E_UPSTREAM_REFUSED', text, { outcomeUnknown: true });
    }
    if (isUnsent(error) || error instanceof NoTokenError)
      return new UpstreamError('E_UPSTREAM_UNAVAILABLE', upstreamTexts.unavailable(name, reasonOf(error)));
    const text = upstreamTexts.lost(name, tool, await this.endText());
    return new UpstreamError('E_UPSTREAM_LOST', text, { outcomeUnknown: true });
  }
}

function scopeText(
  name: string,
  server: UpstreamServer,
  { requiredScope, message }: InsufficientScopeError,
): string {
  if (requiredScope === undefined) return message;
  const isSignedIn = 'url' in server && server.auth !== undefined && 'signIn' in server.auth;
  const scope = clip(requiredScope);
  // A quote would end the text for a shell, and a server chooses it.
  const isCommand = isSignedIn && !scope.includes("'");
  return `it needs the scope '${scope}'${isCommand ? `: run \`stepwright sign-in ${name} --scope '${scope}'\`` : ''}`;
}

/** Whether no byte of a request has been sent. */
function isUnsent(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { readonly code?: unknown } | undefined) : undefined;
  return (
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes(String(cause?.code)) ||
    (error instanceof SdkError && error.code === SdkErrorCode.NotConnected)
  );
}

/** What a parser of the SDK returns: members may be `undefined`. */
type Loose<T> = { readonly [K in keyof T]: T[K] | undefined };

function plainResult({
  content,
  structuredContent,
  isError,
  _meta = {},
}: Loose<UpstreamResult>): UpstreamResult {
  // Every response of 2026-07-28 names its server.
  const { [SERVER_INFO_META_KEY]: _, ...meta } = _meta;
  return {
    content: content ?? [],
    ...defined({ structuredContent }),
    isError: isError === true,
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
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
      // Frames of a stack would be all of the end, and say less than the error above them.
      if (line.trim() === '' || /^\s+at /.test(line)) return;
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

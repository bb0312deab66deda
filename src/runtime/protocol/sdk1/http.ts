import type { WebStandardStreamableHTTPServerTransport as HttpTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import type { AuthInfo } from '../../../decorators/context.js';
import { defined } from '../../../graph/defined.js';
import { isJsonObject, type JsonObject } from '../../../graph/json.js';
import { ownerKey, UnidentifiedCallerError } from '../../runs/run-owner.js';
import type { ScopedCaller } from '../../server/callers.js';
import { Bearer, type VerifiedToken } from '../../server/http/bearer-auth.js';
import { readBody } from '../../server/http/body.js';
import { boundedStream } from '../../server/http/bounded-stream.js';
import { clientAddress } from '../../server/http/client-address.js';
import { hostValidation } from '../../server/http/host-validation.js';
import {
  type HttpSettings,
  type ResolvedHttpSettings,
  resolveHttpSettings,
} from '../../server/http/http-options.js';
import { httpTexts } from '../../server/http/http-texts.js';
import { SpecHeaders } from '../../server/http/spec-headers.js';
import { FairTurns } from '../../server/requests/fair-turns.js';
import { SpecError } from '../../server/specs/url-rules.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import { thrownReport } from '../../tools/exceptions.js';
import type { Log } from '../../tools/log.js';
import { openConnection } from './connection.js';
import type { Connection } from './contract.js';
import { checkMessage, type ReadMessage, readMessage } from './messages.js';
import { loadTransport, type Session, Sessions } from './sessions.js';

/** What the program that receives a request knows about it, beside the request. */
export interface RequestSource {
  /**
   * The network address at the other end of the connection: of the client, or of a proxy (`trustProxy`). Runs and turns
   * without authentication are limited by that of the client.
   */
  readonly remoteAddress?: string | undefined;
  /** The body as JSON, where it was parsed already. */
  readonly parsedBody?: unknown;
}

/** Answers the requests of clients over HTTP. */
export interface HttpHandler {
  (request: Request, source?: RequestSource): Promise<Response>;
  readonly server: StepwrightServer;
  /** Ends all connections to clients; requests in flight may take `graceMs` (default 0). */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** The methods that do work: their requests wait for a turn. */
const WORK: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
]);

/**
 * Makes the function that answers the HTTP requests of one server.
 *
 * @throws RangeError for a setting that is malformed.
 */
export function httpHandler(server: StepwrightServer, settings: HttpSettings, log: Log): HttpHandler {
  const endpoint = new Endpoint(server, resolveHttpSettings(settings), log);
  const handler = (request: Request, source: RequestSource = {}): Promise<Response> =>
    endpoint.answer(request, source);
  return Object.assign(handler, {
    server,
    close: ({ graceMs = 0 }: { readonly graceMs?: number } = {}) => endpoint.close(graceMs),
  });
}

/** A request whose caller is known. */
interface Admitted {
  readonly request: Request;
  readonly source: RequestSource;
  readonly auth: VerifiedToken | undefined;
  /** Equal for the requests of one caller only. */
  readonly holder: string;
  /** The path of the request. */
  readonly path: string;
  /** The name of the profile in it. */
  readonly profile: string | undefined;
}

class Endpoint {
  readonly #refusalOf: ReturnType<typeof hostValidation>;
  readonly #bearer: Bearer | undefined;
  readonly #sessions: Sessions;
  readonly #turns: FairTurns;
  readonly #headers: SpecHeaders;
  /** Those of requests without a session. */
  readonly #connections = new Set<Connection>();

  constructor(
    readonly server: StepwrightServer,
    readonly settings: ResolvedHttpSettings,
    readonly log: Log,
  ) {
    const { auth, path, limits } = settings;
    this.#refusalOf = hostValidation(settings);
    if (auth !== undefined) server.authenticates();
    this.#bearer = auth === undefined ? undefined : new Bearer(auth, path, log);
    this.#sessions = new Sessions(limits);
    this.#turns = new FairTurns(limits);
    this.#headers = new SpecHeaders(settings.headers ?? {}, log);
  }

  async answer(request: Request, source: RequestSource): Promise<Response> {
    try {
      return await this.#route(request, source);
    } catch (error) {
      this.log(httpTexts.threw(thrownReport(error)), { event: 'request.fault' });
      return refusal(500, -32_603, httpTexts.internal());
    }
  }

  async close(graceMs: number): Promise<void> {
    const alone = [...this.#connections].map((connection) => connection.close({ graceMs }));
    await Promise.all([this.#sessions.close(graceMs), ...alone]);
  }

  async #route(request: Request, source: RequestSource): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === '/health') return Response.json({ status: 'ok' });
    if (url.pathname === '/ready') return this.#readiness();
    const foreign = this.#refusalOf({ host: url.host, ...Object.fromEntries(request.headers) });
    if (foreign !== undefined) {
      return new Response(foreign.body, { status: foreign.status, headers: { ...foreign.headers } });
    }
    const response = await this.#answerKnownHost(request, url, this.#fromClient(request, source));
    const origin = request.headers.get('origin');
    if (origin !== null) allowPage(response.headers, origin);
    return response;
  }

  /** Names the client where a proxy is connected. */
  #fromClient({ headers }: Request, source: RequestSource): RequestSource {
    const forwarded = headers.get('x-forwarded-for');
    return {
      ...source,
      remoteAddress: clientAddress(source.remoteAddress, forwarded, this.settings.trustProxy),
    };
  }

  #readiness(): Response {
    return this.server.isDraining
      ? Response.json({ status: 'draining' }, { status: 503 })
      : Response.json({ status: 'ready' });
  }

  async #answerKnownHost(request: Request, url: URL, source: RequestSource): Promise<Response> {
    const metadata = this.#bearer?.metadata(url);
    if (metadata !== undefined) return metadata;
    const { path: own } = this.settings;
    const { pathname: path } = url;
    const profile = profileIn(path, own);
    if (path !== own && profile === undefined) return refusal(404, -32_000, httpTexts.notFound(path, own));
    if (request.method === 'OPTIONS') return preflight(this.#headers.names);
    const checked = await this.#bearer?.check(request, url);
    if (checked?.ok === false) return checked.response;
    try {
      const auth = checked?.auth;
      const holder = this.#holderOf(auth, source);
      return await this.#admit({ request, source, auth, holder, path, profile });
    } catch (error) {
      if (error instanceof UnidentifiedCallerError) return refusal(403, -32_003, error.message);
      throw error;
    }
  }

  /** Callers without authentication are distinguished by their addresses. */
  #holderOf(auth: VerifiedToken | undefined, { remoteAddress = '' }: RequestSource): string {
    return auth === undefined ? `anonymous ${remoteAddress}` : ownerKey(this.server.ownerOf({ auth }));
  }

  async #admit(admitted: Admitted): Promise<Response> {
    const { request, holder, path } = admitted;
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? undefined : this.#sessions.find(id, holder, path);
    if (id !== null && session === undefined) return refusal(404, -32_001, httpTexts.noSession());
    if (request.method === 'POST') return this.#answerPost(admitted, session);
    if (session !== undefined) return this.#answerInSession(session, admitted, undefined);
    const response = refusal(405, -32_000, httpTexts.methodNotAllowed(request.method));
    response.headers.set('allow', 'POST');
    return response;
  }

  async #answerPost(admitted: Admitted, session: Session | undefined): Promise<Response> {
    const { limits } = this.settings;
    const read = await readMessageOf(admitted, limits.bodyBytes);
    if (read === 'tooLong') return refusal(413, -32_600, httpTexts.bodyTooLong(limits.bodyBytes));
    if (!read.ok) return Response.json(read.refusal, { status: 400 });
    const { message } = read;
    const server = session?.view.server ?? (await this.#viewFor(admitted, message));
    if (server instanceof Response) return server;
    const lacking = this.#scopeRefusal(server, admitted, message);
    if (lacking !== undefined) return lacking;
    if (isWork(message) && this.#turns.isFull(admitted.holder))
      return busy(429, httpTexts.tooManyRequests(limits.queuedPerOwner), message);
    if (session !== undefined) return this.#answerInSession(session, admitted, message);
    // Other requests are answered by the server, which refuses them.
    if (isInitialize(message) && this.server.isDraining) return busy(503, httpTexts.shuttingDown(), message);
    return this.#wantsSession(message)
      ? this.#beginSession(server, admitted, message)
      : this.#answerAlone(server, admitted, message);
  }

  /** The server as the profile and the headers of a request select it, or a refusal. */
  async #viewFor(
    { request, source, auth, holder, profile }: Admitted,
    message: JSONRPCMessage,
  ): Promise<StepwrightServer | Response> {
    const { remoteAddress } = source;
    const read = this.#headers.read(request.headers, () => ({
      principal: this.server.ownerOf(defined({ auth })),
      ...(auth === undefined ? {} : { auth: authInfoOf(auth) as AuthInfo }),
      ...defined({ remoteAddress }),
    }));
    const id = idOf(message);
    if (!read.ok) return refusal(read.status, -32_602, read.message, id, { code: 'E_SPEC_HEADER' });
    const brings = Object.keys(read.brought).length > 0;
    if (profile === undefined && !brings) return this.server;
    if (brings && this.#turns.isFull(holder))
      return busy(429, httpTexts.tooManyRequests(this.settings.limits.queuedPerOwner), message);
    const endTurn = brings ? await this.#turns.take(holder, request.signal) : undefined;
    if (brings && endTurn === undefined) return refusal(499, -32_000, httpTexts.left(), id);
    try {
      const chosen = defined({ profile });
      return await this.server.view({ ...chosen, ...read.brought, caller: holder });
    } catch (error) {
      if (!(error instanceof SpecError)) throw error;
      const { code, message: why } = error;
      return refusal(code === 'E_PROFILE_UNKNOWN' ? 404 : 400, -32_602, why, id, { code });
    } finally {
      endTurn?.();
    }
  }

  /** Tells a client which scopes its request needs, where it can get a token with them. */
  #scopeRefusal(
    server: StepwrightServer,
    { request, auth }: Admitted,
    message: JSONRPCMessage,
  ): Response | undefined {
    if (this.#bearer === undefined || !('method' in message)) return undefined;
    const kind = { 'tools/call': 'tool', 'prompts/get': 'prompt' }[message.method];
    const name = message.params?.name;
    if ((kind !== 'tool' && kind !== 'prompt') || typeof name !== 'string') return undefined;
    const caller = auth === undefined ? {} : { auth: authInfoOf(auth) };
    const missing = server.lackingScopes(kind, name, caller as ScopedCaller);
    return missing.length === 0
      ? undefined
      : this.#bearer.lacking(new URL(request.url), missing, auth !== undefined);
  }

  #wantsSession(message: JSONRPCMessage): boolean {
    const { sessions } = this.settings;
    if (!isInitialize(message) || sessions === 'never') return false;
    const capabilities = message.params?.capabilities;
    if (sessions === 'always' || !isJsonObject(capabilities)) return sessions === 'always';
    return ['elicitation', 'sampling', 'roots'].some((name) => capabilities[name] !== undefined);
  }

  async #beginSession(
    server: StepwrightServer,
    admitted: Admitted,
    message: JSONRPCMessage,
  ): Promise<Response> {
    const { holder, path } = admitted;
    const session = await this.#sessions.open(holder, { path, server }, (transport) =>
      this.#connect(server, transport, admitted),
    );
    if (session === undefined) {
      return busy(503, httpTexts.tooManySessions(this.settings.limits.sessions), message);
    }
    const response = await this.#answerInSession(session, admitted, message);
    // A request that the transport refused began nothing.
    if (!response.ok) await session.connection.close();
    return response;
  }

  async #answerInSession(
    session: Session,
    admitted: Admitted,
    message: JSONRPCMessage | undefined,
  ): Promise<Response> {
    session.openResponses += 1;
    const done = (): void => {
      session.openResponses -= 1;
      session.idle.refresh();
    };
    try {
      const response = await handle(session.transport, admitted, message);
      return this.#bounded(response, done);
    } catch (error) {
      done();
      throw error;
    }
  }

  /** Answers a request that needs nothing of earlier ones. */
  async #answerAlone(
    server: StepwrightServer,
    admitted: Admitted,
    message: JSONRPCMessage,
  ): Promise<Response> {
    const Transport = await loadTransport();
    const transport = new Transport({
      // Only progress is sent before the answer.
      enableJsonResponse: !asksForProgress(message),
    });
    const connection = await this.#connect(server, transport, admitted, { isLasting: false });
    this.#connections.add(connection);
    const end = (): void => void connection.close();
    void connection.closed.then(() => this.#connections.delete(connection));
    const { signal } = admitted.request;
    signal.addEventListener('abort', end, { once: true });
    const done = (): void => {
      signal.removeEventListener('abort', end);
      end();
    };
    try {
      // Without its connection a request gets no answer.
      const left = connection.closed.then(() => refusal(499, -32_000, httpTexts.left()));
      return this.#bounded(await Promise.race([handle(transport, admitted, message), left]), done);
    } catch (error) {
      done();
      throw error;
    }
  }

  #connect(
    server: StepwrightServer,
    transport: HttpTransport,
    { source, holder }: Admitted,
    { isLasting = true } = {},
  ): Promise<Connection> {
    const { remoteAddress } = source;
    return openConnection(server, transport, {
      log: this.log,
      isLasting,
      ...defined({ remoteAddress }),
      turn: async (method, signal) => (WORK.has(method) ? this.#turns.take(holder, signal) : undefined),
    });
  }

  /** @param done called once the client has the response, or has left. */
  #bounded(response: Response, done: () => void): Response {
    const { body, status, headers } = response;
    if (body === null || headers.get('content-type') !== 'text/event-stream') {
      done();
      return response;
    }
    const { unreadBytes } = this.settings.limits;
    const stream = boundedStream(body, unreadBytes, (isUnread) => {
      if (isUnread) this.log(httpTexts.unread(unreadBytes), { event: 'connection.unread', level: 'warning' });
      done();
    });
    return new Response(stream, { status, headers });
  }
}

async function readMessageOf(
  { request, source: { parsedBody } }: Admitted,
  limit: number,
): Promise<ReadMessage | 'tooLong'> {
  if (parsedBody !== undefined) return checkMessage(parsedBody);
  const text = await readBody(request, limit);
  return text === undefined ? 'tooLong' : readMessage(text);
}

/** The transport checks the other headers. */
function handle(
  transport: HttpTransport,
  { request, auth }: Admitted,
  message: JSONRPCMessage | undefined,
): Promise<Response> {
  return transport.handleRequest(request, {
    ...defined({ parsedBody: message }),
    ...(auth === undefined ? {} : { authInfo: authInfoOf(auth) }),
  });
}

/** The token itself stays behind. */
function authInfoOf({ clientId, scopes, roles, subject, extra }: VerifiedToken) {
  const claims = subject === undefined ? extra : { sub: subject, ...extra };
  return {
    token: '',
    clientId,
    scopes: [...scopes],
    ...(roles === undefined ? {} : { roles: [...roles] }),
    ...(claims === undefined ? {} : { extra: { ...claims } }),
  };
}

function isWork(message: JSONRPCMessage): boolean {
  return 'method' in message && 'id' in message && WORK.has(message.method);
}

function isInitialize(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && message.method === 'initialize';
}

function asksForProgress(message: JSONRPCMessage): boolean {
  return 'method' in message && message.params?._meta?.progressToken !== undefined;
}

/** A JSON-RPC error for a request that goes no further. */
function refusal(
  status: number,
  code: number,
  message: string,
  id: string | number | null = null,
  data?: JsonObject,
): Response {
  const error = { code, message, ...defined({ data }) };
  return Response.json({ jsonrpc: '2.0', id, error }, { status });
}

function idOf(message: JSONRPCMessage): string | number | null {
  return 'id' in message ? (message.id ?? null) : null;
}

/** The profile that a path names below that of the server; nothing for another path. */
function profileIn(path: string, own: string): string | undefined {
  const prefix = own.endsWith('/') ? own : `${own}/`;
  const name = path.startsWith(prefix) ? path.slice(prefix.length) : '';
  return /^[^/]+$/.test(name) ? decoded(name) : undefined;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** A refusal of a request that its client may repeat. */
function busy(status: 429 | 503, text: string, message: JSONRPCMessage): Response {
  const response = refusal(status, -32_005, text, idOf(message));
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

function preflight(more: readonly string[]): Response {
  const headers = {
    'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
    'access-control-allow-headers': [...PAGE_HEADERS, ...more].join(', '),
    'access-control-max-age': '86400',
  };
  return new Response(null, { status: 204, headers });
}

/** Lets a web page of an allowed origin read the response. */
function allowPage(headers: Headers, origin: string): void {
  headers.set('access-control-allow-origin', origin);
  headers.append('vary', 'Origin');
  headers.set('access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate, Retry-After');
}

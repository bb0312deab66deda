import { defined } from '../../../graph/defined.js';
import { isJsonObject } from '../../../graph/json.js';
import { getOrInsert } from '../../../graph/maps.js';
import { clip } from '../../../graph/printable-text.js';
import { ownerKey, UnidentifiedCallerError, withRoles } from '../../runs/run/owner.js';
import { tokenOf } from '../../server/question-links.js';
import type { QuestionPages } from '../../server/question-page.js';
import { FairTurns } from '../../server/requests/fair-turns.js';
import { SpecError } from '../../server/specs/url-rules.js';
import type { ScopedCaller, StepwrightServer } from '../../server/stepwright-server.js';
import { thrownReport } from '../../tools/exceptions.js';
import type { Log } from '../../tools/log.js';
import { type Message, type ReadMessage, readMessage } from '../messages.js';
import type {
  Connection,
  ConnectionSettings,
  HttpConnection,
  HttpConversation,
  ProtocolAdapter,
  StatelessHandler,
} from '../protocol-adapter.js';
import { authInfoOf, Bearer, type VerifiedToken } from './bearer-auth.js';
import { allowPage, boundedStream, busy, preflight, readBody, refusal } from './bodies.js';
import { hostValidation } from './host-validation.js';
import {
  clientAddress,
  type HttpSettings,
  type ResolvedHttpSettings,
  resolveHttpSettings,
} from './http-options.js';
import { type Session, Sessions } from './sessions.js';
import { SpecHeaders } from './spec-headers.js';

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
const WORK: ReadonlySet<string | undefined> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
  'tasks/get',
  'tasks/list',
  'tasks/cancel',
]);

/**
 * Makes the function that answers the HTTP requests of one server.
 *
 * @throws RangeError for a setting that is malformed.
 */
export function httpHandler(
  adapter: ProtocolAdapter,
  server: StepwrightServer,
  settings: HttpSettings,
  log: Log,
): HttpHandler {
  const endpoint = new Endpoint(adapter, server, resolveHttpSettings(settings), log);
  const handler = (request: Request, source: RequestSource = {}): Promise<Response> =>
    endpoint.answer(request, source);
  return Object.assign(handler, {
    server,
    close: ({ graceMs = 0 }: { readonly graceMs?: number } = {}) => endpoint.close(graceMs),
  });
}

/** A request of an identified caller. */
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
  /** Those of requests that are complete in themselves, by the servers that they are for. */
  readonly #handlers = new WeakMap<StepwrightServer, Promise<StatelessHandler>>();

  constructor(
    readonly adapter: ProtocolAdapter,
    readonly server: StepwrightServer,
    readonly settings: ResolvedHttpSettings,
    readonly log: Log,
  ) {
    const { auth, path, limits } = settings;
    this.#refusalOf = hostValidation(settings);
    if (auth !== undefined) server.authenticates();
    if (auth?.resource !== undefined && URL.canParse(String(auth.resource)))
      server.questionLinks?.reachedAt(new URL(auth.resource).origin);
    this.#bearer = auth === undefined ? undefined : new Bearer(auth, path, log);
    this.#sessions = new Sessions(limits);
    this.#turns = new FairTurns(limits);
    this.#headers = new SpecHeaders(settings.headers ?? {}, log);
  }

  async answer(request: Request, source: RequestSource): Promise<Response> {
    try {
      return await this.#route(request, source);
    } catch (error) {
      this.log(`an HTTP request failed: ${thrownReport(error)}`, { event: 'request.fault' });
      return refusal(500, -32_603, 'Internal error; the log of the server has the details');
    }
  }

  async close(graceMs: number): Promise<void> {
    const alone = [...this.#connections].map((connection) => connection.close({ graceMs }));
    const handler = await this.#handlers.get(this.server);
    await Promise.all([this.#sessions.close(graceMs), ...alone, handler?.close()]);
  }

  async #route(request: Request, source: RequestSource): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === '/health') return Response.json({ status: 'ok' });
    if (url.pathname === '/ready') {
      const { readiness } = this.server;
      return Response.json(readiness, { status: readiness.status === 'ready' ? 200 : 503 });
    }
    const pages = tokenOf(url) === undefined ? undefined : this.server.questionLinks?.pages();
    if (pages !== undefined) return this.#answerPage(request, url, await pages);
    const { headers } = request;
    const origin = headers.get('origin');
    const foreign = this.#refusalOf({
      host: headers.get('host') ?? url.host,
      ...(origin === null ? {} : { origin }),
    });
    if (foreign !== undefined) {
      return new Response(foreign.body, { status: foreign.status, headers: { ...foreign.headers } });
    }
    if (this.settings.auth?.resource === undefined) this.server.questionLinks?.reachedAt(url.origin);
    const forwarded = headers.get('x-forwarded-for');
    const remoteAddress = clientAddress(source.remoteAddress, forwarded, this.settings.trustProxy);
    const response = await this.#answerAllowedHost(request, url, { ...source, remoteAddress });
    if (origin !== null) allowPage(response.headers, origin);
    return response;
  }

  /** Pages are for people: browsers send no origin with them, so that they are told apart by what a page sends. */
  async #answerPage(request: Request, url: URL, pages: QuestionPages): Promise<Response> {
    const { origin: _, ...headers } = Object.fromEntries(request.headers);
    const foreign = this.#refusalOf({ host: url.host, ...headers });
    if (foreign !== undefined) return new Response(foreign.body, { status: foreign.status });
    const hasToken = request.headers.has('authorization');
    const checked = hasToken ? await this.#bearer?.check(request, url) : undefined;
    const auth = checked?.ok === true && checked.auth ? authInfoOf(checked.auth) : undefined;
    const caller = auth && withRoles(this.server.ownerOf({ auth }), auth.roles, []);
    const visitor = { isKnowable: this.#bearer !== undefined, ...defined({ caller }) };
    const { answerPage } = await import('./question-endpoint.js');
    return answerPage(request, url, { pages, visitor, bodyBytes: this.settings.limits.bodyBytes });
  }

  async #answerAllowedHost(request: Request, url: URL, source: RequestSource): Promise<Response> {
    const metadata = this.#bearer?.metadata(url);
    if (metadata !== undefined) return metadata;
    const { path: own } = this.settings;
    const { pathname: path } = url;
    const profile = profileIn(path, own);
    if (path !== own && profile === undefined)
      return refusal(404, -32_000, `Not found: ${clip(path)}. This server answers MCP at ${own}`);
    if (request.method === 'OPTIONS') return preflight(this.#headers.names);
    const checked = await this.#bearer?.check(request, url);
    if (checked?.ok === false) return checked.response;
    try {
      const auth = checked?.auth;
      // Callers without authentication are distinguished by their addresses.
      const { remoteAddress = '' } = source;
      const holder =
        auth === undefined ? `anonymous ${remoteAddress}` : ownerKey(this.server.ownerOf({ auth }));
      return await this.#admit({ request, source, auth, holder, path, profile });
    } catch (error) {
      if (error instanceof UnidentifiedCallerError) return refusal(403, -32_003, error.message);
      throw error;
    }
  }

  async #admit(admitted: Admitted): Promise<Response> {
    const { request, holder, path } = admitted;
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? undefined : this.#sessions.find(id, holder, path);
    if (id !== null && session === undefined) {
      const text =
        'Session not found: it has ended, or it was never yours. Send `initialize` to begin another one';
      return refusal(404, -32_001, text);
    }
    if (request.method === 'POST') return this.#answerPost(admitted, session);
    if (session !== undefined) return this.#answerInSession(session, admitted, undefined);
    const text = `Method not allowed: ${clip(request.method)}. Send messages with POST; GET and DELETE need the session of an Mcp-Session-Id header`;
    const response = refusal(405, -32_000, text);
    response.headers.set('allow', 'POST');
    return response;
  }

  async #answerPost(admitted: Admitted, session: Session | undefined): Promise<Response> {
    const body = await this.#read(admitted);
    if (body === 'tooLong') {
      const text = `Payload too large: a body must not exceed ${this.settings.limits.bodyBytes} bytes; send large content in several calls, or a reference to it`;
      return refusal(413, -32_600, text);
    }
    if (!body.ok) return Response.json(body.refusal, { status: 400 });
    const { message } = body;
    const server = session?.view.server ?? (await this.#viewFor(admitted, message));
    if (server instanceof Response) return server;
    const lacking = this.#scopeRefusal(server, admitted, message);
    if (lacking !== undefined) return lacking;
    if (message.id !== undefined && WORK.has(message.method) && this.#turns.isFull(admitted.holder))
      return this.#tooManyRequests(message);
    if (session !== undefined) return this.#answerInSession(session, admitted, message);
    const { stateless } = this.adapter;
    if (stateless?.claims(message, admitted.request.headers) === true)
      return this.#answerStateless(server, admitted, message);
    // Other requests are answered by the server, which refuses them.
    if (message.method === 'initialize' && this.server.isDraining) {
      const text = 'Service unavailable: the server is shutting down. Connect again and repeat the request';
      return busy(503, text, message);
    }
    return this.#wantsSession(message)
      ? this.#beginSession(server, admitted, message)
      : this.#answerAlone(server, admitted, message);
  }

  async #read({ request, source: { parsedBody } }: Admitted): Promise<ReadMessage | 'tooLong'> {
    if (parsedBody !== undefined) return this.adapter.check(parsedBody);
    const text = await readBody(request, this.settings.limits.bodyBytes);
    return text === undefined ? 'tooLong' : readMessage(text, this.adapter.check);
  }

  #tooManyRequests(message: Message): Response {
    const text = `Too many requests: ${this.settings.limits.queuedPerOwner} requests of this caller are waiting already. Try again when some of them are answered`;
    return busy(429, text, message);
  }

  /** The server as the profile and the headers of a request select it, or a refusal. */
  async #viewFor(
    { request, source, auth, holder, profile }: Admitted,
    message: Message,
  ): Promise<StepwrightServer | Response> {
    const { remoteAddress } = source;
    const headers = this.#headers.read(request.headers, () => ({
      principal: this.server.ownerOf(defined({ auth })),
      ...defined({ auth: auth && authInfoOf(auth), remoteAddress }),
    }));
    const { id } = message;
    if (!headers.ok) return refusal(headers.status, -32_602, headers.message, id, { code: 'E_SPEC_HEADER' });
    const brings = Object.keys(headers.selection).length > 0;
    if (profile === undefined && !brings) return this.server;
    if (brings && this.#turns.isFull(holder)) return this.#tooManyRequests(message);
    const endTurn = brings ? await this.#turns.take(holder, request.signal) : undefined;
    if (brings && endTurn === undefined) return noClient(id);
    try {
      return await this.server.view({ ...defined({ profile }), ...headers.selection, caller: holder });
    } catch (error) {
      if (!(error instanceof SpecError)) throw error;
      const { code, message: why } = error;
      return refusal(code === 'E_PROFILE_UNKNOWN' ? 404 : 400, -32_602, why, id, { code });
    } finally {
      endTurn?.();
    }
  }

  /** Names the scopes that a request lacks, where its client can get a token with them. */
  #scopeRefusal(
    server: StepwrightServer,
    { request, auth }: Admitted,
    { method, params }: Message,
  ): Response | undefined {
    const kind = method === 'tools/call' ? 'tool' : method === 'prompts/get' ? 'prompt' : undefined;
    const name = params?.name;
    if (this.#bearer === undefined || kind === undefined || typeof name !== 'string') return undefined;
    const caller: ScopedCaller = defined({ auth: auth && authInfoOf(auth) });
    const missing = server.lackingScopes(kind, name, caller);
    return missing.length === 0
      ? undefined
      : this.#bearer.lacking(new URL(request.url), missing, auth !== undefined);
  }

  #wantsSession({ method, params }: Message): boolean {
    const { sessions } = this.settings;
    if (method !== 'initialize' || sessions === 'never') return false;
    const capabilities = params?.capabilities;
    if (sessions === 'always' || !isJsonObject(capabilities)) return sessions === 'always';
    return ['elicitation', 'sampling', 'roots'].some((name) => capabilities[name] !== undefined);
  }

  async #beginSession(server: StepwrightServer, admitted: Admitted, message: Message): Promise<Response> {
    const { holder, path } = admitted;
    const session = await this.#sessions.open(holder, { path, server }, (conversation) =>
      this.#connect(server, conversation, admitted),
    );
    if (session === 'sessions') {
      const text = `Service unavailable: this server keeps ${this.settings.limits.sessions} sessions, and each of them is in use. Try again later`;
      return busy(503, text, message);
    }
    if (session === 'sessionsPerOwner') {
      const text = `Too many sessions: this caller has ${this.settings.limits.sessionsPerOwner} of them. End those that are not needed with DELETE, or try again when some have ended; clients without authentication that share a network address are one caller`;
      return busy(429, text, message);
    }
    const response = await this.#answerInSession(session, admitted, message);
    // A request that the adapter refused began nothing.
    if (!response.ok) await session.connection.close();
    return response;
  }

  async #answerInSession(
    session: Session,
    { request, auth }: Admitted,
    message: Message | undefined,
  ): Promise<Response> {
    session.openResponses += 1;
    return this.#bounded(session.connection.answer(request, message, auth && authInfoOf(auth)), () => {
      session.openResponses -= 1;
      session.idle.refresh();
    });
  }

  /** Answers a request of the era without connections. */
  async #answerStateless(
    server: StepwrightServer,
    { request, source, auth, holder }: Admitted,
    message: Message,
  ): Promise<Response> {
    const { remoteAddress } = source;
    const handler = await this.#handlerOf(server);
    const caller = defined({ auth: auth && authInfoOf(auth), remoteAddress });
    return this.#bounded(
      handler.answer(request, message, { ...caller, turn: this.#turnOf(holder) }),
      () => {},
    );
  }

  #handlerOf(server: StepwrightServer): Promise<StatelessHandler> {
    const open = () => this.adapter.stateless?.open(server, this.log) as Promise<StatelessHandler>;
    return getOrInsert(this.#handlers, server, open);
  }

  #turnOf(holder: string): NonNullable<ConnectionSettings['turn']> {
    return async (method, signal) => (WORK.has(method) ? this.#turns.take(holder, signal) : undefined);
  }

  /** Answers a request that needs nothing of earlier ones. */
  async #answerAlone(server: StepwrightServer, admitted: Admitted, message: Message): Promise<Response> {
    const { request, auth } = admitted;
    // Only progress is sent before the answer.
    const accepted = acceptedTypes(request);
    const isJson = progressTokenIn(message) === undefined || !accepted.includes('text/event-stream');
    const connection = await this.#connect(server, { isJson }, admitted);
    this.#connections.add(connection);
    const end = (): void => void connection.close();
    void connection.closed.then(() => this.#connections.delete(connection));
    request.signal.addEventListener('abort', end, { once: true });
    const response = connection.answer(
      acceptsJson(accepted) ? withBothTypes(request) : request,
      message,
      auth && authInfoOf(auth),
    );
    // Without its connection a request gets no answer.
    const onClose = connection.closed.then(() => noClient());
    return this.#bounded(Promise.race([response, onClose]), () => {
      request.signal.removeEventListener('abort', end);
      end();
    });
  }

  #connect(
    server: StepwrightServer,
    conversation: HttpConversation,
    { source, holder }: Admitted,
  ): Promise<HttpConnection> {
    const { remoteAddress } = source;
    return this.adapter.connectHttp(server, conversation, {
      log: this.log,
      turn: this.#turnOf(holder),
      ...defined({ remoteAddress }),
    });
  }

  /** @param onEnd called once the client has the response, or has left. */
  async #bounded(answer: Promise<Response>, onEnd: () => void): Promise<Response> {
    const response = await answer.catch((error: unknown) => {
      onEnd();
      throw error;
    });
    const { body, status, headers } = response;
    if (body === null || headers.get('content-type') !== 'text/event-stream') {
      onEnd();
      return response;
    }
    const { unreadBytes } = this.settings.limits;
    const stream = boundedStream(body, unreadBytes, (isUnread) => {
      if (isUnread) {
        const text = `the connection of a client that does not read was ended: more than ${unreadBytes} bytes waited for it`;
        this.log(text, { event: 'connection.unread', level: 'warning' });
      }
      onEnd();
    });
    return new Response(stream, { status, headers });
  }
}

/** The types of the header `Accept`, without parameters. Default: all. */
function acceptedTypes({ headers }: Request): readonly string[] {
  const types = (headers.get('accept') ?? '*/*').toLowerCase().split(',');
  return types.map((type) => (type.split(';')[0] ?? '').trim());
}

function acceptsJson(types: readonly string[]): boolean {
  return types.some((type) => type === '*/*' || type === 'application/*' || type === 'application/json');
}

/** The request of a client that takes JSON. The adapter refuses those that do not name both types of responses. */
function withBothTypes({ url, method, headers: original, signal }: Request): Request {
  const headers = new Headers(original);
  headers.set('accept', 'application/json, text/event-stream');
  return new Request(url, { method, headers, signal });
}

function noClient(id?: Message['id']): Response {
  return refusal(499, -32_000, 'The client has left', id);
}

function progressTokenIn({ params }: Message): unknown {
  const meta = params?._meta;
  return isJsonObject(meta) ? meta.progressToken : undefined;
}

/** The profile that a path names below that of the server; nothing for another path. */
function profileIn(path: string, own: string): string | undefined {
  const prefix = own.endsWith('/') ? own : `${own}/`;
  const name = path.startsWith(prefix) ? path.slice(prefix.length) : '';
  if (!/^[^/]+$/.test(name)) return undefined;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

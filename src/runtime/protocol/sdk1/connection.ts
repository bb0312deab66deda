import type { WebStandardStreamableHTTPServerTransportOptions as HttpOptions } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type {
  Implementation,
  Result,
  ServerNotification,
  ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import type { AuthInfo } from '../../../decorators/context.js';
import { defined } from '../../../graph/defined.js';
import { oneLine } from '../../../graph/printable-text.js';
import { ConnectionClosed, noProgress, type RequestContext } from '../../runs/request.js';
import { InFlight, RequestSignal } from '../../server/requests/limits.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import { encodedLog, type Log } from '../../tools/log.js';
import type { ObservedRequest } from '../../tools/telemetry.js';
import { answerRequest, isMethod } from '../../transports/answer-request.js';
import {
  continuedTask,
  drained,
  LISTENING,
  refusal,
  refusalCodes,
  reportsOf,
  requestFault,
  requestId,
} from '../../transports/messages.js';
import type {
  Connection,
  ConnectionSettings,
  HttpConnection,
  HttpConversation,
  ServerTransport,
} from '../../transports/protocol-adapter.js';
import { ConnectedClient, initializeFault, ProtocolServer } from './peer.js';
import { answerTask, isTaskMethod, TASK_CAPABILITY } from './tasks.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/**
 * As `connect`, for the adapters of this folder. The SDK's types stay in it, out of the public declarations.
 *
 * @throws ServerStartError when `onStart` of the server throws.
 */
export async function openConnection(
  server: StepwrightServer,
  transport: ServerTransport,
  options: ConnectionSettings,
  isLasting = true,
): Promise<Connection> {
  await server.start();
  const log = encodedLog(options.log);
  const { local, remoteAddress } = options;
  const caller = defined({ local, remoteAddress });
  let hasEnded = false;
  const protocol = new ProtocolServer({
    info: server.info as Implementation,
    capabilities: isLasting ? LASTING_CAPABILITIES : CAPABILITIES,
    ...defined({ instructions: server.instructions }),
  });
  const client = new ConnectedClient(protocol);
  const unsubscribe = server.onChange((change) => client.notify(change));
  const inFlight = new InFlight();
  const { turn: takeTurn } = options;
  const connection = { caller, log, inFlight, hasEnded: () => hasEnded };
  // The one handler for raw requests: handlers installed per method have their params parsed by the SDK first.
  protocol.fallbackRequestHandler = requestHandler(server, client, {
    ...connection,
    ...defined({ turn: takeTurn }),
  });
  const onError = (error: Error): void =>
    log(`a message of the client was ignored: ${oneLine(reasonOf(error), 200)}`, {
      event: 'connection.message',
      level: 'warning',
    });
  protocol.onerror = onError;
  const closed = new Promise<void>((resolve) => {
    const onClosed = (): void => {
      unsubscribe();
      client.closed.abort(new ConnectionClosed('the connection was closed'));
      resolve();
    };
    protocol.onclose = onClosed;
  });
  // Every SDK transport fits; the SDK's own type stays out of the public declarations.
  const sdkTransport = transport as Transport;
  const { onclose } = sdkTransport;
  // The SDK calls it before it aborts the requests in flight.
  const onClose = (): void => {
    onclose?.();
    hasEnded = true;
  };
  sdkTransport.onclose = onClose;
  await protocol.connect(sdkTransport);
  const close: Connection['close'] = async ({ graceMs = 0 } = {}) => {
    await drained(inFlight, graceMs, log);
    await protocol.close();
  };
  return { closed, close };
}

let httpTransport:
  | Promise<typeof import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js')>
  | undefined;

/** As {@link openConnection}, over HTTP. */
export async function openHttpConnection(
  server: StepwrightServer,
  conversation: HttpConversation,
  settings: ConnectionSettings,
): Promise<HttpConnection> {
  // Loaded on first use: a server over stdio starts without it.
  httpTransport ??= import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js');
  const { WebStandardStreamableHTTPServerTransport: HttpTransport } = await httpTransport;
  const transport = new HttpTransport(httpOptions(conversation));
  const connection = await openConnection(server, transport, settings, 'session' in conversation);
  return {
    ...connection,
    // The transport checks the headers.
    async answer(request, message, auth) {
      const fault = message?.method === 'initialize' ? initializeFault(message.params) : undefined;
      if (fault !== undefined)
        return Response.json(refusal(refusalCodes.invalidParams, fault, requestId(message?.id)), {
          status: 400,
        });
      const authInfo = auth && { token: '', ...auth, scopes: [...auth.scopes] };
      return transport.handleRequest(request, defined({ parsedBody: message, authInfo }));
    },
  };
}

function httpOptions(conversation: HttpConversation): HttpOptions {
  if (!('session' in conversation)) return { enableJsonResponse: conversation.isJson };
  const { session, events, retryMs } = conversation;
  return { sessionIdGenerator: () => session, eventStore: events, retryInterval: retryMs };
}

/** What the handler of requests needs of their connection. */
interface RequestSettings extends Pick<ConnectionSettings, 'turn'> {
  readonly caller: Pick<RequestContext, 'local' | 'remoteAddress'>;
  readonly log: Log;
  readonly inFlight: InFlight;
  /** Whether the connection has ended. */
  readonly hasEnded: () => boolean;
  /** Whether calls may be made as tasks. Default: true. */
  readonly hasTasks?: boolean;
}

/** Makes what answers each request of one connection, its params unparsed. */
export function requestHandler(
  server: StepwrightServer,
  client: ConnectedClient,
  { caller, log, inFlight, hasEnded, hasTasks = true, turn: takeTurn }: RequestSettings,
): NonNullable<ProtocolServer['fallbackRequestHandler']> {
  return async ({ method, params }, extra) => {
    const peer = client.of(extra);
    const { context, abort, end } = openContext(extra, { ...caller, peer, log, hasEnded });
    inFlight.begin();
    const endTurn = takeTurn && (await takeTurn(method, context.signal));
    try {
      const request = { method, params };
      const mayBeTask = hasTasks && (method === 'tools/call' || !isMethod(method));
      const work = (admitted: RequestContext): Promise<object> =>
        (mayBeTask ? answerTask(server, client, request, admitted) : undefined) ??
        answerRequest(server, client, request, admitted);
      const { telemetry } = server;
      const admit = () => server.admit(context, work, abort, method === 'tasks/result');
      if (telemetry === undefined) return (await admit()) as Result;
      return (await telemetry.request(
        observed(method, params, extra, { client, local: caller.local }),
        admit,
      )) as Result;
    } catch (error) {
      // Not an `McpError`: that one writes its code into the message, where the client's own writes it again.
      throw requestFault(error, method, log);
    } finally {
      endTurn?.();
      const flushed = end();
      if (flushed !== undefined) await flushed;
      inFlight.end();
    }
  };
}

function observed(
  method: string,
  params: unknown,
  { requestId, requestInfo }: Extra,
  { client, local }: { readonly client: ConnectedClient; readonly local: boolean | undefined },
): ObservedRequest {
  const transport: ObservedRequest['transport'] =
    requestInfo !== undefined ? 'http' : local === true ? 'pipe' : undefined;
  const protocolVersion = client.protocolVersion(requestInfo?.headers);
  return {
    method: isMethod(method) || isTaskMethod(method) ? method : undefined,
    params,
    requestId: String(requestId),
    ...defined({ transport, protocolVersion }),
  };
}

/** The SDK's own sentence, without the raw message or list of schema issues that follows it. */
function reasonOf(error: Error): string {
  return error.message.replace(/:?\s*[[{].*$/s, '');
}

const CAPABILITIES = { tools: {}, prompts: {}, resources: {}, completions: {}, tasks: TASK_CAPABILITY };
const LASTING_CAPABILITIES = { ...LISTENING, tasks: TASK_CAPABILITY };

/** What a connection knows about each of its requests. */
interface OpenRequest extends Pick<RequestContext, 'local' | 'remoteAddress' | 'peer'> {
  readonly log: Log;
  /** Whether the connection has ended. */
  readonly hasEnded: () => boolean;
}

/** The context of one request, and what ends it: a tool must not send progress after its limit. */
function openContext(extra: Extra, { log, hasEnded, ...caller }: OpenRequest) {
  const signal = signalOf(extra.signal, hasEnded);
  const reports = reportsOf(
    extra._meta?.progressToken,
    (params) => extra.sendNotification({ method: 'notifications/progress', params }),
    log,
  );
  const context: RequestContext = {
    signal,
    requestId: String(extra.requestId),
    ...caller,
    ...continuedTask(extra._meta),
    ...(extra.authInfo === undefined ? {} : { auth: authOf(extra.authInfo) }),
    progress: reports?.progress ?? noProgress,
  };
  return { context, abort: (reason: unknown) => signal.abort(reason), end: () => reports?.end() };
}

/** Aborts with a request, and says whether that was cancelled or lost its connection. */
function signalOf(request: AbortSignal, hasEnded: () => boolean): RequestSignal {
  const signal = new RequestSignal();
  const abort = (): void =>
    signal.abort(hasEnded() ? new ConnectionClosed('the connection was closed') : request.reason);
  if (request.aborted) abort();
  else request.addEventListener('abort', abort, { once: true });
  return signal;
}

/** The token itself is left behind: tools need to know who calls, not how it was proved. */
export function authOf(info: NonNullable<Extra['authInfo']> & { readonly roles?: unknown }): AuthInfo {
  const { clientId, scopes, extra, roles } = info;
  return {
    clientId,
    scopes,
    // The type of the SDK has none.
    ...(Array.isArray(roles) ? { roles: roles.filter((role) => typeof role === 'string') } : {}),
    ...(extra === undefined ? {} : { extra: JSON.parse(JSON.stringify(extra, jsonOrNull)) }),
  };
}

/** A claim that JSON cannot hold must not look like one that is missing. */
function jsonOrNull(_key: string, value: unknown): unknown {
  return ['function', 'symbol', 'bigint'].includes(typeof value) ? null : value;
}

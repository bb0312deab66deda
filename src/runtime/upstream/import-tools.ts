import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AuthInfo } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import type { JsonObject } from '../../graph/json.js';
import { nearestName } from '../../graph/names.js';
import { pageSchema, readTools } from './listing.js';
import {
  metaOf,
  reasonOf,
  type UpstreamCall,
  UpstreamError,
  type UpstreamPort,
  type UpstreamResult,
  upstreamTexts,
} from './port.js';
import type { UpstreamConnection } from './servers.js';

/** A `Server` of `@modelcontextprotocol/sdk`, an `McpServer`, which holds one, or a `FastMCP`, which makes them. */
export interface AttachableServer {
  readonly server?: object;
  connect(transport: never): Promise<unknown>;
}

/** Thrown when a registry cannot be added to a server; lists every problem. */
export class AttachError extends Error {
  override readonly name = 'AttachError';

  constructor(readonly problems: readonly string[]) {
    super(
      `the registry cannot be added to the server:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
  }
}

/** A handler of a server, without the types of the SDK: declarations are public. */
export type Handler = (
  request: { readonly method: string; readonly params?: unknown },
  extra: never,
) => Promise<Record<string, unknown>>;

/**
 * The tools of servers of this process as steps of workflows, for the option `upstream` of `attach`, `serve` and
 * `createServer`. Calls go to the handlers of the server, without a connection: the tools keep their memory, and get the
 * caller of the run, as `extra.authInfo`, `ctx.http.authInfo` or the `session` of `fastmcp`. Import after the tools are
 * registered, and before `attach`.
 *
 * @param servers by the names that `stepwright pull` knows them by: a `Server` or `McpServer` of
 *   `@modelcontextprotocol/sdk` 1.x or `@modelcontextprotocol/server` 2.x, or a `FastMCP`.
 * @throws AttachError for another object.
 * @example
 * ```ts
 * const upstream = importTools({ shop: mcp });
 * await attach(mcp, registry, { upstream });
 * ```
 */
export function importTools(
  servers: Readonly<Record<string, AttachableServer>>,
): Required<Omit<UpstreamPort, 'onToolsChanged'>> {
  if (typeof servers !== 'object' || servers === null)
    throw new AttachError([
      `importTools takes servers by name, and was given ${servers}: importTools({ shop })`,
    ]);
  const imported = new Map(Object.entries(servers).map(([name, server]) => [name, sessionsOf(name, server)]));
  const ask = async (
    server: string,
    tool: string,
    params: object,
    call: Partial<UpstreamCall>,
  ): Promise<Readonly<Record<string, unknown>>> => {
    const open = imported.get(server);
    if (open === undefined) {
      const near = nearestName(server, [...imported.keys()]);
      throw new UpstreamError('E_UPSTREAM_CONFIG', upstreamTexts.unknownServer(server, near));
    }
    const method = tool === '' ? 'tools/list' : 'tools/call';
    const refused = (why: string) =>
      new UpstreamError(
        'E_UPSTREAM_REFUSED',
        upstreamTexts.refused(server, tool === '' ? method : tool, why),
      );
    const { handlers, close } = await open(call.auth);
    try {
      const handler = handlers.get(method);
      if (handler === undefined) throw new Error('it has no tools: register them before `importTools`');
      return await handler({ method, params }, contextOf(method, call) as never);
    } catch (error) {
      if (call.signal?.aborted) throw call.signal.reason;
      throw refused(reasonOf(error));
    } finally {
      await close?.();
    }
  };
  return {
    async call({ server, tool }, input, call) {
      const _meta = { ...metaOf(call), progressToken: 0 };
      const params = { name: tool, arguments: structuredClone(input), _meta };
      const result: Partial<UpstreamResult> = await ask(server, tool, params, call);
      const { content = [], structuredContent, isError } = result;
      return { content, ...defined({ structuredContent }), isError: isError === true };
    },
    async list(server, signal) {
      const tools = await readTools(
        async (params) => pageSchema.parse(await ask(server, '', params, { signal })),
        {},
      );
      return { server: { name: server, version: '' }, ...tools };
    },
    close: async () => {},
  };
}

/** The handlers of a server by method. The SDK has no other way to ask for one that is installed. */
export function handlersOf(host: object, problem = NO_SERVER): Map<string, Handler> {
  const handlers: unknown = Reflect.get(Object(host), '_requestHandlers');
  if (handlers instanceof Map) return handlers as Map<string, Handler>;
  throw new AttachError([problem]);
}

const NO_SERVER =
  'this is not a Server or McpServer of @modelcontextprotocol/sdk: pass the object that you connect';

/** Connects to the server that a module of the project exports. */
export async function openModule(name: string, root: string, file: string): Promise<UpstreamConnection> {
  const exported: Readonly<Record<string, unknown>> = await import(
    pathToFileURL(path.resolve(root, file)).href
  );
  const server = [exported.default, exported.server, exported[name]].find(
    (each) => typeof each === 'object' && each !== null,
  );
  if (server === undefined) {
    const names = Object.keys(exported).map((each) => `\`${each}\``);
    const what = names.length === 0 ? 'it exports no value' : `it exports ${names.join(', ')}`;
    throw new Error(
      `\`${file}\` has no server: ${what}; export the server by default, as \`server\` or as \`${name}\``,
    );
  }
  const port = importTools({ [name]: server as AttachableServer });
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  return {
    call: (tool, input, call) => port.call({ server: name, tool }, input, call),
    list: (signal) => port.list(name, signal),
    closed,
    close: async () => close(),
  };
}

/** What answers the requests of one caller. */
interface ToolSession {
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly close?: () => Promise<void>;
}

function sessionsOf(
  name: string,
  server: AttachableServer,
): (auth: AuthInfo | undefined) => Promise<ToolSession> {
  // `fastmcp` makes a server of the SDK for each client, with the tools that the client may call.
  if (typeof Reflect.get(Object(server), 'addTool') === 'function')
    return (auth) => sessionOfCall(server as unknown as FastServer, auth);
  // As they are now: those of `attach` would answer for the registry.
  const problem = `\`${name}\` is not a Server or McpServer of @modelcontextprotocol/sdk 1.x or @modelcontextprotocol/server 2.x, or a FastMCP: pass the object that you connect or start`;
  const handlers = new Map(handlersOf(server?.server ?? server, problem));
  return async () => ({ handlers });
}

/** A server of `fastmcp`. */
interface FastServer {
  connect(
    transport: CallTransport,
    session?: AuthInfo,
  ): Promise<{ readonly server: object; close(): Promise<void> }>;
}

async function sessionOfCall(server: FastServer, auth: AuthInfo | undefined): Promise<ToolSession> {
  const session = await server.connect(new CallTransport(), auth);
  return { handlers: handlersOf(session.server), close: () => session.close() };
}

interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: object;
  readonly result?: object;
}

/** Introduces a client without capabilities to a session: without one it is not ready before a second has passed. */
class CallTransport {
  onmessage?: (message: Message) => void;
  onclose?: () => void;
  #isInitialized = (): void => {};

  async start(): Promise<void> {
    const initialized = new Promise<void>((resolve) => {
      this.#isInitialized = resolve;
    });
    const clientInfo = { name: 'stepwright', version: '0.0.0' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    this.onmessage?.({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    await initialized;
    this.onmessage?.({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  async send({ id, method }: Message): Promise<void> {
    if (method === undefined) this.#isInitialized();
    // A session asks again and again whether its client is there.
    else if (id !== undefined) this.onmessage?.({ jsonrpc: '2.0', id, result: {} });
  }

  async close(): Promise<void> {
    this.onclose?.();
  }
}

const NO_CLIENT = 'it asks the client, and a step of a workflow has none: use `ask` in the workflow';

/**
 * What a handler gets beside the request: version 1 of the SDK reads the members themselves, version 2 those of `mcpReq`.
 *
 * @param noClient why the handler cannot ask its client.
 */
export function contextOf(
  method: string,
  { signal = new AbortController().signal, progress, auth }: Partial<UpstreamCall>,
  noClient = NO_CLIENT,
): object {
  const id = 'stepwright';
  const caller = auth && { authInfo: { token: '', ...auth, scopes: [...auth.scopes] } };
  const notify = async ({ method, params }: { readonly method: string; readonly params?: JsonObject }) => {
    if (method !== 'notifications/progress' || params === undefined) return;
    const { progress: done, total, message } = params as Readonly<Record<string, never>>;
    progress?.(Number(done), total, message);
  };
  const refuse = () => Promise.reject(new Error(noClient));
  const asks = { send: refuse, elicitInput: refuse, requestSampling: refuse, requestState: () => undefined };
  return {
    ...{ signal, requestId: id, sendNotification: notify, sendRequest: refuse, ...caller },
    mcpReq: { id, method, signal, notify, log: async () => {}, ...asks },
    http: caller,
  };
}

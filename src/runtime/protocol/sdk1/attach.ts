import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Result } from '@modelcontextprotocol/sdk/types.js';
import { defined } from '../../../graph/defined.js';
import { isJsonObject, type JsonSchema } from '../../../graph/json.js';
import { clip } from '../../../graph/printable-text.js';
import { ConnectionClosed } from '../../runs/request.js';
import type { ServerSettings } from '../../server/options.js';
import { InFlight } from '../../server/requests/limits.js';
import type { ServerChange, StepwrightServer } from '../../server/stepwright-server.js';
import { thrownText } from '../../tools/exceptions.js';
import type { WithFactories } from '../../tools/instances.js';
import { encodedLog, type Log } from '../../tools/log.js';
import type { Registry } from '../../tools/registry.js';
import { LISTENING } from '../../transports/messages.js';
import type { ConnectOptions } from '../../transports/protocol-adapter.js';
import { untypedServer } from '../../transports/start-server.js';
import {
  type AttachableServer,
  AttachError,
  contextOf,
  type Handler,
  handlersOf,
} from '../../upstream/import-tools.js';
import type { HandlerContext } from '../sdk2/stateless.js';
import type { ConnectedClient } from './peer.js';

/** The lists of the protocol: the method, the member of its result, and what names an item. */
const LISTS = [
  { method: 'tools/list', items: 'tools', key: 'name', what: 'tool' },
  { method: 'prompts/list', items: 'prompts', key: 'name', what: 'prompt' },
  { method: 'resources/list', items: 'resources', key: 'uri', what: 'resource' },
  { method: 'resources/templates/list', items: 'resourceTemplates', key: 'uriTemplate', what: 'template' },
] as const;

type Listing = (typeof LISTS)[number];

/** Marks the cursors of a registry's own pages. */
const CURSOR = 'stepwright:';

/** Makes servers of the SDK: one for each request or connection, as `createMcpHandler` and `serveStdio` take it. */
export type ServerFactory = (...context: never[]) => AttachableServer | Promise<AttachableServer>;

/** A factory of servers that have a registry. */
export interface AttachedFactory<F extends ServerFactory> {
  (...context: Parameters<F>): Promise<Awaited<ReturnType<F>>>;
  /** The server of the registry, for `resourceUpdated`, `drain` and the like. */
  readonly server: StepwrightServer;
}

/** Takes changes for the subscriptions of clients. */
export interface ChangeBus {
  publish(
    event:
      | { readonly kind: 'tools_list_changed' | 'prompts_list_changed' | 'resources_list_changed' }
      | { readonly kind: 'resource_updated'; readonly uri: string },
  ): void;
}

export interface AttachOptions extends ServerSettings, ConnectOptions {
  /** The `bus` of `createMcpHandler`, which gets the changes of the registry. Default: clients over HTTP do not learn of them. */
  readonly bus?: ChangeBus;
}

/**
 * Adds the tools, workflows, prompts and resources of a registry to a server that exists, or to those that a factory makes:
 * it keeps its handlers, and what it does not know is answered from the registry. Call it after the server's own
 * registrations and before it connects. A factory is called once by it, to compare names.
 *
 * While `stepwright pull` records the tools of the server (`STEPWRIGHT_PULL`), the server is left as it is.
 *
 * @returns the server of the registry, for `resourceUpdated`, `drain` and the like; for a factory, the factory to serve.
 * @throws AttachError when a name is in both, the factory throws, the server is connected already, or is not one of the SDK;
 *   StaleRegistryError, RegistrationError, FactoriesError as `createServer` does; ServerStartError when `onStart` throws.
 * @example
 * ```ts
 * const mcp = new McpServer({ name: 'shop', version: '1.0.0' });
 * mcp.registerTool('stock', { description: 'What is in stock' }, stock);
 * await attach(mcp, registry);
 * await mcp.connect(new StdioServerTransport());
 * ```
 * @example
 * ```ts
 * const handler = createMcpHandler(await attach(() => createShop(), registry));
 * ```
 */
export function attach<F extends ServerFactory, R extends Registry>(
  factory: F,
  registry: R,
  ...[options]: WithFactories<R, AttachOptions>
): Promise<AttachedFactory<F>>;
export function attach<R extends Registry>(
  existing: AttachableServer,
  registry: R,
  ...[options]: WithFactories<R, AttachOptions>
): Promise<StepwrightServer>;
export async function attach(
  existing: AttachableServer | ServerFactory,
  registry: Registry,
  { bus, ...options }: AttachOptions = {},
): Promise<StepwrightServer | AttachedFactory<ServerFactory>> {
  const create = typeof existing === 'function' ? (existing as UntypedFactory) : undefined;
  const host = hostOf(create === undefined ? (existing as AttachableServer) : await firstOf(create));
  const handlers = handlersOf(host);
  const server = untypedServer(registry, options);
  await checkNames(handlers, server);
  await server.start();
  // Spec files are read by the start.
  await checkNames(handlers, server).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  const add = process.env.STEPWRIGHT_PULL === undefined ? await adderTo(host, server, options) : undefined;
  if (bus !== undefined) server.onChange((change) => bus.publish(eventOf(change)));
  if (create === undefined) {
    add?.(existing as AttachableServer);
    return server;
  }
  const createAttached = async (...context: readonly unknown[]): Promise<AttachableServer> => {
    const created = await create(...context);
    add?.(created);
    return created;
  };
  return Object.assign(createAttached, { server });
}

type UntypedFactory = (...context: readonly unknown[]) => AttachableServer | Promise<AttachableServer>;

/** A server of a factory, which is not connected. */
async function firstOf(create: UntypedFactory): Promise<AttachableServer> {
  try {
    return await create({ era: 'modern' });
  } catch (error) {
    throw new AttachError([
      `the factory threw: ${thrownText(error)}; \`attach\` calls it with \`{ era: 'modern' }\`, before there is a request, to compare names`,
    ]);
  }
}

/** @throws AttachError for what a registry cannot be added to. */
function hostOf(existing: AttachableServer): Server {
  if ('addTool' in existing)
    throw new AttachError([
      'it is one of `fastmcp`, which makes a server for each client: serve the registry, with its tools as steps by `serve(registry, { upstream: importTools({ NAME: server }) })`',
    ]);
  const host = (existing.server ?? existing) as Server;
  handlersOf(host);
  if (host.transport !== undefined)
    throw new AttachError(['the server is connected already: call attach before connect']);
  return host;
}

function eventOf(change: ServerChange): Parameters<ChangeBus['publish']>[0] {
  return change.kind === 'resource'
    ? { kind: 'resource_updated', uri: change.uri }
    : { kind: `${change.list}_list_changed` };
}

async function checkNames(handlers: ReadonlyMap<string, Handler>, server: StepwrightServer): Promise<void> {
  const problems = await collisions(handlers, allNames(server));
  if (problems.length > 0) throw new AttachError(problems);
}

/** The names of a registry, by the methods of its lists. */
type Names = ReadonlyMap<Listing['method'], ReadonlySet<string>>;

function allNames(server: StepwrightServer): Names {
  return new Map(LISTS.map((list) => [list.method, new Set(namesOf(server, list))]));
}

function namesOf(server: StepwrightServer, list: Listing): readonly string[] {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = ownPage(server, list, cursor);
    names.push(...itemsIn(page, list).map((item) => String(item[list.key])));
    cursor = typeof page.nextCursor === 'string' ? page.nextCursor : undefined;
  } while (cursor !== undefined);
  return names;
}

function ownPage(server: StepwrightServer, { method }: Listing, cursor: string | undefined): Result {
  switch (method) {
    case 'tools/list':
      return server.listTools(cursor) as unknown as Result;
    case 'prompts/list':
      return server.listPrompts(cursor) as unknown as Result;
    case 'resources/list':
      return server.listResources(cursor) as unknown as Result;
    case 'resources/templates/list':
      return server.listResourceTemplates(cursor) as unknown as Result;
    default:
      return method satisfies never;
  }
}

function itemsIn(page: Result | undefined, { items }: Listing): readonly Readonly<Record<string, unknown>>[] {
  const list = page?.[items];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

/** The names that the server and the registry both have. */
async function collisions(handlers: ReadonlyMap<string, Handler>, names: Names): Promise<string[]> {
  const problems: string[] = [];
  for (const list of LISTS) {
    for (const name of await existingNames(handlers.get(list.method), list)) {
      if (names.get(list.method)?.has(name))
        problems.push(
          `${list.what} \`${clip(name)}\` is in both: rename it in the registry or in the server`,
        );
    }
  }
  return problems;
}

const NO_CLIENT = 'there is no client yet: the lists are read before the server connects';

async function existingNames(handler: Handler | undefined, list: Listing): Promise<readonly string[]> {
  const names: string[] = [];
  let cursor: unknown;
  do {
    const params = defined({ cursor });
    const context = contextOf(list.method, {}, NO_CLIENT);
    const page = await handler?.({ method: list.method, params }, context as never);
    if (page === undefined) return names;
    names.push(...itemsIn(page, list).map((item) => String(item[list.key])));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return names;
}

/** Adds the registry to a server. */
type Add = (existing: AttachableServer) => void;

/** @param example shows by which version of the SDK the servers are. */
async function adderTo(
  example: Server,
  server: StepwrightServer,
  options: ServerSettings & ConnectOptions,
): Promise<Add> {
  const { ConnectedClient } = await import('./peer.js');
  const log = encodedLog(options.log, options.logLevel);
  const open =
    'projectCallToolResult' in example
      ? await sideOfBothEras(server, options, log)
      : await sideOfSessions(server, options, log);
  let names = allNames(server);
  server.onChange((change) => {
    if (change.kind === 'list') names = allNames(server);
  });
  const has = (method: Listing['method'], name: unknown) => names.get(method)?.has(String(name)) === true;
  const reported = new Set<string>();
  const isShown = ({ method, what, key }: Listing, item: Readonly<Record<string, unknown>>): boolean => {
    if (!has(method, item[key])) return true;
    const text = `the ${what} \`${clip(String(item[key]))}\` of the server is hidden by that of the registry: rename one of them`;
    if (!reported.has(text)) log(text, { event: 'attach.hidden', level: 'warning' });
    reported.add(text);
    return false;
  };
  return (existing) => {
    const host = hostOf(existing);
    const handlers = handlersOf(host);
    const client = new ConnectedClient(host);
    const own = open(host, handlers, client);
    const route = (method: string, isOwn: (params: Readonly<Record<string, unknown>>) => boolean): void => {
      const theirs = handlers.get(method);
      handlers.set(method, (request, extra) =>
        theirs === undefined || isOwn(isJsonObject(request.params) ? request.params : {})
          ? own(request, extra)
          : theirs(request, extra),
      );
    };
    for (const list of LISTS)
      handlers.set(
        list.method,
        joined(own, handlers.get(list.method), list, (item) => isShown(list, item)),
      );
    route('tools/call', ({ name }) => has('tools/list', name));
    route('prompts/get', ({ name }) => has('prompts/list', name));
    for (const method of ['resources/read', 'resources/subscribe', 'resources/unsubscribe'])
      route(method, ({ uri }) => server.hasResource(String(uri)));
    route('completion/complete', ({ ref }) => {
      if (!isJsonObject(ref)) return false;
      return ref.type === 'ref/prompt'
        ? has('prompts/list', ref.name)
        : has('resources/templates/list', ref.uri);
    });
    // Both keep the level that a client of a session wants.
    const setLevel = handlers.get('logging/setLevel');
    handlers.set('logging/setLevel', async (...request) => {
      const result = await own(...request);
      return setLevel === undefined ? result : setLevel(...request);
    });
    checkHeaders(existing, server);
    notifyOfChanges(host, server, client);
  };
}

/** Notifies the client of a server of changes while it is connected. */
function notifyOfChanges(host: Server, server: StepwrightServer, client: ConnectedClient): void {
  const connect = host.connect.bind(host);
  const connectFollowing: Server['connect'] = async (transport) => {
    const unsubscribe = server.onChange((change) => client.notify(change));
    const { onclose } = host;
    const onClosed = (): void => {
      unsubscribe();
      client.closed.abort(new ConnectionClosed('the connection was closed'));
      onclose?.();
    };
    host.onclose = onClosed;
    await connect(transport);
  };
  host.connect = connectFollowing;
}

/** An `McpServer` of version 2: `createMcpHandler` compares the headers of a call with the schema that it gives. */
interface SchemaSource {
  toolInputSchemaJson?(name: string): JsonSchema | undefined;
}

function checkHeaders(existing: AttachableServer & SchemaSource, server: StepwrightServer): void {
  const theirs = existing.toolInputSchemaJson?.bind(existing);
  if (theirs === undefined) return;
  const ownFirst = (name: string): JsonSchema | undefined => server.inputSchemaOf(name) ?? theirs(name);
  existing.toolInputSchemaJson = ownFirst;
}

/**
 * Declares what the registry can do, adds handlers for methods that it alone has, and makes what answers for it.
 */
type OpenSide = (host: Server, handlers: Map<string, Handler>, client: ConnectedClient) => Handler;

/** The registry on servers of version 1 of the SDK. */
async function sideOfSessions(
  server: StepwrightServer,
  { local, remoteAddress }: ConnectOptions,
  log: Log,
): Promise<OpenSide> {
  // A server that serves itself loads the SDK with the first request that needs it.
  const [{ requestHandler }, { TASK_CAPABILITY, TASK_METHODS }] = await Promise.all([
    import('./connection.js'),
    import('./tasks.js'),
  ]);
  const caller = defined({ local, remoteAddress });
  return (host, handlers, client) => {
    // A host with tasks of its own keeps them.
    const hasTasks = !handlers.has('tasks/get');
    const connection = {
      caller,
      log,
      inFlight: new InFlight(),
      hasEnded: () => host.transport === undefined,
    };
    const own = requestHandler(server, client, { ...connection, hasTasks }) as unknown as Handler;
    host.registerCapabilities({ ...LISTENING, ...(hasTasks ? { tasks: TASK_CAPABILITY } : {}) });
    if (hasTasks) for (const method of TASK_METHODS) handlers.set(method, own);
    return own;
  };
}

/** The registry on servers of version 2 of the SDK: requests with an envelope are of 2026-07-28. */
async function sideOfBothEras(
  server: StepwrightServer,
  { local, remoteAddress }: ConnectOptions,
  log: Log,
): Promise<OpenSide> {
  const [{ requestHandler, authOf }, { StatelessServers }] = await Promise.all([
    import('./connection.js'),
    import('../sdk2/http.js'),
  ]);
  const stateless = new StatelessServers(server, log);
  const caller = defined({ local, remoteAddress });
  return (host, handlers, client) => {
    const connection = { caller, log, hasEnded: () => host.transport === undefined };
    const session = { ...connection, inFlight: new InFlight(), hasTasks: false };
    const answerInSession = requestHandler(server, client, session) as unknown as Handler;
    const callerOf = ({ http }: HandlerContext) => ({
      ...{ ...caller, hasEnded: connection.hasEnded },
      ...(http?.authInfo === undefined ? {} : { auth: authOf(http.authInfo) }),
    });
    const answer = stateless.addTo(host as never, handlers, callerOf);
    const own = (request: Parameters<Handler>[0], context: HandlerContext): Promise<object> =>
      context.mcpReq.envelope === undefined
        ? answerInSession(request, extraOf(context) as never)
        : answer(request, context);
    host.registerCapabilities(LISTENING);
    return own as unknown as Handler;
  };
}

/** What version 1 of the SDK gives its handlers, of what version 2 does. */
function extraOf({ mcpReq, http, sessionId }: HandlerContext): object {
  const { id, signal, _meta, notify, send } = mcpReq;
  const headers = http?.req?.headers;
  return {
    ...{ requestId: id, signal, sendNotification: notify, sendRequest: send },
    ...defined({ _meta, sessionId, authInfo: http?.authInfo, closeSSEStream: http?.closeSSE }),
    ...(headers === undefined ? {} : { requestInfo: { headers: Object.fromEntries(headers) } }),
  };
}

/** The pages of the server, and behind them those of the registry. */
function joined(
  own: Handler,
  theirs: Handler | undefined,
  list: Listing,
  isShown: (item: Readonly<Record<string, unknown>>) => boolean,
): Handler {
  return async (request, extra) => {
    const cursor = isJsonObject(request.params) ? request.params.cursor : undefined;
    const isOwn = typeof cursor === 'string' && cursor.startsWith(CURSOR);
    const page = theirs === undefined || isOwn ? undefined : await theirs(request, extra);
    const items = itemsIn(page, list).filter(isShown);
    if (page?.nextCursor !== undefined) return { ...page, [list.items]: items };
    // An unknown cursor is refused by the list of the registry.
    const rest = isOwn ? cursor.slice(CURSOR.length) : theirs === undefined ? cursor : undefined;
    const ownPage = await own({ method: request.method, params: defined({ cursor: rest }) }, extra);
    const { nextCursor } = ownPage;
    return {
      ...page,
      ...ownPage,
      [list.items]: [...items, ...itemsIn(ownPage, list)],
      ...(nextCursor === undefined ? {} : { nextCursor: `${CURSOR}${nextCursor}` }),
    };
  };
}

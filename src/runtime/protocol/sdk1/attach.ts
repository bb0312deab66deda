import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Result } from '@modelcontextprotocol/sdk/types.js';
import { defined } from '../../../graph/defined.js';
import { isJsonObject } from '../../../graph/json.js';
import { clip } from '../../../graph/printable-text.js';
import { ConnectionClosed } from '../../runs/request.js';
import type { ServerSettings } from '../../server/options.js';

import { InFlight } from '../../server/requests/limits.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import type { WithFactories } from '../../tools/instances.js';
import { encodedLog } from '../../tools/log.js';
import type { Registry } from '../../tools/registry.js';
import type { ConnectOptions } from '../../transports/protocol-adapter.js';
import { untypedServer } from '../../transports/start-server.js';
import { type AttachableServer, AttachError, type Handler, handlersOf } from '../../upstream/import-tools.js';

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

/**
 * Adds the tools, workflows, prompts and resources of a registry to a server that exists: it keeps its handlers, and what
 * it does not know is answered from the registry. Call it after the server's own registrations and before it connects.
 *
 * While `stepwright pull` records the tools of the server (`STEPWRIGHT_PULL`), the server is left as it is.
 *
 * @returns the server of the registry, for `resourceUpdated`, `drain` and the like.
 * @throws AttachError when a name is in both, the server is connected already, or is not one of version 1 of the SDK; StaleRegistryError, RegistrationError,
 *   FactoriesError as `createServer` does; ServerStartError when `onStart` throws.
 * @example
 * ```ts
 * const mcp = new McpServer({ name: 'shop', version: '1.0.0' });
 * mcp.registerTool('stock', { description: 'What is in stock' }, stock);
 * await attach(mcp, registry);
 * await mcp.connect(new StdioServerTransport());
 * ```
 */
export async function attach<R extends Registry>(
  existing: AttachableServer,
  registry: R,
  ...[options]: WithFactories<R, ServerSettings & ConnectOptions>
): Promise<StepwrightServer> {
  const host = (existing.server ?? existing) as Server;
  if ('addTool' in existing || '_supportedProtocolVersions' in host)
    throw new AttachError([
      'it is one of `fastmcp` or `@modelcontextprotocol/server`, which make a server for each client: serve the registry, with its tools as steps by `serve(registry, { upstream: importTools({ NAME: server }) })`',
    ]);
  const handlers = handlersOf(host);
  if (host.transport !== undefined)
    throw new AttachError(['the server is connected already: call attach before connect']);
  const server = untypedServer(registry, options);
  await checkNames(handlers, server);
  await server.start();
  // Spec files are read by the start.
  await checkNames(handlers, server).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  if (process.env.STEPWRIGHT_PULL === undefined) await install(host, handlers, server, options ?? {});
  return server;
}

async function checkNames(handlers: ReadonlyMap<string, Handler>, server: StepwrightServer): Promise<void> {
  const problems = await collisions(
    handlers,
    LISTS.map((list) => namesOf(server, list)),
  );
  if (problems.length > 0) throw new AttachError(problems);
}

interface Names {
  readonly tools: ReadonlySet<string>;
  readonly prompts: ReadonlySet<string>;
  readonly templates: ReadonlySet<string>;
}

function allNames(server: StepwrightServer): Names {
  const [tools, prompts, , templates] = LISTS.map((list) => new Set(namesOf(server, list)));
  return { tools: tools ?? new Set(), prompts: prompts ?? new Set(), templates: templates ?? new Set() };
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

function itemsIn(page: Result, { items }: Listing): readonly Readonly<Record<string, unknown>>[] {
  const list = page[items];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

/** The names that the server and the registry both have. */
async function collisions(
  handlers: ReadonlyMap<string, Handler>,
  lists: readonly (readonly string[])[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const [index, list] of LISTS.entries()) {
    const own = new Set(lists[index]);
    for (const name of await existingNames(handlers.get(list.method), list)) {
      if (own.has(name))
        problems.push(
          `${list.what} \`${clip(name)}\` is in both: rename it in the registry or in the server`,
        );
    }
  }
  return problems;
}

async function existingNames(handler: Handler | undefined, list: Listing): Promise<readonly string[]> {
  const names: string[] = [];
  let cursor: unknown;
  do {
    const params = defined({ cursor });
    const page = await handler?.({ method: list.method, params }, REQUEST_OF_ATTACH as never);
    if (page === undefined) return names;
    names.push(...itemsIn(page, list).map((item) => String(item[list.key])));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return names;
}

/** What the server's own lists are asked with, before there is a client. */
const REQUEST_OF_ATTACH = {
  signal: new AbortController().signal,
  requestId: 'attach',
  sendNotification: async () => {},
  sendRequest: () =>
    Promise.reject(new Error('there is no client yet: the lists are read before the server connects')),
};

async function install(
  host: Server,
  handlers: Map<string, Handler>,
  server: StepwrightServer,
  options: ServerSettings & ConnectOptions,
): Promise<void> {
  // A server that serves itself loads the SDK with the first request that needs it.
  const [{ requestHandler }, { ConnectedClient }, { TASK_CAPABILITY, TASK_METHODS }] = await Promise.all([
    import('./connection.js'),
    import('./peer.js'),
    import('./tasks.js'),
  ]);
  let names = allNames(server);
  const client = new ConnectedClient(host);
  const { local, remoteAddress } = options;
  // A host with tasks of its own keeps them.
  const hasTasks = !handlers.has('tasks/get');
  const own = requestHandler(server, client, {
    hasTasks,
    caller: defined({ local, remoteAddress }),
    log: encodedLog(options.log, options.logLevel),
    inFlight: new InFlight(),
    hasEnded: () => host.transport === undefined,
  }) as unknown as Handler;
  host.registerCapabilities({
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    completions: {},
    ...(hasTasks ? { tasks: TASK_CAPABILITY } : {}),
  });
  if (hasTasks) for (const method of TASK_METHODS) handlers.set(method, own);
  const route = (method: string, isOwn: (params: Readonly<Record<string, unknown>>) => boolean): void => {
    const theirs = handlers.get(method);
    handlers.set(method, (request, extra) =>
      theirs === undefined || isOwn(isJsonObject(request.params) ? request.params : {})
        ? own(request, extra)
        : theirs(request, extra),
    );
  };
  for (const { method, items } of LISTS) handlers.set(method, joined(own, handlers.get(method), items));
  route('tools/call', ({ name }) => names.tools.has(String(name)));
  route('prompts/get', ({ name }) => names.prompts.has(String(name)));
  for (const method of ['resources/read', 'resources/subscribe', 'resources/unsubscribe'])
    route(method, ({ uri }) => server.hasResource(String(uri)));
  route('completion/complete', ({ ref }) => {
    if (!isJsonObject(ref)) return false;
    return ref.type === 'ref/prompt'
      ? names.prompts.has(String(ref.name))
      : names.templates.has(String(ref.uri));
  });
  const unsubscribe = server.onChange((change) => {
    if (change.kind === 'list') names = allNames(server);
    return client.notify(change);
  });
  const { onclose } = host;
  const onClosed = (): void => {
    unsubscribe();
    client.closed.abort(new ConnectionClosed('the connection was closed'));
    onclose?.();
  };
  host.onclose = onClosed;
}

/** The pages of the server, and behind them those of the registry. */
function joined(own: Handler, theirs: Handler | undefined, items: string): Handler {
  return async (request, extra) => {
    const cursor = isJsonObject(request.params) ? request.params.cursor : undefined;
    const isOwn = typeof cursor === 'string' && cursor.startsWith(CURSOR);
    const first = theirs === undefined || isOwn ? undefined : await theirs(request, extra);
    if (first?.nextCursor !== undefined) return first;
    // An unknown cursor is refused by the list of the registry.
    const rest = isOwn ? cursor.slice(CURSOR.length) : theirs === undefined ? cursor : undefined;
    const params = defined({ cursor: rest });
    const page = await own({ method: request.method, params }, extra);
    const { nextCursor } = page;
    return {
      ...first,
      ...page,
      [items]: [...listIn(first, items), ...listIn(page, items)],
      ...(nextCursor === undefined ? {} : { nextCursor: `${CURSOR}${nextCursor}` }),
    };
  };
}

function listIn(page: Result | undefined, items: string): readonly unknown[] {
  const list = page?.[items];
  return Array.isArray(list) ? list : [];
}

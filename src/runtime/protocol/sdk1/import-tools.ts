import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import { nearestName } from '../../../graph/names.js';
import { pageSchema, readTools } from '../../upstream/listing.js';
import {
  reasonOf,
  type UpstreamCall,
  UpstreamError,
  type UpstreamPort,
  type UpstreamResult,
  upstreamTexts,
} from '../../upstream/port.js';
import { type AttachableServer, type Handler, handlersOf } from './attach.js';

/**
 * The tools of servers of this process as steps of workflows, for the option `upstream` of `attach`, `serve` and
 * `createServer`. Calls go to the handlers of the server, without a connection: the tools keep their memory, and get the
 * caller of the run as `extra.authInfo`. Import after the tools are registered, and before `attach`.
 *
 * @param servers by the names that `stepwright pull` knows them by.
 * @throws AttachError for an object that is not a server of `@modelcontextprotocol/sdk` 1.x.
 * @example
 * ```ts
 * const upstream = importTools({ shop: mcp });
 * await attach(mcp, registry, { upstream });
 * ```
 */
export function importTools(
  servers: Readonly<Record<string, AttachableServer>>,
): Required<Omit<UpstreamPort, 'onToolsChanged'>> {
  const imported = new Map(Object.entries(servers).map(([name, server]) => [name, ownHandlers(server)]));
  const ask = (
    server: string,
    tool: string,
    params: object,
    call: Partial<UpstreamCall>,
  ): Promise<object> => {
    const handlers = imported.get(server);
    if (handlers === undefined) {
      const near = nearestName(server, [...imported.keys()]);
      throw new UpstreamError('E_UPSTREAM_CONFIG', upstreamTexts.unknownServer(server, near));
    }
    const method = tool === '' ? 'tools/list' : 'tools/call';
    const handler = handlers.get(method);
    const refused = (why: string) =>
      new UpstreamError(
        'E_UPSTREAM_REFUSED',
        upstreamTexts.refused(server, tool === '' ? method : tool, why),
      );
    if (handler === undefined) throw refused('it has no tools: register them before `importTools`');
    return handler({ method, params }, extraOf(call) as never).catch((error: unknown) => {
      if (call.signal?.aborted) throw call.signal.reason;
      throw refused(reasonOf(error));
    });
  };
  return {
    async call({ server, tool }, input, call) {
      const { idempotencyKey, meta } = call;
      const _meta = {
        ...meta,
        progressToken: 0,
        ...defined({ 'stepwright/idempotencyKey': idempotencyKey }),
      };
      const params = { name: tool, arguments: structuredClone(input), _meta };
      const result = (await ask(server, tool, params, call)) as Partial<UpstreamResult>;
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

/** The handlers of a server as they are now: those of `attach` would answer for the registry. */
function ownHandlers(server: AttachableServer): ReadonlyMap<string, Handler> {
  return new Map(handlersOf(server.server ?? server));
}

/** What a handler gets beside the request. */
function extraOf({ signal = new AbortController().signal, progress, auth }: Partial<UpstreamCall>): object {
  return {
    signal,
    requestId: 'stepwright',
    ...(auth === undefined ? {} : { authInfo: { token: '', ...auth, scopes: [...auth.scopes] } }),
    async sendNotification({ method, params }: { readonly method: string; readonly params?: JsonObject }) {
      if (method !== 'notifications/progress' || params === undefined) return;
      const { progress: done, total, message } = params as Readonly<Record<string, never>>;
      progress?.(Number(done), total, message);
    },
    sendRequest: () => Promise.reject(new Error('a step of a workflow has no client to ask')),
  };
}

import { createMcpHandler, type McpHttpHandler, McpServer, type Server } from '@modelcontextprotocol/server';
import { defined } from '../../../graph/defined.js';
import type { JsonSchema } from '../../../graph/json.js';
import { getOrInsert } from '../../../graph/maps.js';
import { ConnectionClosed, type RequestContext } from '../../runs/request.js';
import type { ServerChange, StepwrightServer } from '../../server/stepwright-server.js';
import type { Log } from '../../tools/log.js';
import type { Message } from '../../transports/messages.js';
import type { StatelessCaller, StatelessHandler } from '../../transports/protocol-adapter.js';
import { StatelessServers } from './stateless.js';
import { listenToTasks, subscribesToTasks } from './task-subscriptions.js';

// Imported with these, it is in the same file of the built package.
export { StatelessServers };

/** Whether headers repeat inputs, by schema. */
const withHeaders = new WeakMap<JsonSchema, boolean>();

function hasHeaders(schema: JsonSchema): boolean {
  return getOrInsert(withHeaders, schema, () => JSON.stringify(schema).includes('"x-mcp-header":'));
}

/** Has the SDK check the headers of a call by the schema of its tool, which it does for servers of this class alone. */
class HeaderServer extends McpServer {
  readonly #schema: JsonSchema;

  constructor(server: Server, schema: JsonSchema) {
    super({ name: '', version: '' });
    this.#schema = schema;
    Object.assign(this, { server });
  }

  override toolInputSchemaJson(): JsonSchema {
    return this.#schema;
  }
}

/** Answers requests over HTTP: each gets a server of the SDK of its own. */
export class StatelessRequests implements StatelessHandler {
  readonly #server: StepwrightServer;
  readonly #servers: StatelessServers;
  readonly #received = new WeakMap<
    Request,
    { readonly caller: StatelessCaller; readonly message: Message }
  >();
  readonly #handler: McpHttpHandler;
  readonly #unsubscribe: () => void;

  constructor(server: StepwrightServer, log: Log) {
    this.#server = server;
    this.#servers = new StatelessServers(server, log);
    this.#handler = createMcpHandler(({ requestInfo }) => this.#serverFor(requestInfo), {
      legacy: 'reject',
      onerror: (error) => this.#servers.refused(error),
    });
    this.#unsubscribe = server.onChange((change) => this.#notify(change));
  }

  async answer(request: Request, message: Message, caller: StatelessCaller): Promise<Response> {
    await this.#server.start();
    this.#received.set(request, { caller, message });
    const { auth, remoteAddress } = caller;
    const authInfo = auth && { token: '', ...auth, scopes: [...auth.scopes] };
    const answer = (parsedBody: Message): Promise<Response> =>
      this.#handler.fetch(request, { parsedBody, ...defined({ authInfo }) });
    if (!subscribesToTasks(message)) return answer(message);
    const follower = defined({ auth: auth as RequestContext['auth'], remoteAddress });
    return listenToTasks(this.#server.tasks, message, follower, answer);
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#servers.end(new ConnectionClosed('the server was closed'));
    await this.#handler.close();
  }

  #serverFor(request: Request | undefined): Server | McpServer {
    const received = request && this.#received.get(request);
    const { method, params } = received?.message ?? {};
    const protocol = this.#servers.serverFor(received?.caller ?? {}, method);
    if (method !== 'tools/call') return protocol;
    const schema = this.#server.inputSchemaOf(String(params?.name));
    return schema !== undefined && hasHeaders(schema) ? new HeaderServer(protocol, schema) : protocol;
  }

  #notify(change: ServerChange): void {
    const { notify } = this.#handler;
    if (change.kind === 'resource') notify.resourceUpdated(change.uri);
    else if (change.list === 'tools') notify.toolsChanged();
    else if (change.list === 'prompts') notify.promptsChanged();
    else notify.resourcesChanged();
  }
}

import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { defined } from '../../../graph/defined.js';
import { ConnectionClosed } from '../../runs/request.js';
import type { ServerChange, StepwrightServer } from '../../server/stepwright-server.js';
import type { Log } from '../../tools/log.js';
import type { Message } from '../../transports/messages.js';
import type { StatelessCaller, StatelessHandler } from '../../transports/protocol-adapter.js';
import { StatelessServers } from './stateless.js';

/** Answers requests over HTTP: each gets a server of the SDK of its own. */
export class StatelessRequests implements StatelessHandler {
  readonly #server: StepwrightServer;
  readonly #servers: StatelessServers;
  readonly #callers = new WeakMap<Request, StatelessCaller>();
  readonly #handler: McpHttpHandler;
  readonly #unsubscribe: () => void;

  constructor(server: StepwrightServer, log: Log) {
    this.#server = server;
    this.#servers = new StatelessServers(server, log);
    this.#handler = createMcpHandler(
      ({ requestInfo }) => this.#servers.serverFor((requestInfo && this.#callers.get(requestInfo)) ?? {}),
      { legacy: 'reject', onerror: (error) => this.#servers.refused(error) },
    );
    this.#unsubscribe = server.onChange((change) => this.#notify(change));
  }

  async answer(request: Request, message: Message, caller: StatelessCaller): Promise<Response> {
    await this.#server.start();
    this.#callers.set(request, caller);
    const { auth } = caller;
    const authInfo = auth && { token: '', ...auth, scopes: [...auth.scopes] };
    return this.#handler.fetch(request, { parsedBody: message, ...defined({ authInfo }) });
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#servers.end(new ConnectionClosed('the server was closed'));
    await this.#handler.close();
  }

  #notify(change: ServerChange): void {
    const { notify } = this.#handler;
    if (change.kind === 'resource') notify.resourceUpdated(change.uri);
    else if (change.list === 'tools') notify.toolsChanged();
    else if (change.list === 'prompts') notify.promptsChanged();
    else notify.resourcesChanged();
  }
}

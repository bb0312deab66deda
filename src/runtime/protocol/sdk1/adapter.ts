import type { WebStandardStreamableHTTPServerTransportOptions as HttpOptions } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { defined } from '../../../graph/defined.js';
import type { HttpConnection, HttpConversation, ProtocolAdapter } from '../../transports/protocol-adapter.js';
import { checkMessage } from './check-message.js';
import { openConnection } from './connection.js';

/** The protocol as version 1 of `@modelcontextprotocol/sdk` speaks it. */
export const sdk1: ProtocolAdapter = {
  check: checkMessage,
  connect: openConnection,
  async connectHttp(server, conversation, settings): Promise<HttpConnection> {
    // Loaded on first use: a server over stdio starts without it.
    const { WebStandardStreamableHTTPServerTransport: HttpTransport } = await import(
      '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
    );
    const transport = new HttpTransport(httpOptions(conversation));
    const connection = await openConnection(server, transport, settings, 'session' in conversation);
    return {
      ...connection,
      // The transport checks the headers.
      answer: (request, message, auth) => {
        const authInfo = auth && { token: '', ...auth, scopes: [...auth.scopes] };
        return transport.handleRequest(request, defined({ parsedBody: message, authInfo }));
      },
    };
  },
};

function httpOptions(conversation: HttpConversation): HttpOptions {
  if (!('session' in conversation)) return { enableJsonResponse: conversation.isJson };
  const { session, events, retryMs } = conversation;
  return { sessionIdGenerator: () => session, eventStore: events, retryInterval: retryMs };
}

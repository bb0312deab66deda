import type { WebStandardStreamableHTTPServerTransportOptions as HttpOptions } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { InitializeRequestParamsSchema, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { defined } from '../../../graph/defined.js';
import { isJsonObject } from '../../../graph/json.js';
import { oneLine } from '../../../graph/printable-text.js';
import { isInexact, type ReadMessage, refusal, refusalCodes, requestId } from '../../transports/messages.js';
import type { HttpConnection, HttpConversation, ProtocolAdapter } from '../../transports/protocol-adapter.js';
import { claimsStateless, statelessEra } from '../sdk2/era.js';
import { openConnection } from './connection.js';

/** The protocol as version 1 of `@modelcontextprotocol/sdk` speaks it. */
export const sdk1: ProtocolAdapter = {
  check: checkMessage,
  connect: openConnection,
  stateless: statelessEra,
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

/**
 * Checks a message before it reaches the SDK, which drops unknown messages without an answer. `initialize` has its params checked here because the SDK would answer with its raw list of issues.
 */
export function checkMessage(value: unknown): ReadMessage {
  if (Array.isArray(value)) return refused('batches are not supported, send one message at a time');
  if (!isJsonObject(value)) return refused('a message is a JSON object');
  const parsed = JSONRPCMessageSchema.safeParse(value);
  if (!parsed.success) return refused(faultOf(value), value.id);
  const message = parsed.data;
  // In the era without connections it is a method that does not exist.
  const isOwn = value.method === 'initialize' && 'id' in value && !claimsStateless(message);
  if (!isOwn) return { ok: true, message };
  const params = InitializeRequestParamsSchema.safeParse(value.params ?? {});
  if (params.success) return { ok: true, message };
  const problems = params.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  const text = `Invalid params of initialize: ${oneLine(problems.join('; '))}`;
  return { ok: false, refusal: refusal(refusalCodes.invalidParams, text, requestId(value.id)) };
}

function refused(problem: string, id?: unknown): ReadMessage {
  return {
    ok: false,
    refusal: refusal(refusalCodes.invalidRequest, `Invalid Request: ${problem}`, requestId(id)),
  };
}

function faultOf({ jsonrpc, params, id }: Readonly<Record<string, unknown>>): string {
  if (jsonrpc !== '2.0') return '`jsonrpc` must be "2.0"';
  if (params !== undefined && !isJsonObject(params)) return '`params` must be an object';
  if (isInexact(id))
    return 'numbers beyond 2^53 - 1 are not exact, so this answer has no id: use a smaller number or text as `id`';
  return 'the message is not a JSON-RPC 2.0 request, notification or response';
}

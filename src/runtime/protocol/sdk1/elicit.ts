import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type ElicitRequestFormParams,
  ElicitResultSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import type { Elicit } from '../../server/request.js';

/** The SDK gives up on its own otherwise: how long a question stands is the server's decision. */
const NO_LIMIT_MS = 0x7fffffff;

/** Puts questions to the user of the client that sent a request, as a part of that request. */
export function elicitWith({
  sendRequest,
}: Pick<RequestHandlerExtra<ServerRequest, ServerNotification>, 'sendRequest'>): Elicit {
  return async ({ message, schema }, signal) => {
    const requestedSchema = schema as unknown as ElicitRequestFormParams['requestedSchema'];
    const { action, content } = await sendRequest(
      { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } },
      ElicitResultSchema,
      { signal, timeout: NO_LIMIT_MS },
    );
    return action === 'accept' ? { action, content: content ?? {} } : { action };
  };
}

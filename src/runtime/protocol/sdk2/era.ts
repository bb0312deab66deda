import { isJsonObject } from '../../../graph/json.js';
import type { Message } from '../../transports/messages.js';
import type { StatelessEra } from '../../transports/protocol-adapter.js';

/** The first revision of the protocol in which each request is complete in itself. */
const FIRST_REVISION = '2026-07-28';

/** Whether the `_meta` of a message has a revision: earlier eras have it elsewhere. */
function claimsStateless({ params }: Message): boolean {
  const meta = params?._meta;
  return isJsonObject(meta) && 'io.modelcontextprotocol/protocolVersion' in meta;
}

/** The protocol as version 2 of the SDK speaks it, from revision 2026-07-28 on. The SDK is loaded by the first request. */
export const statelessEra: StatelessEra = {
  // The rule of the SDK, which has its own answers to malformed claims.
  claims(message, headers) {
    if (claimsStateless(message)) return true;
    const version = headers?.get('mcp-protocol-version')?.trim();
    return version !== undefined && version >= FIRST_REVISION;
  },
  async open(server, log) {
    const { StatelessRequests } = await import('./http.js');
    return new StatelessRequests(server, log);
  },
  async connect(...connection) {
    const { openStateless } = await import('./connection.js');
    return openStateless(...connection);
  },
};

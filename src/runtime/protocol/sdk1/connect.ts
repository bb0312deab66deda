import type { StepwrightServer } from '../../server/stepwright-server.js';
import { openConnection } from './connection.js';
import type { Connection, ConnectOptions, ServerTransport } from './contract.js';

/**
 * Answers one client over a transport until either side closes it. Several clients need one transport each and may
 * share one server.
 *
 * @throws ServerStartError when `onStart` of the server throws.
 */
export function connect(
  server: StepwrightServer,
  transport: ServerTransport,
  options: ConnectOptions = {},
): Promise<Connection> {
  return openConnection(server, transport, options);
}

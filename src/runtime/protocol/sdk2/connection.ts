import type { Server, Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { defined } from '../../../graph/defined.js';
import { ConnectionClosed } from '../../runs/request.js';
import { InFlight } from '../../server/requests/limits.js';
import type { ServerChange, StepwrightServer } from '../../server/stepwright-server.js';
import { encodedLog } from '../../tools/log.js';
import { changeNotification, drained } from '../../transports/messages.js';
import type { Connection, ConnectionSettings, MessageTransport } from '../../transports/protocol-adapter.js';
import { StatelessServers } from './stateless.js';
import { TaskTransport } from './task-subscriptions.js';

/** Answers the requests of one client over a transport. The server of the SDK is the same for all of them. */
export async function openStateless(
  server: StepwrightServer,
  channel: MessageTransport,
  { turn, ...settings }: ConnectionSettings,
): Promise<Connection> {
  await server.start();
  const log = encodedLog(settings.log);
  const servers = new StatelessServers(server, log);
  const { local, remoteAddress } = settings;
  const transport = new TaskTransport(channel, server.tasks, defined({ local, remoteAddress }));
  const inFlight = new InFlight();
  let hasEnded = false;
  let protocol: Server | undefined;
  const caller = {
    ...settings,
    hasEnded: () => hasEnded,
    async turn(...[method, signal]: Parameters<NonNullable<ConnectionSettings['turn']>>) {
      inFlight.begin();
      const endTurn = await turn?.(method, signal);
      return () => {
        endTurn?.();
        inFlight.end();
      };
    },
  };
  const serverOfConnection = (): Server => {
    protocol = servers.serverFor(caller);
    return protocol;
  };
  const entry = serveStdio(serverOfConnection, {
    legacy: 'reject',
    transport: transport as Transport,
    onerror: (error) => servers.refused(error),
  });
  // It is sent to subscriptions alone.
  const notify = (change: ServerChange): void =>
    void protocol?.notification(changeNotification(change)).catch(() => {});
  const unsubscribe = server.onChange(notify);
  const { onclose } = transport;
  const closed = new Promise<void>((resolve) => {
    const onClosed = (): void => {
      hasEnded = true;
      servers.end(new ConnectionClosed('the connection was closed'));
      unsubscribe();
      onclose?.();
      resolve();
    };
    transport.onclose = onClosed;
  });
  return {
    closed,
    async close({ graceMs = 0 } = {}) {
      await drained(inFlight, graceMs, log);
      hasEnded = true;
      await entry.close();
    },
  };
}

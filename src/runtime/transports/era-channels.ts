import type { StepwrightServer } from '../server/stepwright-server.js';
import type { Message } from './messages.js';
import type {
  Connection,
  ConnectionSettings,
  MessageTransport,
  ProtocolAdapter,
} from './protocol-adapter.js';

class EraChannel implements MessageTransport {
  onmessage: MessageTransport['onmessage'];
  onclose: MessageTransport['onclose'];
  onerror: MessageTransport['onerror'];
  /** Whether the client has sent a request of this era: to others it sends no message. */
  isUsed = false;
  #isClosed = false;
  readonly #wire: MessageTransport;

  constructor(wire: MessageTransport) {
    this.#wire = wire;
  }

  get sessionId(): unknown {
    return Reflect.get(this.#wire, 'sessionId');
  }

  async start(): Promise<void> {}

  async send(...message: Parameters<MessageTransport['send']>): Promise<void> {
    if (this.isUsed) await this.#wire.send(...message);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}

/** The later era of a connection, from its first message on. */
interface LaterEra {
  readonly channel: EraChannel;
  readonly connection: Promise<Connection>;
}

/**
 * Answers one client over a transport until either side closes it: each request in the era that it claims. A server that
 * meets no client of the later era does not load it.
 *
 * @throws ServerStartError when `onStart` of the server throws.
 */
export async function connectEras(
  adapter: ProtocolAdapter,
  server: StepwrightServer,
  wire: MessageTransport,
  settings: ConnectionSettings,
): Promise<Connection> {
  const { stateless } = adapter;
  if (stateless === undefined) return adapter.connect(server, wire, settings);
  const first = new EraChannel(wire);
  const connection = await adapter.connect(server, first, settings);
  let later: LaterEra | undefined;
  const openLater = (): LaterEra => {
    const channel = new EraChannel(wire);
    channel.isUsed = true;
    return { channel, connection: stateless.connect(server, channel, settings) };
  };
  const { onmessage, onclose, onerror } = wire;
  const report = (error: Error): void => {
    onerror?.(error);
    first.onerror?.(error);
  };
  const deliver: MessageTransport['onmessage'] = (message, ...extra) => {
    onmessage?.(message, ...extra);
    const isLater = stateless.claims(message);
    if (isLater) later ??= openLater();
    if (later !== undefined && (isLater || isNotification(message))) {
      const { channel } = later;
      // Opened already, or in the order of arrival.
      later.connection.then(() => channel.onmessage?.(message, ...extra), report);
    }
    if (isLater) return;
    first.isUsed ||= !isNotification(message);
    first.onmessage?.(message, ...extra);
  };
  wire.onmessage = deliver;
  wire.onerror = report;
  const closed = new Promise<void>((resolve) => {
    const onClosed = (): void => {
      onclose?.();
      void first.close();
      void later?.channel.close();
      resolve();
    };
    wire.onclose = onClosed;
  });
  await wire.start();
  return {
    closed,
    async close(options) {
      const both = [connection, await later?.connection.catch(() => undefined)];
      await Promise.all(both.map((each) => each?.close(options)));
      await wire.close();
    },
  };
}

function isNotification({ id }: Message): boolean {
  return id === undefined;
}

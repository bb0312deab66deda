import type { StepwrightServer } from '../server/stepwright-server.js';
import { faultCodes } from '../server/wire.js';
import { thrownReport } from '../tools/exceptions.js';
import { encodedLog } from '../tools/log.js';
import { type Message, refusal } from './messages.js';
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

  send(...message: Parameters<MessageTransport['send']>): Promise<void> {
    return this.isUsed ? this.#wire.send(...message) : Promise.resolve();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}

/** One era of a connection. It opens with its first message: a server loads what its client speaks. */
class EraConnection {
  readonly channel: EraChannel;
  readonly #open: (channel: MessageTransport) => Promise<Connection>;
  #connection: Promise<Connection> | undefined;
  #hasOpened = false;
  /** Callbacks of {@link whenOpen} that are still to be called. */
  #waiting = 0;

  constructor(wire: MessageTransport, open: (channel: MessageTransport) => Promise<Connection>) {
    this.channel = new EraChannel(wire);
    this.#open = open;
  }

  get isOpen(): boolean {
    return this.#connection !== undefined;
  }

  /** Calls back when it has opened: at once, or later. Callbacks keep their order. */
  whenOpen(run: () => void, fail: (error: unknown) => void): void {
    if (this.#hasOpened && this.#waiting === 0) {
      run();
      return;
    }
    this.#waiting += 1;
    this.#connection ??= this.#open(this.channel);
    this.#connection.then(() => {
      this.#hasOpened = true;
      this.#waiting -= 1;
      run();
    }, fail);
  }

  async close(options: Parameters<Connection['close']>[0]): Promise<void> {
    // Why it did not open was logged.
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.close(options);
  }
}

/**
 * Answers one client over a transport until either side closes it: each request in the era that it claims.
 *
 * @throws ServerStartError when `onStart` of the server throws.
 */
export async function connectEras(
  { connect, stateless }: ProtocolAdapter,
  server: StepwrightServer,
  wire: MessageTransport,
  settings: ConnectionSettings,
): Promise<Connection> {
  await server.start();
  const log = encodedLog(settings.log);
  const first = new EraConnection(wire, (channel) => connect(server, channel, settings));
  const later =
    stateless && new EraConnection(wire, (channel) => stateless.connect(server, channel, settings));
  const eras = [first, later].filter((era) => era !== undefined);
  const { onmessage, onclose, onerror } = wire;
  const fail = (error: unknown, { id, method }: Message = {}): void => {
    log(`a message of the client cannot be answered: ${thrownReport(error)}`, { event: 'request.fault' });
    if (id === undefined || method === undefined) return;
    const text = 'Internal error; the log of the server has the details';
    // A client that has left needs no answer.
    wire.send(refusal(faultCodes.internal, text, id)).catch(() => {});
  };
  const onMessage: MessageTransport['onmessage'] = (message, ...extra) => {
    onmessage?.(message, ...extra);
    const era = stateless?.claims(message) === true ? (later ?? first) : first;
    const isForBoth = era === first && isNotification(message);
    era.channel.isUsed ||= !isForBoth;
    const open = isForBoth ? eras.filter(({ isOpen }) => isOpen) : [];
    for (const each of open.length === 0 ? [era] : open) {
      // In the order of arrival.
      each.whenOpen(
        () => each.channel.onmessage?.(message, ...extra),
        (error) => fail(error, message),
      );
    }
  };
  const onError = (error: Error): void => {
    onerror?.(error);
    first.whenOpen(() => first.channel.onerror?.(error), fail);
  };
  wire.onmessage = onMessage;
  wire.onerror = onError;
  const closed = new Promise<void>((resolve) => {
    const onClosed = (): void => {
      onclose?.();
      for (const { channel } of eras) void channel.close();
      resolve();
    };
    wire.onclose = onClosed;
  });
  await wire.start();
  return {
    closed,
    async close(options) {
      await Promise.all(eras.map((era) => era.close(options)));
      await wire.close();
    },
  };
}

function isNotification({ id }: Message): boolean {
  return id === undefined;
}

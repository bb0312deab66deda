import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { ServerTransport } from './connect.js';
import { MessageLines } from './message-lines.js';
import { texts } from './texts.js';

/** The process's stdin and stdout, taken over for the protocol. */
export interface Stdio {
  readonly transport: ServerTransport;
  /** Settles when the client sends nothing more: stdin ended, and every message of it was taken in. */
  readonly ended: Promise<void>;
  /** Settles when the client reads nothing more: stdout broke. */
  readonly broken: Promise<void>;
  /** Gives stdout back. */
  release(): void;
}

/**
 * Takes stdout over for protocol messages. Whatever else writes to it, `console.*` included, reaches stderr instead:
 * one stray line would make the client drop the connection. Lines of stdin that are no messages are answered with a
 * protocol error here and told of in one line on stderr each.
 */
export function claimStdio(): Stdio {
  const { stdin, stdout, stderr } = process;
  const toClient = stdout.write;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const transport = new StdioTransport((text) => toClient.call(stdout, text));
  const ended = new Promise<void>((resolve) => {
    // A broken stdin has ended as well.
    for (const event of ['end', 'close', 'error'] as const) {
      stdin.once(event, () => {
        transport.inputEnded();
        resolve();
      });
    }
  });
  const broken = new Promise<void>((resolve) => {
    const gone = (): void => resolve();
    // These stay: a client that left makes every later write fail, which must not end the process by itself.
    stdout.on('error', gone);
    stderr.on('error', () => {});
  });
  return {
    transport,
    ended,
    broken,
    release: () => {
      stdout.write = toClient;
    },
  };
}

/** Messages over stdin and stdout, a line each. Unlike that of the SDK it reads every line once. */
class StdioTransport implements Transport, ServerTransport {
  onclose: Transport['onclose'];
  onerror: Transport['onerror'];
  onmessage: Transport['onmessage'];
  readonly #lines: MessageLines;
  readonly #write: (text: string) => boolean;
  readonly #onData = (chunk: Buffer): void => this.#lines.write(chunk);

  /** @param write to the client; false where it is to be given time. */
  constructor(write: (text: string) => boolean) {
    this.#write = write;
    this.#lines = new MessageLines(
      (message) => this.#take(message),
      (answer) => {
        process.stderr.write(`${texts.refused(answer.error.message)}\n`);
        write(`${JSON.stringify(answer)}\n`);
      },
    );
  }

  async start(): Promise<void> {
    process.stdin.on('data', this.#onData);
  }

  send(message: object): Promise<void> {
    return new Promise((resolve) => {
      if (this.#write(`${JSON.stringify(message)}\n`)) resolve();
      else process.stdout.once('drain', resolve);
    });
  }

  async close(): Promise<void> {
    const { stdin } = process;
    stdin.off('data', this.#onData);
    if (stdin.listenerCount('data') === 0) stdin.pause();
    this.onclose?.();
  }

  /** The last line may lack its newline. */
  inputEnded(): void {
    this.#lines.end();
  }

  #take(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

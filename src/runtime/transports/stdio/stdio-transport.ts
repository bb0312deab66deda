import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Message, ReadMessage } from '../messages.js';
import type { MessageTransport } from '../protocol-adapter.js';
import { MessageLines } from './message-lines.js';

/** The process's stdin and stdout, taken over for the protocol. */
export interface Stdio {
  readonly transport: MessageTransport;
  /** Settles when the client sends nothing more: stdin ended, and every message of it was taken in. */
  readonly ended: Promise<void>;
  /** Settles when the client reads nothing more: stdout broke. */
  readonly broken: Promise<void>;
  /** Gives stdout back. */
  release(): void;
}

/**
 * Takes stdout over for protocol messages; see {@link claimStdout}: one stray line would make the client drop the
 * connection. Lines of stdin that are no messages are answered with a protocol error here, with one line on stderr each.
 *
 * @param check see `ProtocolAdapter`.
 * @param onStray called before each write to stdout that goes to stderr instead.
 */
export function claimStdio(check: (value: unknown) => ReadMessage, onStray: () => void): Stdio {
  const { stdin, stdout, stderr } = process;
  const { write, release } = claimStdout(onStray);
  const transport = new StdioTransport(write, check);
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
  return { transport, ended, broken, release };
}

/** Messages over stdin and stdout, a line each. It reads every line once. */
class StdioTransport implements MessageTransport {
  onclose: MessageTransport['onclose'];
  onerror: MessageTransport['onerror'];
  onmessage: MessageTransport['onmessage'];
  readonly #lines: MessageLines;
  readonly #write: (text: string) => boolean;
  readonly #onData = (chunk: Buffer): void => this.#lines.write(chunk);

  /** @param write to the client; false where it is to be given time. */
  constructor(write: (text: string) => boolean, check: (value: unknown) => ReadMessage) {
    this.#write = write;
    this.#lines = new MessageLines(
      check,
      (message) => this.#take(message),
      (answer) => {
        process.stderr.write(`a message of the client was refused: ${answer.error.message}\n`);
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

  #take(message: Message): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/** The functions of `node:fs` that write to an open file, named by its number. */
const WRITERS = [
  'write',
  'writeSync',
  'writev',
  'writevSync',
  'writeFile',
  'writeFileSync',
  'appendFile',
  'appendFileSync',
] as const;

type Writer = (...args: unknown[]) => unknown;

const STDOUT = 1;
const STDERR = 2;

/** The process's stdout, taken over for one writer. */
interface ClaimedStdout {
  /** Writes to stdout; false where it is to be given time. */
  readonly write: (text: string) => boolean;
  /** Gives stdout back. */
  release(): void;
}

/**
 * Takes stdout over. Everything else in this thread that writes to it reaches stderr instead: `console.*`,
 * `process.stdout` and the functions of `node:fs` for the file number 1, which some loggers use.
 *
 * Writes of child processes that inherit stdout, of worker threads that use the file number, and to `/dev/stdout` cannot
 * be seen here.
 *
 * @param onStray called before each such write.
 */
function claimStdout(onStray: () => void): ClaimedStdout {
  // Reading `process.stdout` loads what it writes with, which must be the original.
  const { stdout, stderr } = process;
  const toClient = stdout.write;
  stdout.write = ((...args: Parameters<typeof stderr.write>) => {
    onStray();
    return stderr.write(...args);
  }) as typeof stdout.write;
  const releases = WRITERS.map((name) => redirect(name, onStray));
  // For programs that import the functions by name.
  syncBuiltinESMExports();
  return {
    write: (text) => toClient.call(stdout, text),
    release: () => {
      stdout.write = toClient;
      for (const release of releases) release();
      syncBuiltinESMExports();
    },
  };
}

function redirect(name: (typeof WRITERS)[number], onStray: () => void): () => void {
  const functions = fs as unknown as Record<typeof name, Writer>;
  const original = functions[name];
  const redirected = function (this: unknown, file: unknown, ...rest: unknown[]): unknown {
    if (file !== STDOUT) return original.call(this, file, ...rest);
    onStray();
    return original.call(this, STDERR, ...rest);
  };
  // `util.promisify` finds its own form of a function in a property.
  Object.defineProperties(redirected, Object.getOwnPropertyDescriptors(original));
  functions[name] = redirected;
  return () => {
    // Something that replaced it later keeps its place.
    if (functions[name] === redirected) functions[name] = original;
  };
}

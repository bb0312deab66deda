import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { ServerOptions } from '../../server/options.js';
import { drainOnSignals, endProcess, guardProcess } from '../../server/process.js';
import { RegistrationError } from '../../server/registration.js';
import { createServer } from '../../server/server.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import { FactoriesError } from '../../tools/factories.js';
import { type Registry, StaleRegistryError } from '../../tools/registry.js';
import { connect, type ServerTransport } from './connect.js';
import { MessageLines } from './stdio.js';
import { adapterTexts } from './texts.js';

/** A server over stdio. */
export interface RunningServer {
  readonly server: StepwrightServer;
  /** Settles when the client has hung up, the process was told to stop, or `close` was called. */
  readonly closed: Promise<void>;
  /** Aborts what is under way, ends the connection and gives stdout back; the process goes on. */
  close(): Promise<void>;
}

/** How long requests under way may still take once the client has closed stdin. */
const HANG_UP_GRACE_MS = 1_000;

/**
 * Serves a generated registry over stdio: the whole of a server program. From then on stdout belongs to the protocol,
 * and whatever else writes to it, `console.*` included, reaches stderr.
 *
 * The process ends with exit code 0 when the client closes stdin, after a second at most for requests under way, and on
 * SIGTERM and SIGINT, once the server is drained (see `drainOnSignals`). What a tool throws outside of its calls does not
 * end it (see `guardProcess`). It ends at once, with exit code 1 and the reason on stderr, when the registry is stale, a
 * factory is missing or a built workflow has faults.
 *
 * @throws RangeError for a limit among the options that is no positive whole number.
 * @example
 * ```ts
 * await serve(registry, { tools: { 'add-journal-task': () => new AddJournalTask(graph) } });
 * ```
 */
export async function serve<R extends Registry>(
  registry: R,
  ...options: ServerOptions<R>
): Promise<RunningServer> {
  const server = await createOrExit(registry, options);
  const stdio = claimStdio();
  const connection = await connect(server, stdio.transport, { local: true });
  const removeGuard = guardProcess();
  const stop = (): void => void connection.close();
  const close = (): Promise<void> => connection.close({ graceMs: HANG_UP_GRACE_MS });
  const ignoreSignals = drainOnSignals(server, { close });
  stdio.broken.then(stop);
  stdio.ended.then(close);

  let keepProcess = false;
  const closed = connection.closed.then(() => {
    server.endRuns('the server was stopped');
    stdio.release();
    if (keepProcess) {
      removeGuard();
      ignoreSignals();
      return;
    }
    process.stdin.destroy();
    endProcess();
  });
  return {
    server,
    closed,
    close() {
      keepProcess = true;
      stop();
      return closed;
    },
  };
}

async function createOrExit<R extends Registry>(
  registry: R,
  options: ServerOptions<R>,
): Promise<StepwrightServer> {
  try {
    // What the options are was checked where the registry's type is known.
    return createServer<Registry>(
      registry,
      ...(options as unknown as ServerOptions<Registry, readonly [], readonly []>),
    );
  } catch (error) {
    const isTheProgrammers =
      error instanceof StaleRegistryError ||
      error instanceof RegistrationError ||
      error instanceof FactoriesError;
    if (!isTheProgrammers) throw error;
    const { message } = error;
    // The message says what to do; a stack would bury it.
    await new Promise<void>((resolve) => process.stderr.write(`${message}\n`, () => resolve()));
    return process.exit(1);
  }
}

/** The process's stdin and stdout, taken over for the protocol. */
interface Stdio {
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
function claimStdio(): Stdio {
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
        process.stderr.write(`${adapterTexts.refused(answer.error.message)}\n`);
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

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { defined } from '../../../graph/defined.js';
import type { ServerSettings } from '../../server/options.js';
import {
  drainOnSignals,
  endProcess,
  guardProcess,
  reportExitDuringCalls,
  strayOutputReport,
} from '../../server/process.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import { encodedLog } from '../../tools/log.js';
import { connectEras } from '../era-channels.js';
import {
  type Message,
  type ReadMessage,
  type Refusal,
  readMessage,
  refusal,
  refusalCodes,
  requestId,
} from '../messages.js';
import type { MessageTransport, ProtocolAdapter } from '../protocol-adapter.js';
import { startOrExit } from '../start-server.js';

/** A server over stdio. */
export interface RunningServer {
  readonly server: StepwrightServer;
  /** Settles when the client has hung up, the process got a signal to stop, or `close` was called. */
  readonly closed: Promise<void>;
  /** Aborts requests in flight, ends the connection and restores stdout; the process stays alive. */
  close(): Promise<void>;
}

/** How long requests in flight may still take once the client has closed stdin. */
const HANG_UP_GRACE_MS = 1_000;

/** Starts a server and lets it answer over stdio; see `serve` of the adapter. */
export async function serveStdio(
  adapter: ProtocolAdapter,
  server: StepwrightServer,
  options: ServerSettings | undefined,
): Promise<RunningServer> {
  const { log, logLevel } = options ?? {};
  const logged = defined({ log });
  const entries = encodedLog(log, logLevel);
  if (options?.questions?.page === true) {
    const text = 'questions.page has no effect over stdio: serve over HTTP, where people can open the pages';
    entries(text, { event: 'workflow.warning', level: 'warning' });
  }
  const stdio = claimStdio(adapter.check, strayOutputReport(server, entries));
  await startOrExit(server);
  const connection = await connectEras(adapter, server, stdio.transport, { local: true, ...logged });
  const removeGuard = guardProcess(logged);
  const ignoreExit = reportExitDuringCalls(server, entries);
  const stop = (): void => void connection.close();
  const close = (): Promise<void> => connection.close({ graceMs: HANG_UP_GRACE_MS });
  const ignoreSignals = drainOnSignals(server, { close });
  stdio.broken.then(stop);
  stdio.ended.then(close);

  let keepProcess = false;
  const closed = connection.closed.then(async () => {
    server.endRuns('the server was stopped');
    await server.stop();
    stdio.release();
    ignoreExit();
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
function claimStdio(check: (value: unknown) => ReadMessage, onStray: () => void): Stdio {
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

/** The longest message a client may send, in bytes without its newline. */
const MESSAGE_LIMIT_BYTES = 10 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * Splits bytes into lines and reads each line as one protocol message. A line that is not a message is passed to
 * `refuse`; blank lines are ignored. An overlong line is not kept in memory: only its request id is read, because a
 * client waits for an answer with that id. The id may follow the params, as in messages of the MCP SDKs.
 */
export class MessageLines {
  #pieces: Buffer[] = [];
  #length = 0;
  /** Present while the rest of an overlong line arrives. */
  #overlong: RequestIdReader | undefined;
  #isRefused = false;

  constructor(
    readonly check: (value: unknown) => ReadMessage,
    readonly take: (message: Message) => void,
    readonly refuse: (answer: Refusal) => void,
    readonly limit: number = MESSAGE_LIMIT_BYTES,
  ) {}

  write(chunk: Buffer): void {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, to));
      this.#endLine();
      from = to + 1;
    }
    this.#add(chunk.subarray(from));
  }

  /** Ends the last line, which may lack its newline. */
  end(): void {
    this.#endLine();
  }

  #add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#length += piece.length;
    if (this.#overlong !== undefined) {
      this.#readId(this.#overlong, piece);
      return;
    }
    this.#pieces.push(piece);
    if (this.#length <= this.limit) return;
    const reader = new RequestIdReader();
    this.#overlong = reader;
    for (const each of this.#pieces) this.#readId(reader, each);
    this.#pieces = [];
  }

  /** Answers as soon as the id is known: the rest of the line may take long to arrive. */
  #readId(reader: RequestIdReader, piece: Buffer): void {
    if (this.#isRefused) return;
    reader.read(piece);
    if (reader.id !== null) this.#refuseOverlong(reader.id);
  }

  #refuseOverlong(id: Refusal['id']): void {
    this.#isRefused = true;
    const text = `Invalid Request: a message must not exceed ${this.limit} bytes; send large content in several calls, or a reference to it`;
    this.refuse(refusal(refusalCodes.invalidRequest, text, id));
  }

  #endLine(): void {
    const pieces = this.#pieces;
    const isOverlong = this.#overlong !== undefined;
    if (isOverlong && !this.#isRefused) this.#refuseOverlong(null);
    this.#pieces = [];
    this.#length = 0;
    this.#overlong = undefined;
    this.#isRefused = false;
    if (isOverlong) return;
    const text = Buffer.concat(pieces).toString('utf8');
    if (text.trim() === '') return;
    const line = readMessage(text, this.check);
    if (line.ok) this.take(line.message);
    else this.refuse(line.refusal);
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OBJECT = 0x7b;
const OPENING: ReadonlySet<number> = new Set(Buffer.from('{['));
const CLOSING: ReadonlySet<number> = new Set(Buffer.from('}]'));
const WHITE_SPACE: ReadonlySet<number> = new Set(Buffer.from(' \t\r'));

/** A longer key or id is not read. */
const TOKEN_LIMIT_BYTES = 256;

/**
 * Reads the id of a request from the bytes of its message, in one pass and without keeping them. It follows the nesting
 * of JSON and looks at members of the outermost object alone.
 */
class RequestIdReader {
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  /** The bytes of a key or of a plain value in the outermost object. */
  #token: number[] = [];
  #key: string | undefined;
  #id: Refusal['id'] = null;
  /** A response has an id as well, which is that of a request of the server. */
  #isRequest = false;
  /** The outermost object has ended, or the message is not an object. */
  #isOver = false;

  /** The id, once it is known that the message is a request; null before, and for a message without one. */
  get id(): Refusal['id'] {
    return this.#isRequest ? this.#id : null;
  }

  read(bytes: Buffer): void {
    let quote = -1;
    let backslash = -1;
    for (let at = 0; at < bytes.length && !this.#isOver; at += 1) {
      // Most of a long message is a few long texts.
      if (this.#isText && this.#depth > 1 && !this.#isEscaped) {
        if (quote < at) quote = placeOf(QUOTE, bytes, at);
        if (backslash < at) backslash = placeOf(BACKSLASH, bytes, at);
        at = Math.min(quote, backslash);
      }
      const byte = bytes[at];
      if (byte === undefined) return;
      if (this.#isText) this.#readText(byte);
      else if (this.#depth === 0) this.#begin(byte);
      else this.#readStructure(byte);
    }
  }

  #begin(byte: number): void {
    if (byte === OBJECT) this.#depth = 1;
    else if (!WHITE_SPACE.has(byte)) this.#isOver = true;
  }

  #readText(byte: number): void {
    this.#keep(byte);
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isText = false;
  }

  #readStructure(byte: number): void {
    if (byte === QUOTE) {
      this.#isText = true;
      this.#keep(byte);
    } else if (OPENING.has(byte)) {
      this.#depth += 1;
    } else if (CLOSING.has(byte)) {
      this.#depth -= 1;
      if (this.#depth > 0) return;
      this.#endMember();
      this.#isOver = true;
    } else if (this.#depth > 1) {
      return;
    } else if (byte === COLON) {
      const key = this.#takeToken();
      this.#key = typeof key === 'string' ? key : undefined;
      if (key === 'method') this.#isRequest = true;
    } else if (byte === COMMA) {
      this.#endMember();
    } else if (!WHITE_SPACE.has(byte)) {
      this.#keep(byte);
    }
  }

  #endMember(): void {
    const value = this.#takeToken();
    if (this.#key === 'id') this.#id = requestId(value);
    this.#key = undefined;
  }

  #keep(byte: number): void {
    if (this.#depth === 1 && this.#token.length <= TOKEN_LIMIT_BYTES) this.#token.push(byte);
  }

  /** The key or value that was read last; nothing for one that is too long or is not plain. */
  #takeToken(): unknown {
    const token = this.#token;
    this.#token = [];
    if (token.length === 0 || token.length > TOKEN_LIMIT_BYTES) return undefined;
    try {
      return JSON.parse(Buffer.from(token).toString('utf8'));
    } catch {
      return undefined;
    }
  }
}

/** Where a byte is next; the end of the bytes if it is not among them. */
function placeOf(byte: number, bytes: Buffer, from: number): number {
  const place = bytes.indexOf(byte, from);
  return place === -1 ? bytes.length : place;
}

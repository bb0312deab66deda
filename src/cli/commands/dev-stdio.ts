import type { Readable, Writable } from 'node:stream';
import { defined } from '../../graph/defined.js';

/** The pipes of a process that speaks MCP over them. */
export interface StdioServer {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

/** The fields of a JSON-RPC message that a session reads. */
interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: { readonly uri?: unknown; readonly requestId?: unknown };
  readonly result?: { readonly capabilities?: Readonly<Record<string, { readonly listChanged?: unknown }>> };
  readonly error?: { readonly code: number; readonly message: string };
}

/** How long a server that is replaced may take to answer what was asked before. */
const DRAIN_MS = 1_000;

/** The JSON-RPC code for a request that a server did not finish. */
const INTERNAL_ERROR = -32_603;

/**
 * The session of a client over stdio with one server after another. A new server is set up as the client has set up the
 * first one: initialised, with its log level and its subscriptions. The client is notified that lists may have changed.
 */
export class StdioSession {
  readonly #toClient: Writable;
  readonly #report: (line: string) => void;
  #server: StdioServer | undefined;
  /** Messages of the client that wait for a server. */
  #waiting: Message[] = [];
  /** Requests of the client that the server has not answered, by id. */
  readonly #open = new Map<Message['id'], Message>();
  /** What sets up a server, by method and resource. */
  readonly #setup = new Map<string, Message>();
  /** Requests of servers that the client has not answered: their ids at their server, by those at the client. */
  readonly #asked = new Map<string, Message['id']>();
  #servers = 0;
  #onAnswer = (): void => {};

  /** @param report - is called with each line of a server that is not a message. */
  constructor(fromClient: Readable, toClient: Writable, report: (line: string) => void) {
    this.#toClient = toClient;
    this.#report = report;
    eachLine(fromClient, (line) => this.#ofClient(line));
  }

  /** Hands the session to a server, which has loaded the project. */
  async attach(server: StdioServer): Promise<void> {
    this.#servers += 1;
    const answers = new Map<Message['id'], (answer: Message) => void>();
    eachLine(server.stdout, (line) => {
      const message = messageOf(line);
      if (message === undefined) return this.#report(line);
      const take = message.method === undefined ? answers.get(message.id) : undefined;
      if (take === undefined) this.#ofServer(message, server);
      else take(message);
    });
    server.stdin.on('error', () => {});
    server.stdout.once('close', () => {
      for (const take of answers.values()) take({ jsonrpc: '2.0' });
      if (this.#server === server) void this.detach();
    });
    const isFirst = this.#setup.size === 0;
    let capabilities: NonNullable<Message['result']>['capabilities'] = {};
    for (const [index, message] of [...this.#setup.values()].entries()) {
      if (message.id === undefined) {
        send(server.stdin, message);
        continue;
      }
      const id = `dev-setup-${index}`;
      const answer = new Promise<Message>((resolve) => answers.set(id, resolve));
      send(server.stdin, { ...message, id });
      const { result } = await answer;
      if (message.method === 'initialize') capabilities = result?.capabilities ?? {};
    }
    this.#server = server;
    for (const message of this.#waiting.splice(0)) this.#forward(message, server);
    if (isFirst) return;
    for (const [name, { listChanged }] of Object.entries(capabilities))
      if (listChanged === true)
        send(this.#toClient, { jsonrpc: '2.0', method: `notifications/${name}/list_changed` });
  }

  /**
   * Takes the session from its server. Requests that it does not answer soon are answered with an error, and those that
   * it has put to the client are cancelled. Later messages of the client wait.
   */
  async detach(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const answered = new Promise<void>((resolve) => {
      this.#onAnswer = () => void (this.#open.size === 0 && resolve());
      this.#onAnswer();
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, DRAIN_MS);
    });
    await Promise.race([answered, late]);
    clearTimeout(timer);
    const error = {
      code: INTERNAL_ERROR,
      message: 'The server was replaced after a change of its sources: repeat the request',
    };
    for (const id of this.#open.keys()) send(this.#toClient, { jsonrpc: '2.0', ...defined({ id }), error });
    this.#open.clear();
    for (const requestId of this.#asked.keys())
      send(this.#toClient, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    this.#asked.clear();
  }

  #ofClient(line: string): void {
    const message = messageOf(line);
    // The server answers a line that is not a message.
    if (message === undefined) return void this.#server?.stdin.write(`${line}\n`);
    if (this.#server === undefined) this.#waiting.push(message);
    else this.#forward(message, this.#server);
  }

  #forward(message: Message, server: StdioServer): void {
    const { id, method, params } = message;
    if (method === undefined) {
      const asked = this.#asked.get(String(id));
      if (asked === undefined) return;
      this.#asked.delete(String(id));
      send(server.stdin, { ...message, id: asked });
      return;
    }
    if (id !== undefined) this.#open.set(id, message);
    if (SETUP.has(method)) this.#setup.set(method, message);
    if (method === 'resources/subscribe') this.#setup.set(String(params?.uri), message);
    if (method === 'resources/unsubscribe') this.#setup.delete(String(params?.uri));
    send(server.stdin, message);
  }

  #ofServer(message: Message, server: StdioServer): void {
    const { id, method, params } = message;
    if (method === undefined) {
      // An answer after the end of its server's time was given by `detach`.
      if (!this.#open.delete(id)) return;
      send(this.#toClient, message);
      if (server !== this.#server) this.#onAnswer();
    } else if (id !== undefined) {
      const asked = `dev-${this.#servers}-${String(id)}`;
      this.#asked.set(asked, id);
      send(this.#toClient, { ...message, id: asked });
    } else if (method === 'notifications/cancelled') {
      const asked = `dev-${this.#servers}-${String(params?.requestId)}`;
      this.#asked.delete(asked);
      send(this.#toClient, { ...message, params: { ...params, requestId: asked } });
    } else send(this.#toClient, message);
  }
}

/** The messages that set up a server, in their order. */
const SETUP: ReadonlySet<string> = new Set(['initialize', 'notifications/initialized', 'logging/setLevel']);

/** Lines end with a newline alone: other separators of `readline` may be in texts. */
function eachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') onLine(line);
  });
}

function messageOf(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'jsonrpc' in value ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}

function send(stream: Writable, message: object): void {
  stream.write(`${JSON.stringify(message)}\n`);
}

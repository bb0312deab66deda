import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../../graph/json.js';
import { nearestName } from '../../graph/names.js';
import { Mask } from '../secrets/mask.js';
import { type Environment, type UpstreamConfig, type UpstreamServer, withEnvironment } from './config.js';
import { withLimit } from './long-timer.js';
import {
  reasonOf,
  type UpstreamCall,
  UpstreamError,
  type UpstreamListing,
  type UpstreamPort,
  type UpstreamReference,
  type UpstreamResult,
  upstreamTexts,
} from './port.js';

/** An open connection to one server. Its methods throw `UpstreamError`. */
export interface UpstreamConnection {
  call(tool: string, input: JsonObject, call: UpstreamCall): Promise<UpstreamResult>;
  list(signal: AbortSignal): Promise<UpstreamListing>;
  /** Settles when the connection has ended, for whatever reason. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a connection to a server whose variables are filled in. What it throws becomes `E_UPSTREAM_UNAVAILABLE`.
 *
 * @param say receives what the server writes to its log, a line at a time.
 * @param changed is called when the server says that its list of tools has changed.
 * @param signal is aborted when the connection is no longer wanted.
 */
export type OpenUpstream = (
  name: string,
  server: UpstreamServer,
  say: (line: string) => void,
  changed: () => void,
  secrets: ConnectionSecrets,
  signal: AbortSignal,
) => Promise<UpstreamConnection>;

/** What must not be shown of a connection. */
export interface ConnectionSecrets {
  /** Adds a token to the values of the variables. The tokens before it have expired. */
  addToken(token: string): void;
  /** A text without secrets, to be called before the text is shortened. */
  mask(text: string): string;
}

/** How upstream servers are reached. */
export interface UpstreamSettings {
  readonly open: OpenUpstream;
  readonly env: Environment;
  /** Receives what servers log, and ends of connections. */
  readonly log: (text: string) => void;
  /** Waits. Default: by the clock. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The delay before the first connection after a failure, in ms; it doubles with each further failure. */
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 30_000;

/** So many tokens are masked: those before them are in no message any more. */
const MASKED_TOKENS = 10;

/** Thrown by a connection whose session the server has forgotten: the request was not handled. */
export class SessionLostError extends Error {
  override readonly name = 'SessionLostError';
}

/**
 * The upstream servers of a configuration. Each is connected on first use, and again after its connection has ended:
 * then with a delay that doubles until a call succeeds.
 */
export class UpstreamServers implements UpstreamPort {
  readonly #links: ReadonlyMap<string, Link>;
  readonly #listeners = new Set<(server: string) => void>();

  constructor(servers: UpstreamConfig, settings: UpstreamSettings) {
    const entries = Object.entries(servers);
    const changed = (name: string): void => {
      for (const listener of this.#listeners) listener(name);
    };
    this.#links = new Map(
      entries.map(([name, server]) => [name, new Link(name, server, settings, () => changed(name))]),
    );
  }

  async call({ server, tool }: UpstreamReference, input: JsonObject, call: UpstreamCall) {
    const link = this.#link(server);
    // The tools of a connection that a list has opened are compared by the caller of the list.
    return link.use(call.signal, (connection) => link.limited(connection, tool, input, call), link.changed);
  }

  async list(server: string, signal: AbortSignal): Promise<UpstreamListing> {
    return this.#link(server).use(signal, (connection) => connection.list(signal));
  }

  onToolsChanged(listener: (server: string) => void): void {
    this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.close()));
  }

  #link(server: string): Link {
    const link = this.#links.get(server);
    if (link !== undefined) return link;
    const near = nearestName(server, [...this.#links.keys()]);
    throw new UpstreamError('E_UPSTREAM_CONFIG', upstreamTexts.unknownServer(server, near));
  }
}

type Work<T> = (connection: UpstreamConnection) => Promise<T>;

/** The connection to one server, while there is one. */
class Link {
  #connection: Promise<UpstreamConnection> | undefined;
  /** Aborted by {@link close}, which does not wait for a server that does not respond. */
  #opening = new AbortController();
  /** Failures and lost connections since the last success. */
  #failures = 0;
  /** Why the last connection could not be made. */
  #why: string | undefined;

  constructor(
    readonly name: string,
    readonly server: UpstreamServer,
    readonly settings: UpstreamSettings,
    readonly changed: () => void,
  ) {}

  /** @param onConnect called where a connection was made for this work. */
  async use<T>(signal: AbortSignal, work: Work<T>, onConnect: () => void = () => {}): Promise<T> {
    try {
      return await this.#attempt(signal, work, onConnect);
    } catch (error) {
      if (!(error instanceof SessionLostError)) throw error;
      this.#connection = undefined;
      return this.#attempt(signal, work, onConnect);
    }
  }

  /** Makes a call, which may take as long as the configuration says. */
  limited(connection: UpstreamConnection, tool: string, input: JsonObject, call: UpstreamCall) {
    const { timeoutMs } = this.server;
    return withLimit(timeoutMs, call.signal, (signal, isLate) =>
      connection.call(tool, input, { ...call, signal }).catch((error: unknown) => {
        if (!isLate()) throw error;
        const text = `The call of '${tool}' of the upstream server '${this.name}' timed out after ${timeoutMs} ms`;
        throw new UpstreamError('E_TIMEOUT', text, { outcomeUnknown: true });
      }),
    );
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#opening.abort(new Error('it was closed'));
    this.#opening = new AbortController();
    await connection?.then((open) => open.close()).catch(() => {});
  }

  async #attempt<T>(signal: AbortSignal, work: Work<T>, onConnect: () => void): Promise<T> {
    if (this.#connection === undefined) {
      this.#connection = this.#connect();
      void this.#connection.then(onConnect, () => {});
    }
    const connection = await this.#withinLimit(this.#connection, signal);
    const result = await work(connection);
    this.#failures = 0;
    return result;
  }

  /** Waits for the connection as long as a call may take. It is made all the same: a later call needs it as well. */
  async #withinLimit(opening: Promise<UpstreamConnection>, signal: AbortSignal): Promise<UpstreamConnection> {
    const { timeoutMs } = this.server;
    return withLimit(timeoutMs, signal, (limited, isLate) =>
      abortable(opening, limited).catch((error: unknown) => {
        const isTimeout = error === signal.reason && (error as Error).name === 'TimeoutError';
        if (!isLate() && !isTimeout) throw error;
        // While it waits to try again, that it is late says less than how it failed before.
        const before = this.#why === undefined ? '' : `; the last time, ${this.#why}`;
        const why = `it did not connect ${isTimeout ? 'before the deadline' : `within ${timeoutMs} ms`}${before}`;
        throw new UpstreamError('E_UPSTREAM_UNAVAILABLE', upstreamTexts.unavailable(this.name, why), {
          retryAfterMs: FIRST_DELAY_MS,
        });
      }),
    );
  }

  async #connect(): Promise<UpstreamConnection> {
    const { open, env, log, wait = (ms, signal) => delay(ms, undefined, { signal }) } = this.settings;
    const { name } = this;
    const { signal } = this.#opening;
    let mask = (text: string): string => text;
    try {
      const { server, secrets } = withEnvironment(name, this.server, env);
      const masked = secretsWith(secrets);
      mask = masked.mask;
      if (this.#failures > 0) await wait(this.#delayMs(), signal);
      const say = (line: string): void => log(mask(`upstream server '${name}': ${line}`));
      const opened = await open(name, server, say, this.changed, masked, signal);
      const connection = maskedConnection(opened, mask);
      void opened.closed.then(() => this.#onEnd(connection));
      this.#why = undefined;
      return connection;
    } catch (error) {
      if (signal.aborted)
        throw new UpstreamError(
          'E_UPSTREAM_UNAVAILABLE',
          upstreamTexts.unavailable(name, reasonOf(signal.reason)),
        );
      this.#connection = undefined;
      if (error instanceof UpstreamError) throw error;
      this.#failures += 1;
      this.#why = mask(reasonOf(error));
      const retryAfterMs = this.#delayMs();
      throw new UpstreamError('E_UPSTREAM_UNAVAILABLE', upstreamTexts.unavailable(name, this.#why), {
        retryAfterMs,
      });
    }
  }

  #delayMs(): number {
    return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures - 1));
  }

  async #onEnd(connection: UpstreamConnection): Promise<void> {
    // A connection that was closed here has been replaced already.
    if ((await this.#connection?.catch(() => undefined)) !== connection) return;
    this.#connection = undefined;
    this.#failures += 1;
    this.settings.log(`upstream server '${this.name}': the connection ended`);
  }
}

/** Waits for a shared promise as long as one caller wants to. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** @param variables their values. */
function secretsWith(variables: readonly string[]): ConnectionSecrets {
  let tokens: readonly string[] = [];
  let mask = new Mask(variables, { shortest: 1 });
  return {
    addToken(token) {
      tokens = [...tokens, token].slice(-MASKED_TOKENS);
      mask = new Mask([...variables, ...tokens], { shortest: 1 });
    },
    mask: (text) => mask.text(text),
  };
}

/** A connection whose errors repeat no secret of the configuration. */
function maskedConnection(
  connection: UpstreamConnection,
  mask: (text: string) => string,
): UpstreamConnection {
  const masked = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      throw new UpstreamError(error.code, mask(error.message), error);
    }
  };
  return {
    call: (tool, input, call) => masked(connection.call(tool, input, call)),
    list: (signal) => masked(connection.list(signal)),
    closed: connection.closed,
    close: () => connection.close(),
  };
}

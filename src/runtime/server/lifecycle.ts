import { oneLine } from '../../graph/printable-text.js';
import { thrownReport, thrownText } from '../tools/exceptions.js';
import type { Log } from '../tools/log.js';
import { within } from '../upstream/long-timer.js';

/** What a server does before its first request and after its last. */
export interface LifecycleHooks {
  /**
   * Prepares what the tools need: connections, caches. The server answers no client before it has settled. If it throws,
   * the server does not start. Default: nothing.
   */
  readonly onStart?: () => void | Promise<void>;
  /**
   * Releases what `onStart` prepared, once every request is answered: after a drain, and when the client of a server
   * over stdio has left. It is called at most once, and only if `onStart` has succeeded. What it throws is logged.
   * Default: nothing.
   */
  readonly onStop?: () => void | Promise<void>;
}

/** `onStart` threw: the server answers no client. `cause` is what it threw. */
export class ServerStartError extends Error {
  override readonly name = 'ServerStartError';

  constructor(cause: unknown) {
    super(`the server cannot start: its \`onStart\` failed: ${oneLine(thrownText(cause))}`, { cause });
  }
}

/** Calls the hooks of one server, each when it is due. */
export class Lifecycle {
  readonly #hooks: LifecycleHooks;
  readonly #log: Log;
  #started: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;

  constructor(hooks: LifecycleHooks, log: Log) {
    this.#hooks = hooks;
    this.#log = log;
  }

  /**
   * Starts, once. A start that failed is tried again by the next call.
   *
   * @throws ServerStartError
   */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  async #start(): Promise<void> {
    try {
      await this.#hooks.onStart?.();
    } catch (error) {
      this.#started = undefined;
      throw new ServerStartError(error);
    }
  }

  /** Stops, once, within `limitMs`. Never rejects. */
  stop(limitMs: number): Promise<void> {
    this.#stopped ??= this.#stop(limitMs);
    return this.#stopped;
  }

  async #stop(limitMs: number): Promise<void> {
    const { onStop } = this.#hooks;
    if (this.#started === undefined || onStop === undefined) return;
    const stopped = this.#started.then(onStop).catch((error: unknown) => {
      if (!(error instanceof ServerStartError))
        this.#log(`\`onStop\` of the server failed: ${thrownReport(error)}`, { event: 'server.stop' });
    });
    if (!(await within(limitMs, stopped)))
      this.#log(`\`onStop\` of the server did not finish within ${limitMs} ms`, { event: 'server.stop' });
  }
}

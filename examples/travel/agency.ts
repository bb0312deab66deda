import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type CallContext, ENDPOINTS, type InputOf, type OutputOf, type TravelService } from './endpoints.js';
import { Failures, type ToolName } from './failures.js';
import { type Ledger, ledgerOf } from './ledger.js';
import { refusals } from './refusal.js';
import { seed } from './seed.js';
import { Sql } from './sql.js';
import { TABLES } from './tables.js';

/** What a piece of work has at hand. */
export interface Desk {
  readonly sql: Sql;
  /** Milliseconds since the epoch, the same throughout the work. */
  readonly now: number;
  readonly failures: Failures;
}

/** Settings of a {@link TravelAgency}. */
export interface AgencyOptions {
  /** File of the database, made and filled where there is none. Default: in memory. */
  readonly file?: string;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly clock?: () => number;
  /** Default: nothing goes wrong. */
  readonly failures?: Failures;
}

/** The business behind the tools: a database, a clock, and what is made to go wrong. */
export class TravelAgency implements TravelService {
  readonly #sql: Sql;
  readonly #clock: () => number;
  #failures: Failures;

  private constructor(sql: Sql, clock: () => number, failures: Failures) {
    this.#sql = sql;
    this.#clock = clock;
    this.#failures = failures;
  }

  static async open(options: AgencyOptions = {}): Promise<TravelAgency> {
    const { file = ':memory:', clock = Date.now, failures = new Failures() } = options;
    const sql = await Sql.open(file);
    sql.transaction(() => {
      const { user_version } = sql.one(z.object({ user_version: z.int() }), 'PRAGMA user_version');
      if (user_version !== 0) return;
      sql.execute(TABLES);
      seed(sql, clock());
      sql.execute('PRAGMA user_version = 1');
    });
    return new TravelAgency(sql, clock, failures);
  }

  /**
   * Does the work of an endpoint for one call of a tool: all of it or, when it throws, none. Calls with one idempotency
   * key that change something are one call: the work is done once, and its result given to each of them.
   *
   * @throws {Refusal} with `E_UNAVAILABLE` where the tool is switched to fail, `E_KEY_REUSED`, and whatever the work throws.
   * @throws {ConnectionLost} after the work where the tool is switched to lose its answer.
   */
  async call<N extends ToolName>(name: N, input: InputOf<N>, context: CallContext): Promise<OutputOf<N>> {
    const { signal, idempotencyKey } = context;
    signal.throwIfAborted();
    if (this.#failures.strikes(name)) throw refusals.unavailable(name);
    // The table has the work of each name, which a type of all names cannot say.
    const { isWrite, work } = ENDPOINTS[name] as {
      readonly isWrite: boolean;
      readonly work: (desk: Desk, input: InputOf<N>) => OutputOf<N>;
    };
    const doWork = (): OutputOf<N> => work(this.#desk(), input);
    const result = !isWrite
      ? doWork()
      : this.#sql.transaction(() =>
          idempotencyKey === undefined ? doWork() : this.#once(name, idempotencyKey, input, doWork),
        );
    return this.#answer(name, signal, result);
  }

  /** What there is: bookings, payments, orders. */
  get ledger(): Ledger {
    return ledgerOf(this.#sql);
  }

  /** Replaces what goes wrong from now on. */
  set failures(failures: Failures) {
    this.#failures = failures;
  }

  close(): void {
    this.#sql.close();
  }

  #desk(): Desk {
    return { sql: this.#sql, now: this.#clock(), failures: this.#failures };
  }

  #once<T>(tool: ToolName, key: string, given: object, doWork: () => T): T {
    const input = JSON.stringify(given);
    const earlier = this.#sql.first(
      z.object({ input: z.string(), result: z.string() }),
      'SELECT input, result FROM requests WHERE tool = ? AND key = ?',
      tool,
      key,
    );
    if (earlier !== undefined && earlier.input !== input) throw refusals.keyReused(tool);
    // What stands under the tool's name is what this very work gave, as JSON.
    if (earlier !== undefined) return JSON.parse(earlier.result) as T;
    const result = doWork();
    this.#sql.run('INSERT INTO requests VALUES (?, ?, ?, ?)', tool, key, input, JSON.stringify(result));
    return result;
  }

  /** The work is done by now: a caller that gives up waiting, and asks again under the same key, finds it done. */
  async #answer<T>(tool: ToolName, signal: AbortSignal, result: T): Promise<T> {
    const ms = this.#failures.delayOf(tool);
    if (ms > 0) await sleep(ms, undefined, { signal });
    if (this.#failures.loses(tool)) throw new ConnectionLost(tool);
    return result;
  }
}

/** Thrown where the work was done, and its answer is switched to be lost on the way. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';

  constructor(tool: ToolName) {
    super(`The connection was lost before ${tool} answered`);
  }
}

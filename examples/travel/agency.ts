import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolContext } from 'stepwright';
import { z } from 'zod';
import { Failures, type ToolName } from './failures.js';
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

type CallContext = Pick<ToolContext, 'idempotencyKey' | 'signal'>;

/** The business behind the tools: a database, a clock, and what is made to go wrong. */
export class TravelAgency {
  readonly #sql: Sql;
  readonly #clock: () => number;
  readonly #failures: Failures;

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
   * Work that changes nothing, for one call of a tool.
   *
   * @throws {Refusal} with `E_UNAVAILABLE` where the tool is switched to fail, and whatever `work` throws.
   */
  async read<T>(tool: ToolName, { signal }: CallContext, work: (desk: Desk) => T): Promise<T> {
    this.#enter(tool, signal);
    return this.#answer(tool, signal, work(this.#desk()));
  }

  /**
   * Work that changes something, for one call of a tool: all of it or, when it throws, none. Calls with one idempotency
   * key are one call: the work is done once, and its result given to each of them.
   *
   * @param input What tells a repetition from another call under the same key.
   * @throws {Refusal} with `E_UNAVAILABLE` where the tool is switched to fail, `E_KEY_REUSED`, and whatever `work` throws.
   */
  async write<T extends object>(
    tool: ToolName,
    { signal, idempotencyKey }: CallContext,
    input: object,
    work: (desk: Desk) => T,
  ): Promise<T> {
    this.#enter(tool, signal);
    const result = this.#sql.transaction(() =>
      idempotencyKey === undefined
        ? work(this.#desk())
        : this.#once(tool, idempotencyKey, JSON.stringify(input), work),
    );
    return this.#answer(tool, signal, result);
  }

  close(): void {
    this.#sql.close();
  }

  #desk(): Desk {
    return { sql: this.#sql, now: this.#clock(), failures: this.#failures };
  }

  #once<T extends object>(tool: ToolName, key: string, input: string, work: (desk: Desk) => T): T {
    const earlier = this.#sql.first(
      z.object({ input: z.string(), result: z.string() }),
      'SELECT input, result FROM requests WHERE tool = ? AND key = ?',
      tool,
      key,
    );
    if (earlier !== undefined && earlier.input !== input) throw refusals.keyReused(tool);
    // What stands under the tool's name is what this very work gave, as JSON.
    if (earlier !== undefined) return JSON.parse(earlier.result) as T;
    const result = work(this.#desk());
    this.#sql.run('INSERT INTO requests VALUES (?, ?, ?, ?)', tool, key, input, JSON.stringify(result));
    return result;
  }

  #enter(tool: ToolName, signal: AbortSignal): void {
    signal.throwIfAborted();
    if (this.#failures.strikes(tool)) throw refusals.unavailable(tool);
  }

  /** The work is done by now: who gives up waiting, and asks again under the same key, finds it done. */
  async #answer<T>(tool: ToolName, signal: AbortSignal, result: T): Promise<T> {
    const ms = this.#failures.delayOf(tool);
    return ms === 0 ? result : sleep(ms, result, { signal });
  }
}

import { z } from 'zod';
import type { CallContext, InputOf, OutputOf, TravelService } from './endpoints.js';
import type { ToolName } from './failures.js';
import type { Ledger } from './ledger.js';
import { Refusal, refusals } from './refusal.js';

const refusalBody = z.object({ code: z.string(), message: z.string() });

/** The agency behind its service. */
export class RemoteAgency implements TravelService {
  readonly #url: string;
  readonly #timeoutMs: number;

  /** @param timeoutMs How long an answer may take. Default: 5,000. */
  constructor(url: string, timeoutMs = 5_000) {
    this.#url = url;
    this.#timeoutMs = timeoutMs;
  }

  async call<N extends ToolName>(
    name: N,
    input: InputOf<N>,
    { signal, idempotencyKey }: CallContext,
  ): Promise<OutputOf<N>> {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    const late = AbortSignal.timeout(this.#timeoutMs);
    try {
      const response = await fetch(`${this.#url}/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(input),
        signal: AbortSignal.any([signal, late]),
      });
      const body: unknown = await response.json();
      // The tool checks the result against its schema.
      if (response.ok) return body as OutputOf<N>;
      const { code, message } = refusalBody.parse(body);
      throw new Refusal(code, message);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      signal.throwIfAborted();
      throw late.aborted ? refusals.late(name, this.#timeoutMs) : refusals.connectionLost(name);
    }
  }

  /** What was booked, charged and undone. */
  async ledger(): Promise<Ledger> {
    return (await (await fetch(`${this.#url}/ledger`)).json()) as Ledger;
  }

  /**
   * Switches failures on, in place of those before.
   *
   * @throws RangeError for a text that names none.
   */
  async fail(switches: string): Promise<void> {
    const response = await fetch(`${this.#url}/failures`, { method: 'PUT', body: switches });
    if (!response.ok) throw new RangeError(refusalBody.parse(await response.json()).message);
  }
}

import { Tool, type ToolContext } from 'stepwright';
import type { Ledger, Payment } from './ledger.js';

@Tool({
  name: 'list-payments',
  description: 'Lists the payments that were made for you',
  scopes: ['payments:read'],
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
})
export class ListPayments {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  execute(_input: Record<never, never>, { principal }: ToolContext): { payments: Payment[] } {
    return { payments: this.#ledger.paidFor(principal) };
  }
}

import { randomUUID } from 'node:crypto';
import { Tool, type ToolContext } from 'stepwright';
import type { Ledger, Payment } from './ledger.js';

// Clients cannot call it: the only way to it is a workflow that asks for an approval first.
@Tool({
  name: 'pay-supplier',
  description: 'Transfers money to a supplier',
  visibility: 'workflow',
  retrySafety: 'key',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
})
export class PaySupplier {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  execute(
    { supplier, amount }: { supplier: string; amount: number },
    { principal, idempotencyKey = randomUUID() }: ToolContext,
  ): Payment {
    return this.#ledger.pay(principal, idempotencyKey, supplier, amount);
  }
}

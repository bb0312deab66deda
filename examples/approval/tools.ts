import { randomUUID } from 'node:crypto';
import { Tool, type ToolContext } from 'stepwright';
import type { Books } from './books.js';

// Clients can call none of these tools: the only way to them is the workflow. `retrySafety: 'key'` says that a call
// which is repeated with its key has no second effect, so that the server may repeat it after a crash.

@Tool({
  name: 'reserve-budget',
  description: 'Sets an amount of the budget aside',
  visibility: 'workflow',
  retrySafety: 'key',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
})
export class ReserveBudget {
  constructor(private readonly books: Books) {}

  execute(
    { purpose, amount }: { purpose: string; amount: number },
    { idempotencyKey = randomUUID() }: ToolContext,
  ): { reservation: string } {
    return { reservation: this.books.enter(idempotencyKey, 'reserved', purpose, amount).id };
  }
}

@Tool({
  name: 'release-budget',
  description: 'Undoes a reservation',
  visibility: 'workflow',
  retrySafety: 'key',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
})
export class ReleaseBudget {
  constructor(private readonly books: Books) {}

  execute(
    { reservation }: { reservation: string },
    { idempotencyKey = randomUUID() }: ToolContext,
  ): { release: string } {
    const { purpose, amount } = this.books.entry(reservation);
    return { release: this.books.enter(idempotencyKey, 'released', purpose, amount).id };
  }
}

@Tool({
  name: 'pay-expense',
  description: 'Pays what was reserved',
  visibility: 'workflow',
  retrySafety: 'key',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
})
export class PayExpense {
  constructor(private readonly books: Books) {}

  execute(
    { reservation }: { reservation: string },
    { idempotencyKey = randomUUID() }: ToolContext,
  ): { payment: string } {
    const { purpose, amount } = this.books.entry(reservation);
    return { payment: this.books.enter(idempotencyKey, 'paid', purpose, amount).id };
  }
}

import { z } from 'zod';
import type { Desk } from './agency.js';
import { type Money, money, moneyOf } from './money.js';
import { refusals } from './refusal.js';

/** How customers pay. */
export const paymentMethod = z.enum(['card', 'paypal', 'bank_transfer']);

export type PaymentMethod = z.infer<typeof paymentMethod>;

/** Money that was taken. */
export const payment = z.object({
  id: z.string().describe('PAY-1001'),
  status: z.literal('captured'),
  amount: money,
  method: paymentMethod,
  receipt_url: z.string().describe('Where the receipt can be seen'),
});

export type Payment = z.infer<typeof payment>;

const paymentRow = z.object({
  id: z.string(),
  amount_cents: z.int(),
  method: paymentMethod,
  refunded_at: z.string().nullable(),
});

/** A payment as the books have it. */
export interface RecordedPayment {
  readonly id: string;
  readonly amount_cents: number;
  readonly method: PaymentMethod;
  readonly refunded: boolean;
}

/** What was paid for a booking or a cart. */
export function paymentFor(desk: Desk, reference: string): RecordedPayment | undefined {
  const row = desk.sql.first(
    paymentRow,
    'SELECT id, amount_cents, method, refunded_at FROM payments WHERE reference = ?',
    reference,
  );
  return row === undefined ? undefined : { ...row, refunded: row.refunded_at !== null };
}

/**
 * Takes money for a booking or a cart, once: what is paid for already gives the payment there is.
 *
 * @throws {Refusal} `E_PAYMENT_DECLINED` while payments are switched to fail.
 */
export function takePayment(desk: Desk, reference: string, amount: Money, method: PaymentMethod): Payment {
  const earlier = paymentFor(desk, reference);
  if (earlier !== undefined) return toPayment(earlier.id, moneyOf(earlier.amount_cents), earlier.method);
  if (desk.failures.strikes('payment')) throw refusals.paymentDeclined(amount, method);
  const { id } = desk.sql.one(
    z.object({ id: z.string() }),
    'INSERT INTO payments (reference, amount_cents, method, paid_at) VALUES (?, ?, ?, ?) RETURNING id',
    reference,
    amount.cents,
    method,
    new Date(desk.now).toISOString(),
  );
  return toPayment(id, amount, method);
}

/** Notes that a payment was paid back. */
export function payBack(desk: Desk, paymentId: string): void {
  desk.sql.run(
    'UPDATE payments SET refunded_at = ? WHERE id = ?',
    new Date(desk.now).toISOString(),
    paymentId,
  );
}

function toPayment(id: string, amount: Money, method: PaymentMethod): Payment {
  return { id, status: 'captured', amount, method, receipt_url: `https://travel.example/receipts/${id}` };
}

import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelAgency } from '../agency.js';
import { refundablePayment } from '../bookings.js';
import { type Money, money, moneyOf } from '../money.js';
import { payBack } from '../payments.js';
import { CancelBooking } from './cancel-booking.tool.js';

@Tool({
  name: 'process_refund',
  description: 'Pay back a booking that was cancelled within 24 hours of being made',
  input: z.object({
    booking_id: z.string().min(1).max(100).describe('Id of the booking, such as BK-1001'),
  }),
  output: z.object({
    payment_id: z.string().describe('The payment that is paid back'),
    booking_id: z.string(),
    status: z.literal('refunded'),
    amount: money,
  }),
  // A second refund is refused, so a repeated call does nothing.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  hints: { category: 'payment', requires: [() => CancelBooking] },
})
export class ProcessRefund {
  readonly #agency: TravelAgency;

  constructor(agency: TravelAgency) {
    this.#agency = agency;
  }

  execute(
    input: { booking_id: string },
    context: ToolContext,
  ): Promise<{ payment_id: string; booking_id: string; status: 'refunded'; amount: Money }> {
    return this.#agency.write('process_refund', context, input, (desk) => {
      const { id, cents } = refundablePayment(desk, input.booking_id);
      payBack(desk, id);
      return {
        payment_id: id,
        booking_id: input.booking_id,
        status: 'refunded' as const,
        amount: moneyOf(cents),
      };
    });
  }
}

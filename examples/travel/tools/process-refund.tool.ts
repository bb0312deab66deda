import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';
import { type Money, money } from '../money.js';
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
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(
    input: { booking_id: string },
    context: ToolContext,
  ): Promise<{ payment_id: string; booking_id: string; status: 'refunded'; amount: Money }> {
    return this.#service.call('process_refund', input, context);
  }
}

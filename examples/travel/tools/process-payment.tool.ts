import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';
import { type Payment, type PaymentMethod, payment, paymentMethod } from '../payments.js';
import { CreateBooking } from './create-booking.tool.js';

@Tool({
  name: 'process_payment',
  description: 'Charge the price of a confirmed booking; a paid one is not charged again',
  input: z.object({
    booking_id: z.string().min(1).max(100).describe('Id of the booking, such as BK-1001'),
    method: paymentMethod.describe('How the customer pays'),
  }),
  output: payment,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  hints: { category: 'payment', requires: [() => CreateBooking] },
})
export class ProcessPayment {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(input: { booking_id: string; method: PaymentMethod }, context: ToolContext): Promise<Payment> {
    return this.#service.call('process_payment', input, context);
  }
}

import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelAgency } from '../agency.js';
import { findBooking } from '../bookings.js';
import { type Payment, type PaymentMethod, payment, paymentMethod, takePayment } from '../payments.js';
import { refusals } from '../refusal.js';
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
  readonly #agency: TravelAgency;

  constructor(agency: TravelAgency) {
    this.#agency = agency;
  }

  execute(input: { booking_id: string; method: PaymentMethod }, context: ToolContext): Promise<Payment> {
    return this.#agency.write('process_payment', context, input, (desk) => {
      const { id, status, total_price } = findBooking(desk, input.booking_id);
      if (status !== 'confirmed') throw refusals.notConfirmed(id, status);
      return takePayment(desk, id, total_price, input.method);
    });
  }
}

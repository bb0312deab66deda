import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import { type ConfirmedBooking, confirmedBooking } from '../bookings.js';
import type { TravelService } from '../endpoints.js';
import { CheckAvailability } from './check-availability.tool.js';
import { ProcessPayment } from './process-payment.tool.js';

@Tool({
  name: 'create_booking',
  description: 'Book a seat on a flight',
  input: z.object({
    flight_id: z.string().min(1).max(100).describe('Id of the flight, as search_flights returns it'),
    passenger: z.string().regex(/\S/).max(100).describe('Full name of the passenger'),
  }),
  output: confirmedBooking,
  // A second booking of one passenger on one flight is refused, so a repeated call does nothing.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  hints: { category: 'booking', requires: [() => CheckAvailability], next: [() => ProcessPayment] },
})
export class CreateBooking {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(input: { flight_id: string; passenger: string }, context: ToolContext): Promise<ConfirmedBooking> {
    return this.#service.call('create_booking', input, context);
  }
}

import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import { type Booking, booking } from '../bookings.js';
import type { TravelService } from '../endpoints.js';

@Tool({
  name: 'get_booking',
  description: 'Look up the booking of a flight',
  input: z.object({
    booking_id: z.string().min(1).max(100).describe('Id of the booking, such as BK-1001'),
  }),
  output: booking,
  annotations: { readOnlyHint: true, openWorldHint: false },
  hints: { category: 'search' },
})
export class GetBooking {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(input: { booking_id: string }, context: ToolContext): Promise<Booking> {
    return this.#service.call('get_booking', input, context);
  }
}

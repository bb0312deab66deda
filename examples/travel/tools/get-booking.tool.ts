import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelAgency } from '../agency.js';
import { type Booking, booking, findBooking } from '../bookings.js';

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
  readonly #agency: TravelAgency;

  constructor(agency: TravelAgency) {
    this.#agency = agency;
  }

  execute({ booking_id }: { booking_id: string }, context: ToolContext): Promise<Booking> {
    return this.#agency.read('get_booking', context, (desk) => findBooking(desk, booking_id));
  }
}

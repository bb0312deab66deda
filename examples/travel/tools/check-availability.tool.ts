import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';
import { AddToWaitlist } from './add-to-waitlist.tool.js';
import { CreateBooking } from './create-booking.tool.js';
import { SearchFlights } from './search-flights.tool.js';

@Tool({
  name: 'check_availability',
  description: 'Tell how many seats are left on a flight',
  input: z.object({
    flight_id: z.string().min(1).max(100).describe('Id of the flight, as search_flights returns it'),
  }),
  output: z.object({ flight_id: z.string(), seats_available: z.int().nonnegative() }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  hints: {
    category: 'validation',
    requires: [() => SearchFlights],
    next: [() => CreateBooking, () => AddToWaitlist],
  },
})
export class CheckAvailability {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(
    input: { flight_id: string },
    context: ToolContext,
  ): Promise<{ flight_id: string; seats_available: number }> {
    return this.#service.call('check_availability', input, context);
  }
}

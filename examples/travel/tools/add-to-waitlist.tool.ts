import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import { type WaitlistEntry, waitlistEntry } from '../bookings.js';
import type { TravelService } from '../endpoints.js';
import { CheckAvailability } from './check-availability.tool.js';

@Tool({
  name: 'add_to_waitlist',
  description: 'Put a passenger on the waiting list of a full flight',
  input: z.object({
    flight_id: z.string().min(1).max(100).describe('Id of the flight, as search_flights returns it'),
    passenger: z.string().regex(/\S/).max(100).describe('Full name of the passenger'),
  }),
  output: waitlistEntry,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  hints: { category: 'booking', requires: [() => CheckAvailability] },
})
export class AddToWaitlist {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(input: { flight_id: string; passenger: string }, context: ToolContext): Promise<WaitlistEntry> {
    return this.#service.call('add_to_waitlist', input, context);
  }
}

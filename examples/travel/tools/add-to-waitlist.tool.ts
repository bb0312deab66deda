import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelAgency } from '../agency.js';
import { type WaitlistEntry, waitForSeat, waitlistEntry } from '../bookings.js';
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
  readonly #agency: TravelAgency;

  constructor(agency: TravelAgency) {
    this.#agency = agency;
  }

  execute(input: { flight_id: string; passenger: string }, context: ToolContext): Promise<WaitlistEntry> {
    return this.#agency.write('add_to_waitlist', context, input, (desk) =>
      waitForSeat(desk, input.flight_id, input.passenger),
    );
  }
}

import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelAgency } from '../agency.js';
import { cancelRoom } from '../hotels.js';

@Tool({
  name: 'cancel_hotel',
  description: 'Cancel a booked room',
  input: z.object({
    booking_id: z.string().min(1).max(100).describe('Id of the booking of a room, such as HB-1'),
  }),
  output: z.object({ id: z.string(), status: z.literal('cancelled') }),
  // Only what is confirmed is cancelled, so a repeated call does nothing.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  hints: { category: 'cancellation' },
})
export class CancelHotel {
  readonly #agency: TravelAgency;

  constructor(agency: TravelAgency) {
    this.#agency = agency;
  }

  execute(input: { booking_id: string }, context: ToolContext): Promise<{ id: string; status: 'cancelled' }> {
    return this.#agency.write('cancel_hotel', context, input, (desk) => {
      cancelRoom(desk, input.booking_id);
      return { id: input.booking_id, status: 'cancelled' as const };
    });
  }
}

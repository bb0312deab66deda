import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';

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
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(input: { booking_id: string }, context: ToolContext): Promise<{ id: string; status: 'cancelled' }> {
    return this.#service.call('cancel_hotel', input, context);
  }
}

import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import { type CancelledBooking, cancelledBooking } from '../bookings.js';
import type { TravelService } from '../endpoints.js';
import { ProcessRefund } from './process-refund.tool.js';

@Tool({
  name: 'cancel_booking',
  description: 'Cancel a confirmed booking of a flight',
  input: z.object({
    booking_id: z.string().min(1).max(100).describe('Id of the booking, such as BK-1001'),
  }),
  output: cancelledBooking,
  // Only what is confirmed is cancelled, so a repeated call does nothing.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  hints: { category: 'cancellation', next: [() => ProcessRefund] },
})
export class CancelBooking {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(input: { booking_id: string }, context: ToolContext): Promise<CancelledBooking> {
    return this.#service.call('cancel_booking', input, context);
  }
}

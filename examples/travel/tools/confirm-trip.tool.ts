import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';
import { type Trip, trip } from '../trips.js';
import { BookHotel } from './book-hotel.tool.js';
import { CreateBooking } from './create-booking.tool.js';

@Tool({
  name: 'confirm_trip',
  description: 'Make a booked flight and a booked room one trip',
  input: z.object({
    flight_booking_id: z.string().min(1).max(100).describe('Id of the booking, such as BK-1001'),
    hotel_booking_id: z.string().min(1).max(100).describe('Id of the booking of a room, such as HB-1'),
  }),
  output: trip,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  hints: { category: 'booking', requires: [() => CreateBooking, () => BookHotel] },
})
export class ConfirmTrip {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(
    input: { flight_booking_id: string; hotel_booking_id: string },
    context: ToolContext,
  ): Promise<Trip> {
    return this.#service.call('confirm_trip', input, context);
  }
}

import { z } from 'zod';
import type { Desk } from './agency.js';
import { findBooking } from './bookings.js';
import { findConfirmedStay } from './hotels.js';
import { money, moneyOf } from './money.js';
import { refusals } from './refusal.js';

/** A flight and a room that belong together. */
export const trip = z.object({
  id: z.string().describe('TRIP-1'),
  status: z.literal('confirmed'),
  flight_booking_id: z.string(),
  hotel_booking_id: z.string(),
  total_price: money.describe('Flight and hotel'),
});

export type Trip = z.infer<typeof trip>;

const ID = z.object({ id: z.string() });

/**
 * Makes a flight and a room one trip; the same two again are the same trip.
 *
 * @throws {Refusal} `E_BOOKING_UNKNOWN`, `E_NOT_CONFIRMED`, `E_IN_ANOTHER_TRIP`.
 */
export function makeTrip(desk: Desk, flight_booking_id: string, hotel_booking_id: string): Trip {
  const flight = findBooking(desk, flight_booking_id);
  if (flight.status !== 'confirmed') throw refusals.notConfirmed(flight.id, flight.status);
  const stay = findConfirmedStay(desk, hotel_booking_id);
  desk.sql.run(
    'INSERT INTO trips (flight_booking_id, hotel_booking_id, confirmed_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    flight.id,
    stay.id,
    new Date(desk.now).toISOString(),
  );
  const made = desk.sql.first(
    ID,
    'SELECT id FROM trips WHERE flight_booking_id = ? AND hotel_booking_id = ?',
    flight.id,
    stay.id,
  );
  if (made === undefined) {
    const taken = desk.sql.first(ID, 'SELECT id FROM trips WHERE flight_booking_id = ?', flight.id);
    throw refusals.inAnotherTrip(taken === undefined ? stay.id : flight.id);
  }
  const total_price = moneyOf(flight.total_price.cents + stay.price_cents);
  return { id: made.id, status: 'confirmed', flight_booking_id, hotel_booking_id, total_price };
}

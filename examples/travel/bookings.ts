import { z } from 'zod';
import type { Desk } from './agency.js';
import { findComingFlight, findFlight, flightId, hasDeparted, seatsLeft } from './flights.js';
import { money, moneyOf } from './money.js';
import { paymentFor } from './payments.js';
import { refusals } from './refusal.js';

/** How long after a booking its cancellation is free, in milliseconds. */
export const REFUND_PERIOD_MS = 24 * 3_600_000;

/** A seat on a flight that is, or was, someone's. */
export const booking = z.object({
  id: z.string().describe('BK-1001'),
  status: z.enum(['confirmed', 'cancelled', 'flown']),
  flight_id: z.string(),
  passenger: z.string(),
  total_price: money,
  booked_at: z.string().describe('RFC 3339, UTC'),
  paid: z.boolean(),
});

export type Booking = z.infer<typeof booking>;

/** A booking that has just been made. */
export const confirmedBooking = booking.extend({ status: z.literal('confirmed') });

export type ConfirmedBooking = z.infer<typeof confirmedBooking>;

/** What is left of a booking after its cancellation. */
export const cancelledBooking = z.object({
  id: z.string(),
  status: z.literal('cancelled'),
  refundable: z
    .boolean()
    .describe('Paid for, and cancelled within 24 hours of the booking: process_refund pays it back'),
  fee: money.describe('What is kept of what was paid'),
});

export type CancelledBooking = z.infer<typeof cancelledBooking>;

/** A place on the waiting list of a flight. */
export const waitlistEntry = z.object({
  id: z.string().describe('WL-1'),
  status: z.literal('waitlisted'),
  flight_id: z.string(),
  passenger: z.string(),
  position: z.int().positive().describe('1 is the first to get a seat'),
});

export type WaitlistEntry = z.infer<typeof waitlistEntry>;

const bookingRow = z.object({
  id: z.string(),
  number: z.string(),
  date: z.string(),
  passenger: z.string(),
  price_cents: z.int(),
  booked_at: z.string(),
  cancelled_at: z.string().nullable(),
});

const ID = z.object({ id: z.string() });

/** @throws {Refusal} `E_BOOKING_UNKNOWN`. */
export function findBooking(desk: Desk, id: string): Booking {
  return toBooking(desk, findRow(desk, id));
}

/**
 * Gives a passenger a seat.
 *
 * @throws {Refusal} `E_FLIGHT_UNKNOWN`, `E_FLIGHT_DEPARTED`, `E_ALREADY_BOOKED`, `E_FLIGHT_FULL`.
 */
export function makeBooking(desk: Desk, flight_id: string, passenger: string): ConfirmedBooking {
  const { key, flight } = findComingFlight(desk, flight_id);
  const other = desk.sql.first(
    ID,
    'SELECT id FROM bookings WHERE number = ? AND date = ? AND passenger = ? AND cancelled_at IS NULL',
    key.number,
    key.date,
    passenger,
  );
  if (other !== undefined) throw refusals.alreadyBooked(passenger, `flight ${flight_id}`, other.id);
  if (seatsLeft(desk, key) === 0) throw refusals.flightFull(flight_id);
  const booked_at = new Date(desk.now).toISOString();
  const { id } = desk.sql.one(
    ID,
    'INSERT INTO bookings (number, date, passenger, price_cents, booked_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
    key.number,
    key.date,
    passenger,
    flight.price.cents,
    booked_at,
  );
  return {
    id,
    status: 'confirmed',
    flight_id,
    passenger,
    total_price: flight.price,
    booked_at,
    paid: false,
  };
}

/** @throws {Refusal} `E_BOOKING_UNKNOWN`, `E_NOT_CONFIRMED`. */
export function cancelBooking(desk: Desk, id: string): CancelledBooking {
  const found = findBooking(desk, id);
  if (found.status !== 'confirmed') throw refusals.notConfirmed(id, found.status);
  desk.sql.run('UPDATE bookings SET cancelled_at = ? WHERE id = ?', new Date(desk.now).toISOString(), id);
  const isFree = desk.now - Date.parse(found.booked_at) <= REFUND_PERIOD_MS;
  return {
    id,
    status: 'cancelled',
    refundable: found.paid && isFree,
    fee: moneyOf(found.paid && !isFree ? found.total_price.cents : 0),
  };
}

/**
 * What a cancelled booking gets back.
 *
 * @returns the id of the payment that is paid back.
 * @throws {Refusal} `E_BOOKING_UNKNOWN`, `E_NOT_CANCELLED`, `E_NOT_PAID`, `E_REFUND_PERIOD_OVER`, `E_ALREADY_REFUNDED`.
 */
export function refundablePayment(desk: Desk, id: string): { id: string; cents: number } {
  const { cancelled_at, booked_at } = findRow(desk, id);
  if (cancelled_at === null) throw refusals.notCancelled(id);
  const payment = paymentFor(desk, id);
  if (payment === undefined) throw refusals.notPaid(id);
  if (Date.parse(cancelled_at) - Date.parse(booked_at) > REFUND_PERIOD_MS)
    throw refusals.refundPeriodOver(id);
  if (payment.refunded) throw refusals.alreadyRefunded(id);
  return { id: payment.id, cents: payment.amount_cents };
}

/**
 * Puts a passenger on the waiting list of a flight; who stands on it already keeps the place.
 *
 * @throws {Refusal} `E_FLIGHT_UNKNOWN`, `E_FLIGHT_DEPARTED`.
 */
export function waitForSeat(desk: Desk, flight_id: string, passenger: string): WaitlistEntry {
  const { number, date } = findComingFlight(desk, flight_id).key;
  const place = [number, date, passenger] as const;
  desk.sql.run(
    'INSERT INTO waitlist (number, date, passenger) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ...place,
  );
  const { id, position } = desk.sql.one(
    z.object({ id: z.string(), position: z.int() }),
    `SELECT id, (SELECT count(*) FROM waitlist AS earlier
       WHERE earlier.number = own.number AND earlier.date = own.date AND earlier.n <= own.n) AS position
     FROM waitlist AS own WHERE number = ? AND date = ? AND passenger = ?`,
    ...place,
  );
  return { id, status: 'waitlisted', flight_id, passenger, position };
}

function findRow(desk: Desk, id: string): z.infer<typeof bookingRow> {
  const row = desk.sql.first(bookingRow, 'SELECT * FROM bookings WHERE id = ?', id);
  if (row === undefined) throw refusals.bookingUnknown(id);
  return row;
}

function toBooking(desk: Desk, row: z.infer<typeof bookingRow>): Booking {
  const flight_id = flightId(row);
  const isFlown = hasDeparted(desk, findFlight(desk, flight_id).flight);
  return {
    id: row.id,
    status: row.cancelled_at !== null ? 'cancelled' : isFlown ? 'flown' : 'confirmed',
    flight_id,
    passenger: row.passenger,
    total_price: moneyOf(row.price_cents),
    booked_at: row.booked_at,
    paid: paymentFor(desk, row.id) !== undefined,
  };
}

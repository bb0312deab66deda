import { z } from 'zod';
import type { Desk } from './agency.js';
import { money, moneyOf } from './money.js';
import { refusals } from './refusal.js';

/** A flight on a day. */
export const flight = z.object({
  id: z.string().describe('Number and day: UA57-2026-02-26'),
  airline: z.string(),
  origin: z.string(),
  destination: z.string(),
  departs_at: z.string().describe('RFC 3339, UTC'),
  arrives_at: z.string().describe('RFC 3339, UTC'),
  price: money.describe('For one passenger, one way'),
});

export type Flight = z.infer<typeof flight>;

const timetableRow = z.object({
  number: z.string(),
  airline: z.string(),
  origin: z.string(),
  destination: z.string(),
  departs: z.string(),
  minutes: z.int(),
  price_cents: z.int(),
  seats: z.int(),
});

/** The parts of a flight's id, which name its rows. */
export interface FlightKey {
  readonly number: string;
  /** `yyyy-mm-dd`, in UTC. */
  readonly date: string;
}

/** The flights from one city to another that leave on a day and have not left yet, the cheapest first. */
export function flightsOn(desk: Desk, origin: string, destination: string, date: string): Flight[] {
  return desk.sql
    .all(
      timetableRow,
      'SELECT * FROM timetable WHERE origin = ? AND destination = ? ORDER BY price_cents, departs',
      origin.trim(),
      destination.trim(),
    )
    .map((row) => toFlight(row, date))
    .filter(({ departs_at }) => Date.parse(departs_at) > desk.now);
}

/**
 * What an id names, whether or not it has departed.
 *
 * @throws {Refusal} `E_FLIGHT_UNKNOWN`.
 */
export function findFlight(desk: Desk, id: string): { key: FlightKey; flight: Flight } {
  const [, number = '', date = ''] = /^([A-Z0-9]+)-(\d{4}-\d{2}-\d{2})$/.exec(id) ?? [];
  const row = desk.sql.first(timetableRow, 'SELECT * FROM timetable WHERE number = ?', number);
  if (row === undefined || !isDay(date)) throw refusals.flightUnknown(id);
  return { key: { number, date }, flight: toFlight(row, date) };
}

/**
 * A flight that can still be taken.
 *
 * @throws {Refusal} `E_FLIGHT_UNKNOWN`, `E_FLIGHT_DEPARTED`.
 */
export function findComingFlight(desk: Desk, id: string): { key: FlightKey; flight: Flight } {
  const found = findFlight(desk, id);
  if (hasDeparted(desk, found.flight)) throw refusals.flightDeparted(id);
  return found;
}

export function hasDeparted(desk: Desk, { departs_at }: Flight): boolean {
  return Date.parse(departs_at) <= desk.now;
}

/** How many seats this agency can still sell. None while flights are switched to be full. */
export function seatsLeft(desk: Desk, { number, date }: FlightKey): number {
  if (desk.failures.strikes('flight')) return 0;
  const { left } = desk.sql.one(
    z.object({ left: z.int() }),
    `SELECT seats - (SELECT count(*) FROM bookings
       WHERE number = timetable.number AND date = ? AND cancelled_at IS NULL) AS left
     FROM timetable WHERE number = ?`,
    date,
    number,
  );
  return Math.max(0, left);
}

/** The id that a flight has on a day. */
export function flightId({ number, date }: FlightKey): string {
  return `${number}-${date}`;
}

/** 31 February looks like a day and is none. */
function isDay(date: string): boolean {
  const time = Date.parse(date);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}

function toFlight(row: z.infer<typeof timetableRow>, date: string): Flight {
  const departs = Date.parse(`${date}T${row.departs}Z`);
  return {
    id: flightId({ number: row.number, date }),
    airline: row.airline,
    origin: row.origin,
    destination: row.destination,
    departs_at: new Date(departs).toISOString(),
    arrives_at: new Date(departs + row.minutes * 60_000).toISOString(),
    price: moneyOf(row.price_cents),
  };
}

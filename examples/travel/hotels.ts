import { z } from 'zod';
import type { Desk } from './agency.js';
import { money, moneyOf } from './money.js';
import { refusals } from './refusal.js';

const NIGHT_MS = 24 * 3_600_000;

/** A hotel, as it is for a certain stay. */
export const hotel = z.object({
  id: z.string(),
  name: z.string(),
  city: z.string(),
  stars: z.int(),
  total_price: money.describe('For one room, all nights'),
  rooms_available: z.int().nonnegative(),
});

export type Hotel = z.infer<typeof hotel>;

/** A room that has just been booked. */
export const confirmedStay = z.object({
  id: z.string().describe('HB-1'),
  status: z.literal('confirmed'),
  hotel_id: z.string(),
  guest: z.string(),
  checkin: z.string().describe('yyyy-mm-dd'),
  checkout: z.string().describe('yyyy-mm-dd'),
  total_price: money.describe('For all nights'),
});

export type ConfirmedStay = z.infer<typeof confirmedStay>;

const hotelRow = z.object({
  id: z.string(),
  name: z.string(),
  city: z.string(),
  stars: z.int(),
  night_cents: z.int(),
  rooms: z.int(),
});

const stayRow = z.object({ id: z.string(), price_cents: z.int(), cancelled_at: z.string().nullable() });

const ID = z.object({ id: z.string() });

/** When someone stays: days, `yyyy-mm-dd`, the last one without a night. */
export interface Dates {
  readonly checkin: string;
  readonly checkout: string;
}

/**
 * The hotels of a city, full ones too, the cheapest first.
 *
 * @throws {Refusal} `E_STAY_DATES`, `E_STAY_PAST`.
 */
export function hotelsIn(desk: Desk, city: string, dates: Dates): Hotel[] {
  const nights = nightsOf(desk, dates);
  return desk.sql
    .all(hotelRow, 'SELECT * FROM hotels WHERE city = ? ORDER BY night_cents, id', city.trim())
    .map(({ id, name, city, stars, night_cents, rooms }) => ({
      id,
      name,
      city,
      stars,
      total_price: moneyOf(nights * night_cents),
      rooms_available: Math.max(0, rooms - roomsTaken(desk, id, dates)),
    }));
}

/**
 * Gives a guest a room.
 *
 * @throws {Refusal} `E_HOTEL_UNKNOWN`, `E_STAY_DATES`, `E_STAY_PAST`, `E_ALREADY_BOOKED`, `E_HOTEL_FULL`.
 */
export function bookRoom(desk: Desk, hotel_id: string, guest: string, dates: Dates): ConfirmedStay {
  const { checkin, checkout } = dates;
  const row = desk.sql.first(hotelRow, 'SELECT * FROM hotels WHERE id = ?', hotel_id);
  if (row === undefined) throw refusals.hotelUnknown(hotel_id);
  const total_price = moneyOf(nightsOf(desk, dates) * row.night_cents);
  const room = [hotel_id, guest, checkin, checkout] as const;
  const other = desk.sql.first(
    ID,
    'SELECT id FROM stays WHERE hotel_id = ? AND guest = ? AND checkin = ? AND checkout = ? AND cancelled_at IS NULL',
    ...room,
  );
  if (other !== undefined) throw refusals.alreadyBooked(guest, `${row.name} from ${checkin}`, other.id);
  if (desk.failures.strikes('hotel') || roomsTaken(desk, hotel_id, dates) >= row.rooms)
    throw refusals.hotelFull(row.name, checkin, checkout);
  const { id } = desk.sql.one(
    ID,
    'INSERT INTO stays (hotel_id, guest, checkin, checkout, price_cents) VALUES (?, ?, ?, ?, ?) RETURNING id',
    ...room,
    total_price.cents,
  );
  return { id, status: 'confirmed', hotel_id, guest, ...dates, total_price };
}

/** @throws {Refusal} `E_BOOKING_UNKNOWN`, `E_NOT_CONFIRMED`. */
export function cancelRoom(desk: Desk, id: string): void {
  findConfirmedStay(desk, id);
  desk.sql.run('UPDATE stays SET cancelled_at = ? WHERE id = ?', new Date(desk.now).toISOString(), id);
}

/** @throws {Refusal} `E_BOOKING_UNKNOWN`, `E_NOT_CONFIRMED`. */
export function findConfirmedStay(desk: Desk, id: string): { id: string; price_cents: number } {
  const row = desk.sql.first(stayRow, 'SELECT id, price_cents, cancelled_at FROM stays WHERE id = ?', id);
  if (row === undefined) throw refusals.bookingUnknown(id);
  if (row.cancelled_at !== null) throw refusals.notConfirmed(id, 'cancelled');
  return row;
}

/** How many rooms are taken on some night of the stay, at most: the count of all stays that touch it. */
function roomsTaken(desk: Desk, hotel_id: string, { checkin, checkout }: Dates): number {
  return desk.sql.one(
    z.object({ taken: z.int() }),
    `SELECT count(*) AS taken FROM stays
     WHERE hotel_id = ? AND checkin < ? AND checkout > ? AND cancelled_at IS NULL`,
    hotel_id,
    checkout,
    checkin,
  ).taken;
}

function nightsOf(desk: Desk, { checkin, checkout }: Dates): number {
  if (checkin < new Date(desk.now).toISOString().slice(0, 10)) throw refusals.stayPast(checkin);
  const nights = (Date.parse(checkout) - Date.parse(checkin)) / NIGHT_MS;
  if (nights < 1) throw refusals.stayDates(checkin, checkout);
  return nights;
}

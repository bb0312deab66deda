import { z } from 'zod';
import type { Sql } from './sql.js';

const TABLES = {
  bookings: {
    row: z.object({ id: z.string(), passenger: z.string(), cancelled: z.int() }),
    query: `SELECT id, passenger, cancelled_at IS NOT NULL AS cancelled FROM bookings WHERE n > 1005 ORDER BY n`,
  },
  waitlist: {
    row: z.object({ id: z.string(), passenger: z.string() }),
    query: 'SELECT id, passenger FROM waitlist ORDER BY n',
  },
  stays: {
    row: z.object({ id: z.string(), guest: z.string(), cancelled: z.int() }),
    query: 'SELECT id, guest, cancelled_at IS NOT NULL AS cancelled FROM stays ORDER BY n',
  },
  trips: {
    row: z.object({ id: z.string(), flight_booking_id: z.string(), hotel_booking_id: z.string() }),
    query: 'SELECT id, flight_booking_id, hotel_booking_id FROM trips ORDER BY n',
  },
  charges: {
    row: z.object({ id: z.string(), reference: z.string(), cents: z.int(), refunded: z.int() }),
    query: `SELECT id, reference, amount_cents AS cents, refunded_at IS NOT NULL AS refunded
      FROM payments WHERE n > 1004 ORDER BY n`,
  },
  orders: {
    row: z.object({ id: z.string(), cart_id: z.string(), payment_id: z.string() }),
    query: 'SELECT id, cart_id, payment_id FROM orders ORDER BY n',
  },
} as const;

/** What calls have left in the books, without what a new database is filled with. 1 and 0 are true and false. */
export type Ledger = { readonly [T in keyof typeof TABLES]: readonly z.output<(typeof TABLES)[T]['row']>[] };

export function ledgerOf(sql: Sql): Ledger {
  const { bookings, waitlist, stays, trips, charges, orders } = TABLES;
  return {
    bookings: sql.all(bookings.row, bookings.query),
    waitlist: sql.all(waitlist.row, waitlist.query),
    stays: sql.all(stays.row, stays.query),
    trips: sql.all(trips.row, trips.query),
    charges: sql.all(charges.row, charges.query),
    orders: sql.all(orders.row, orders.query),
  };
}

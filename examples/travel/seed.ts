import type { Sql } from './sql.js';

const HOUR = 3_600_000;

/**
 * Fills empty tables: flights that leave every day, hotels, carts, and bookings at every point of their lives.
 *
 * @param now Milliseconds since the epoch; the bookings are so and so many hours old.
 */
export function seed(sql: Sql, now: number): void {
  const at = (hours: number): string => new Date(now + hours * HOUR).toISOString();
  const day = (hours: number): string => at(hours).slice(0, 10);

  const flight = 'INSERT INTO timetable VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
  sql.run(flight, 'UA57', 'United', 'NYC', 'Paris', '22:15', 435, 41_200, 4);
  sql.run(flight, 'AF7', 'Air France', 'NYC', 'Paris', '18:30', 430, 48_900, 9);
  sql.run(flight, 'AF6', 'Air France', 'Paris', 'NYC', '09:40', 495, 50_300, 9);
  sql.run(flight, 'TP202', 'TAP', 'NYC', 'Lisbon', '23:05', 410, 35_750, 1);
  sql.run(flight, 'FI614', 'Icelandair', 'NYC', 'Reykjavik', '20:30', 345, 29_900, 0);

  const booking = `INSERT INTO bookings (n, number, date, passenger, price_cents, booked_at, cancelled_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)`;
  sql.run(booking, 1001, 'UA57', day(30 * 24), 'Ada Lovelace', 41_200, at(-3), null);
  sql.run(booking, 1002, 'AF7', day(30 * 24), 'Grace Hopper', 48_900, at(-40), null);
  sql.run(booking, 1003, 'AF7', day(30 * 24), 'Alan Turing', 48_900, at(-20), at(-10));
  sql.run(booking, 1004, 'AF6', day(-48), 'Edsger Dijkstra', 50_300, at(-400), null);
  sql.run(booking, 1005, 'UA57', day(30 * 24), 'Barbara Liskov', 41_200, at(-3), null);

  const payment = `INSERT INTO payments (n, reference, amount_cents, method, paid_at) VALUES (?, ?, ?, 'card', ?)`;
  sql.run(payment, 1001, 'BK-1001', 41_200, at(-3));
  sql.run(payment, 1002, 'BK-1002', 48_900, at(-40));
  sql.run(payment, 1004, 'BK-1004', 50_300, at(-400));

  const hotel = 'INSERT INTO hotels VALUES (?, ?, ?, ?, ?, ?)';
  sql.run(hotel, 'gare-du-nord', 'Hôtel de la Gare', 'Paris', 2, 9_800, 1);
  sql.run(hotel, 'lutece', 'Lutèce', 'Paris', 4, 21_500, 3);
  sql.run(hotel, 'alfama', 'Casa de Alfama', 'Lisbon', 3, 12_400, 2);
  sql.run(hotel, 'hafnar', 'Hafnarhús', 'Reykjavik', 3, 18_900, 0);

  const product = 'INSERT INTO products VALUES (?, ?, ?, ?)';
  sql.run(product, 'guide-paris', 'Guide to Paris', 1_899, 12);
  sql.run(product, 'adapter', 'Travel adapter', 2_450, 5);
  sql.run(product, 'suitcase', 'Suitcase', 15_900, 1);

  sql.run('INSERT INTO codes VALUES (?, ?, ?)', 'TRAVEL10', 10, null);
  sql.run('INSERT INTO codes VALUES (?, ?, ?)', 'WINTER25', 25, at(-24));

  const item = 'INSERT INTO cart_items VALUES (?, ?, ?)';
  for (const cart of ['CART-1', 'CART-2', 'CART-3']) sql.run('INSERT INTO carts VALUES (?, NULL)', cart);
  sql.run(item, 'CART-1', 'guide-paris', 2);
  sql.run(item, 'CART-1', 'adapter', 1);
  sql.run(item, 'CART-2', 'suitcase', 2);
}

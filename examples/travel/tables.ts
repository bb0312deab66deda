/**
 * The tables. Amounts are in cents of {@link CURRENCY}, moments are RFC 3339 in UTC, days `yyyy-mm-dd`. Whatever has
 * two names, a number and an id made of it, is counted by the database.
 */
export const TABLES = `
CREATE TABLE timetable (
  number TEXT PRIMARY KEY,
  airline TEXT NOT NULL,
  origin TEXT NOT NULL COLLATE NOCASE,
  destination TEXT NOT NULL COLLATE NOCASE,
  departs TEXT NOT NULL, -- hh:mm UTC, every day
  minutes INTEGER NOT NULL,
  price_cents INTEGER NOT NULL,
  seats INTEGER NOT NULL -- what the airline leaves to this agency, per day
) STRICT;

CREATE TABLE bookings (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT GENERATED ALWAYS AS ('BK-' || n),
  number TEXT NOT NULL REFERENCES timetable,
  date TEXT NOT NULL,
  passenger TEXT NOT NULL COLLATE NOCASE,
  price_cents INTEGER NOT NULL,
  booked_at TEXT NOT NULL,
  cancelled_at TEXT
) STRICT;
CREATE UNIQUE INDEX one_seat_each ON bookings (number, date, passenger) WHERE cancelled_at IS NULL;

CREATE TABLE waitlist (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT GENERATED ALWAYS AS ('WL-' || n),
  number TEXT NOT NULL REFERENCES timetable,
  date TEXT NOT NULL,
  passenger TEXT NOT NULL COLLATE NOCASE,
  UNIQUE (number, date, passenger)
) STRICT;

CREATE TABLE hotels (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  city TEXT NOT NULL COLLATE NOCASE,
  stars INTEGER NOT NULL,
  night_cents INTEGER NOT NULL,
  rooms INTEGER NOT NULL
) STRICT;

CREATE TABLE stays (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT GENERATED ALWAYS AS ('HB-' || n),
  hotel_id TEXT NOT NULL REFERENCES hotels,
  guest TEXT NOT NULL COLLATE NOCASE,
  checkin TEXT NOT NULL,
  checkout TEXT NOT NULL,
  price_cents INTEGER NOT NULL,
  cancelled_at TEXT
) STRICT;
CREATE UNIQUE INDEX one_room_each ON stays (hotel_id, guest, checkin, checkout) WHERE cancelled_at IS NULL;

CREATE TABLE trips (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT GENERATED ALWAYS AS ('TRIP-' || n),
  flight_booking_id TEXT NOT NULL UNIQUE,
  hotel_booking_id TEXT NOT NULL UNIQUE,
  confirmed_at TEXT NOT NULL
) STRICT;

CREATE TABLE payments (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT GENERATED ALWAYS AS ('PAY-' || n),
  reference TEXT NOT NULL UNIQUE, -- the booking or the cart that it pays for
  amount_cents INTEGER NOT NULL,
  method TEXT NOT NULL,
  paid_at TEXT NOT NULL,
  refunded_at TEXT
) STRICT;

CREATE TABLE products (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  price_cents INTEGER NOT NULL,
  stock INTEGER NOT NULL CHECK (stock >= 0)
) STRICT;

CREATE TABLE codes (
  code TEXT PRIMARY KEY COLLATE NOCASE,
  percent INTEGER NOT NULL CHECK (percent BETWEEN 1 AND 100),
  expires_at TEXT
) STRICT;

CREATE TABLE carts (
  id TEXT PRIMARY KEY,
  code TEXT REFERENCES codes
) STRICT;

CREATE TABLE cart_items (
  cart_id TEXT NOT NULL REFERENCES carts,
  product_id TEXT NOT NULL REFERENCES products,
  quantity INTEGER NOT NULL CHECK (quantity > 0),
  PRIMARY KEY (cart_id, product_id)
) STRICT;

CREATE TABLE orders (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT GENERATED ALWAYS AS ('ORD-' || n),
  cart_id TEXT NOT NULL UNIQUE REFERENCES carts,
  payment_id TEXT NOT NULL UNIQUE,
  ordered_at TEXT NOT NULL
) STRICT;

-- What calls with an idempotency key were answered.
CREATE TABLE requests (
  tool TEXT NOT NULL,
  key TEXT NOT NULL,
  input TEXT NOT NULL,
  result TEXT NOT NULL,
  PRIMARY KEY (tool, key)
) STRICT;
`;

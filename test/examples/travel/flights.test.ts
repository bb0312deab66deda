import { describe, expect, test } from 'vitest';
import { openAgency, refusal } from './open-agency.js';

const TO_PARIS = { origin: 'NYC', destination: 'Paris', date: '2026-02-26' };
const UA57 = 'UA57-2026-02-26';
const TP202 = 'TP202-2026-02-26';
const FI614 = 'FI614-2026-02-26';
const usd = (cents: number) => ({ cents, currency: 'USD' });

describe('search_flights', () => {
  test('finds the flights of a day, the cheapest first', async () => {
    const { call } = await openAgency();
    const { flights } = await call('search_flights', { ...TO_PARIS, origin: ' nyc' });
    expect(flights.map(({ id }) => id)).toEqual([UA57, 'AF7-2026-02-26']);
    expect(flights[0]).toEqual({
      id: UA57,
      airline: 'United',
      origin: 'NYC',
      destination: 'Paris',
      departs_at: '2026-02-26T22:15:00.000Z',
      arrives_at: '2026-02-27T05:30:00.000Z',
      price: usd(41_200),
    });
  });

  test.each([
    ['to a city without flights', { destination: 'Oslo' }],
    ['of a day that is over', { date: '2026-01-31' }],
  ])('finds none %s', async (_, change) => {
    const { call } = await openAgency();
    expect(await call('search_flights', { ...TO_PARIS, ...change })).toEqual({ flights: [] });
  });

  test('leaves out what has departed today', async () => {
    const { call, passHours } = await openAgency();
    const today = { ...TO_PARIS, date: '2026-02-01' };
    passHours(8);
    expect((await call('search_flights', today)).flights.map(({ id }) => id)).toEqual(['UA57-2026-02-01']);
  });
});

describe('check_availability', () => {
  test('counts the free seats', async () => {
    const { call } = await openAgency();
    expect(await call('check_availability', { flight_id: UA57 })).toEqual({
      flight_id: UA57,
      seats_available: 4,
    });
    await call('create_booking', { flight_id: UA57, passenger: 'Ann' });
    expect((await call('check_availability', { flight_id: UA57 })).seats_available).toBe(3);
    expect((await call('check_availability', { flight_id: 'UA57-2026-02-27' })).seats_available).toBe(4);
  });

  test.each(['UA99-2026-02-26', 'UA57-2026-02-31', 'UA57', 'ua57-2026-02-26', "UA57' --"])(
    'knows no flight %j',
    async (flight_id) => {
      const { call } = await openAgency();
      await expect(call('check_availability', { flight_id })).rejects.toEqual(refusal('E_FLIGHT_UNKNOWN'));
    },
  );

  test('says nothing of a flight that has departed', async () => {
    const { call } = await openAgency();
    await expect(call('check_availability', { flight_id: 'UA57-2026-01-31' })).rejects.toEqual(
      refusal('E_FLIGHT_DEPARTED'),
    );
  });
});

describe('create_booking', () => {
  test('gives the passenger a seat', async () => {
    const { call } = await openAgency();
    const booked = await call('create_booking', { flight_id: UA57, passenger: 'Ann' });
    expect(booked).toEqual({
      id: 'BK-1006',
      status: 'confirmed',
      flight_id: UA57,
      passenger: 'Ann',
      total_price: usd(41_200),
      booked_at: '2026-02-01T12:00:00.000Z',
      paid: false,
    });
    expect(await call('get_booking', { booking_id: booked.id })).toEqual(booked);
  });

  test('refuses one seat more than there are, until one is given back', async () => {
    const { call } = await openAgency();
    const first = await call('create_booking', { flight_id: TP202, passenger: 'Ann' });
    const second = { flight_id: TP202, passenger: 'Bob' };
    await expect(call('create_booking', second)).rejects.toEqual(refusal('E_FLIGHT_FULL'));
    await call('cancel_booking', { booking_id: first.id });
    expect((await call('create_booking', second)).status).toBe('confirmed');
  });

  test('refuses a second seat for one passenger', async () => {
    const { call } = await openAgency();
    await call('create_booking', { flight_id: UA57, passenger: 'Ann' });
    await expect(call('create_booking', { flight_id: UA57, passenger: 'ANN' })).rejects.toEqual(
      refusal('E_ALREADY_BOOKED'),
    );
    expect((await call('check_availability', { flight_id: UA57 })).seats_available).toBe(3);
  });

  test('books nothing in the past', async () => {
    const { call } = await openAgency();
    await expect(call('create_booking', { flight_id: 'AF7-2026-01-31', passenger: 'Ann' })).rejects.toEqual(
      refusal('E_FLIGHT_DEPARTED'),
    );
  });
});

test('add_to_waitlist gives places in the order of arrival, and one to each', async () => {
  const { call } = await openAgency();
  const wait = (passenger: string) => call('add_to_waitlist', { flight_id: FI614, passenger });
  expect(await wait('Ann')).toEqual({
    id: 'WL-1',
    status: 'waitlisted',
    flight_id: FI614,
    passenger: 'Ann',
    position: 1,
  });
  expect((await wait('Bob')).position).toBe(2);
  expect(await wait('ann')).toMatchObject({ id: 'WL-1', position: 1 });
  const elsewhere = await call('add_to_waitlist', { flight_id: TP202, passenger: 'Cid' });
  expect(elsewhere.position).toBe(1);
});

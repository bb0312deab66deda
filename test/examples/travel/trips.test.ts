import { describe, expect, test } from 'vitest';
import { openAgency, refusal } from './open-agency.js';

const NIGHTS = { checkin: '2026-02-26', checkout: '2026-03-01' };
const ANN = { hotel_id: 'gare-du-nord', guest: 'Ann', ...NIGHTS };
const usd = (cents: number) => ({ cents, currency: 'USD' });

describe('search_hotels', () => {
  test('finds the hotels of a city, full ones too, the cheapest first', async () => {
    const { call } = await openAgency();
    await call('book_hotel', ANN);
    expect(await call('search_hotels', { city: 'paris', ...NIGHTS })).toEqual({
      hotels: [
        {
          id: 'gare-du-nord',
          name: 'Hôtel de la Gare',
          city: 'Paris',
          stars: 2,
          total_price: usd(29_400),
          rooms_available: 0,
        },
        {
          id: 'lutece',
          name: 'Lutèce',
          city: 'Paris',
          stars: 4,
          total_price: usd(64_500),
          rooms_available: 3,
        },
      ],
    });
  });

  test.each([
    ['2026-02-26', '2026-02-26', 'E_STAY_DATES'],
    ['2026-02-26', '2026-02-25', 'E_STAY_DATES'],
    ['2026-01-31', '2026-02-25', 'E_STAY_PAST'],
  ])('refuses a stay from %s to %s', async (checkin, checkout, code) => {
    const { call } = await openAgency();
    await expect(call('search_hotels', { city: 'Paris', checkin, checkout })).rejects.toEqual(refusal(code));
    await expect(call('book_hotel', { ...ANN, checkin, checkout })).rejects.toEqual(refusal(code));
  });
});

describe('book_hotel', () => {
  test('gives the guest a room, whose nights are reserved', async () => {
    const { call } = await openAgency();
    expect(await call('book_hotel', ANN)).toEqual({
      id: 'HB-1',
      status: 'confirmed',
      ...ANN,
      total_price: usd(29_400),
    });
    const bob = { ...ANN, guest: 'Bob' };
    const last = { ...bob, checkin: '2026-02-28', checkout: '2026-03-04' };
    await expect(call('book_hotel', last)).rejects.toEqual(refusal('E_HOTEL_FULL'));
    expect((await call('book_hotel', { ...last, checkin: '2026-03-01' })).id).toBe('HB-2');
    expect((await call('book_hotel', { ...bob, checkin: '2026-02-25', checkout: '2026-02-26' })).id).toBe(
      'HB-3',
    );
  });

  test('refuses a second room for the same guest and nights', async () => {
    const { call } = await openAgency();
    const room = { ...ANN, hotel_id: 'lutece' };
    await call('book_hotel', room);
    await expect(call('book_hotel', room)).rejects.toEqual(refusal('E_ALREADY_BOOKED'));
  });

  test('knows no other hotel', async () => {
    const { call } = await openAgency();
    await expect(call('book_hotel', { ...ANN, hotel_id: 'ritz' })).rejects.toEqual(
      refusal('E_HOTEL_UNKNOWN'),
    );
  });

  test('finds the hotel full while hotels are switched to be', async () => {
    const { call } = await openAgency({ failures: [{ kind: 'fails', trouble: 'hotel', times: 1 }] });
    await expect(call('book_hotel', ANN)).rejects.toThrow(
      'Hôtel de la Gare has no room left from 2026-02-26 to 2026-03-01',
    );
    expect((await call('book_hotel', ANN)).id).toBe('HB-1');
  });
});

test('cancel_hotel gives the room back, once', async () => {
  const { call } = await openAgency();
  const { id } = await call('book_hotel', ANN);
  expect(await call('cancel_hotel', { booking_id: id })).toEqual({ id, status: 'cancelled' });
  await expect(call('cancel_hotel', { booking_id: id })).rejects.toEqual(refusal('E_NOT_CONFIRMED'));
  expect((await call('book_hotel', { ...ANN, guest: 'Bob' })).status).toBe('confirmed');
});

describe('confirm_trip', () => {
  async function bothBooked() {
    const { call } = await openAgency();
    const flight = await call('create_booking', { flight_id: 'UA57-2026-02-26', passenger: 'Ann' });
    const hotel = await call('book_hotel', ANN);
    return { call, trip: { flight_booking_id: flight.id, hotel_booking_id: hotel.id } };
  }

  test('makes the two bookings one trip, however often it is asked to', async () => {
    const { call, trip } = await bothBooked();
    const confirmed = await call('confirm_trip', trip);
    expect(confirmed).toEqual({ id: 'TRIP-1', status: 'confirmed', ...trip, total_price: usd(70_600) });
    expect(await call('confirm_trip', trip)).toEqual(confirmed);
  });

  test('refuses a booking of another trip', async () => {
    const { call, trip } = await bothBooked();
    await call('confirm_trip', trip);
    const other = await call('book_hotel', { ...ANN, hotel_id: 'lutece' });
    await expect(call('confirm_trip', { ...trip, hotel_booking_id: other.id })).rejects.toThrow(
      `Booking ${trip.flight_booking_id} is part of another trip`,
    );
    await expect(call('confirm_trip', { ...trip, flight_booking_id: 'BK-1001' })).rejects.toThrow(
      `Booking ${trip.hotel_booking_id} is part of another trip`,
    );
  });

  test('refuses what is no longer confirmed', async () => {
    const { call, trip } = await bothBooked();
    await call('cancel_hotel', { booking_id: trip.hotel_booking_id });
    await expect(call('confirm_trip', trip)).rejects.toEqual(refusal('E_NOT_CONFIRMED'));
    await expect(call('confirm_trip', { ...trip, flight_booking_id: 'BK-1004' })).rejects.toThrow(
      'Booking BK-1004 is flown',
    );
  });
});

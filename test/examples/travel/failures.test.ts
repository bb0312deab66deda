import { describe, expect, test } from 'vitest';
import { Failures, TOOL_NAMES } from '../../../examples/travel/failures.js';
import { openAgency, refusal } from './open-agency.js';

describe('switches', () => {
  test('name what goes wrong, how often, and what is slow', () => {
    const failures = Failures.parse(
      'payment, hotel:2,,search_flights@500,search_flights:1, charge_cart!, book_hotel!1',
    );
    const strikes = (trouble: 'payment' | 'hotel' | 'flight' | 'search_flights') =>
      [1, 2, 3].map(() => failures.strikes(trouble));
    expect(strikes('payment')).toEqual([true, true, true]);
    expect(strikes('hotel')).toEqual([true, true, false]);
    expect(strikes('flight')).toEqual([false, false, false]);
    expect(strikes('search_flights')).toEqual([true, false, false]);
    expect(failures.delayOf('search_flights')).toBe(500);
    expect(failures.delayOf('book_hotel')).toBe(0);
    expect([1, 2].map(() => failures.loses('charge_cart'))).toEqual([true, true]);
    expect([1, 2].map(() => failures.loses('book_hotel'))).toEqual([true, false]);
  });

  test('are all off by default', () => {
    const none = Failures.parse('');
    for (const tool of TOOL_NAMES) {
      expect(none.strikes(tool)).toBe(false);
      expect(none.delayOf(tool)).toBe(0);
      expect(none.loses(tool)).toBe(false);
    }
  });

  test.each([
    'nonsense',
    'payment@5',
    'payment!',
    'hotel:-1',
    'hotel:x',
    'hotel=2',
    'hotel:1e3',
    'search_flights@',
  ])('%j is none', (text) => {
    expect(() => Failures.parse(text)).toThrow(`'${text}' is no failure: write <what>`);
  });
});

const ANN = { flight_id: 'UA57-2026-02-26', passenger: 'Ann' };

test('a tool whose system does not answer fails so many times, and then works', async () => {
  const { call } = await openAgency({ failures: [{ kind: 'fails', trouble: 'create_booking', times: 2 }] });
  for (const _ of [1, 2]) {
    await expect(call('create_booking', ANN, { key: 'k' })).rejects.toEqual(refusal('E_UNAVAILABLE'));
  }
  expect((await call('create_booking', ANN, { key: 'k' })).status).toBe('confirmed');
});

test('a full flight has no seats, neither to list nor to book', async () => {
  const { call } = await openAgency({ failures: [{ kind: 'fails', trouble: 'flight', times: 2 }] });
  expect((await call('check_availability', ANN_FLIGHT)).seats_available).toBe(0);
  await expect(call('create_booking', ANN)).rejects.toEqual(refusal('E_FLIGHT_FULL'));
  expect((await call('check_availability', ANN_FLIGHT)).seats_available).toBe(4);
});

const ANN_FLIGHT = { flight_id: ANN.flight_id };

test('a slow tool answers all the same', async () => {
  const { call } = await openAgency({ failures: [{ kind: 'slow', tool: 'check_availability', ms: 1 }] });
  expect((await call('check_availability', ANN_FLIGHT)).seats_available).toBe(4);
});

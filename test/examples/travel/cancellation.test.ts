import { describe, expect, test } from 'vitest';
import { type CallTool, openAgency, refusal } from './open-agency.js';

const PAID_3_HOURS_AGO = 'BK-1001';
const PAID_40_HOURS_AGO = 'BK-1002';
const CANCELLED = 'BK-1003';
const FLOWN = 'BK-1004';
const UNPAID = 'BK-1005';
const usd = (cents: number) => ({ cents, currency: 'USD' });
const statusOf = async (call: CallTool, booking_id: string) =>
  (await call('get_booking', { booking_id })).status;

test.each([
  [PAID_3_HOURS_AGO, 'confirmed', true],
  [CANCELLED, 'cancelled', false],
  [FLOWN, 'flown', true],
  [UNPAID, 'confirmed', false],
])('get_booking tells that %s is %s', async (booking_id, status, paid) => {
  const { call } = await openAgency();
  expect(await call('get_booking', { booking_id })).toMatchObject({ id: booking_id, status, paid });
});

describe.each(['get_booking', 'cancel_booking', 'process_refund', 'cancel_hotel'] as const)('%s', (tool) => {
  test('knows no booking that was never made', async () => {
    const { call } = await openAgency();
    await expect(call(tool, { booking_id: 'BK-9' })).rejects.toEqual(refusal('E_BOOKING_UNKNOWN'));
  });
});

describe('cancel_booking', () => {
  test.each([
    [PAID_3_HOURS_AGO, true, 0],
    [PAID_40_HOURS_AGO, false, 48_900],
    [UNPAID, false, 0],
  ])('cancels %s; refundable: %s, fee: %d', async (booking_id, refundable, cents) => {
    const { call } = await openAgency();
    expect(await call('cancel_booking', { booking_id })).toEqual({
      id: booking_id,
      status: 'cancelled',
      refundable,
      fee: usd(cents),
    });
    expect(await statusOf(call, booking_id)).toBe('cancelled');
  });

  test.each([CANCELLED, FLOWN])('refuses %s, which is not confirmed', async (booking_id) => {
    const { call } = await openAgency();
    await expect(call('cancel_booking', { booking_id })).rejects.toEqual(refusal('E_NOT_CONFIRMED'));
  });

  test('refuses what was cancelled a moment ago', async () => {
    const { call } = await openAgency();
    await call('cancel_booking', { booking_id: UNPAID });
    await expect(call('cancel_booking', { booking_id: UNPAID })).rejects.toThrow(
      'Booking BK-1005 is cancelled, and has to be confirmed for this',
    );
  });
});

describe('process_refund', () => {
  test('pays back once', async () => {
    const { call } = await openAgency();
    await call('cancel_booking', { booking_id: PAID_3_HOURS_AGO });
    expect(await call('process_refund', { booking_id: PAID_3_HOURS_AGO })).toEqual({
      payment_id: 'PAY-1001',
      booking_id: PAID_3_HOURS_AGO,
      status: 'refunded',
      amount: usd(41_200),
    });
    await expect(call('process_refund', { booking_id: PAID_3_HOURS_AGO })).rejects.toEqual(
      refusal('E_ALREADY_REFUNDED'),
    );
  });

  // Booked three hours before the clock of the tests starts.
  test.each([
    [21, true],
    [21.001, false],
  ])('cancelled %d hours later it is refundable: %s', async (hours, refundable) => {
    const { call, passHours } = await openAgency();
    passHours(hours);
    const cancelled = await call('cancel_booking', { booking_id: PAID_3_HOURS_AGO });
    expect(cancelled.refundable).toBe(refundable);
    passHours(100);
    const refund = call('process_refund', { booking_id: PAID_3_HOURS_AGO });
    if (refundable) await refund;
    else await expect(refund).rejects.toEqual(refusal('E_REFUND_PERIOD_OVER'));
  });

  test('refuses what is not cancelled, and what was never paid for', async () => {
    const { call } = await openAgency();
    await expect(call('process_refund', { booking_id: PAID_3_HOURS_AGO })).rejects.toEqual(
      refusal('E_NOT_CANCELLED'),
    );
    await expect(call('process_refund', { booking_id: CANCELLED })).rejects.toEqual(refusal('E_NOT_PAID'));
  });

  test('takes a clock that went back for no time at all', async () => {
    const { call, passHours } = await openAgency();
    passHours(-10);
    expect((await call('cancel_booking', { booking_id: PAID_3_HOURS_AGO })).refundable).toBe(true);
  });
});

describe('process_payment', () => {
  test('charges the price of the booking, once', async () => {
    const { call } = await openAgency();
    const paid = await call('process_payment', { booking_id: UNPAID, method: 'paypal' });
    expect(paid).toEqual({
      id: 'PAY-1005',
      status: 'captured',
      amount: usd(41_200),
      method: 'paypal',
      receipt_url: 'https://travel.example/receipts/PAY-1005',
    });
    expect((await call('get_booking', { booking_id: UNPAID })).paid).toBe(true);
    expect(await call('process_payment', { booking_id: UNPAID, method: 'card' })).toEqual(paid);
  });

  test.each([CANCELLED, FLOWN])('refuses %s, which is not confirmed', async (booking_id) => {
    const { call } = await openAgency();
    await expect(call('process_payment', { booking_id, method: 'card' })).rejects.toEqual(
      refusal('E_NOT_CONFIRMED'),
    );
  });

  test('is declined while payments are switched to fail, and charges nothing then', async () => {
    const { call } = await openAgency({ failures: [{ kind: 'fails', trouble: 'payment', times: 1 }] });
    const payment = { booking_id: UNPAID, method: 'card' } as const;
    await expect(call('process_payment', payment)).rejects.toThrow(
      'The payment of $412.00 by card was declined',
    );
    expect((await call('get_booking', { booking_id: UNPAID })).paid).toBe(false);
    expect((await call('process_payment', payment)).status).toBe('captured');
  });
});

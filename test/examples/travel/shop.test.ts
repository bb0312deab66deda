import { describe, expect, test } from 'vitest';
import { openAgency, refusal } from './open-agency.js';

const usd = (cents: number) => ({ cents, currency: 'USD' as const });
const CART = { cart_id: 'CART-1' };
const TOTAL = 2 * 1_899 + 2_450;

describe('validate_cart', () => {
  test('lists the items of the cart', async () => {
    const { call } = await openAgency();
    expect(await call('validate_cart', CART)).toEqual({
      id: 'CART-1',
      items: [
        { product_id: 'adapter', name: 'Travel adapter', quantity: 1, unit_price: usd(2_450) },
        { product_id: 'guide-paris', name: 'Guide to Paris', quantity: 2, unit_price: usd(1_899) },
      ],
    });
  });

  test.each([
    ['CART-2', 'E_OUT_OF_STOCK'],
    ['CART-3', 'E_CART_EMPTY'],
    ['CART-4', 'E_CART_UNKNOWN'],
  ])('refuses %s: %s', async (cart_id, code) => {
    const { call } = await openAgency();
    await expect(call('validate_cart', { cart_id })).rejects.toEqual(refusal(code));
  });
});

describe('apply_code', () => {
  test('takes a part off the total, rounded to the cent, once', async () => {
    const { call } = await openAgency();
    expect(await call('calculate_total', CART)).toEqual({
      subtotal: usd(TOTAL),
      discount: usd(0),
      total: usd(TOTAL),
    });
    const discount = { ...CART, code: 'TRAVEL10', percent: 10 };
    expect(await call('apply_code', { ...CART, code: ' travel10' })).toEqual(discount);
    expect(await call('apply_code', { ...CART, code: 'TRAVEL10' })).toEqual(discount);
    expect(await call('calculate_total', CART)).toEqual({
      subtotal: usd(6_248),
      discount: usd(625),
      total: usd(5_623),
    });
  });

  test.each([
    ['SUMMER', 'E_CODE_UNKNOWN'],
    ['WINTER25', 'E_CODE_EXPIRED'],
  ])('refuses %s', async (code, expected) => {
    const { call } = await openAgency();
    await expect(call('apply_code', { ...CART, code })).rejects.toEqual(refusal(expected));
    expect((await call('calculate_total', CART)).total).toEqual(usd(TOTAL));
  });
});

describe('charge_cart', () => {
  test('takes the total, once, and leaves the cart as it is from then on', async () => {
    const { call } = await openAgency();
    const charge = { ...CART, amount: usd(TOTAL), method: 'card' } as const;
    const paid = await call('charge_cart', charge);
    expect(paid).toMatchObject({ id: 'PAY-1005', status: 'captured', amount: usd(TOTAL), method: 'card' });
    expect(await call('charge_cart', { ...charge, method: 'paypal' })).toEqual(paid);
    await expect(call('apply_code', { ...CART, code: 'TRAVEL10' })).rejects.toEqual(refusal('E_CART_PAID'));
  });

  test.each([
    ['CART-1', TOTAL - 1, 'E_AMOUNT_MISMATCH'],
    ['CART-3', 0, 'E_CART_EMPTY'],
    ['CART-4', 0, 'E_CART_UNKNOWN'],
  ])('refuses to take for %s %d cents', async (cart_id, cents, code) => {
    const { call } = await openAgency();
    await expect(call('charge_cart', { cart_id, amount: usd(cents), method: 'card' })).rejects.toEqual(
      refusal(code),
    );
  });

  test('is declined while payments are switched to fail', async () => {
    const { call } = await openAgency({ failures: [{ kind: 'fails', trouble: 'payment' }] });
    const charge = { ...CART, amount: usd(TOTAL), method: 'card' } as const;
    for (const _ of [1, 2, 3])
      await expect(call('charge_cart', charge)).rejects.toEqual(refusal('E_PAYMENT_DECLINED'));
  });
});

describe('confirm_order', () => {
  async function paid() {
    const agency = await openAgency();
    const { id } = await agency.call('charge_cart', { ...CART, amount: usd(TOTAL), method: 'card' });
    return { ...agency, order: { ...CART, payment_id: id } };
  }

  test('orders what was paid for, once', async () => {
    const { call, order } = await paid();
    const ordered = { id: 'ORD-1', status: 'confirmed', ...order };
    expect(await call('confirm_order', order)).toEqual(ordered);
    expect(await call('confirm_order', order)).toEqual(ordered);
    await expect(call('validate_cart', CART)).rejects.toEqual(refusal('E_CART_ORDERED'));
  });

  test.each(['PAY-1001', 'PAY-9'])(
    'refuses the payment %s, which is for something else',
    async (payment_id) => {
      const { call, order } = await paid();
      await expect(call('confirm_order', { ...order, payment_id })).rejects.toEqual(
        refusal('E_PAYMENT_UNKNOWN'),
      );
    },
  );

  test('refuses a cart that is not paid for', async () => {
    const { call } = await openAgency();
    await expect(call('confirm_order', { ...CART, payment_id: 'PAY-1001' })).rejects.toEqual(
      refusal('E_PAYMENT_UNKNOWN'),
    );
  });
});

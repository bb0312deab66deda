import { z } from 'zod';
import type { Desk } from './agency.js';
import { type Money, money, moneyOf } from './money.js';
import { type Payment, type PaymentMethod, paymentFor, takePayment } from './payments.js';
import { refusals } from './refusal.js';

/** What is in a cart. */
export const cart = z.object({
  id: z.string().describe('CART-1'),
  items: z.array(
    z.object({
      product_id: z.string(),
      name: z.string(),
      quantity: z.int().positive(),
      unit_price: money.describe('For one of them'),
    }),
  ),
});

export type Cart = z.infer<typeof cart>;

/** A discount on everything in a cart. */
export const discount = z.object({
  cart_id: z.string(),
  code: z.string(),
  percent: z.int().describe('Taken off the price, 1 to 100'),
});

export type Discount = z.infer<typeof discount>;

/** What a cart costs. */
export const totals = z.object({
  subtotal: money.describe('Before the discount'),
  discount: money.describe('What is taken off, rounded to the cent'),
  total: money.describe('What is to be paid'),
});

export type Totals = z.infer<typeof totals>;

/** A cart that is on its way. */
export const order = z.object({
  id: z.string().describe('ORD-1'),
  status: z.literal('confirmed'),
  cart_id: z.string(),
  payment_id: z.string(),
});

export type Order = z.infer<typeof order>;

const ID = z.object({ id: z.string() });

const itemRow = z.object({
  product_id: z.string(),
  name: z.string(),
  quantity: z.int(),
  price_cents: z.int(),
  stock: z.int(),
});

/**
 * A cart that can be paid for.
 *
 * @throws {Refusal} `E_CART_UNKNOWN`, `E_CART_ORDERED`, `E_CART_EMPTY`, `E_OUT_OF_STOCK`.
 */
export function checkCart(desk: Desk, id: string): Cart {
  const items = itemsOf(desk, id);
  refuseOrdered(desk, id);
  if (items.length === 0) throw refusals.cartEmpty(id);
  for (const { name, quantity, stock } of items) if (quantity > stock) throw refusals.outOfStock(name, stock);
  return {
    id,
    items: items.map(({ product_id, name, quantity, price_cents }) => ({
      product_id,
      name,
      quantity,
      unit_price: moneyOf(price_cents),
    })),
  };
}

/**
 * Puts a discount on a cart, in place of the one before.
 *
 * @throws {Refusal} `E_CART_UNKNOWN`, `E_CART_ORDERED`, `E_CART_PAID`, `E_CODE_UNKNOWN`, `E_CODE_EXPIRED`.
 */
export function applyDiscount(desk: Desk, cart_id: string, code: string): Discount {
  findCart(desk, cart_id);
  refuseOrdered(desk, cart_id);
  const row = desk.sql.first(
    z.object({ code: z.string(), percent: z.int(), expires_at: z.string().nullable() }),
    'SELECT * FROM codes WHERE code = ?',
    code.trim(),
  );
  if (row === undefined) throw refusals.codeUnknown(code);
  if (row.expires_at !== null && Date.parse(row.expires_at) <= desk.now) throw refusals.codeExpired(row.code);
  if (paymentFor(desk, cart_id) !== undefined) throw refusals.cartPaid(cart_id);
  desk.sql.run('UPDATE carts SET code = ? WHERE id = ?', row.code, cart_id);
  return { cart_id, code: row.code, percent: row.percent };
}

/** @throws {Refusal} `E_CART_UNKNOWN`. */
export function totalsOf(desk: Desk, cart_id: string): Totals {
  const { percent } = findCart(desk, cart_id);
  const subtotal = itemsOf(desk, cart_id).reduce((sum, item) => sum + item.quantity * item.price_cents, 0);
  const off = Math.round((subtotal * percent) / 100);
  return { subtotal: moneyOf(subtotal), discount: moneyOf(off), total: moneyOf(subtotal - off) };
}

/**
 * Takes the money for a cart, once.
 *
 * @param amount What the customer agreed to; anything but the total is refused.
 * @throws {Refusal} `E_CART_UNKNOWN`, `E_CART_EMPTY`, `E_AMOUNT_MISMATCH`, `E_PAYMENT_DECLINED`.
 */
export function payForCart(desk: Desk, cart_id: string, amount: Money, method: PaymentMethod): Payment {
  const { total, subtotal } = totalsOf(desk, cart_id);
  if (subtotal.cents === 0) throw refusals.cartEmpty(cart_id);
  if (amount.cents !== total.cents) throw refusals.amountMismatch(amount, total);
  return takePayment(desk, cart_id, amount, method);
}

/**
 * Takes the goods off the shelf; a cart that is ordered gives the order there is.
 *
 * @throws {Refusal} `E_CART_UNKNOWN`, `E_PAYMENT_UNKNOWN`, `E_OUT_OF_STOCK`.
 */
export function placeOrder(desk: Desk, cart_id: string, payment_id: string): Order {
  const items = itemsOf(desk, cart_id);
  if (paymentFor(desk, cart_id)?.id !== payment_id) throw refusals.paymentUnknown(payment_id, cart_id);
  const earlier = orderOf(desk, cart_id);
  if (earlier !== undefined) return { id: earlier, status: 'confirmed', cart_id, payment_id };
  for (const { product_id, name, quantity, stock } of items) {
    if (quantity > stock) throw refusals.outOfStock(name, stock);
    desk.sql.run('UPDATE products SET stock = stock - ? WHERE id = ?', quantity, product_id);
  }
  const { id } = desk.sql.one(
    ID,
    'INSERT INTO orders (cart_id, payment_id, ordered_at) VALUES (?, ?, ?) RETURNING id',
    cart_id,
    payment_id,
    new Date(desk.now).toISOString(),
  );
  return { id, status: 'confirmed', cart_id, payment_id };
}

function findCart(desk: Desk, id: string): { percent: number } {
  const row = desk.sql.first(
    z.object({ percent: z.int() }),
    `SELECT coalesce(codes.percent, 0) AS percent
     FROM carts LEFT JOIN codes ON codes.code = carts.code WHERE carts.id = ?`,
    id,
  );
  if (row === undefined) throw refusals.cartUnknown(id);
  return row;
}

function itemsOf(desk: Desk, cart_id: string): z.infer<typeof itemRow>[] {
  findCart(desk, cart_id);
  return desk.sql.all(
    itemRow,
    `SELECT product_id, name, quantity, price_cents, stock
     FROM cart_items JOIN products ON products.id = product_id WHERE cart_id = ? ORDER BY product_id`,
    cart_id,
  );
}

function orderOf(desk: Desk, cart_id: string): string | undefined {
  return desk.sql.first(ID, 'SELECT id FROM orders WHERE cart_id = ?', cart_id)?.id;
}

function refuseOrdered(desk: Desk, cart_id: string): void {
  const ordered = orderOf(desk, cart_id);
  if (ordered !== undefined) throw refusals.cartOrdered(cart_id, ordered);
}

import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';
import { type Money, money } from '../money.js';
import { type Payment, type PaymentMethod, payment, paymentMethod } from '../payments.js';
import { CalculateTotal } from './calculate-total.tool.js';

@Tool({
  name: 'charge_cart',
  description: 'Charge the total of a cart; a paid one is not charged again',
  input: z.object({
    cart_id: z.string().min(1).max(100).describe('Id of the cart, such as CART-1'),
    amount: money.describe('What the customer agreed to pay; it has to be the total'),
    method: paymentMethod.describe('How the customer pays'),
  }),
  output: payment,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  hints: { category: 'payment', requires: [() => CalculateTotal] },
})
export class ChargeCart {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(
    input: { cart_id: string; amount: Money; method: PaymentMethod },
    context: ToolContext,
  ): Promise<Payment> {
    return this.#service.call('charge_cart', input, context);
  }
}

import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';
import { type Order, order } from '../shop.js';
import { ChargeCart } from './charge-cart.tool.js';

@Tool({
  name: 'confirm_order',
  description: 'Order what is in a cart that is paid for',
  input: z.object({
    cart_id: z.string().min(1).max(100).describe('Id of the cart, such as CART-1'),
    payment_id: z.string().min(1).max(100).describe('Id of the payment, as charge_cart returns it'),
  }),
  output: order,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  hints: { category: 'action', requires: [() => ChargeCart] },
})
export class ConfirmOrder {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(input: { cart_id: string; payment_id: string }, context: ToolContext): Promise<Order> {
    return this.#service.call('confirm_order', input, context);
  }
}

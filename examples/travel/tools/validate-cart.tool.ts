import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';
import { type Cart, cart } from '../shop.js';

@Tool({
  name: 'validate_cart',
  description: 'Check that everything in a cart can be bought',
  input: z.object({
    cart_id: z.string().min(1).max(100).describe('Id of the cart, such as CART-1'),
  }),
  output: cart,
  annotations: { readOnlyHint: true, openWorldHint: false },
  hints: { category: 'validation' },
})
export class ValidateCart {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(input: { cart_id: string }, context: ToolContext): Promise<Cart> {
    return this.#service.call('validate_cart', input, context);
  }
}

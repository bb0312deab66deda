import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelAgency } from '../agency.js';
import { type Cart, cart, checkCart } from '../shop.js';

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
  readonly #agency: TravelAgency;

  constructor(agency: TravelAgency) {
    this.#agency = agency;
  }

  execute({ cart_id }: { cart_id: string }, context: ToolContext): Promise<Cart> {
    return this.#agency.read('validate_cart', context, (desk) => checkCart(desk, cart_id));
  }
}

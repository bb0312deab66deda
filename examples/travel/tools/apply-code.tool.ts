import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';
import { type Discount, discount } from '../shop.js';

@Tool({
  name: 'apply_code',
  description: 'Put the discount of a code on a cart, in place of the one before',
  input: z.object({
    cart_id: z.string().min(1).max(100).describe('Id of the cart, such as CART-1'),
    code: z.string().regex(/\S/).max(100).describe('Discount code; case does not matter'),
  }),
  output: discount,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  hints: { category: 'action' },
})
export class ApplyCode {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(input: { cart_id: string; code: string }, context: ToolContext): Promise<Discount> {
    return this.#service.call('apply_code', input, context);
  }
}

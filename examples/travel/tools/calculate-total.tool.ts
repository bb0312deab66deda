import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';
import { type Totals, totals } from '../shop.js';

@Tool({
  name: 'calculate_total',
  description: 'Work out what a cart costs, its discount taken off',
  input: z.object({
    cart_id: z.string().min(1).max(100).describe('Id of the cart, such as CART-1'),
  }),
  output: totals,
  annotations: { readOnlyHint: true, openWorldHint: false },
  hints: { category: 'action' },
})
export class CalculateTotal {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(input: { cart_id: string }, context: ToolContext): Promise<Totals> {
    return this.#service.call('calculate_total', input, context);
  }
}

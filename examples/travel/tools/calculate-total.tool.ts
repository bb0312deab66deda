import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelAgency } from '../agency.js';
import { type Totals, totals, totalsOf } from '../shop.js';

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
  readonly #agency: TravelAgency;

  constructor(agency: TravelAgency) {
    this.#agency = agency;
  }

  execute({ cart_id }: { cart_id: string }, context: ToolContext): Promise<Totals> {
    return this.#agency.read('calculate_total', context, (desk) => totalsOf(desk, cart_id));
  }
}

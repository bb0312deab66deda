import { Tool } from 'stepwright';
import { stock } from './stock.js';

/** What to order. */
interface Order {
  /** Name of the product */
  product: string;
  /**
   * How many of it
   * @minimum 1
   */
  count: number;
}

@Tool({
  name: 'quote',
  description: 'Check that there is enough of a product, and how much would be left',
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
})
export class Quote {
  execute({ product, count }: Order): { available: number; left: number } {
    const available = stock.get(product) ?? 0;
    if (available < count) throw new Error(`Only ${available} of '${product}' are in stock: ask for fewer`);
    return { available, left: available - count };
  }
}

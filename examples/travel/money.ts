import { z } from 'zod';

/** The one currency of the agency, by its ISO 4217 code. */
export const CURRENCY = 'USD';

/** An amount of money, as tools take and give it. */
export const money = z.object({
  cents: z.int().nonnegative().describe('Hundredths of the unit of the currency'),
  currency: z.literal(CURRENCY).describe('ISO 4217'),
});

/** An amount of money. `cents` are whole and never negative. */
export type Money = z.infer<typeof money>;

/** The amount of so many cents. */
export function moneyOf(cents: number): Money {
  return { cents, currency: CURRENCY };
}

/** The amount for people: `$412.00`. */
export function printMoney({ cents }: Money): string {
  return `$${(cents / 100).toFixed(2)}`;
}

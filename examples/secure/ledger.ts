import type { Owner } from 'stepwright';

export interface Payment {
  id: string;
  supplier: string;
  amount: number;
}

interface Entry {
  readonly payer: string | undefined;
  readonly payment: Payment;
}

/** The payments that were made, with the user that each one was made for. */
export class Ledger {
  readonly #entries = new Map<string, Entry>();

  /** Makes a payment; for a key that was used before, returns the payment it made. */
  pay(payer: Owner | undefined, key: string, supplier: string, amount: number): Payment {
    const made = this.#entries.get(key);
    if (made !== undefined) return made.payment;
    const payment = { id: `P-${this.#entries.size + 1}`, supplier, amount };
    this.#entries.set(key, { payer: userOf(payer), payment });
    return payment;
  }

  paidFor(payer: Owner | undefined): Payment[] {
    const user = userOf(payer);
    return [...this.#entries.values()].filter((entry) => entry.payer === user).map(({ payment }) => payment);
  }
}

/** Roles and clients do not distinguish users. */
function userOf(owner: Owner | undefined): string | undefined {
  return owner?.kind === 'principal' ? JSON.stringify([owner.issuer, owner.subject]) : undefined;
}

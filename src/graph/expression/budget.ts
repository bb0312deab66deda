import type { Span } from '../place.js';
import { expressionError } from './error.js';

/**
 * How much work evaluation may do: one unit for each tree node, each item or entry, and each character that is
 * compared or written. One budget may serve many evaluations.
 */
export class Budget {
  readonly #limit: number;
  #left: number;

  /** @param limit what a failure names, where a part of it is used up already. Default: `units`. */
  constructor(units: number, limit = units) {
    this.#limit = limit;
    this.#left = units;
  }

  /** Units not used yet. */
  get left(): number {
    return this.#left;
  }

  /**
   * Takes units away before the work is done.
   * @throws ExpressionError `E_BUDGET` when too few are left.
   */
  charge(units: number, at?: Span): void {
    // Written so that NaN fails as well.
    if (!(units <= this.#left)) {
      this.#left = 0;
      throw expressionError('E_BUDGET', { limit: this.#limit }, at);
    }
    this.#left -= units;
  }
}

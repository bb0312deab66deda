/** How often and when a step that failed is tried again. Refused input, faulty expressions and cancellation never are. */
export interface RetryOptions {
  /** How many tries in all, the first one included. */
  readonly attempts: number;
  /** Wait before the second try, in milliseconds. Default: 0. */
  readonly delayMs?: number;
  /**
   * How the wait before try `k + 1` follows from `delayMs`: the same each time, `delayMs * k`, or `delayMs * 2 ** (k - 1)`.
   * Default: `'constant'`.
   */
  readonly backoff?: 'constant' | 'linear' | 'exponential';
  /** The longest wait, in milliseconds. Default: 60 000. */
  readonly capMs?: number;
  /** Part of each wait that is left to chance, 0 to 1. Default: 0. */
  readonly jitter?: number;
}

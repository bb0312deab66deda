import { canonicalJson, sha256Hex } from '../../graph/canonical.js';
import type { Retry } from '../../graph/model.js';
import { unreachable } from '../../graph/unreachable.js';
import type { Failure } from './contract.js';

/** Failures no further attempt can change: the run is over, or its time is. */
const FINAL = new Set(['E_CANCELLED', 'E_DEADLINE']);

/**
 * Whether another attempt may be made after `attempt` (counted from 1).
 *
 * @param mayDiffer false where the next attempt would fail in the same way: an input that was refused would be again.
 */
export function mayRetry(
  retry: Retry | undefined,
  attempt: number,
  failure: Failure,
  mayDiffer: boolean,
): retry is Retry {
  return retry !== undefined && mayDiffer && attempt <= retry.extra && !FINAL.has(failure.code);
}

/**
 * How long the next attempt waits after `attempt` (counted from 1), in whole ms. A wait the other side asked for wins.
 * Jitter only shortens: a jitter of 0.25 draws from the last quarter of the delay, so that the cap holds.
 *
 * @param share from 0 up to 1; see `shareOf`.
 */
export function delayAfter(retry: Retry, attempt: number, failure: Failure, share: number): number {
  if (failure.retryAfterMs !== undefined) return Math.ceil(Math.max(0, failure.retryAfterMs));
  const delay = Math.max(0, Math.min(retry.capMs, retry.delayMs * growth(retry.backoff, attempt)));
  return Math.round(delay * (1 - retry.jitter * share));
}

/** The share of the jitter one retry takes: from 0 up to 1, different for each, and always the same for the same one. */
export function shareOf(random: number, node: string, attempt: number): number {
  return Number.parseInt(sha256Hex(canonicalJson([random, node, attempt])).slice(0, 8), 16) / 2 ** 32;
}

/** A finite factor: where it grows out of bounds the cap has held long before. */
function growth(backoff: Retry['backoff'], attempt: number): number {
  switch (backoff) {
    case 'constant':
      return 1;
    case 'linear':
      return attempt;
    case 'exponential':
      return 2 ** Math.min(attempt - 1, 1_000);
    default:
      return unreachable(backoff);
  }
}

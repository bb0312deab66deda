import type { RetryOptions } from '../../decorators/retry.js';
import type { ErrorStrategy, Retry } from '../../graph/model.js';

/** The longest wait between two attempts where the author names none, in milliseconds. */
const DEFAULT_CAP_MS = 60_000;

/** The option `retry` as the graph has it. Its values have been checked with the options. */
export function retryOf(options: unknown): Retry | undefined {
  if (typeof options !== 'object' || options === null) return undefined;
  const given = options as RetryOptions;
  return {
    extra: given.attempts - 1,
    delayMs: given.delayMs ?? 0,
    backoff: given.backoff ?? 'constant',
    capMs: given.capMs ?? DEFAULT_CAP_MS,
    jitter: given.jitter ?? 0,
  };
}

/** The option `errorStrategy` as the graph has it; nothing where it was left out. */
export function errorStrategyOf(option: unknown): ErrorStrategy | undefined {
  if (option === 'failFast' || option === 'collect') return { kind: option };
  if (typeof option !== 'object' || option === null || !('retry' in option)) return undefined;
  const retry = retryOf(option.retry);
  return retry && { kind: 'retry', retry };
}

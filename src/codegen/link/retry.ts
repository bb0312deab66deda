import type { RetryOptions } from '../../decorators/retry.js';
import { retryOfWritten } from '../../graph/defaults.js';
import type { ErrorStrategy, Retry } from '../../graph/model.js';

/** The option `retry` as the graph has it. Its values have been checked with the options. */
export function retryOf(options: unknown): Retry | undefined {
  if (typeof options !== 'object' || options === null) return undefined;
  return retryOfWritten(options as RetryOptions);
}

/** The option `errorStrategy` as the graph has it; nothing where it was left out. */
export function errorStrategyOf(option: unknown): ErrorStrategy | undefined {
  if (option === 'failFast' || option === 'collect') return { kind: option };
  if (typeof option !== 'object' || option === null || !('retry' in option)) return undefined;
  const retry = retryOf(option.retry);
  return retry && { kind: 'retry', retry };
}

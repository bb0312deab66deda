import type { RetryOptions } from '../../decorators/workflow.js';
import { retryOfWritten } from '../../graph/defaults.js';
import type { ErrorStrategy, Retry } from '../../graph/model.js';
import { reasons } from './errors.js';

/** What a failure of a step means for the workflow. */
export type StrategyOptions =
  | { readonly kind: 'failFast' }
  | { readonly kind: 'collect' }
  | { readonly kind: 'retry'; readonly retry: RetryOptions };

/** Stops at the first failure. The default. */
export function failFast(): StrategyOptions {
  return { kind: 'failFast' };
}

/** Goes on with every step that needs nothing of a failed one; the workflow fails in the end, with all failures. */
export function collect(): StrategyOptions {
  return { kind: 'collect' };
}

/** Tries every step again that has no retry of its own, then stops at the first failure. */
export function retry(options: RetryOptions): StrategyOptions {
  return { kind: 'retry', retry: { ...options } };
}

/** The strategy as the graph holds it. @param report is told what is wrong with it. */
export function strategyOf(
  strategy: StrategyOptions,
  report: (reason: string) => void,
): ErrorStrategy | undefined {
  if (strategy.kind !== 'retry') return { kind: strategy.kind };
  const lowered = retryOf(strategy.retry, report);
  return lowered === undefined ? undefined : { kind: 'retry', retry: lowered };
}

/**
 * Retries as the graph holds them, defaults filled in. Numbers out of their range are the checker's to find.
 * @param report is told what is wrong with the rest.
 */
export function retryOf(options: RetryOptions, report: (reason: string) => void): Retry | undefined {
  const retry = retryOfWritten(options);
  if (BACKOFFS.has(retry.backoff)) return retry;
  report(reasons.option('backoff', retry.backoff, [...BACKOFFS].join(' or ')));
  return undefined;
}

const BACKOFFS: ReadonlySet<string> = new Set([
  'constant',
  'linear',
  'exponential',
] satisfies Retry['backoff'][]);

import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { between, type Range, wholeNumber } from '../graph/kinds/ranges.js';
import { MAX_ATTEMPTS, MAX_RETRY_DELAY_MS } from '../graph/limits.js';
import type { Retry } from '../graph/model.js';
import type { Place } from '../graph/place.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { placeOfNode } from './places.js';

const DELAY: Range = {
  ...between(0, MAX_RETRY_DELAY_MS),
  text: `from 0 to ${MAX_RETRY_DELAY_MS} (milliseconds)`,
};

/** SW4015: numbers of retries out of their range. Those of a kind of node are among its own rules. */
export function checkRetryRanges({ graph, nodes }: WorkflowPlan): Diagnostic[] {
  const strategy = graph.errorStrategy?.kind === 'retry' ? graph.errorStrategy.retry : undefined;
  const ofGraph = strategy === undefined ? [] : checkRetry(strategy, 'the error strategy', graph.source);
  const ofNodes = nodes.flatMap(({ node }) =>
    node.retry === undefined ? [] : checkRetry(node.retry, `step \`${node.id}\``, placeOfNode(node, graph)),
  );
  return [...ofGraph, ...ofNodes];
}

function checkRetry(
  { extra, delayMs, capMs, jitter }: Retry,
  what: string,
  place: Place | undefined,
): Diagnostic[] {
  const check = (option: string, value: number, { text, holds }: Range): Diagnostic[] =>
    holds(value) ? [] : [diagnostic('SW4015', place, { what, option, range: text, value })];
  return [
    ...check('attempts', extra + 1, wholeNumber(1, MAX_ATTEMPTS)),
    ...check('delayMs', delayMs, DELAY),
    ...check('capMs', capMs, DELAY),
    ...check('jitter', jitter, between(0, 1)),
  ];
}

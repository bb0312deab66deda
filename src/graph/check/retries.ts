import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import type { CallNode, Retry } from '../model.js';
import type { Place } from '../place.js';
import type { CheckEnvironment } from './environment.js';
import { placeOfNode, type Subject } from './places.js';

/** A step that fails so often fails for good; a longer wait is a wrong unit. */
const MAX_ATTEMPTS = 100;
const MAX_DELAY_MS = 3_600_000;

/** SW4014 tools that are called again without being idempotent, SW4015 numbers of a retry out of their range. */
export function checkRetries(subject: Subject, environment: CheckEnvironment): Diagnostic[] {
  const { graph } = subject;
  const strategy = graph.errorStrategy?.kind === 'retry' ? graph.errorStrategy.retry : undefined;
  const ofGraph = strategy === undefined ? [] : checkRanges(strategy, 'the error strategy', graph.source);
  const ofNodes = graph.nodes.flatMap((node) => {
    const place = placeOfNode(node, graph);
    const own = node.retry === undefined ? [] : checkRanges(node.retry, `step \`${node.id}\``, place);
    const retry = node.retry ?? strategy;
    if (node.kind !== 'call' || retry === undefined || !(retry.extra > 0)) return own;
    return [...own, ...checkTool(node, place, environment)];
  });
  return [...ofGraph, ...ofNodes];
}

function checkTool(node: CallNode, place: Place | undefined, { tools }: CheckEnvironment): Diagnostic[] {
  const tool = tools.get(node.tool);
  // A tool that is not there is SW4001.
  if (tool === undefined || tool.annotations?.idempotentHint || tool.annotations?.readOnlyHint) return [];
  return [diagnostic('SW4014', place, { step: node.id, tool: node.tool })];
}

function checkRanges(retry: Retry, what: string, place: Place | undefined): Diagnostic[] {
  const { extra, delayMs, capMs, jitter } = retry;
  const found: Diagnostic[] = [];
  const check = (isGood: boolean, option: string, range: string, value: number): void => {
    if (!isGood) found.push(diagnostic('SW4015', place, { what, option, range, value }));
  };
  const attempts = extra + 1;
  const isCount = Number.isInteger(attempts) && attempts >= 1 && attempts <= MAX_ATTEMPTS;
  check(isCount, 'attempts', `a whole number from 1 to ${MAX_ATTEMPTS}`, attempts);
  const wait = `from 0 to ${MAX_DELAY_MS} (milliseconds)`;
  check(isBetween(delayMs, 0, MAX_DELAY_MS), 'delayMs', wait, delayMs);
  check(isBetween(capMs, 0, MAX_DELAY_MS), 'capMs', wait, capMs);
  check(isBetween(jitter, 0, 1), 'jitter', 'from 0 to 1', jitter);
  return found;
}

/** Written so that NaN is outside. */
function isBetween(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}

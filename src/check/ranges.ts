import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Expr } from '../graph/expression/tree.js';
import { MAX_LOOP_CONCURRENCY, MAX_STARTED_NODES, MAX_WAIT_MS } from '../graph/limits.js';
import type { Node, Retry } from '../graph/model.js';
import type { Place } from '../graph/place.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { placeOfNode } from './places.js';

/** A step that fails so often fails for good; a longer wait is a wrong unit. */
const MAX_ATTEMPTS = 100;
const MAX_DELAY_MS = 3_600_000;
const MAX_JUMPS = 100;

interface Range {
  readonly said: string;
  holds(value: number): boolean;
}

/** SW4015: numbers out of their range. */
export function checkRanges({ graph, nodes }: WorkflowPlan): Diagnostic[] {
  const strategy = graph.errorStrategy?.kind === 'retry' ? graph.errorStrategy.retry : undefined;
  const ofGraph = strategy === undefined ? [] : checkRetry(strategy, 'the error strategy', graph.source);
  const ofNodes = nodes.flatMap(({ node }) => {
    const place = placeOfNode(node, graph);
    const what = `step \`${node.id}\``;
    const ofRetry = node.retry === undefined ? [] : checkRetry(node.retry, what, place);
    return [...ofRetry, ...numbersOf(node).flatMap((number) => check(what, place, ...number))];
  });
  return [...ofGraph, ...ofNodes];
}

function checkRetry(
  { extra, delayMs, capMs, jitter }: Retry,
  what: string,
  place: Place | undefined,
): Diagnostic[] {
  const delay = { ...between(0, MAX_DELAY_MS), said: `from 0 to ${MAX_DELAY_MS} (milliseconds)` };
  return [
    ...check(what, place, 'attempts', extra + 1, whole(1, MAX_ATTEMPTS)),
    ...check(what, place, 'delayMs', delayMs, delay),
    ...check(what, place, 'capMs', capMs, delay),
    ...check(what, place, 'jitter', jitter, between(0, 1)),
  ];
}

/** The numbers of its own that a node is made with, where they are written out. */
function numbersOf(node: Node): [option: string, value: number, range: Range][] {
  switch (node.kind) {
    case 'foreach':
      return [
        ['concurrency', node.concurrency, whole(1, MAX_LOOP_CONCURRENCY)],
        // Items without a step are as many as there are.
        ['max', node.max, whole(1, node.body.nodes.length === 0 ? undefined : MAX_STARTED_NODES)],
      ];
    case 'parallel':
      return node.concurrency === undefined ? [] : [['concurrency', node.concurrency, whole(1)]];
    case 'goto':
      return [['max', node.max, whole(1, MAX_JUMPS)]];
    case 'wait': {
      const duration = numberIn(node.durationMs);
      const range = { ...between(0, MAX_WAIT_MS), said: `from 0 to ${MAX_WAIT_MS} (milliseconds, 366 days)` };
      return duration === undefined ? [] : [['durationMs', duration, range]];
    }
    default:
      return [];
  }
}

function numberIn(expr: Expr | undefined): number | undefined {
  if (expr?.kind === 'negate') {
    const value = numberIn(expr.of);
    return value === undefined ? undefined : -value;
  }
  return expr?.kind === 'literal' && typeof expr.value === 'number' ? expr.value : undefined;
}

function check(
  what: string,
  place: Place | undefined,
  option: string,
  value: number,
  { said, holds }: Range,
): Diagnostic[] {
  return holds(value) ? [] : [diagnostic('SW4015', place, { what, option, range: said, value })];
}

function whole(least: number, most?: number): Range {
  const { holds } = between(least, most ?? Number.MAX_SAFE_INTEGER);
  const said = `a whole number from ${least}${most === undefined ? '' : ` to ${most}`}`;
  return { said, holds: (value) => Number.isInteger(value) && holds(value) };
}

/** Written so that NaN is outside. */
function between(least: number, most: number): Range {
  return { said: `from ${least} to ${most}`, holds: (value) => value >= least && value <= most };
}

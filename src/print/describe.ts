import type { Expr } from '../graph/expression/tree.js';
import type { Compensation, Node, Retry } from '../graph/model.js';
import { fallbackValue } from '../graph/node-expressions.js';
import { unreachable } from '../graph/unreachable.js';
import type { PlannedNode } from '../plan/plan.js';
import { printExpr } from './expression.js';
import { type Attempt, attemptOf, soleBody, valuesOf } from './shapes.js';

/** What a node does, in a few words: `call add-line`, `for each line of body.lines, at most 100`. */
export function describeNode(node: Node): string {
  switch (node.kind) {
    case 'call':
      return `call ${node.tool}`;
    case 'resource':
      return `read ${node.resource}`;
    case 'compute':
      return node.function === undefined
        ? `compute ${printExpr(node.value)}`
        : `compute ${node.function.name}(${printExpr(node.value).slice(1, -1)})`;
    case 'branch': {
      const attempt = attemptOf(node);
      if (attempt !== undefined) return describeAttempt(attempt);
      return soleBody(node) === undefined ? 'branch' : 'steps that belong together';
    }
    case 'parallel':
      return ['parallel', ...atOnce(node.concurrency), partialFailures[node.onPartialFailure]].join(', ');
    case 'foreach': {
      const names = node.indexAs === undefined ? node.as : `${node.as} at ${node.indexAs}`;
      return [
        `for each ${names} of ${printExpr(node.items)}`,
        ...(node.concurrency === 1 ? [] : atOnce(node.concurrency)),
        `at most ${node.max}`,
        ...(node.onItemError === 'continue' ? ['null for an item that fails'] : []),
      ].join(', ');
    }
    case 'workflow':
      return `run ${node.workflow}`;
    case 'ask': {
      const options = node.options === undefined ? '' : ` of ${printExpr(node.options)}`;
      return `ask for ${answers[node.mode]}${options}: ${printExpr(node.message)}`;
    }
    case 'shell':
      return `run the command ${printExpr(node.command)}`;
    case 'delegate':
      return `delegate to ${node.agent ?? 'the caller'}: ${printExpr(node.prompt)}`;
    case 'wait':
      if (node.until !== undefined) return `wait until ${printExpr(node.until)}`;
      return node.durationMs === undefined ? 'wait' : `wait for ${printExpr(node.durationMs)} ms`;
    case 'set':
      return `set ${node.updates.map(({ field, value }) => `${field} = ${printExpr(value)}`).join(', ')}`;
    case 'return':
      return `return ${printExpr(node.value)}`;
    case 'goto': {
      const then = node.onLimit === 'fail' ? 'fail' : 'go on';
      return `go back to ${node.target}, at most ${times(node.max)}, then ${then}`;
    }
    case 'error':
      return `fail with ${printExpr(node.message)}${node.code === undefined ? '' : `, code ${node.code}`}`;
    case 'compensate':
      return 'undo';
    default:
      return unreachable(node);
  }
}

function describeAttempt({ tried, otherwise }: Attempt): string {
  const named = (nodes: readonly Node[]): string => {
    const steps = nodes.filter(({ kind }) => kind !== 'compute');
    return (steps.length === 0 ? nodes : steps).map(({ id }) => id).join(', ');
  };
  return `try ${named(tried)}, otherwise ${named(otherwise)}`;
}

const partialFailures = {
  abort: 'the first failure aborts the others',
  continue: 'failures are handed out',
  rollback: 'a failure undoes the others',
} as const;

const answers = {
  info: 'an acknowledgement',
  confirm: 'a yes or no',
  text: 'a text',
  choice: 'one',
  yield: 'an answer',
} as const;

/** How often and how long a node is tried, as far as it says so itself. */
export function describeAttempts(node: Node): string[] {
  return [
    ...(node.retry === undefined ? [] : [describeRetry(node.retry)]),
    ...(node.timeoutMs === undefined ? [] : [`each for ${node.timeoutMs} ms at most`]),
  ];
}

/** `at most 3 attempts, 200 ms apart (exponential, at most 60000 ms)`. */
export function describeRetry({ extra, delayMs, backoff, capMs }: Retry): string {
  const attempts = `at most ${extra + 1} ${extra === 0 ? 'attempt' : 'attempts'}`;
  if (extra === 0 || delayMs === 0) return attempts;
  const growth = backoff === 'constant' ? '' : ` (${backoff}, at most ${capMs} ms)`;
  return `${attempts}, ${delayMs} ms apart${growth}`;
}

/** `cancel-booking { id: flight.id }`. */
export function describeUndoing({ tool, input, ignoreError }: Compensation): string {
  const given = input.entries.length === 0 ? '' : ` ${printExpr(input)}`;
  return `${tool}${given}${ignoreError ? ', whether it fails or not' : ''}`;
}

/** What a body hands out; of an attempt in words: `a, otherwise b`. */
export function describeValue(value: Expr | undefined, attempt?: Attempt): string | undefined {
  if (value === undefined) return undefined;
  const values = attempt && valuesOf(attempt, value);
  return values === undefined ? printExpr(value) : values.map(printExpr).join(', otherwise ');
}

/** The value that stands in where a node fails. */
export function describeFallback(node: Node): string[] {
  const value = fallbackValue(node);
  return value === undefined ? [] : [`on failure: ${printExpr(value)}`];
}

/** What the states of those it waits for have to be, where that is not as usual. */
export function describeJoin({ node, joins }: PlannedNode): string | undefined {
  return node.join === 'none_failed' || joins.length === 0 ? undefined : node.join;
}

/** `once`, `3 times`. */
export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function atOnce(concurrency: number | undefined): string[] {
  return concurrency === undefined ? [] : [`${concurrency} at once`];
}

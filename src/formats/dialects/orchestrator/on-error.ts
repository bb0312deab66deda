import { defined } from '../../../graph/defined.js';
import { BACKOFFS, type Node, type OnError, retryFromAttempts } from '../../../graph/kinds/node.js';
import { durationOf, Fields } from '../fields.js';
import { checkLiteral, unknownNode } from './names.js';
import type { NodeContext } from './node-context.js';

export const ON_ERROR_KEYS = ['retry', 'delay', 'backoff', 'max_delay', 'jitter', 'fallback'] as const;

/** Keys that say when further attempts are made. */
const DELAY_KEYS = ['delay', 'backoff', 'max_delay', 'jitter'] as const;

/** Lowers `on_error`: more attempts, and the node that takes over. `retry` counts attempts after the first one. */
export function lowerOnError(context: NodeContext): Pick<Node, 'retry' | 'onError'> {
  const { spec, reports } = context;
  const map = spec.fields.object('on_error');
  if (map === undefined) return {};
  const where = `\`on_error\` of node \`${spec.id}\``;
  const fields = new Fields(reports, map, where, ON_ERROR_KEYS);
  const extra = fields.number('retry');
  const delay = fields.value('delay');
  const delayMs = delay === undefined ? undefined : durationOf(reports, delay, `\`delay\` of ${where}`);
  const backoff = fields.oneOf('backoff', BACKOFFS);
  const jitter = fields.number('jitter');
  const cap = fields.value('max_delay');
  const capMs = cap === undefined ? undefined : durationOf(reports, cap, `\`max_delay\` of ${where}`);
  const fallback = fallbackOf(context, fields);
  if (cap !== undefined && backoff !== 'exponential') {
    const problem =
      'has `max_delay` in `on_error`, which limits `backoff: exponential` alone: add that, or remove it';
    reports.report('SW5011', fields.entry('max_delay')?.key ?? spec.at, { node: spec.id, problem });
  }
  if (extra !== undefined && (!Number.isInteger(extra) || extra < 0)) {
    const value = fields.value('retry');
    if (value !== undefined) reportRange(context, value, extra);
    return fallback;
  }
  if (extra === undefined || extra === 0) {
    const unused = DELAY_KEYS.flatMap((key) => fields.entry(key)?.key ?? []);
    for (const key of unused) {
      const problem = `has \`${key.value}\` in \`on_error\` without a \`retry\` that it could delay: add \`retry: 1\`, or remove it`;
      reports.report('SW5011', key, { node: spec.id, problem });
    }
    return fallback;
  }
  const retry = retryFromAttempts({
    attempts: extra + 1,
    ...defined({ delayMs, backoff, capMs: backoff === 'exponential' ? capMs : undefined, jitter }),
  });
  return { retry, ...fallback };
}

/** Lowers `error_as_data`: a call whose last attempt fails succeeds with its failure as the result. */
export function errorAsData(
  { spec, reports }: NodeContext,
  handled: Pick<Node, 'retry' | 'onError'>,
): Pick<Node, 'retry' | 'onError'> {
  if (spec.fields.boolean('error_as_data') !== true) return handled;
  if (handled.onError !== undefined) {
    const problem =
      'has `error_as_data` and `fallback`, which both say what becomes of a failure: remove one of them';
    reports.report('SW5011', spec.fields.entry('error_as_data')?.key ?? spec.at, { node: spec.id, problem });
    return handled;
  }
  const entries = ['code', 'message', 'attempts'].map((key) => ({
    key,
    value: { kind: 'ref', root: 'error', path: [key] } as const,
  }));
  const value = { kind: 'dict', entries: [{ key: 'error', value: { kind: 'dict', entries } }] } as const;
  return { ...handled, onError: { value } };
}

function reportRange(
  { reports, spec }: NodeContext,
  at: { start: number; end: number },
  value: number,
): void {
  reports.report('SW5006', at, {
    what: `\`retry\` of node \`${spec.id}\``,
    expected: 'a whole number of further attempts',
    actual: String(value),
  });
}

function fallbackOf(context: NodeContext, fields: Fields): { readonly onError?: OnError } {
  const { spec, reports, siblings } = context;
  const fallback = fields.text('fallback');
  if (fallback === undefined || !checkLiteral(reports, fallback, 'fallback')) return {};
  const targets = siblings.filter((id) => id !== spec.id);
  if (targets.includes(fallback.value)) return { onError: { fallbackNode: fallback.value } };
  unknownNode(reports, fallback, { key: 'fallback', node: spec.id, candidates: targets });
  return {};
}

import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { checkId } from '../extract/names.js';
import { readVerbOptions } from '../extract/read-options.js';
import { type VerbWithOptions, verbRules } from '../extract/verb-options.js';
import type { ExpressionSyntax } from '../syntax.js';
import { unwrap } from '../verbs.js';
import { describeGiven } from './describe.js';
import type { Attempts } from './outcome.js';
import { retryOf } from './retry.js';

/** What the last argument of a verb says. */
export interface VerbOptions {
  /** Literals by option. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Each option as written. */
  readonly syntax: Readonly<Record<string, ExpressionSyntax>>;
}

/** Reads the options of a verb; nothing where one has a fault, which is reported. */
export function readOptionsOf(
  verb: VerbWithOptions,
  given: ExpressionSyntax | undefined,
  report: (diagnostic: Diagnostic) => void,
): VerbOptions | undefined {
  const object = given && unwrap(given);
  if (object === undefined || object.kind === 'undefined') return { values: {}, syntax: {} };
  if (object.kind !== 'object') {
    const params = { taker: `\`${verb}\``, takes: 'its options as an object', given: describeGiven(object) };
    report(diagnostic('SW2008', object.place, params, { hint: `write them here: \`${EXAMPLES[verb]}\`` }));
    return undefined;
  }
  const { values, syntax, complete } = readVerbOptions(object, verb, verbRules[verb], report);
  return complete ? { values, syntax } : undefined;
}

const EXAMPLES: Readonly<Record<VerbWithOptions, string>> = {
  call: '{ timeoutMs: 5_000 }',
  run: '{ timeoutMs: 5_000 }',
  parallel: '{ concurrency: 2 }',
  forEach: '{ concurrency: 2 }',
  goto: '{ max: 3 }',
  fail: "{ code: 'OUT_OF_STOCK' }",
};

/** What the third argument of `call` or `run` says. */
export interface CallOptionsRead extends Attempts {
  readonly id?: string;
  readonly transform?: ExpressionSyntax;
  readonly compensate?: ExpressionSyntax;
  /** Each option as written. */
  readonly syntax: Readonly<Record<string, ExpressionSyntax>>;
}

/** Reads the options of a `call` or a `run`; nothing where one has a fault, which is reported. */
export function readCallOptions(
  verb: 'call' | 'run',
  given: ExpressionSyntax | undefined,
  report: (diagnostic: Diagnostic) => void,
): CallOptionsRead | undefined {
  const read = readOptionsOf(verb, given, report);
  if (read === undefined) return undefined;
  const { values, syntax } = read;
  const { id, timeoutMs } = values;
  if (typeof id === 'string' && syntax.id !== undefined && !checkId(id, syntax.id.place, report))
    return undefined;
  const retry = retryOf(values.retry);
  const { transform, compensate } = syntax;
  return {
    syntax,
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof timeoutMs === 'number' ? { timeoutMs } : {}),
    ...(retry === undefined ? {} : { retry }),
    ...(transform === undefined ? {} : { transform }),
    ...(compensate === undefined ? {} : { compensate }),
  };
}

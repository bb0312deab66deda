import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { checkId } from '../extract/names.js';
import { callRules } from '../extract/options.js';
import { readVerbOptions } from '../extract/read-options.js';
import type { ExpressionSyntax } from '../syntax.js';
import { outcomeCalls, stepVerbOf, unwrap } from '../verbs.js';
import { describe } from './describe.js';
import type { Attempts } from './outcome.js';
import { retryOf } from './retry.js';

/** What the third argument of `call` says. */
export interface CallOptionsRead extends Attempts {
  readonly id?: string;
  readonly transform?: ExpressionSyntax;
  /** Each option as written. */
  readonly syntax: Readonly<Record<string, ExpressionSyntax>>;
}

/** Reads the options of a `call`; nothing where one has a fault, which is reported. */
export function readCallOptions(
  given: ExpressionSyntax | undefined,
  report: (diagnostic: Diagnostic) => void,
): CallOptionsRead | undefined {
  const object = given && unwrap(given);
  if (object === undefined || object.kind === 'undefined') return { syntax: {} };
  if (object.kind !== 'object') {
    const what = `${describe(object)} in the place of the options`;
    const hint = 'write them here: `{ timeoutMs: 5_000 }`';
    report(diagnostic('SW2001', object.place, { what }, { hint }));
    return undefined;
  }
  const { values, syntax, complete } = readVerbOptions(object, 'call', callRules, report);
  const { id, timeoutMs } = values;
  const isIdentified = typeof id !== 'string' || checkId(id, syntax.id?.place ?? object.place, report);
  if (!complete || !isIdentified) return undefined;
  const retry = retryOf(values.retry);
  return {
    syntax,
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof timeoutMs === 'number' ? { timeoutMs } : {}),
    ...(retry === undefined ? {} : { retry }),
    ...(syntax.transform === undefined ? {} : { transform: syntax.transform }),
  };
}

/** The id that a step's last node is given in the options of its call, wherever in the initializer that stands. */
export function writtenId(initializer: ExpressionSyntax): string | undefined {
  const [call] = outcomeCalls(initializer).filter((each) => stepVerbOf(each) !== undefined);
  const [first, , options] = call?.args ?? [];
  switch (call && stepVerbOf(call)) {
    case 'call':
      return options && idIn(unwrap(options));
    case 'attempt':
      return first && writtenId(first);
    case 'chain': {
      const last = call?.args.at(-1);
      const arrow = last && unwrap(last);
      return arrow?.kind === 'arrow' && arrow.body !== undefined ? writtenId(arrow.body) : undefined;
    }
    default:
      return undefined;
  }
}

/** With a function by name as `transform`, the id is that of the node before. */
function idIn(options: ExpressionSyntax): string | undefined {
  if (options.kind !== 'object') return undefined;
  const entryOf = (key: string): ExpressionSyntax | undefined => {
    const entry = options.entries.find((each) => 'value' in each && each.key === key);
    return entry !== undefined && 'value' in entry ? unwrap(entry.value) : undefined;
  };
  const id = entryOf('id');
  const transform = entryOf('transform');
  if (id?.kind !== 'literal' || typeof id.value !== 'string') return undefined;
  return transform === undefined || transform.kind === 'arrow' ? id.value : undefined;
}

import { defined } from '../../graph/defined.js';
import type { Expr } from '../../graph/expression/tree.js';

/** The name of an item in the second argument of `filter` and `map`. */
export const ITEM = 'item';

/** A function of expressions in spec files. */
export interface SpecFunction {
  /** How many arguments it takes. */
  readonly takes: number;
  /** Whether its argument is a reference, which may be missing. */
  readonly isQuestion?: true;
  /** What its second argument is, which is evaluated for each item of a list. */
  readonly ofItem?: 'condition' | 'value';
  /** The part of the lowered value that is the result. */
  readonly keys?: readonly number[];
  readonly lower: (args: readonly Expr[], at: Expr['at']) => Expr;
}

const ABSENT: Expr = { kind: 'literal' };

/** A function of the expression language. */
function named(fn: string, takes: number): SpecFunction {
  return { takes, lower: (args, at) => ({ kind: 'call', fn, args, ...defined({ at }) }) };
}

/** The closed list of functions in conditions and in `${…}`. */
export const FUNCTIONS: ReadonlyMap<string, SpecFunction> = new Map<string, SpecFunction>([
  ['len', named('length', 1)],
  ['length', named('length', 1)],
  ['exists', { ...named('isPresent', 1), isQuestion: true }],
  ['contains', named('contains', 2)],
  ['startsWith', named('startsWith.js', 2)],
  ['endsWith', named('endsWith.js', 2)],
  ['lower', named('toLowerCase.js', 1)],
  ['upper', named('toUpperCase.js', 1)],
  ['join', named('join.js', 2)],
  ['sum', named('sum', 1)],
  ['uri', named('uriComponent', 1)],
  ['json', named('toJson', 1)],
  ['first', { takes: 1, keys: [0], lower: ([list = ABSENT]) => list }],
  [
    'filter',
    {
      takes: 2,
      ofItem: 'condition',
      lower: ([list = ABSENT, body = ABSENT], at) => ({
        ...{ kind: 'each', mode: 'filter', truth: 'boolean', as: ITEM, in: list, body },
        ...defined({ at }),
      }),
    },
  ],
  [
    'map',
    {
      takes: 2,
      ofItem: 'value',
      lower: ([list = ABSENT, body = ABSENT], at) => ({
        ...{ kind: 'each', mode: 'map', as: ITEM, in: list, body },
        ...defined({ at }),
      }),
    },
  ],
]);

/** One value in place of another one that is null or not there. */
export function fallbackOf(value: Expr, other: Expr, at: Expr['at']): Expr {
  return { kind: 'call', fn: 'coalesce', args: [lenient(value), other], ...defined({ at }) };
}

/** A value that may be missing. */
function lenient(value: Expr): Expr {
  if (value.kind === 'let') return { ...value, body: lenient(value.body) };
  return value.kind === 'ref' && value.find === 'strict' ? { ...value, find: 'optional' } : value;
}

/** An operand of `&&`, `||` or `!`: null counts as false. */
export function asBoolean(expr: Expr): Expr {
  if (expr.kind === 'literal' && expr.value === null) return { ...expr, value: false };
  if (expr.kind !== 'call' || expr.fn !== 'coalesce') return expr;
  const [value, other] = expr.args;
  if (value === undefined || other?.kind !== 'literal' || other.value !== null) return expr;
  return { ...expr, args: [value, { kind: 'literal', value: false }] };
}

import { expressionMethods } from '../../graph/expression/functions.js';
import type { EachExpr } from '../../graph/expression/tree.js';
import { didYouMean, nearestName } from '../../graph/suggest.js';

/** How a method of JavaScript's strings and arrays is stored. */
export type Method =
  | { readonly kind: 'each'; readonly mode: EachExpr['mode'] }
  | { readonly kind: 'slice'; readonly max: 2 }
  | { readonly kind: 'function'; readonly fn: string; readonly min: number; readonly max: number };

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['map', { kind: 'each', mode: 'map' }],
  ['filter', { kind: 'each', mode: 'filter' }],
  ['find', { kind: 'each', mode: 'find' }],
  ['some', { kind: 'each', mode: 'some' }],
  ['every', { kind: 'each', mode: 'every' }],
  ['slice', { kind: 'slice', max: 2 }],
  ...[...expressionMethods].map(([name, { name: fn, arity }]): [string, Method] => [
    name,
    // What stands before the dot is no argument of the method.
    { kind: 'function', fn, min: arity.min - 1, max: (arity.max ?? Number.POSITIVE_INFINITY) - 1 },
  ]),
]);

/** The method of a name; nothing for one that cannot be stored. */
export function methodOf(name: string): Method | undefined {
  return METHODS.get(name);
}

/** What says the same as a method that cannot be stored. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['at', 'write an index: `list[0]`'],
  ['concat', 'write `[...list, ...more]`, or a template literal'],
  [
    'forEach',
    'an expression has no effects: give each item to a step with `forEach(list, (item) => call(…))`',
  ],
  ['indexOf', 'ask with `.includes(…)` whether it is there'],
  ['substring', 'write `.slice(start, end)`'],
  ['substr', 'write `.slice(start, end)`'],
  ['toString', 'write a template literal, in backticks'],
  ['trimStart', 'write `.trim()`'],
  ['trimEnd', 'write `.trim()`'],
]);

/** What to write instead of a method that cannot be stored, where that is more than the table's own advice. */
export function hintForMethod(name: string): string | undefined {
  const instead = INSTEAD.get(name);
  if (instead !== undefined) return instead;
  const near = nearestName(name, METHODS.keys());
  // Short names are near to each other: only one that differs by case or a letter was meant.
  return name.length > 3 ? didYouMean(near, (method) => `\`.${method}\``) : undefined;
}

import type { EachExpr } from '../../graph/expression/tree.js';
import { nearestName } from '../../graph/suggest.js';

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
  ['join', { kind: 'function', fn: 'join.js', min: 0, max: 1 }],
  ['includes', { kind: 'function', fn: 'includes.js', min: 1, max: 2 }],
  ['trim', { kind: 'function', fn: 'trim.js', min: 0, max: 0 }],
  ['split', { kind: 'function', fn: 'split.js', min: 0, max: 2 }],
  ['toLowerCase', { kind: 'function', fn: 'toLowerCase.js', min: 0, max: 0 }],
  ['toUpperCase', { kind: 'function', fn: 'toUpperCase.js', min: 0, max: 0 }],
  ['startsWith', { kind: 'function', fn: 'startsWith.js', min: 1, max: 2 }],
  ['endsWith', { kind: 'function', fn: 'endsWith.js', min: 1, max: 2 }],
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
  return near !== undefined && name.length > 3 ? `did you mean \`.${near}\`?` : undefined;
}

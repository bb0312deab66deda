import type { Expr } from '../../graph/expression/tree.js';
import { didYouMean, nearestName } from '../../graph/names.js';
import type { Span } from '../../graph/source-location.js';
import type { Name } from './syntax.js';
import { TemplateFault } from './tokens.js';

/** What `{% for %}` knows as `loop`. */
export interface Loop {
  readonly index: Expr;
  readonly items: Expr;
}

/** The value of `loop.index` and its like. */
export function loopPart({ name, ...place }: Name, { index, items }: Loop, at: { readonly at?: Span }): Expr {
  const number = (value: number): Expr => ({ kind: 'literal', value, ...at });
  const length: Expr = { kind: 'call', fn: 'filter.length.py', args: [items], ...at };
  const sum = (op: 'add.py' | 'sub.py', left: Expr, right: Expr): Expr => ({
    kind: 'arithmetic',
    op,
    left,
    right,
    ...at,
  });
  const equal = (left: Expr, right: Expr): Expr => ({
    kind: 'compare',
    left,
    ops: [{ op: 'eq.py', right }],
    ...at,
  });
  const neighbour = (op: 'add.py' | 'sub.py', edge: Expr): Expr => ({
    kind: 'conditional',
    truth: 'boolean',
    test: equal(index, edge),
    // biome-ignore lint/suspicious/noThenProperty: a part of the tree
    then: { kind: 'literal' },
    else: { kind: 'call', fn: 'function.item.py', args: [items, sum(op, index, number(1))], ...at },
  });
  const parts: Readonly<Record<string, () => Expr>> = {
    index0: () => index,
    index: () => sum('add.py', index, number(1)),
    revindex: () => sum('sub.py', length, index),
    revindex0: () => sum('sub.py', sum('sub.py', length, index), number(1)),
    first: () => equal(index, number(0)),
    last: () => equal(sum('add.py', index, number(1)), length),
    length: () => length,
    depth: () => number(1),
    depth0: () => number(0),
    previtem: () => neighbour('sub.py', number(0)),
    nextitem: () => neighbour('add.py', sum('sub.py', length, number(1))),
  };
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (part !== undefined) return part();
  const hint = didYouMean(nearestName(name, Object.keys(parts)));
  throw new TemplateFault(`\`loop\` has no \`${name}\``, place.start, place.end, hint);
}

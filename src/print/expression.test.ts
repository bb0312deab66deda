import { describe, expect, test } from 'vitest';
import {
  arithmetic,
  ask,
  bound,
  call,
  dict,
  get,
  list,
  literal,
  local,
  map,
  method,
  optional,
  ref,
  slice,
  text,
} from '../graph/expression/build.fixture.js';
import type { Expr } from '../graph/expression/tree.js';
import { printExpr } from './expression.js';

const a = ref('inputs', 'a');
const b = ref('steps', 'b', 'list', 0);
const not = (of: Expr): Expr => ({ kind: 'not', truth: 'boolean', of });
const above: Expr = { kind: 'compare', left: a, ops: [{ op: 'gt.js', right: literal(1) }] };
const both: Expr = { kind: 'and', truth: 'boolean', items: [above, not(b)] };

describe('printExpr', () => {
  test.each([
    ['undefined', literal()],
    ['null', literal(null)],
    ['{"a":[1]}', literal({ a: [1] })],
    ['b.list[0]', b],
    ['state.count.x', ref('state', 'count', 'x')],
    ['error.code', ref('error', 'code')],
    ['line["a b"]', ref('item', 'line', 'a b')],
    ['a.x?.[0]', get(get(a, 'x'), 0, true)],
    ['a[b.list[0]]', get(a, b)],
    ['a?.[b.list[0]]', get(a, b, true)],
    ['a.slice()', slice(a)],
    ['a?.slice(0, 2)', optional(slice(a, undefined, literal(2)))],
    ['a > 1', above],
    ['(a > 1) && !b.list[0]', both],
    ['!((a > 1) && !b.list[0])', not(both)],
    ['a || b.list[0]', { kind: 'or', truth: 'truthy.js', items: [a, b] }],
    ['a > 1', not(not(above))],
    ['!a', not(not(not(a)))],
    ['a == null', call('isNullish', a)],
    ['a != null', not(call('isNullish', a))],
    ['(a == null) ? 1 : undefined', conditional(call('isNullish', a), literal(1))],
    ['a ? 1 : (a > 1)', conditional(a, literal(1), above)],
    ['a ?? b.list[0]', call('coalesce', a, b)],
    ['(a ?? 1).x', get(call('coalesce', a, literal(1)), 'x')],
    [
      '(a + 1) * -b.list[0]',
      arithmetic(arithmetic(a, 'add.js', literal(1)), 'mul', { kind: 'negate', of: b }),
    ],
    ['[a, ...b.list[0]]', list(a, [b])],
    ['{}', dict({})],
    ['{ a, "b c": 1, d: { e: 2 } }', dict({ a, 'b c': literal(1), d: dict({ e: literal(2) }) })],
    ['{ ...a }', { kind: 'dict', entries: [{ spread: a }] }],
    ['a.trim().split(",")', method('split.js', method('trim.js', a), literal(','))],
    ['uriComponent(a)', call('uriComponent', a)],
    ['a | default(1) | upper', call('filter.upper.py', call('filter.default.py', a, literal(1)))],
    ['(a | length) + 1', arithmetic(call('filter.length.py', a), 'add.py', literal(1))],
    ['a is defined', call('test.defined.py', a)],
    ['a.split(",")', call('function.value.py', call('method.split.py', a, literal(',')))],
    ['a.b', call('function.item.py', a, literal('b'))],
    ['now()', call('function.now.py', a)],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what is printed
    ['`a \\` \\${ ${a}`', text('js', 'a ` ${ ', a)],
    ['a.map(x => x.y)', map(a, 'x', local('x', 'y'))],
    ['a.map((x, i) => ({ x, i }))', map(a, 'x', dict({ x: local('x'), i: local('i') }), 'i')],
    ['a?.filter(x => x)', optional(ask('filter', a, 'x', local('x')))],
    ['x.y with x = b.list[0]', bound('x', b, local('x', 'y'))],
  ] as [string, Expr][])('%s', (printed, expr) => {
    expect(printExpr(expr)).toBe(printed);
  });
});

function conditional(question: Expr, yes: Expr, no?: Expr): Expr {
  const otherwise = no === undefined ? {} : { else: no };
  // biome-ignore lint/suspicious/noThenProperty: the name is the model's
  return { kind: 'conditional', truth: 'boolean', test: question, then: yes, ...otherwise };
}

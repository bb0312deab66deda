import { expect, test } from 'vitest';
import type { Expr } from '../../graph/expression/tree.js';
import { coalesce, error, input, list, lit, not, step, text } from '../engine/graph.fixture.js';
import { RESULT_LIMIT } from './messages.js';
import { printExpression } from './sentences.js';
import { intentText } from './trace.js';

test('the intent shows as much of the arguments as a call does, and says how long they are', () => {
  const shown = intentText('try', [
    ['short', 'a'],
    ['long', 'x'.repeat(100_000)],
  ]);
  expect(shown).toMatch(
    /^I want to try\.\nParameters:\n {2}- short: "a"\n {2}- long: "x+\n… \(cut; the full text/,
  );
  expect(shown).toContain('has 100028 characters');
  expect(shown.length).toBeLessThan(RESULT_LIMIT + 200);
});

const compare = (op: 'gt.js' | 'eq.strict' | 'eq.py', left: Expr, right: Expr): Expr => ({
  kind: 'compare',
  left,
  ops: [{ op, right }],
});
const get = (of: Expr, key: string, optional?: true): Expr => ({
  kind: 'get',
  of,
  key: lit(key),
  ...(optional ? { optional } : {}),
});
const call = (fn: string, ...args: Expr[]): Expr => ({ kind: 'call', fn, args });
const add: Expr = { kind: 'arithmetic', op: 'add.js', left: input('a'), right: lit(1) };

test.each<[string | undefined, Expr]>([
  ['big.count > 10', compare('gt.js', step('big', 'count'), lit(10))],
  ['big["two words"][0].x', step('big', 'two words', 0, 'x')],
  ['!(find.page === undefined)', not(compare('eq.strict', step('find', 'page'), lit()))],
  ['(a + 1) * 2', { kind: 'arithmetic', op: 'mul', left: add, right: lit(2) }],
  ['find?.page == null', call('isNullish', get(step('find'), 'page', true))],
  ['(find.a ?? "none") === "x"', compare('eq.strict', coalesce(step('find', 'a'), lit('none')), lit('x'))],
  ['a.trim().startsWith("b")', call('startsWith.js', call('trim.js', input('a')), lit('b'))],
  [`\`Hi \${a} \\\`x\\\`\``, text('Hi ', input('a'), ' `x`')],
  ['[a, { b: c }]', list(input('a'), { kind: 'dict', entries: [{ key: 'b', value: input('c') }] })],
  [
    'find.list.some((x, i) => x.open || (i > 3))',
    {
      kind: 'each',
      mode: 'some',
      truth: 'truthy.js',
      as: 'x',
      indexAs: 'i',
      in: step('find', 'list'),
      body: {
        kind: 'or',
        truth: 'truthy.js',
        items: [
          { kind: 'ref', root: 'local', path: ['x', 'open'] },
          compare('gt.js', { kind: 'ref', root: 'local', path: ['i'] }, lit(3)),
        ],
      },
    },
  ],
  ['error.code === "E_A"', compare('eq.strict', error('code'), lit('E_A'))],
  ['a.slice(0, -1)', { kind: 'slice', style: 'js', of: input('a'), end: lit(-1) }],
  [
    '(a ? b : undefined) === 1',
    compare(
      'eq.strict',
      // biome-ignore lint/suspicious/noThenProperty: the tree's own name for it
      { kind: 'conditional', truth: 'truthy.js', test: input('a'), then: input('b') },
      lit(1),
    ),
  ],
  ['a == 1', compare('eq.py', input('a'), lit(1))],
  ['2 with x = 1', { kind: 'let', name: 'x', value: lit(1), body: lit(2) }],
  ['"\\u202e" === a', compare('eq.strict', lit('\u202e'), input('a'))],
  [`\`"two\\nlines" \${a}\``, text('"two\nlines" ', input('a'))],
  [undefined, lit('x'.repeat(300))],
])('%s', (printed, expr) => {
  expect(printExpression(expr)).toBe(printed);
});

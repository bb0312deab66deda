// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of spec files are written so

import { describe, expect, test } from 'vitest';
import { Budget, ExpressionError, evaluate } from '../../graph/expression/evaluate.js';
import { references } from '../../graph/expression/traversal.js';
import type { Expr } from '../../graph/expression/tree.js';
import { formatLocation } from '../../graph/source-location.js';
import { readText } from '../text/read-text.js';
import { Reports } from '../text/reading.js';
import { lowerCondition } from './expression.js';
import { ReferenceLowering, type ReferenceScope, type Resolution } from './lower-references.js';

const DATA: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  inputs: {
    cart: 'c/1',
    nothing: null,
    flag: true,
    amount: 12.5,
    list: [1, { id: 'x' }],
    none: [],
    empty: [],
  },
  steps: { book: { id: 'b1' }, alt: { id: 'a1' } },
};

const scope: ReferenceScope = {
  resolve(name, keys): Resolution {
    if (name === 'code' || Object.hasOwn(DATA.inputs ?? {}, name))
      return { kind: 'value', root: 'inputs', path: [name], length: 0 };
    if (name === 'booking') return { kind: 'either', nodes: ['skipped', 'alt'] };
    if (name === 'skipped') return { kind: 'value', root: 'steps', path: [name], length: 0 };
    if (name === 'params') return { kind: 'value', root: 'inputs', path: [String(keys[0])], length: 1 };
    if (name === 'env') return { kind: 'withoutValue', why: 'there is no environment' };
    return { kind: 'unknown', suggestion: name === 'carts' ? 'cart' : undefined };
  },
};

async function lowered(yaml: string, as: 'value' | 'text' | 'condition' = 'value') {
  const { root, source } = await readText(yaml, { file: 'f', format: 'yaml' });
  if (root === undefined) throw new Error('unreadable');
  const reports = new Reports(source);
  const lowering = new ReferenceLowering(reports, scope);
  const text = root.kind === 'text' ? root : undefined;
  const expr =
    as === 'value' || text === undefined
      ? lowering.value(root)
      : as === 'text'
        ? lowering.text(text)
        : lowerCondition(text, lowering, reports);
  return { expr, faults: reports.diagnostics };
}

function outcomeOf(expr: Expr | undefined): unknown {
  if (expr === undefined) throw new Error('faulty');
  const lookup = (root: string, name: string | number) => DATA[root]?.[name] as never;
  try {
    return evaluate(expr, { lookup }, new Budget(10_000));
  } catch (error) {
    if (error instanceof ExpressionError) return error.code;
    throw error;
  }
}

async function run(yaml: string, as?: 'value' | 'text' | 'condition'): Promise<unknown> {
  const { expr, faults } = await lowered(yaml, as);
  expect(faults).toEqual([]);
  return outcomeOf(expr);
}

async function faultsOf(yaml: string, as?: 'value' | 'condition'): Promise<string[]> {
  const { faults } = await lowered(yaml, as);
  return faults.map(({ code, message, hint, place }) =>
    [place && formatLocation(place), code, message, ...(hint === undefined ? [] : [`(${hint})`])].join(' '),
  );
}

describe('a value', () => {
  test.each([
    // R1: one reference alone keeps its type.
    ['$amount', 12.5],
    ['"Total $amount"', 'Total 12.5'],
    ['${list}', [1, { id: 'x' }]],
    // R10: an index is written in two ways.
    ['$list.1.id', 'x'],
    ['$list[1].id', 'x'],
    // R2
    ['/carts/$cart/x', '/carts/c/1/x'],
    ['${cart}s', 'c/1s'],
    ['"Hello $cart."', 'Hello c/1.'],
    ['"$amount?"', 12.5],
    ['"is it $amount?"', 'is it 12.5?'],
    // R3
    ['"cost: $$5"', 'cost: $5'],
    ['$5.00', '$5.00'],
    ['"$$cart"', '$cart'],
    ['"$"', '$'],
    ['"${}"', '${}'],
    // R5
    ['"$list!"', 'E_TEXT_VALUE'],
    ['"${list|json}!"', '[1,{"id":"x"}]!'],
    ['"/$nothing"', 'E_TEXT_VALUE'],
    ['"/$code"', 'E_TEXT_VALUE'],
    ['"/${nothing?}"', '/'],
    ['"/${skipped?}"', '/'],
    // R6: absent, missing and null are three things.
    ['{ a: $code, b: 1 }', { b: 1 }],
    ['{ a: $code.id }', 'E_REF_MISSING'],
    ['$none.0.id', 'E_REF_MISSING'],
    ['{ a: $skipped }', 'E_REF_MISSING'],
    ['{ a: $skipped?, b: [$skipped?] }', { b: [null] }],
    ['$nothing', null],
    // R7
    ['$params.cart', 'c/1'],
    // R9: whichever has run.
    ['$booking.id', 'a1'],
    ['$booking.name?', undefined],
    ['$booking.name', 'E_REF_MISSING'],
    // R12: keys have no references.
    ['{ $cart: 1 }', { $cart: 1 }],
    // R14: filters.
    ['"/${cart|uri}"', '/c%2F1'],
    ['${list|json}', '[1,{"id":"x"}]'],
    ['"/${flag|uri}"', '/true'],
    ['"/${nothing|uri}"', 'E_TEXT_VALUE'],
    ['[1, true, null, text]', [1, true, null, 'text']],
    // Computed values keep their types alone, and are parts of texts.
    ['"${$amount * 2}"', 25],
    ['"${$amount - 2 * 3}"', 6.5],
    ['"${($amount - 2) * -2 / 3 % 4}"', -3],
    ['"${-$amount + 1}"', -11.5],
    ['"at ${$amount + 1}%"', 'at 13.5%'],
    ['"${$cart + \'}\'}"', 'c/1}'],
    ['"${len($list)}"', 2],
    ['"${length($cart) + 1}"', 4],
    ['"${sum([1, 2, $amount])}"', 15.5],
    ['"${sum($empty)}"', 0],
    ['"${sum($list)}"', 'E_ARGUMENT_TYPE'],
    ['"${first($list)}"', 1],
    ['"${first($empty)}"', 'E_REF_MISSING'],
    ['"${first($empty) ?? 7}"', 7],
    ['"${first(filter($list, $item.id == \'x\')).id}"', 'x'],
    ["\"${first(filter($list, $item.id == 'y')).id ?? 'no'}\"", 'no'],
    ['"${filter($list, $item != 1)}"', [{ id: 'x' }]],
    ['"${map($list, [$item])}"', [[1], [{ id: 'x' }]]],
    ['"${map(filter($list, exists($item.id)), $item.id)}"', ['x']],
    ['"${map($list, $item.id)}"', 'E_REF_MISSING'],
    ['"${join(map([1, 2], $item * 2), \', \')}"', '2, 4'],
    ['"/${uri($cart)}"', '/c%2F1'],
    ['"${json($list)}"', '[1,{"id":"x"}]'],
    ['"${$code ?? \'no\'}"', 'no'],
    ['"${$code? ?? \'no\'}"', 'no'],
    ['"${$skipped.id ?? $booking.id}"', 'a1'],
    ['"${$amount > 12 && $flag}"', true],
    ['"${$code * 2}"', 'E_OPERAND_TYPES'],
    ['"${ ${amount} * 2 }"', 25],
    ['"${ }"', '${ }'],
  ])('%s is %j', async (yaml, value) => {
    expect(await run(yaml)).toEqual(value);
  });

  test('is text where text is needed', async () => {
    expect(await run('$amount', 'text')).toBe('12.5');
    expect(await run('no reference', 'text')).toBe('no reference');
  });

  test.each([
    ['a: $carts', 'f:1:4 SW5013 nothing here is named `$carts` (did you mean `$cart`?)'],
    [
      'a: "x $ref.y"',
      'f:1:7 SW5013 nothing here is named `$ref` (name a parameter or a result, or write `$$ref` for a dollar sign)',
    ],
    ['a: |\n  x\n  $env.HOME', 'f:3:3 SW5020 `$env.HOME` has no value here: there is no environment'],
    ['a: "\\u0041 ${cart"', 'f:1:12 SW5020 `${cart` has no value here: it has no `}`'],
    [
      'a: ${cart + 1}',
      "f:1:6 SW5014 this is not an expression: `cart` is not a value (write `$cart` or `'cart'`) (write references with `$`, numbers and functions: `$price * 2`, `sum($prices)`)",
    ],
    ['a: ${cart|url}', 'f:1:11 SW5021 a filter cannot be `url` (did you mean `uri`?)'],
  ])('reports %j at its place', async (yaml, said) => {
    expect(await faultsOf(yaml)).toEqual([said]);
  });

  test.each([
    ['a: "$amount * (100 - $amount) / 100"', 'write `${$amount * (100 - $amount) / 100}`'],
    ['a: "$amount * 0.9"', 'write `${$amount * 0.9}`'],
    ['a: "$amount + 1"', 'write `${$amount + 1}`'],
    ['a: "len($list) - 1"', 'write `${len($list) - 1}`'],
    ["a: $list.filter(f => f.endsWith('.md'))", 'write `${filter($list, $item.… == …)}`'],
    ['a: $list.map(x => x.id)', 'write `${map($list, $item.…)}`'],
    ['a: "$list.join(\', \')"', "write `${join($list, ', ')}`"],
    ['a: $list.length()', 'write `${length($list)}`'],
    [
      'a: $list.reduce((a, b) => a + b)',
      'write `${…}` with one of the functions `len`, `length`, `exists`, `contains`, `startsWith`, `endsWith`, `lower`, `upper`, `join`, `sum`, `uri`, `json`, `first`, `filter`, `map`',
    ],
  ])('warns that %j is not computed', async (yaml, hint) => {
    const { faults } = await lowered(yaml);
    expect(faults.map(({ code, severity, hint }) => ({ code, severity, hint }))).toEqual([
      { code: 'SW5035', severity: 'warning', hint },
    ]);
  });

  test.each([
    '$amount/$cart',
    '$amount - $cart',
    'Pay $amount * $cart?',
    '$cart (see $amount)',
    '$$amount * 2',
    '/carts/$cart?limit=1',
    '$amount, $cart',
    '$amount: 1',
  ])('takes %j as it is', async (text) => {
    expect((await lowered(JSON.stringify(text))).faults).toEqual([]);
  });

  test('orders by plain references, and not by optional ones', async () => {
    const { expr } = await lowered('[$skipped, $skipped?, "${skipped?}"]');
    expect(references(expr as Expr).map(({ guarded }) => guarded)).toEqual([false, true, true]);
  });
});

describe('a condition', () => {
  test.each([
    ['$amount > 0', true],
    ['$amount > 0 && $flag', true],
    ['$amount > 0 and not $flag', false],
    ['!$flag || $amount == 12.5', true],
    ['$code != null', false],
    ['$code == null', true],
    ['$skipped.a.b == null', true],
    ['$code', null],
    ['$code && true', false],
    ['!$nothing', true],
    ['exists($code)', false],
    ['exists($nothing)', true],
    ['exists(${list[1].id})', true],
    ["$list.1 == $list.1 && $list.0 != '1'", true],
    ['len($list) > 1 and len($none) == 0', true],
    ['$cart in ["a", \'c/1\']', true],
    ["contains($cart, '/')", true],
    ["startsWith(upper($cart), 'C')", true],
    ["endsWith(lower('AB'), 'b')", true],
    ['($flag or false) and !($amount < -1.5e0)', true],
    ['$amount * 2 - 1 == 24', true],
    ['len(filter($list, $item.id == "x")) == 1', true],
    ['first($empty) == null && first($list) == 1', true],
    ['($code ?? 3) > 2', true],
    ["'it\\'s' == \"it's\"", true],
    // X2 and X3: no conversions.
    ['$list', [1, { id: 'x' }]],
    ['$amount && $flag', 'E_NOT_A_BOOLEAN'],
    ['$code > 0', 'E_COMPARE_TYPES'],
    ['$cart > 0', 'E_COMPARE_TYPES'],
  ])('%s is %j', async (condition, value) => {
    expect(await run(JSON.stringify(condition), 'condition')).toEqual(value);
  });

  test.each([
    ['$amount >', '1:10', 'expected a value, and found the end'],
    ['$amount = 1', '1:9', 'a comparison is `==`'],
    ['$a1 == 1', '1:1', undefined],
    ['amount > 0', '1:1', "`amount` is not a value (write `$amount` or `'amount'`)"],
    ['lenn($list) > 0', '1:1', '`lenn` is not a value (did you mean `len`?)'],
    ['len($list, 1) > 0', '1:1', '`len` takes one value, not 2'],
    ['exists(1)', '1:8', 'expected a reference, and found `1`'],
    ['$amount > null', '1:9', '`>` compares two numbers or two texts, not null'],
    ["1 < '2'", '1:3', '`<` cannot compare a number with text'],
    ["$cart == 'x", '1:10', "a text has no ' at its end"],
    ['$amount # 1', '1:9', '`#` has no meaning in an expression'],
    ['${amount} }', '1:11', '`}` has no meaning in an expression'],
    ['($flag', '1:7', 'expected `)`, and found the end'],
    ['1 == 1 == 1', '1:8', 'expected an operator or the end, and found `==`'],
    ['${{ false }}', '1:1', 'it is an expression already, and takes no `{{ … }}`'],
    ['', '1:1', 'expected a value, and found the end'],
    [`${'('.repeat(40)}1${')'.repeat(40)}`, '1:33', 'brackets are nested deeper than 32 levels'],
    [Array(257).fill('1').join(' && '), '1:1', '`&&` and `||` have more than 256 operands'],
    [
      `(${Array(200).fill('1').join(' && ')}) || ${Array(60).fill('1').join(' || ')}`,
      '1:1',
      '`&&` and `||` have more than 256 operands',
    ],
    ['$cart.total > 12345678901234567890', '1:15', 'the number is not exact: use one below 2^53'],
    ['$cart.total > 1e999', '1:15', 'the number is not exact: use one below 2^53'],
  ])('%s is refused', async (condition, position, problem) => {
    const [first, ...others] = await faultsOf(`'${condition.replaceAll("'", "''")}'`, 'condition');
    expect(others).toEqual([]);
    const [line, column] = position.split(':').map(Number);
    expect(first).toContain(`f:${line}:${(column ?? 0) + 1} `);
    expect(first).toContain(problem === undefined ? 'SW5013' : `SW5014 this is not a condition: ${problem}`);
  });
});

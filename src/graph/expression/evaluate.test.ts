import { describe, expect, test } from 'vitest';
import type { Json, Value } from '../json.js';
import { MAX_EXPRESSION_DEPTH } from '../limits.js';
import {
  arithmetic,
  ask,
  bound,
  call,
  dict,
  fault,
  get,
  list,
  literal,
  local,
  map,
  ref,
  run,
  scopeOf,
  slice,
  text,
} from './build.fixture.js';
import { Budget, ExpressionError, evaluate } from './evaluate.js';
import type { CompareOp, Expr, LogicExpr } from './tree.js';

function compare(left: Value, op: CompareOp, right: Value): Expr {
  const value = (of: Value): Expr => (of === undefined ? literal() : literal(of));
  return { kind: 'compare', left: value(left), ops: [{ op, right: value(right) }] };
}

function logic(kind: LogicExpr['kind'], truth: LogicExpr['truth'], ...items: Expr[]): Expr {
  return { kind, truth, items };
}

const boom = get(literal(null), 'boom');

describe('references', () => {
  const data = { inputs: { task: 'Fix' }, steps: { list: { pages: [{ title: 'A' }], none: null } } };

  test('read inputs and steps, and on into their values', () => {
    expect(run(ref('inputs', 'task'), data)).toBe('Fix');
    expect(run(ref('steps', 'list', 'pages', 0, 'title'), data)).toBe('A');
    expect(run(ref('steps', 'list', 'pages', 3), data)).toBeUndefined();
    expect(run(ref('steps', 'list', 'pages', 'length'), data)).toBe(1);
  });

  test('of what has no value are absent', () => {
    expect(run(ref('inputs', 'date'), data)).toBeUndefined();
  });

  test('into null and absent name the path', () => {
    expect(fault(ref('steps', 'list', 'none', 'title'), data)).toMatchObject({
      code: 'E_NOT_AN_OBJECT',
      message: '`title` cannot be read: `steps.list.none` is null',
    });
    expect(fault(ref('steps', 'gone', 'title'), data).message).toBe(
      '`title` cannot be read: `steps.gone` is absent',
    );
  });

  test('into a missing item say how long the list is', () => {
    const lists = { steps: { search: { flights: [], hotels: [{ id: 1 }] } } };
    expect(fault(ref('steps', 'search', 'flights', 0, 'id'), lists).message).toBe(
      '`id` cannot be read: `steps.search.flights.0` is absent, since `steps.search.flights` is an empty list',
    );
    expect(fault(ref('steps', 'search', 'hotels', 1, 'id'), lists).message).toMatch(/is a list of 1$/);
  });

  test('carry their place in the error', () => {
    expect(fault({ ...ref('steps', 'gone', 'x'), at: [3, 5, 3, 9] }).at).toEqual([3, 5, 3, 9]);
  });

  test('without a name are an error', () => {
    expect(fault(ref('item')).code).toBe('E_UNSUPPORTED');
  });
});

describe('get', () => {
  test('reads own properties, items, characters and lengths', () => {
    expect(run(get(literal({ a: 1 }), 'a'))).toBe(1);
    expect(run(get(literal({ 1: 'one' }), 1))).toBe('one');
    expect(run(get(literal(['a', 'b']), 1))).toBe('b');
    expect(run(get(literal(['a', 'b']), '1'))).toBe('b');
    expect(run(get(literal('ab'), 1))).toBe('b');
    expect(run(get(literal('ab'), 'length'))).toBe(2);
    expect(run(get(literal('ab'), 5))).toBeUndefined();
    expect(run(get(literal(['a']), -1))).toBeUndefined();
    expect(run(get(literal(['a']), 0.5))).toBeUndefined();
  });

  test.each([
    'constructor',
    '__proto__',
    'prototype',
    'toString',
    'hasOwnProperty',
    'map',
    '__defineGetter__',
  ])('never reaches the inherited `%s`', (key) => {
    expect(run(get(literal({ a: 1 }), key))).toBeUndefined();
    expect(run(get(literal([1]), key))).toBeUndefined();
    expect(run(ref('inputs', key), { inputs: {} })).toBeUndefined();
    expect(run(ref('inputs', 'x', key), { inputs: { x: {} } })).toBeUndefined();
    expect(fault(get(literal('text'), key)).code).toBe('E_NOT_AN_OBJECT');
    expect(fault(get(literal(5), key)).code).toBe('E_NOT_AN_OBJECT');
    expect(fault(get(literal(true), key)).code).toBe('E_NOT_AN_OBJECT');
    expect(run(get(literal(JSON.parse(`{"${key}": "own"}`) as Value & object), key))).toBe('own');
  });

  test('names what it read from', () => {
    const data = { steps: { list: { first: null } } };
    expect(fault(get(get(ref('steps', 'list'), 'first'), 'title'), data).message).toBe(
      '`title` cannot be read: `steps.list.first` is null',
    );
    expect(fault(get(call('coalesce', literal(null)), 'x')).message).toBe(
      '`x` cannot be read: the value before it is null',
    );
  });

  test('takes text and numbers as keys only', () => {
    expect(fault(get(literal({}), literal(null))).code).toBe('E_KEY_TYPE');
    expect(fault(get(literal({}), literal({}))).code).toBe('E_KEY_TYPE');
  });

  test('optional on null or absent ends the whole chain', () => {
    const chain = get(get(get(ref('inputs', 'a'), 'b', true), 'c'), 'd');
    expect(run(chain, { inputs: { a: null } })).toBeUndefined();
    expect(run(chain, { inputs: {} })).toBeUndefined();
    expect(run(chain, { inputs: { a: { b: { c: { d: 1 } } } } })).toBe(1);
    expect(fault(chain, { inputs: { a: {} } }).code).toBe('E_NOT_AN_OBJECT');
  });

  test('a chain ends where another expression is between', () => {
    const inner = get(ref('inputs', 'a'), 'b', true);
    expect(fault(get(logic('or', 'truthy.js', inner), 'c')).code).toBe('E_NOT_AN_OBJECT');
  });

  test('a chain that ended does not evaluate its other keys', () => {
    expect(run(get(get(literal(null), 'a', true), boom))).toBeUndefined();
    expect(run(get(literal(null), boom, true))).toBeUndefined();
  });
});

describe('compare', () => {
  test('eq.strict is `===` on scalars', () => {
    expect(run(compare(1, 'eq.strict', 1))).toBe(true);
    expect(run(compare(1, 'eq.strict', '1'))).toBe(false);
    expect(run(compare(null, 'eq.strict', undefined))).toBe(false);
    expect(run(compare(undefined, 'eq.strict', undefined))).toBe(true);
    expect(run(compare('a', 'ne.strict', 'b'))).toBe(true);
    expect(run(compare({}, 'eq.strict', null))).toBe(false);
  });

  test('messages name an operator as it is written', () => {
    expect(fault(compare(null, 'gt.js', 3)).message).toBe('`>` cannot compare null with a number');
    expect(fault(compare('a', 'lt.py', 3)).message).toMatch(/^`<` cannot compare /);
  });

  test('two objects or lists have no strict equality', () => {
    expect(fault(compare({}, 'eq.strict', {})).message).toBe('`===` cannot compare an object with an object');
    expect(fault(compare([], 'ne.strict', {})).code).toBe('E_COMPARE_TYPES');
  });

  test('orders numbers, and text by UTF-16 code units', () => {
    expect(run(compare(1, 'lt.js', 2))).toBe(true);
    expect(run(compare(2, 'le.js', 2))).toBe(true);
    expect(run(compare(2, 'gt.js', 2))).toBe(false);
    expect(run(compare(2, 'ge.js', 2))).toBe(true);
    expect(run(compare('Z', 'lt.js', 'a'))).toBe(true);
    // U+1F600 begins with the surrogate D83D, below U+FF61.
    expect(run(compare('\u{1f600}', 'lt.js', '\uff61'))).toBe(true);
  });

  test.each([
    [1, '1'],
    [null, 0],
    [undefined, 1],
    [true, false],
    [[1], [2]],
  ] as [Value, Value][])('does not order %j and %j', (left, right) => {
    expect(fault(compare(left, 'lt.js', right)).code).toBe('E_COMPARE_TYPES');
  });

  test('chains, and ends at the first link that fails', () => {
    const link = (op: CompareOp, right: Expr) => ({ op, right });
    const chain = (...ops: ReturnType<typeof link>[]): Expr => ({ kind: 'compare', left: literal(1), ops });
    expect(run(chain(link('lt.js', literal(2)), link('lt.js', literal(3))))).toBe(true);
    expect(run(chain(link('lt.js', literal(3)), link('lt.js', literal(2))))).toBe(false);
    expect(run(chain(link('gt.js', literal(2)), link('lt.js', boom)))).toBe(false);
  });
});

describe('logic and conditions', () => {
  test('yield the deciding operand and evaluate no further', () => {
    expect(run(logic('and', 'truthy.js', literal(0), boom))).toBe(0);
    expect(run(logic('and', 'truthy.js', literal(1), literal('')))).toBe('');
    expect(run(logic('or', 'truthy.js', literal('x'), boom))).toBe('x');
    expect(run(logic('or', 'truthy.js', literal(''), literal()))).toBeUndefined();
    expect(run({ kind: 'not', truth: 'truthy.js', of: literal([]) })).toBe(false);
  });

  test('`boolean` takes booleans only, the last operand too', () => {
    expect(run(logic('and', 'boolean', literal(true), literal(false)))).toBe(false);
    expect(fault(logic('and', 'boolean', literal(true), literal(1))).message).toBe(
      'a condition must be true or false, not a number',
    );
    expect(fault(logic('or', 'boolean', literal(null), literal(true))).code).toBe('E_NOT_A_BOOLEAN');
    expect(fault({ kind: 'not', truth: 'boolean', of: literal('') }).code).toBe('E_NOT_A_BOOLEAN');
  });

  test('a condition evaluates the chosen side only', () => {
    const conditional = (test: Expr): Expr => ({
      kind: 'conditional',
      truth: 'boolean',
      test,
      // biome-ignore lint/suspicious/noThenProperty: the name is the model's
      then: boom,
    });
    expect(run(conditional(literal(false)))).toBeUndefined();
    expect(fault(conditional(literal(true))).code).toBe('E_NOT_AN_OBJECT');
  });
});

describe('list and dict', () => {
  test('a list stores absent as null and pours lists in', () => {
    const spread = (value: Expr): Expr => ({
      kind: 'list',
      items: [{ value: literal() }, { value, spread: true }],
    });
    expect(run(spread(literal([1, [2]])))).toEqual([null, 1, [2]]);
    expect(fault(spread(literal('ab'))).message).toBe('only a list can be spread into a list, not text');
    expect(fault(spread(literal(null))).code).toBe('E_NOT_A_LIST');
  });

  test('a dict leaves absent keys out, and a later key replaces an earlier one in its place', () => {
    const expr: Expr = {
      kind: 'dict',
      entries: [
        { spread: literal({ a: 1, b: 2 }) },
        { key: 'c', value: literal(null) },
        { key: 'a', value: literal(3) },
        { key: 'b', value: literal() },
        { spread: literal(null) },
        { spread: literal() },
      ],
    };
    expect(JSON.stringify(run(expr))).toBe('{"a":3,"c":null}');
  });

  test('a dict takes objects only as spread', () => {
    for (const value of [literal([1]), literal('ab'), literal(1), literal(true)]) {
      expect(fault({ kind: 'dict', entries: [{ spread: value }] }).code).toBe('E_NOT_AN_OBJECT');
    }
  });

  test('`__proto__` is a key like any other', () => {
    const hostile = JSON.parse('{"__proto__":{"polluted":1}}') as Value & object;
    const made = run({
      kind: 'dict',
      entries: [{ spread: literal(hostile) }, { key: 'constructor', value: literal('c') }],
    });
    expect(JSON.stringify(made)).toBe('{"__proto__":{"polluted":1},"constructor":"c"}');
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    expect((made as Record<string, unknown>).polluted).toBeUndefined();
    expect(run(get({ kind: 'dict', entries: [{ key: '__proto__', value: literal(1) }] }, '__proto__'))).toBe(
      1,
    );
  });
});

describe('functions', () => {
  test('coalesce takes the first that is neither null nor absent, and evaluates no further', () => {
    expect(run(call('coalesce', literal(null), literal(), literal(0), boom))).toBe(0);
    expect(run(call('coalesce', literal(), literal(null)))).toBeNull();
  });

  test('isNullish is true for null and absent', () => {
    const values = [literal(), literal(null), literal(0), literal(''), literal(false)];
    expect(values.map((value) => run(call('isNullish', value)))).toEqual([true, true, false, false, false]);
  });

  test('are a closed table with fixed arities', () => {
    expect(fault(call('constructor', literal(1))).message).toBe('there is no function `constructor`');
    expect(fault(call('coalesce')).message).toBe('`coalesce` takes at least 1 argument, and 0 were given');
    expect(fault(call('isNullish', literal(1), literal(2))).message).toBe(
      '`isNullish` takes 1 argument, and 2 were given',
    );
  });
});

describe('text', () => {
  const styles = ['js', 'display', 'strict'] as const;

  test.each([
    [true, 'true'],
    [1e21, '1e+21'],
    ['a', 'a'],
    ['', ''],
  ] as [Value & Json, string][])('of %j', (value, shown) => {
    for (const style of styles) expect(run(text(style, '<', literal(value), '>'))).toBe(`<${shown}>`);
  });

  test.each([
    [undefined, 'absent'],
    [null, 'null'],
    [[1, 'a'], 'a list'],
    [{ toString: 'x', valueOf: 'y', toJSON: 'z' }, 'an object'],
  ] as [Value, string][])('takes no %j', (value, actual) => {
    const expr = value === undefined ? literal() : literal(value);
    const message = `a value is ${actual}, and only text, numbers and booleans can be part of a text`;
    for (const style of styles)
      expect(fault(text(style, '<', expr, '>'))).toMatchObject({ code: 'E_TEXT_VALUE', message });
    const side = `a side of \`+\` is ${actual}, and only text, numbers and booleans can be part of a text`;
    for (const sum of [arithmetic(literal('a'), 'add.js', expr), arithmetic(expr, 'add.js', literal('a'))])
      expect(fault(sum)).toMatchObject({ code: 'E_TEXT_VALUE', message: side });
  });

  test('names the value', () => {
    expect(fault(text('js', 'Due ', ref('inputs', 'date'))).message).toMatch(/^`inputs\.date` is absent/);
    expect(fault(text('js', get(ref('inputs', 'a'), 'b', true))).message).toMatch(/^`inputs\.a\.b`/);
  });

  test('is not evaluated again', () => {
    const template = ['$', '{this.a} {b} {{ c }}'].join('');
    expect(run(text('js', literal(template)))).toBe(template);
    expect(run(text('display', literal(template)))).toBe(template);
  });
});

describe('limits', () => {
  test('the budget is named in its error, and stays used up', () => {
    const budget = new Budget(10);
    const long = text('js', 'x'.repeat(11));
    expect(() => evaluate(long, scopeOf({}), budget)).toThrow(
      'the evaluation takes more than its budget of 10 units',
    );
    expect(() => evaluate(literal(1), scopeOf({}), budget)).toThrow(ExpressionError);
    expect(() => new Budget(5).charge(Number.NaN)).toThrow(ExpressionError);
  });

  test('work is charged by the size of what it touches', () => {
    const used = (expr: Expr): number => {
      const budget = new Budget(100_000);
      evaluate(expr, scopeOf({}), budget);
      return 100_000 - budget.remaining;
    };
    const long = 'x'.repeat(1000);
    expect(used(compare(long, 'eq.strict', `${long.slice(1)}y`))).toBeGreaterThan(1000);
    expect(used(compare(long, 'lt.js', long))).toBeGreaterThan(1000);
    expect(used(call('toJson', literal([long, { [long]: 1 }])))).toBeGreaterThan(2000);
    expect(used({ kind: 'list', items: [{ value: literal([...long]), spread: true }] })).toBeGreaterThan(
      1000,
    );
    const wide = Object.fromEntries([...long].map((_, index) => [`k${index}`, 1]));
    expect(used({ kind: 'dict', entries: [{ spread: literal(wide) }] })).toBeGreaterThan(1000);
    expect(used(literal(long))).toBe(1);
    expect(used(slice(literal(long)))).toBeGreaterThan(1000);
    expect(used(arithmetic(literal(long), 'add.js', literal('')))).toBeGreaterThan(1000);
    expect(used(map(literal([...long]), 'x', literal(1)))).toBeGreaterThan(2000);
    expect(used(ask('every', literal([...long]), 'x', literal(true)))).toBeGreaterThan(2000);
    expect(used(slice(literal([...long])))).toBeGreaterThan(1000);
  });

  test('what occurs in a value more than once is charged each time', () => {
    let doubled: Expr = local('x');
    for (let depth = 0; depth < 40; depth++) doubled = bound('x', list(local('x'), local('x')), doubled);
    expect(fault(bound('x', literal(1), doubled)).code).toBe('E_BUDGET');
    const big = Array.from({ length: 10_000 }, (_, index) => index);
    const many = literal(Array.from({ length: 1000 }, () => 1));
    const copies = (value: Value & object): Expr => map(many, 'x', literal(value));
    expect(fault(copies(big)).code).toBe('E_BUDGET');
    expect(fault(map(many, 'x', literal('x'.repeat(10_000)))).code).toBe('E_BUDGET');
    expect(run(list(literal(big), literal(big.slice(1))))).toHaveLength(2);
    expect(run(dict({ text: literal('x'.repeat(5_000_000)) }))).toHaveProperty('text');
  });

  test('deep trees and deep data are refused, not overflown', () => {
    let tree = literal(true);
    let chain = literal({});
    for (let depth = 0; depth < MAX_EXPRESSION_DEPTH; depth++) {
      tree = { kind: 'not', truth: 'boolean', of: tree };
      chain = get(chain, 'a', true);
    }
    expect(fault(tree).message).toBe(`the expression is nested deeper than ${MAX_EXPRESSION_DEPTH} levels`);
    expect(fault(chain).code).toBe('E_DEPTH');
    let data: Value & object = [];
    for (let depth = 0; depth < 20_000; depth++) data = [data];
    expect(fault(call('toJson', literal(data))).code).toBe('E_DEPTH');
    expect(run(dict({ a: literal(data) }))).toHaveProperty('a');
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import type { Json, Value } from '../json.js';
import { arithmetic, ask, bound, literal, local, map, method, scopeOf, slice } from './build.fixture.js';
import { Budget, type EvaluationScope, ExpressionError, evaluate } from './evaluate.js';
import { isMethodCall, javascriptMethods } from './functions.js';
import { childrenOf } from './traversal.js';
import type { ArithmeticOp, CompareOp, Expr, QuestionExpr } from './tree.js';
import { data, PRELUDE } from './typed-data.fixture.js';
import { TYPES, typedPair } from './typed-source.fixture.js';

/** A tree and the JavaScript that means the same. */
interface Pair {
  readonly expr: Expr;
  readonly js: string;
}

const INHERITED = [
  'constructor',
  '__proto__',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'map',
  'at',
];

/** Inherited names differ from JavaScript on purpose: they are left to the tests about prototypes. */
const plainKeys = fc.constantFrom('a', 'b', 'c', '0', '1', 'length', 'ключ');

/** Where JavaScript converts, or gives meaning to identity, the language has a named error instead. */
const NAMED = [
  'E_NOT_AN_OBJECT',
  'E_COMPARE_TYPES',
  'E_NOT_A_LIST',
  'E_KEY_TYPE',
  'E_OPERAND_TYPES',
  'E_TEXT_VALUE',
  'E_ARGUMENT_TYPE',
  'E_NUMBER',
];

function jsonOf(keys: fc.Arbitrary<string>): fc.Arbitrary<Json> {
  return fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom<Json>(null, true, false, 0, 1, -1, 1.5, '', 'a', '0', 'länge', '\u{1f600}'),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(keys, tie('json'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).json;
}

const operators: readonly (readonly [CompareOp, string])[] = [
  ['eq.strict', '==='],
  ['ne.strict', '!=='],
  ['lt.js', '<'],
  ['le.js', '<='],
  ['gt.js', '>'],
  ['ge.js', '>='],
];

const arithmeticOperators: readonly (readonly [ArithmeticOp, string])[] = [
  ['add.js', '+'],
  ['sub', '-'],
  ['mul', '*'],
  ['div', '/'],
  ['mod.js', '%'],
  ['pow', '**'],
];

/** With how many arguments each must be called. */
const methods: readonly (readonly [string, number])[] = [
  ['trim', 0],
  ['toLowerCase', 0],
  ['toUpperCase', 0],
  ['split', 0],
  ['join', 0],
  ['includes', 1],
  ['startsWith', 1],
  ['endsWith', 1],
  ['replace', 2],
  ['replaceAll', 2],
  ['concat', 0],
];

function pairs(keys: fc.Arbitrary<string>): fc.Arbitrary<Pair> {
  return fc.letrec<{ pair: Pair }>((tie) => {
    const pair = tie('pair');
    const key = fc.oneof(
      { weight: 3, arbitrary: fc.oneof(keys, fc.nat(2)).map((value) => leaf(value)) },
      { weight: 1, arbitrary: pair },
    );
    return {
      pair: fc.oneof(
        { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
        jsonOf(keys).map((value) => leaf(value)),
        fc.constant<Pair>({ expr: { kind: 'literal' }, js: 'undefined' }),
        fc
          .tuple(fc.constantFrom('inputs', 'steps'), fc.array(fc.oneof(keys, fc.nat(2)), { maxLength: 3 }))
          .map(
            ([root, rest]): Pair => ({
              expr: { kind: 'ref', root: root as 'inputs' | 'steps', path: ['x', ...rest] },
              js: `${root}["x"]${rest.map((each) => `[${JSON.stringify(each)}]`).join('')}`,
            }),
          ),
        fc.tuple(pair, key, fc.boolean()).map(
          ([of, name, optional]): Pair => ({
            expr: { kind: 'get', of: of.expr, key: name.expr, ...(optional ? { optional: true } : {}) },
            js: `${isChain(of) ? of.js : `(${of.js})`}${optional ? '?.' : ''}[${name.js}]`,
          }),
        ),
        fc.tuple(pair, fc.constantFrom(...operators), pair).map(
          ([left, [op, sign], right]): Pair => ({
            expr: { kind: 'compare', left: left.expr, ops: [{ op, right: right.expr }] },
            js: `((${left.js}) ${sign} (${right.js}))`,
          }),
        ),
        fc
          .tuple(
            fc.constantFrom('and' as const, 'or' as const),
            fc.array(pair, { minLength: 1, maxLength: 3 }),
          )
          .map(
            ([kind, items]): Pair => ({
              expr: { kind, truth: 'truthy.js', items: items.map((each) => each.expr) },
              js: `(${items.map((each) => `(${each.js})`).join(kind === 'and' ? ' && ' : ' || ')})`,
            }),
          ),
        pair.map(
          (of): Pair => ({ expr: { kind: 'not', truth: 'truthy.js', of: of.expr }, js: `(!(${of.js}))` }),
        ),
        fc.tuple(pair, pair, pair).map(
          ([test, yes, no]): Pair => ({
            // biome-ignore lint/suspicious/noThenProperty: the name is the model's
            expr: { kind: 'conditional', truth: 'truthy.js', test: test.expr, then: yes.expr, else: no.expr },
            js: `((${test.js}) ? (${yes.js}) : (${no.js}))`,
          }),
        ),
        fc.array(fc.tuple(pair, fc.boolean()), { maxLength: 3 }).map(
          (items): Pair => ({
            expr: {
              kind: 'list',
              items: items.map(([each, spread]) => ({
                value: each.expr,
                ...(spread ? { spread: true } : {}),
              })),
            },
            js: `[${items.map(([each, spread]) => (spread ? `...(${each.js})` : each.js)).join(', ')}]`,
          }),
        ),
        fc.array(fc.tuple(keys, pair, fc.boolean()), { maxLength: 3 }).map(
          (entries): Pair => ({
            expr: {
              kind: 'dict',
              entries: entries.map(([name, each, spread]) =>
                spread ? { spread: each.expr } : { key: name, value: each.expr },
              ),
            },
            js: `({${entries
              .map(([name, each, spread]) =>
                spread ? `...(${each.js})` : `[${JSON.stringify(name)}]: (${each.js})`,
              )
              .join(', ')}})`,
          }),
        ),
        fc.tuple(pair, pair).map(
          ([first, second]): Pair => ({
            expr: { kind: 'call', fn: 'coalesce', args: [first.expr, second.expr] },
            js: `((${first.js}) ?? (${second.js}))`,
          }),
        ),
        pair.map(
          (of): Pair => ({
            expr: { kind: 'call', fn: 'isNullish', args: [of.expr] },
            js: `((${of.js}) == null)`,
          }),
        ),
        fc.array(pair, { maxLength: 3 }).map(
          (parts): Pair => ({
            expr: { kind: 'text', style: 'js', parts: parts.flatMap((each) => ['·', each.expr]) },
            js: `\`${parts.map((each) => `·\${${each.js}}`).join('')}\``,
          }),
        ),
        fc.tuple(pair, fc.constantFrom(...arithmeticOperators), pair).map(
          ([left, [op, sign], right]): Pair => ({
            expr: arithmetic(left.expr, op, right.expr),
            js: `((${left.js}) ${sign} (${right.js}))`,
          }),
        ),
        pair.map((of): Pair => ({ expr: { kind: 'negate', of: of.expr }, js: `(-(${of.js}))` })),
        fc.tuple(pair, fc.option(pair), fc.boolean()).map(
          ([of, start, isOptional]): Pair => ({
            expr: { ...slice(of.expr, start?.expr), ...(isOptional ? { optional: true } : {}) },
            js: `${chained(of, isOptional)}.slice(${start?.js ?? ''})`,
          }),
        ),
        fc.tuple(pair, fc.constantFrom('map', 'filter', 'find', 'some', 'every'), pair, fc.boolean()).map(
          ([of, mode, body, isOptional]): Pair => ({
            expr: {
              ...(mode === 'map'
                ? map(of.expr, 'x', body.expr, 'i')
                : ask(mode as QuestionExpr['mode'], of.expr, 'x', body.expr, 'i')),
              ...(isOptional ? { optional: true } : {}),
            },
            js: `${chained(of, isOptional)}.${mode}((x, i) => (${body.js}))`,
          }),
        ),
        fc
          .tuple(pair, fc.constantFrom(...methods), fc.array(pair, { maxLength: 2 }), fc.boolean())
          .map(([of, [name, min], args, isOptional]): Pair => {
            const given = [...args, of, of].slice(0, Math.max(min, Math.min(args.length, min + 1)));
            const known = name === 'trim' || name === 'toLowerCase' || name === 'toUpperCase' ? [] : given;
            return {
              expr: {
                ...method(`${name}.js`, of.expr, ...known.map((each) => each.expr)),
                ...(isOptional ? { optional: true } : {}),
              },
              js: `${chained(of, isOptional)}.${name}(${known.map((each) => each.js).join(', ')})`,
            };
          }),
        fc.constantFrom<Pair>({ expr: local('x'), js: 'x' }, { expr: local('i'), js: 'i' }),
        fc.tuple(fc.constantFrom('x', 'i'), pair, pair).map(
          ([name, value, body]): Pair => ({
            expr: bound(name, value.expr, body.expr),
            js: `((${name}) => (${body.js}))(${value.js})`,
          }),
        ),
      ),
    };
  }).pair;
}

function leaf(value: Json): Pair {
  return { expr: { kind: 'literal', value }, js: `(${JSON.stringify(value)})` };
}

function isChain({ expr }: Pair): boolean {
  return ['get', 'ref', 'slice', 'each'].includes(expr.kind) || (expr.kind === 'call' && isMethodCall(expr));
}

/** The value before the dot of a method. */
function chained(of: Pair, isOptional: boolean): string {
  return `${isChain(of) ? of.js : `(${of.js})`}${isOptional ? '?' : ''}`;
}

type Data = {
  readonly inputs: Readonly<Record<string, Json>>;
  readonly steps: Readonly<Record<string, Json>>;
};

function dataOf(keys: fc.Arbitrary<string>): fc.Arbitrary<Data> {
  const values = fc.record({ x: jsonOf(keys) }, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<
    Record<string, Json>
  >;
  return fc.record({ inputs: values, steps: values });
}

type Outcome = { readonly value: Value } | { readonly code: string };

function outcome(expr: Expr, scope: EvaluationScope, budget = new Budget(1_000_000)): Outcome {
  try {
    return { value: evaluate(expr, scope, budget) };
  } catch (error) {
    if (error instanceof ExpressionError) return { code: error.code };
    throw error;
  }
}

/** What JSON keeps of the value: absent items become null, absent properties go, and so does the sign of zero. */
function javascript(js: string, data: object, prelude = ''): Value {
  const run = new Function(
    ...Object.keys(data),
    `"use strict"; ${prelude} const x = 'x', i = 0; return (${js});`,
  );
  const value: unknown = run(...Object.values(data));
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** The free names of generated trees. */
function closed(expr: Expr): Expr {
  return bound('x', literal('x'), bound('i', literal(0), expr));
}

/** The kinds of tree of this version, with their functions and modes. */
const FORMS: readonly string[] = [
  ...['literal', 'ref', 'get', 'slice', 'compare', 'and', 'or', 'not', 'arithmetic', 'negate', 'conditional'],
  ...['list', 'dict', 'text', 'let'],
  ...['map', 'filter', 'find', 'some', 'every'].map((mode) => `each ${mode}`),
  ...['coalesce', ...javascriptMethods.map(({ name }) => name)].map((fn) => `call ${fn}`),
];

function formsOf(expr: Expr): string[] {
  const detail = expr.kind === 'each' ? ` ${expr.mode}` : expr.kind === 'call' ? ` ${expr.fn}` : '';
  return [`${expr.kind}${detail}`, ...childrenOf(expr).flatMap((child) => formsOf(child.expr))];
}

/** The value of JavaScript, or the name of what it threw. */
function settled(run: () => Value): Outcome {
  try {
    return { value: run() };
  } catch (error) {
    if (error instanceof TypeError) return { code: 'TypeError' };
    const { code } = error as { readonly code?: string };
    if (code === undefined) throw error;
    return { code };
  }
}

describe('evaluate', () => {
  test('gives what the equivalent JavaScript gives, or a named error', () => {
    const runs = isNightly ? 3000 : 600;
    const seen = { value: 0, error: 0 };
    fc.assert(
      fc.property(pairs(plainKeys), dataOf(plainKeys), ({ expr, js }, data) => {
        const ours = outcome(closed(expr), scopeOf(data));
        if ('code' in ours) {
          seen.error++;
          expect(NAMED).toContain(ours.code);
          return;
        }
        seen.value++;
        expect(ours.value).toEqual(javascript(js, data));
      }),
      { numRuns: runs },
    );
    // A generator that only ever meets errors would prove nothing.
    expect(seen.value).toBeGreaterThan(runs / 3);
  });

  test('gives exactly what sound TypeScript gives, or the error that is named for it', () => {
    const seen = new Map<string, number>();
    const forms = new Set<string>();
    fc.assert(
      fc.property(fc.constantFrom(...TYPES).chain(typedPair), data, ({ expr, js }, inputs) => {
        const theirs = settled(() => javascript(js, { inputs }, PRELUDE));
        const ours = outcome(expr, scopeOf({ inputs }));
        const code = 'code' in ours ? ours.code : 'value';
        if (code === 'value') for (const form of formsOf(expr)) forms.add(form);
        seen.set(code, (seen.get(code) ?? 0) + 1);
        // Reading from null and absent is a TypeError, whatever the language calls it.
        const isTypeError = code === 'E_NOT_AN_OBJECT' || code === 'E_ARGUMENT_TYPE';
        expect(isTypeError ? { code: 'TypeError' } : ours).toEqual(theirs);
      }),
      { numRuns: 4000 },
    );
    expect(seen.get('value')).toBeGreaterThan(2500);
    for (const code of ['E_NUMBER', 'E_UNSAFE_INTEGER', 'E_NOT_AN_OBJECT', 'E_TEXT_VALUE']) {
      expect(seen.get(code) ?? 0, code).toBeGreaterThan(0);
    }
    expect([...FORMS].filter((form) => !forms.has(form))).toEqual([]);
  });

  test('gives JSON or nothing, changes no data, and gives the same again', () => {
    const keys = fc.oneof(plainKeys, fc.constantFrom(...INHERITED));
    fc.assert(
      fc.property(pairs(keys), dataOf(keys), ({ expr }, data) => {
        const before = JSON.stringify([expr, data]);
        const first = outcome(expr, scopeOf(data));
        if ('value' in first && first.value !== undefined) {
          expect(JSON.parse(JSON.stringify(first.value))).toEqual(first.value);
        }
        expect(outcome(expr, scopeOf(data))).toEqual(first);
        expect(JSON.stringify([expr, data])).toBe(before);
      }),
      { numRuns: 1000 },
    );
  });

  test('never touches a prototype', () => {
    const keys = fc.oneof(fc.constantFrom('a', 'b'), fc.constantFrom(...INHERITED));
    const members = Object.getOwnPropertyNames(Object.prototype);
    fc.assert(
      fc.property(pairs(keys), dataOf(keys), ({ expr }, data) => {
        const guarded = { inputs: guard(data.inputs), steps: guard(data.steps) } as Data;
        expect(JSON.stringify(outcome(expr, scopeOf(guarded)))).toBe(
          JSON.stringify(outcome(expr, scopeOf(data))),
        );
      }),
      { numRuns: 1000 },
    );
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(members);
  });

  test('ends within any budget, and the same work always costs the same', () => {
    fc.assert(
      fc.property(pairs(plainKeys), dataOf(plainKeys), ({ expr }, data) => {
        const budget = new Budget(1_000_000);
        const enough = outcome(expr, scopeOf(data), budget);
        const used = 1_000_000 - budget.remaining;
        expect(outcome(expr, scopeOf(data), new Budget(used))).toEqual(enough);
        expect(outcome(expr, scopeOf(data), new Budget(used - 1))).toEqual({ code: 'E_BUDGET' });
      }),
      { numRuns: 500 },
    );
  });
});

/** Fails as soon as anything but an own property of an object is asked for. */
function guard(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(guard);
  const own = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, guard(each)]));
  return new Proxy(own, {
    get(target, key) {
      // JSON.stringify looks for this one by the standard; data can only hold JSON there.
      if (key === 'toJSON' || Object.hasOwn(target, key)) return Reflect.get(target, key);
      throw new Error(`inherited ${String(key)} was read`);
    },
    getPrototypeOf() {
      throw new Error('a prototype was read');
    },
    set() {
      throw new Error('data was changed');
    },
  });
}

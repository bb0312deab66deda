import fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import { PROPERTY_SEED } from '../../../test/property-seed.js';
import { Budget, ExpressionError, evaluate } from '../../graph/expression/evaluate.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json, Value } from '../../graph/json.js';
import { SourceHost } from '../source/source-host.js';
import { lowerExpression } from './expressions.js';
import type { Binding } from './nodes.js';

/** The fields that generated sources may use, with values of every kind. */
const fields: Readonly<Record<string, fc.Arbitrary<Json | undefined>>> = {
  text: fc.constantFrom(undefined, '', 'a', 'b', 'länge'),
  n: fc.constantFrom(0, 1, -1, 2.5),
  flag: fc.boolean(),
  tree: fc.constantFrom<(Json | undefined)[]>(
    undefined,
    null,
    {},
    { left: null },
    { left: { text: 'leaf', list: [1, 2] } },
    { left: { list: [] }, list: ['a', null] },
  ),
};

/** Methods of texts and lists, with arguments that mostly fit. */
const method = fc.constantFrom(
  '.trim()',
  '.toLowerCase()',
  '.toUpperCase()',
  '.slice(1)',
  '.slice(-1)',
  '.slice(0, this.n)',
  '.slice()',
  '.slice(undefined, 1)',
  ".split('')",
  ".split('a', 1)",
  '.split()',
  ".join('-')",
  '.join()',
  ".includes('a')",
  '.includes(this.text)',
  '.includes(1, this.n)',
  ".startsWith('a')",
  ".endsWith('e', 2)",
  '.at(0)',
  '.at(-1)',
  '.at(-2)',
  '.flat()',
  ".concat('a')",
  ".replaceAll('a', '$&b')",
  ".padEnd(3, '-')",
  '.flatMap((each) => [each])',
  '.length',
);

/** What an arrow makes of its parameters, which may hide those of another around it. */
const { body } = fc.letrec<{ body: string }>((tie) => ({
  body: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.constantFrom(
      'item',
      'index',
      'item.text',
      'item?.left',
      'item.length',
      'this.text',
      'this.n',
      "'a'",
      '1',
      'null',
    ),
    fc
      .tuple(
        tie('body'),
        fc.constantFrom('===', '!==', '+', '-', '??', '<'),
        fc.constantFrom('item', "'a'", '1', 'index'),
      )
      .map(([left, operator, right]) => `((${left}) ${operator} ${right})`),
    tie('body').map((part) => `\`<\${${part}}>\``),
    fc.tuple(tie('body'), tie('body')).map(([a, b]) => `({ a: ${a}, b: [${b}] }).a`),
    fc
      .tuple(fc.constantFrom('map', 'filter', 'some'), fc.constantFrom('item', 'index'), tie('body'))
      .map(([name, parameter, inner]) => `['a', 1].${name}((${parameter}) => ${inner})`),
  ),
}));

const arrow = fc.oneof(
  { weight: 5, arbitrary: body.map((inner) => `((item, index) => ${inner})`) },
  { weight: 1, arbitrary: fc.constantFrom('(() => this.text)', '(() => true)', '((item) => item)') },
);

/** Sources in the part of TypeScript that workflows may be written in. */
const { source } = fc.letrec<{ source: string; chain: string }>((tie) => {
  const source = tie('source');
  const key = fc.constantFrom('left', 'list', 'text', 'length');
  return {
    chain: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constant('this.tree'),
      fc.tuple(tie('chain'), fc.constantFrom('.', '?.'), key).map((parts) => parts.join('')),
      fc
        .tuple(
          tie('chain'),
          fc.constantFrom('', '?.'),
          fc.oneof(fc.constantFrom('0', "'left'", '-1'), source),
        )
        .map(([object, optional, index]) => `${object}${optional}[${index}]`),
      tie('chain').map((chain) => `(${chain})`),
      tie('chain').map((chain) => `${chain}!`),
      fc.tuple(tie('chain'), fc.constantFrom('', '?'), method).map((parts) => parts.join('')),
      fc
        .tuple(
          tie('chain'),
          fc.constantFrom('.', '?.'),
          fc.constantFrom('map', 'filter', 'find', 'some', 'every'),
          arrow,
        )
        .map(([chain, dot, name, given]) => `${chain}${dot}${name}(${given})`),
    ),
    source: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(
        'this.text',
        'this.n',
        'this.flag',
        'undefined',
        'null',
        'true',
        "'a'",
        "''",
        '0',
        '-1',
        '1.5',
      ),
      tie('chain'),
      fc
        .tuple(source, fc.constantFrom('===', '!==', '&&', '||', '??'), source)
        .map(([left, operator, right]) => `((${left}) ${operator} (${right}))`),
      // After `<` a source with `>` in it may read as type arguments.
      fc
        .tuple(
          source,
          fc.constantFrom('<', '<=', '>', '>='),
          fc.constantFrom('this.text', 'this.n', "'a'", '1'),
        )
        .map(([left, operator, right]) => `((${left}) ${operator} ${right})`),
      fc.tuple(source, fc.constantFrom('== null', '!= undefined')).map(([of, test]) => `(${of}) ${test}`),
      source.map((of) => `!(${of})`),
      source.map((of) => `-(${of})`),
      fc
        .tuple(source, fc.constantFrom('+', '-', '*', '/', '%', '**'), source)
        .map(([left, operator, right]) => `((${left}) ${operator} (${right}))`),
      fc
        .tuple(fc.constantFrom('this.text', "'b a'", `\`A\${this.n}\``), method)
        .map((parts) => parts.join('')),
      fc
        .tuple(
          fc.constantFrom('[1, 2]', '[this.text, this.tree]'),
          fc.constantFrom('map', 'filter', 'find'),
          arrow,
        )
        .map(([list, name, given]) => `${list}.${name}(${given})`),
      fc.tuple(source, source, source).map(([test, yes, no]) => `(${test}) ? (${yes}) : (${no})`),
      fc.array(source, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      fc.tuple(source, source).map(([a, b]) => `({ a: ${a}, 'b c': ${b}, a: ${b} })`),
      fc.tuple(source, source).map(([a, b]) => `\`<\${${a}}\\n\${(${b}) as unknown}>\``),
    ),
  };
});

/** Lowers all sources in one program, since opening one is what takes time. */
function lowerAll(sources: readonly string[]): readonly (Expr | undefined)[] {
  const decorator = 'const D = () => (_target: object, _key: string) => {};';
  const members = sources.map((each, index) => `  @D() f${index} = ${each};`);
  const overlay = new Map([['generated.ts', `${decorator}\nexport class C {\n${members.join('\n')}\n}\n`]]);
  const host = new SourceHost({ root: '/virtual', files: ['generated.ts'], overlay });
  const [file] = host.sourceFiles();
  expect(file?.faults.map(({ message, place }) => [message, sources[place.span[0] - 3]])).toEqual([]);
  return (file?.classes[0]?.fields ?? []).map(({ initializer }, index) => {
    if (initializer === undefined) throw new Error(`no initializer: ${sources[index]}`);
    let isRefused = false;
    const lowered = lowerExpression(initializer, {
      bindings: {
        resolve: bind,
        find: bind,
        hintFor: () => ({}),
        intendedName: () => undefined,
        isDeclaredBelow: () => false,
        settlingOf: () => undefined,
      },
      handles: {
        tool: () => undefined,
        resource: () => undefined,
        workflow: () => undefined,
        state: () => undefined,
        agent: () => undefined,
        response: () => undefined,
        text: () => undefined,
        privateToolsIn: () => [],
        isExcused: () => false,
      },
      report: ({ code, message }) => {
        isRefused = code === 'SW2005';
        // A list or an object as a condition is refused; all else can be stored.
        if (!isRefused) throw new Error(`${code} ${message}: ${sources[index]}`);
      },
    });
    if (lowered === undefined && !isRefused) throw new Error(`not lowered: ${sources[index]}`);
    return lowered;
  });
}

function bind(name: string): Binding {
  return { kind: 'value', expr: { kind: 'ref', root: 'inputs', path: [name] } };
}

type Data = Readonly<Record<string, Json | undefined>>;
type Outcome = { readonly value: Value } | { readonly error: string };

function ours(expr: Expr, data: Data): Outcome {
  try {
    return { value: evaluate(expr, { lookup: (_root, name) => data[name] }, new Budget(100_000)) };
  } catch (error) {
    if (error instanceof ExpressionError) return { error: error.code };
    throw error;
  }
}

function compile(text: string): () => unknown {
  const { outputText } = ts.transpileModule(`function run() { return (${text}); }`, {
    compilerOptions: { target: ts.ScriptTarget.ES2022 },
  });
  return new Function(`${outputText}; return run;`)();
}

function javascript(run: () => unknown, data: Data): Outcome {
  try {
    return { value: plainJson(run.call(data)) };
  } catch (error) {
    if (error instanceof TypeError) return { error: 'TypeError' };
    throw error;
  }
}

/** What JSON keeps of a value: absent properties go, absent items become null. */
function plainJson(value: unknown): Value {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Where JavaScript converts, or gives meaning to identity, the language has a named error instead. */
const STRICTER = [
  'E_NOT_AN_OBJECT',
  'E_COMPARE_TYPES',
  'E_KEY_TYPE',
  'E_OPERAND_TYPES',
  'E_TEXT_VALUE',
  'E_ARGUMENT_TYPE',
  'E_TEXT_VALUE',
  'E_NUMBER',
  'E_UNSAFE_INTEGER',
];

describe('lowerExpression', () => {
  test('keeps the meaning of the source in JavaScript', () => {
    const seed = PROPERTY_SEED;
    const sources = fc.sample(source, { numRuns: isNightly ? 600 : 60, seed });
    const scopes = fc.sample(fc.record(fields, { noNullPrototype: true }), { numRuns: 8, seed });
    const seen = { equal: 0, failed: 0, stricter: 0 };
    for (const [index, expr] of lowerAll(sources).entries()) {
      const text = sources[index] ?? '';
      if (expr === undefined) continue;
      const run = compile(text);
      for (const scope of scopes) {
        const [tree, js] = [ours(expr, scope), javascript(run, scope)];
        const about = { seed, text, scope };
        if ('error' in js) {
          expect({ ...about, failed: 'error' in tree }).toEqual({ ...about, failed: true });
          seen.failed++;
        } else if ('error' in tree) {
          expect({ ...about, stricter: STRICTER.includes(tree.error) }).toEqual({ ...about, stricter: true });
          seen.stricter++;
        } else {
          expect({ ...about, ...tree }).toEqual({ ...about, ...js });
          seen.equal++;
        }
      }
    }
    // The comparison would be worth little if few sources had a value.
    expect(3 * seen.equal).toBeGreaterThan(seen.failed + seen.stricter);
  });
});

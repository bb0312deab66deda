import fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { Budget, ExpressionError, evaluate } from '../../graph/expression/evaluate.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json, Value } from '../../graph/json.js';
import { openSourceHost } from '../source-host.js';
import type { Binding } from './bindings.js';
import { lowerExpression } from './expressions.js';

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
      fc.tuple(source, source, source).map(([test, yes, no]) => `(${test}) ? (${yes}) : (${no})`),
      fc.array(source, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      fc.tuple(source, source).map(([a, b]) => `({ a: ${a}, 'b c': ${b}, a: ${b} })`),
      fc.tuple(source, source).map(([a, b]) => `\`<\${${a}}\\n\${(${b}) as string}>\``),
    ),
  };
});

/** Lowers all sources in one program, since opening one is what takes time. */
function lowerAll(sources: readonly string[]): readonly Expr[] {
  const decorator = 'const D = () => (_target: object, _key: string) => {};';
  const members = sources.map((each, index) => `  @D() f${index} = ${each};`);
  const overlay = new Map([['generated.ts', `${decorator}\nexport class C {\n${members.join('\n')}\n}\n`]]);
  const host = openSourceHost({ root: '/virtual', files: ['generated.ts'], overlay });
  const [file] = host.sourceFiles();
  expect(file?.faults.map(({ message, place }) => [message, sources[place.span[0] - 3]])).toEqual([]);
  return (file?.classes[0]?.fields ?? []).map(({ initializer }, index) => {
    if (initializer === undefined) throw new Error(`no initializer: ${sources[index]}`);
    const lowered = lowerExpression(initializer, {
      bindings: { resolve: bind, find: bind },
      report: ({ code, message }) => {
        throw new Error(`${code} ${message}: ${sources[index]}`);
      },
    });
    if (lowered === undefined) throw new Error(`not lowered: ${sources[index]}`);
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
const STRICTER = ['E_NOT_AN_OBJECT', 'E_COMPARE_TYPES', 'E_KEY_TYPE'];

describe('lowerExpression', () => {
  test('keeps the meaning that a source has in JavaScript', () => {
    const seed = Date.now();
    const sources = fc.sample(source, { numRuns: 600, seed });
    const scopes = fc.sample(fc.record(fields, { noNullPrototype: true }), { numRuns: 8, seed });
    const seen = { equal: 0, failed: 0, stricter: 0 };
    for (const [index, expr] of lowerAll(sources).entries()) {
      const text = sources[index] ?? '';
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
    // The comparison would be worth little if most sources failed.
    expect(seen.equal).toBeGreaterThan(seen.failed + seen.stricter);
  });
});

import { describe, expect, test } from 'vitest';
import { common, graphOf, step as node } from '../../src/check/check-graph.fixture.js';
import { checkGraph } from '../../src/check/check-graph.js';
import { constant, sequential, step, toolHandle } from '../../src/formats/builder/index.js';
import { parseWorkflows } from '../../src/formats/index.js';
import { valueFault } from '../../src/formats/json-schema/schema-compiler.js';
import { dict, literal, ref } from '../../src/graph/expression/build.fixture.js';
import type { Expr } from '../../src/graph/expression/tree.js';
import type { Graph } from '../../src/graph/model.js';

const limited = {
  type: 'object',
  properties: {
    n: { type: 'number', maximum: 10 },
    s: { type: 'string', pattern: '^a' },
    l: { type: 'array', items: { type: 'string', maxLength: 3 }, maxItems: 1 },
    level: { enum: ['low', 'high'] },
    page: { type: 'object', properties: { day: { type: 'string', format: 'date' } } },
    any: {},
  },
};
const environment = {
  tools: new Map([['lim', { inputSchema: limited }]]),
  resources: new Map(),
  workflows: new Map(),
};

const errorsOf = (graph: Graph): string[] =>
  checkGraph(graph, environment, { valueFault })
    .filter(({ severity }) => severity === 'error')
    .map(({ code, message }) => `${code} ${message}`);

/** The errors of a call of the tool. */
const errorsOfCall = (input: Record<string, Expr>): string[] =>
  errorsOf(graphOf([node(1, 'a', 'lim', input)], { inputs: [] }));

describe('a constant', () => {
  test.each<[string, Record<string, Expr>, string[]]>([
    ['above a limit', { n: literal(99) }, ['step `a` gives `99` for `n` of tool `lim`: it must be <= 10']],
    [
      'outside a pattern',
      { s: literal('bbb') },
      ['step `a` gives `"bbb"` for `s` of tool `lim`: it must match pattern "^a"'],
    ],
    [
      'with too many items',
      { l: literal(['a', 'b']) },
      ['step `a` gives `["a","b"]` for `l` of tool `lim`: it must NOT have more than 1 items'],
    ],
    [
      'outside a list',
      { level: literal('hihg') },
      ['step `a` gives `"hihg"` for `level` of tool `lim`: it must be one of "low", "high"'],
    ],
    [
      'inside an object',
      { page: dict({ day: literal('soon') }) },
      ['step `a` gives `{"day":"soon"}` for `page` of tool `lim`: `/day` must match format "date"'],
    ],
    [
      'beside a value of a run',
      { page: dict({ day: literal('soon'), other: ref('inputs', 'x') }) },
      ['step `a` gives `"soon"` for `page.day` of tool `lim`: it must match format "date"'],
    ],
  ])('%s is refused', (_name, input, messages) => {
    expect(errorsOfCall(input).filter((text) => text.startsWith('SW4048'))).toEqual(
      messages.map((text) => `SW4048 ${text}`),
    );
  });

  test.each<[string, Expr, string[]]>([
    [
      'too long',
      literal('abcdef'),
      ['SW4048 step `s` gives `"abcdef"` for `word` of the state: it must NOT have more than 3 characters'],
    ],
    ['of another type', literal(1), [expect.stringMatching(/^SW4012 /)]],
    ['that fits', literal('abc'), []],
  ])('of a field of state: %s', (_name, value, messages) => {
    const graph = graphOf([{ ...common, kind: 'set', id: 's', updates: [{ field: 'word', value }] }], {
      inputs: [],
      state: [{ name: 'word', scope: 'run', schema: { type: 'string', maxLength: 3 }, initial: 'a' }],
    });
    expect(errorsOf(graph)).toEqual(messages);
  });

  test('that a field of state begins with is compared with the whole schema', () => {
    const state: Graph['state'] = [
      { name: 'word', scope: 'run', schema: { type: 'string', maxLength: 3 }, initial: 'abcdef' },
    ];
    expect(errorsOf(graphOf([], { inputs: [], state }))).toEqual([
      "SW4035 the first value of the state's field `word` does not fit its schema: it must NOT have more than 3 characters",
    ]);
  });

  test('that fits is accepted, and one of another type is said once', () => {
    expect(
      errorsOfCall({
        n: literal(10),
        s: literal('ab'),
        l: literal(['a']),
        level: literal('low'),
        any: literal(9),
      }),
    ).toEqual([]);
    expect(errorsOfCall({ n: literal('x') })).toEqual([expect.stringMatching(/^SW4012 /)]);
  });

  test('of a spec file is compared as well', async () => {
    const text =
      'workflows:\n  w:\n    description: d\n    graph:\n      a: { call: lim, args: { level: hihg } }\n';
    const { diagnostics } = await parseWorkflows(text, {
      file: 'w.yaml',
      format: 'yaml',
      registered: environment,
    });
    expect(diagnostics.map(({ code }) => code)).toContain('SW4048');
  });

  test('of a program is compared as well', () => {
    const built = sequential('w', 'd').step(step(toolHandle('lim')).arg('level', constant('hihg')));
    expect(() => built.build(environment)).toThrow('it must be one of "low", "high"');
  });
});

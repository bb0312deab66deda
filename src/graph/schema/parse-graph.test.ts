import fc from 'fast-check';
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
} from '../expression/build.fixture.js';
import type { Expr } from '../expression/tree.js';
import { MAX_EXPRESSION_DEPTH } from '../limits.js';
import { parseGraph } from './parse-graph.js';

const base = { after: [], join: 'none_failed', executor: 'server' };

function graphOf(nodes: readonly unknown[], more: object = {}): unknown {
  return { graphVersion: 1, name: 'a', description: 'b', inputs: [], instructions: [], nodes, ...more };
}

function returning(value: unknown): unknown {
  return graphOf([{ kind: 'return', id: 'r', ...base, value }]);
}

/** `code place: problem` of every diagnostic. */
function faults(data: unknown): string[] {
  const result = parseGraph(data);
  if (result.ok) return [];
  return result.diagnostics.map(({ code, message, place }) =>
    [
      code,
      ...(place === undefined ? [] : [place.span.join(':')]),
      message.replace('the graph is malformed: ', ''),
    ].join(' '),
  );
}

describe('parseGraph', () => {
  test('takes a graph with every kind of step and expression of this version, unchanged', () => {
    const at = [1, 2, 3, 4];
    const x = ref('inputs', 'x');
    const everything: Expr[] = [
      literal(),
      literal({ a: [null, 1.5] }),
      { ...ref('steps', 'a', 'b', 0), at: [1, 1, 1, 2] },
      { kind: 'get', of: x, key: literal('k'), optional: true },
      { kind: 'compare', left: x, ops: [{ op: 'lt.js', right: x }] },
      { kind: 'and', truth: 'truthy.js', items: [x] },
      { kind: 'or', truth: 'boolean', items: [x, x] },
      { kind: 'not', truth: 'boolean', of: x },
      // biome-ignore lint/suspicious/noThenProperty: the name is the model's
      { kind: 'conditional', truth: 'boolean', test: x, then: x, else: x },
      { kind: 'list', items: [{ value: x }, { value: x, spread: true }] },
      { kind: 'dict', entries: [{ key: '__proto__', value: x }, { spread: x }] },
      { kind: 'call', fn: 'coalesce', args: [x, x] },
      text('display', 'a', x),
      slice(x, x, x),
      optional(slice(x)),
      arithmetic(x, 'mod.js', { kind: 'negate', of: x }),
      optional(map(x, 'a', local('a', 0), 'i')),
      ask('every', x, 'a', local('a')),
      bound('a', x, local('a')),
      optional(method('split.js', x, x, x)),
    ];
    const source = { file: 'a.ts', span: at, pointer: '/x' };
    const data = graphOf(
      [
        {
          kind: 'call',
          id: 'c',
          ...base,
          tool: 't',
          input: dict({ a: { kind: 'list', items: everything.map((value) => ({ value })) } }),
          source,
        },
        {
          kind: 'resource',
          id: 'r',
          ...base,
          resource: 'i',
          uri: literal('a:b'),
          when: x,
          guidance: text('display', x),
          onError: { value: ref('error', 'code') },
        },
        { kind: 'compute', id: 'p', ...base, value: x, summary: ref('steps', 'p') },
        {
          kind: 'compute',
          id: 'f',
          ...base,
          value: list(x, x),
          function: { name: 'slugify', hash: 'a1'.repeat(32) },
          onError: { value: literal(null) },
        },
        {
          kind: 'error',
          id: 'e',
          ...base,
          message: literal('no'),
          title: 'E',
          timeoutMs: 5,
          retry: { extra: 2, delayMs: 0, backoff: 'linear', capMs: 60_000, jitter: 0.5 },
        },
        { kind: 'return', id: 'd', ...base, after: ['e'], value: x },
      ],
      {
        inputs: [
          {
            name: 'x',
            description: 'd',
            schema: { type: 'string' },
            required: false,
            default: 'a',
            secret: true,
          },
        ],
        instructions: [{ resource: 'i', uri: 'a:b', source }],
        failFast: false,
        errorStrategy: { kind: 'collect' },
        maxConcurrency: 3,
        expose: ['prompt'],
        returns: x,
      },
    );
    expect(parseGraph(data)).toEqual({ ok: true, graph: data });
    expect(parseGraph(JSON.parse(JSON.stringify(data)))).toEqual({ ok: true, graph: data });
  });

  test('names every fault with a pointer, all at once', () => {
    const data = graphOf(
      [
        {
          kind: 'call',
          id: 5,
          ...base,
          tool: 't',
          input: literal(1),
          source: { file: 'a.ts', span: [3, 1, 3, 2] },
        },
        { kind: 'return', id: 'r', ...base, join: 'all', value: { kind: 'literal', value: 1, valeu: 2 } },
        7,
      ],
      { graphVersion: 2, 'a/b~c': 1 },
    );
    expect(faults(data)).toEqual([
      'SW4011 `/graphVersion`: invalid input: expected 1',
      'SW4011 3:1:3:2 `/nodes/0/id`: invalid input: expected string, received number',
      'SW4011 3:1:3:2 `/nodes/0/input/kind`: invalid input: expected "dict"',
      'SW4011 3:1:3:2 `/nodes/0/input/entries`: invalid input: expected array, received undefined',
      'SW4011 3:1:3:2 `/nodes/0/input/value`: this version knows no such property',
      expect.stringMatching(/^SW4011 `\/nodes\/1\/join`: invalid option: expected one of /),
      'SW4011 `/nodes/1/value/valeu`: this version knows no such property',
      'SW4011 `/nodes/2`: invalid input: expected object, received number',
      'SW4011 `/a~1b~0c`: this version knows no such property',
    ]);
  });

  test('reads work of the client, and refuses it of kinds that the server runs', () => {
    const client = { ...base, executor: 'client' };
    const tool = { kind: 'call', id: 'c', ...client, tool: 't', input: { kind: 'dict', entries: [] } };
    const command = { kind: 'shell', id: 's', ...client, command: literal('ls'), failOnError: true };
    const task = { kind: 'delegate', id: 'd', ...client, agent: '@reviewer', prompt: literal('Review.') };
    const loop = { kind: 'foreach', id: 'l', ...base, items: literal([]), as: 'x', body: { nodes: [] } };
    const limits = { concurrency: 1, max: 1, onItemError: 'settle', agent: '@reviewer', resultsAs: 'before' };
    expect(faults(graphOf([tool, command, task, { ...loop, ...limits }]))).toEqual([]);
    expect(
      faults(
        graphOf([
          { ...command, executor: 'server' },
          { ...task, agent: 'reviewer' },
          { ...loop, ...limits, executor: 'client' },
          { ...loop, ...limits, concurrency: 2 },
          { ...tool, executor: 'robot', agent: 'reviewer' },
        ]),
      ),
    ).toEqual([
      'SW4011 `/nodes/0/executor`: invalid input: expected "client"',
      'SW4011 `/nodes/1/agent`: invalid string: must match pattern /^@[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/',
      'SW4011 `/nodes/2/executor`: invalid input: expected "server"',
      'SW4011 `/nodes/3/resultsAs`: items that read the results of others run one at a time',
      'SW4011 `/nodes/4/executor`: invalid option: expected one of "server"|"client"',
      'SW4011 `/nodes/4/agent`: this version knows no such property',
    ]);
  });

  test('refuses what this version would ignore', () => {
    const node = { kind: 'return', id: 'r', ...base, value: literal(1) };
    expect(faults(graphOf([{ ...node, onError: { value: literal(1) } }]))).toEqual([
      'SW4011 `/nodes/0/onError`: this version knows no such property',
    ]);
    expect(faults(graphOf([{ ...node, executor: 'client' }]))).toHaveLength(1);
    expect(faults(graphOf([{ ...node, compensate: { tool: 't', input: dict({}) } }]))).toHaveLength(1);
    expect(faults(graphOf([{ ...node, output: 'r' }]))).toHaveLength(1);
  });

  test('takes a function by its name and hash, with a list of its arguments', () => {
    const hash = '0'.repeat(64);
    const compute = (value: Expr, called: object): string[] =>
      faults(graphOf([{ kind: 'compute', id: 'c', ...base, value, function: called }]));
    expect(compute(list(literal(1)), { name: 'ok', hash })).toEqual([]);
    expect(compute(literal([1]), { name: 'ok', hash })).toEqual([
      'SW4011 `/nodes/0/value`: the arguments of a function are a list without spreads',
    ]);
    expect(compute(list([literal([1])]), { name: 'ok', hash })).toHaveLength(1);
    for (const called of [
      { name: 'a b', hash },
      { name: '__proto__', hash },
      { name: 'ok', hash: '0' },
      {},
    ]) {
      expect(compute(list(), called).length).toBeGreaterThan(0);
    }
  });

  test.each([
    [{ kind: 'slice', of: literal([]) }, '/style`: '],
    [{ ...slice(literal([])), step: literal(1) }, '/step`: only a slice of Python has a step'],
    [{ kind: 'arithmetic', op: 'add.rb', left: literal(1), right: literal(1) }, '/op`: '],
    [
      { ...map(literal([]), 'x', literal(1)), truth: 'boolean' },
      '/truth`: this version knows no such property',
    ],
    [{ kind: 'each', mode: 'filter', as: 'x', in: literal([]), body: literal(1) }, '/truth`: '],
    [map(literal([]), '', literal(1)), '/as`: '],
    [{ kind: 'let', name: '', value: literal(1), body: literal(1) }, '/name`: '],
    [
      { ...call('coalesce', literal(1)), optional: true },
      '`: `coalesce` is not a method, and cannot be optional',
    ],
    [{ kind: 'literal', value: Number.NaN }, '/value`: not a JSON value'],
    [{ kind: 'literal', value: new Date(0) }, '/value`: not a JSON value'],
    [{ kind: 'literal', value: undefined }, '/value`: not a JSON value'],
    [{ kind: 'ref', root: 'inputs', path: [] }, '/path`: '],
    [get(ref('inputs', 'a', 'b'), 'c'), '/key`: a written key of a reference is part of its `path`'],
    [get(ref('steps', 'a'), 0), '/key`: a written key of a reference is part of its `path`'],
    [{ kind: 'ref', root: 'constructor', path: ['a'] }, '/root`: '],
    [{ kind: 'call', fn: 'constructor', args: [] }, '`: there is no function `constructor`'],
    [{ kind: 'call', fn: 'isNullish', args: [] }, '`: `isNullish` takes 1 argument, and 0 were given'],
    [{ kind: 'dict', entries: [{ key: 'a', value: { kind: 'and' } }] }, '/entries/0/value/truth`: '],
    [{ kind: 'not', truth: 'truthy.rb', of: literal(1) }, '/truth`: '],
  ])('refuses the expression %j', (expr, problem) => {
    const found = faults(returning(expr));
    expect(found[0]).toContain(`\`/nodes/0/value${problem}`);
  });

  test('refuses `__proto__` as a property of the model', () => {
    const data = JSON.parse('{"graphVersion":1,"__proto__":{"name":"x"}}');
    expect(faults(data)).toContain('SW4011 `/__proto__`: this version knows no such property');
  });

  test('takes trees as deep as they can be evaluated, and refuses deeper and cyclic data', () => {
    let deep: Expr = literal(1);
    for (let depth = 0; depth < MAX_EXPRESSION_DEPTH - 1; depth++) deep = dict({ a: deep });
    expect(faults(returning(deep))).toEqual([]);
    for (let depth = 0; depth < 20_000; depth++) deep = dict({ a: deep });
    expect(faults(returning(deep))).toEqual(['SW4011 it is nested deeper than 400 levels']);
    const cyclic: unknown[] = [];
    cyclic.push(cyclic, cyclic);
    expect(faults(cyclic)).toEqual(['SW4011 it is nested deeper than 400 levels']);
  });

  test('reports anything that is not a graph, and never throws', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true, withDate: true }), (data) => {
        expect(faults(data).length).toBeGreaterThan(0);
      }),
    );
  });
});

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyGraph } from './any-graph.fixture.js';
import { canonicalGraph, canonicalJson, hashGraph, withoutPlaces } from './canonical.js';
import type { Json, Value } from './json.js';
import type { Graph } from './model.js';
import { sha256Hex } from './sha256.js';

/** JSON as it comes from a parser: no `-0`, no null prototypes. */
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json);

function shuffled(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(shuffled);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, each]) => [key, shuffled(each)]),
  );
}

const graph: Graph = {
  graphVersion: 1,
  name: 'add-task',
  description: 'Adds a task',
  inputs: [
    {
      name: 'task',
      description: 'What',
      schema: { type: 'object', properties: { source: {}, at: {} } },
      required: true,
    },
  ],
  instructions: [{ resource: 'intro', uri: 'resource://intro' }],
  nodes: [
    {
      kind: 'call',
      id: 'list',
      after: [],
      join: 'none_failed',
      executor: 'server',
      tool: 'list-pages',
      input: {
        kind: 'dict',
        entries: [
          { key: 'source', value: { kind: 'literal', value: { source: 'kept', at: [1] } } },
          { key: 'at', value: { kind: 'ref', root: 'inputs', path: ['task'] } },
        ],
      },
    },
  ],
};

/** The same graph with a place on everything that can have one. */
function placed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(placed);
  if (typeof value !== 'object' || value === null) return value;
  const part = value as { readonly [key: string]: unknown };
  if (part.type === 'object') return part;
  if (part.kind === 'literal') return { ...part, at: [1, 2, 3, 4] };
  const inner = Object.fromEntries(Object.entries(part).map(([key, each]) => [key, placed(each)]));
  const isExpr = part.kind === 'dict' || part.kind === 'ref';
  return isExpr ? { ...inner, at: [1, 2, 3, 4] } : { ...inner, source: { file: 'a.ts', span: [1, 2, 3, 4] } };
}

describe('canonicalJson', () => {
  test('does not depend on the order of keys', () => {
    fc.assert(fc.property(json, (value) => canonicalJson(shuffled(value)) === canonicalJson(value)));
  });

  test('is read back as the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(value);
      }),
    );
  });

  test('sorts keys by UTF-16 code units and writes no spaces', () => {
    const value = { b: 1, a: [1, { d: null, c: 'x' }], '\u{1f600}': 1, '\uff61': 2, 10: 'ten', 9: 'nine' };
    expect(canonicalJson(value)).toBe(
      '{"10":"ten","9":"nine","a":[1,{"c":"x","d":null}],"b":1,"\u{1f600}":1,"\uff61":2}',
    );
  });

  test('drops absent properties, makes absent items null, and keeps `__proto__`', () => {
    const absent = { a: undefined, b: [undefined, 1] } as unknown as Value;
    expect(canonicalJson(absent)).toBe('{"b":[null,1]}');
    expect(canonicalJson(undefined)).toBe('null');
    expect(canonicalJson(JSON.parse('{"__proto__":1}') as Value)).toBe('{"__proto__":1}');
    expect(canonicalJson(-0)).toBe('0');
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, () => 1, Symbol('x'), 1n])(
    'refuses what JSON cannot hold',
    (value) => {
      expect(() => canonicalJson({ value } as unknown as Value)).toThrow(TypeError);
    },
  );
});

describe('canonicalGraph', () => {
  test('leaves places out and nothing else', () => {
    const text = canonicalGraph(placed(graph) as Graph);
    expect(text).not.toContain('a.ts');
    expect(text).toBe(canonicalJson(graph as unknown as Value));
    expect(hashGraph(placed(graph) as Graph)).toBe(hashGraph(graph));
  });

  test('a graph that means something else has another hash', () => {
    expect(hashGraph({ ...graph, name: 'add-tasks' })).not.toBe(hashGraph(graph));
    expect(hashGraph(graph)).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('withoutPlaces', () => {
  test('reads as the canonical JSON does', () => {
    fc.assert(
      fc.property(anyGraph, json, (any, initial) => {
        const whole = { ...any, state: [{ name: 's', scope: 'run', schema: { at: -0 }, initial }] } as Graph;
        expect(withoutPlaces(whole)).toEqual(JSON.parse(canonicalGraph(whole)));
        expect(canonicalJson(withoutPlaces(whole) as unknown as Value)).toBe(canonicalGraph(whole));
      }),
      { numRuns: 100 },
    );
  });

  test('leaves places out, keeps the JSON of authors, and shares nothing', () => {
    const copy = withoutPlaces(placed(graph) as Graph);
    expect(copy).toEqual(graph);
    expect(copy.inputs[0]?.schema).not.toBe(graph.inputs[0]?.schema);
  });

  test('refuses what JSON cannot hold', () => {
    const odd = (initial: unknown) =>
      ({ ...graph, state: [{ name: 's', scope: 'run', schema: {}, initial }] }) as Graph;
    for (const value of [Number.NaN, 1n, () => 1, Symbol('s')])
      expect(() => withoutPlaces(odd(value))).toThrow(TypeError);
  });
});

function expected(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

describe('sha256Hex', () => {
  test('hashes the UTF-8 bytes of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(sha256Hex(text)).toBe(expected(text));
      }),
    );
  });

  test.each(['a\ud800b', '\udc00', 'a\ud83d'])('takes half a surrogate pair for U+FFFD: %j', (text) => {
    expect(sha256Hex(text)).toBe(expected(text));
  });

  test('hashes texts around the sizes at which blocks and chunks end', () => {
    const ends = [0, 55, 56, 64, 119, 120, 128, 4_095, 4_096, 4_097, 8_192, 12_345];
    for (const length of ends) {
      for (const unit of ['a', 'ä', '語', '\u{1f600}']) {
        const text = `x${unit.repeat(length)}`;
        expect(sha256Hex(text)).toBe(expected(text));
        expect(sha256Hex(text.slice(1))).toBe(expected(text.slice(1)));
      }
    }
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import { copyJson, DEPTH_LIMIT, findProtoKey, isWithin, jsonSize, toJson } from './to-json.js';

const jsonOf = (value: unknown): unknown => {
  const json = toJson(value);
  expect(json).toMatchObject({ ok: true });
  return json.ok ? json.value : undefined;
};

const nested = (levels: number): unknown => {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
};

describe('toJson', () => {
  test('follows JSON.stringify for everything JSON can hold', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        expect(JSON.stringify(jsonOf(value))).toBe(JSON.stringify(value));
      }),
    );
  });

  test('never throws, and says what JSON.parse gives back', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }),
        (value) => {
          const json = toJson(value);
          if (json.ok) expect(JSON.parse(JSON.stringify(json.value))).toEqual(json.value);
          else expect(json.problem).not.toBe('');
        },
      ),
    );
  });

  test('nothing is null, absent members are dropped, absent items and holes are null', () => {
    expect(jsonOf(undefined)).toBe(null);
    expect(jsonOf({ a: undefined, b: [undefined, 1] })).toEqual({ b: [null, 1] });
    // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
    expect(jsonOf([, 1])).toEqual([null, 1]);
    expect(Object.is(jsonOf(-0), 0)).toBe(true);
  });

  test('dates and toJSON count, and toJSON once only', () => {
    expect(jsonOf({ at: new Date(0) })).toEqual({ at: '1970-01-01T00:00:00.000Z' });
    expect(jsonOf({ toJSON: (key: string) => `as ${key}` })).toBe('as ');
    expect(jsonOf({ x: { toJSON: (key: string) => `as ${key}` } })).toEqual({ x: 'as x' });
    expect(jsonOf({ toJSON: () => ({ a: 1, b: undefined }) })).toEqual({ a: 1 });
    expect(jsonOf(new URL('https://example.org/x'))).toBe('https://example.org/x');
  });

  test('own fields of a class instance count, as JSON takes them', () => {
    class Page {
      name = 'Ada';
      #hidden = 1;
      get size() {
        return this.#hidden;
      }
    }
    expect(jsonOf(new Page())).toEqual({ name: 'Ada' });
  });

  test('a member called __proto__ is a member', () => {
    const value = jsonOf(JSON.parse('{"__proto__": {"admin": true}}')) as Record<string, unknown>;
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value.admin).toBe(undefined);
  });

  test('the copy shares nothing with the original', () => {
    const inner = { list: [1] };
    const copy = jsonOf({ a: inner, b: inner }) as { a: { list: number[] }; b: unknown };
    inner.list.push(2);
    expect(copy).toEqual({ a: { list: [1] }, b: { list: [1] } });
    expect(copy.a).not.toBe(copy.b);
  });

  const cycle: Record<string, unknown> = { a: [{}] };
  (cycle.a as Record<string, unknown>[])[0]!.up = cycle;
  const inner: Record<string, unknown> = {};
  inner.self = inner;

  test.each<[string, unknown, string, RegExp]>([
    ['a function', { f: () => 1 }, '/f', /a function/],
    ['a symbol', [Symbol('s')], '/0', /a symbol/],
    ['a bigint', { n: 1n }, '/n', /a bigint/],
    ['NaN', { a: { b: [0, Number.NaN] } }, '/a/b/1', /NaN/],
    ['Infinity', Number.POSITIVE_INFINITY, '', /Infinity/],
    ['a Map', { m: new Map([[1, 2]]) }, '/m', /kind Map/],
    ['a Set', new Set([1]), '', /kind Set/],
    ['a promise', { later: Promise.resolve(1) }, '/later', /kind Promise/],
    ['an error', { e: new Error('x') }, '/e', /kind Error/],
    ['a regular expression', /x/, '', /kind RegExp/],
    ['bytes', { b: new Uint8Array(1) }, '/b', /kind Uint8Array/],
    ['an invalid date', { d: new Date(Number.NaN) }, '/d', /an invalid date/],
    ['a cycle', cycle, '/a/0/up', /the same object as the result itself/],
    ['a cycle further down', { x: inner }, '/x/self', /the same object as \/x$/],
    ['a key that needs escaping', { 'a/b~c': Symbol() }, '/a~1b~0c', /a symbol/],
    ['a huge array', { a: new Array(4_000_000_000) }, '/a', /more than 1000000 values/],
  ])('%s is refused at its place', (_name, value, pointer, problem) => {
    const json = toJson(value);
    expect(json).toMatchObject({ ok: false, pointer });
    expect(json.ok ? '' : json.problem).toMatch(problem);
  });

  test('a getter, a proxy or a toJSON that throws is a fault at its place', () => {
    const getter = {
      a: {
        get b(): never {
          throw new Error('no b');
        },
      },
    };
    expect(toJson(getter)).toMatchObject({
      ok: false,
      pointer: '/a/b',
      problem: expect.stringMatching(/no b/),
    });
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    expect(toJson({ p: revoked.proxy })).toMatchObject({ ok: false, pointer: '/p' });
    const thrower = {
      toJSON() {
        throw undefined;
      },
    };
    expect(toJson([thrower])).toMatchObject({ ok: false, pointer: '/0' });
  });

  test('depth is limited, and the limit is named', () => {
    expect(toJson(nested(DEPTH_LIMIT))).toMatchObject({ ok: true });
    expect(toJson(nested(DEPTH_LIMIT + 1))).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/512 levels/),
    });
    expect(toJson(nested(100_000))).toMatchObject({ ok: false });
  });

  test('a small object that is huge as JSON is refused', () => {
    let doubling: unknown = ['x'];
    for (let round = 0; round < 40; round++) doubling = [doubling, doubling];
    expect(toJson(doubling)).toMatchObject({ ok: false, problem: expect.stringMatching(/1000000 values/) });
  });
});

describe('findProtoKey', () => {
  test('finds the object that has one, at any depth', () => {
    expect(findProtoKey({ a: [{ b: 1 }] })).toBe(undefined);
    expect(findProtoKey(JSON.parse('{"__proto__": 1}'))).toBe('');
    expect(findProtoKey(JSON.parse('{"a": [{"b": {"__proto__": {}}}]}'))).toBe('/a/0/b');
  });
});

test('a value that is JSON is copied, all of it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const copy = copyJson(value);
      // The one key that is left to `toJson`.
      if (JSON.stringify(value).includes('__proto__')) return;
      expect(copy).toEqual(JSON.parse(JSON.stringify(value)));
      const objects = (of: unknown): unknown[] =>
        typeof of === 'object' && of !== null ? [of, ...Object.values(of).flatMap(objects)] : [];
      const copies = new Set(objects(copy));
      expect(objects(value).some((each) => copies.has(each))).toBe(false);
    }),
  );
});

test('copies JSON as `toJson` does, and leaves other values unchanged', () => {
  fc.assert(
    fc.property(fc.anything({ withDate: true, withMap: true, withBigInt: true }), (value) => {
      const copy = copyJson(value);
      const json = toJson(value);
      if (copy !== undefined) expect({ ok: true, value: copy }).toEqual(json);
    }),
  );
  expect(copyJson([-0])).toEqual([0]);
  const cycle: unknown[] = [];
  cycle.push(cycle);
  for (const none of [
    undefined,
    Number.NaN,
    () => 1,
    1n,
    Symbol('s'),
    new Date(),
    new Map(),
    cycle,
    [undefined],
  ]) {
    expect(copyJson(none)).toBeUndefined();
  }
});

test('is the size of the JSON text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (any) => {
      const text = JSON.stringify(any);
      expect(jsonSize(JSON.parse(text) as Json, Number.POSITIVE_INFINITY)).toBe(Buffer.byteLength(text));
    }),
  );
});

test('is above the limit exactly where the text is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(60), (any, limit) => {
      const text = JSON.stringify(any);
      expect(jsonSize(JSON.parse(text) as Json, limit) > limit).toBe(Buffer.byteLength(text) > limit);
      expect(isWithin(JSON.parse(text) as Json, limit)).toBe(Buffer.byteLength(text) <= limit);
    }),
  );
});

test('a value whose text no string can hold has a size all the same', () => {
  const shared = 'x'.repeat(1_000_000);
  expect(jsonSize(Array<Json>(1_000).fill(shared), 1_000)).toBeGreaterThan(1_000_000_000);
});

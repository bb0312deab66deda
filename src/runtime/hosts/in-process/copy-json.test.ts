import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toJson } from '../../catalogue/to-json.js';
import { copyJson } from './copy-json.js';

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

test('what it copies is what `toJson` makes of it, and what is no JSON it leaves alone', () => {
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

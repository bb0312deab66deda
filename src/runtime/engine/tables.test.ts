import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SmallMap } from './tables.js';

const key = fc.integer({ min: 0, max: 5 }).map((number) => `c${number}`);
const operation = fc.oneof(fc.record({ set: key }), fc.record({ delete: key }), fc.constant({ clear: true }));

test('holds what a map would, in its order', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 40 }), (operations) => {
      const small = new SmallMap<{ readonly version: number }>();
      const map = new Map<string, { readonly version: number }>();
      for (const [version, each] of operations.entries()) {
        if ('set' in each) {
          const value = { version };
          small.set(each.set, value);
          map.set(each.set, value);
        } else if ('delete' in each) {
          expect(small.delete(each.delete)).toBe(map.get(each.delete));
          map.delete(each.delete);
        } else {
          small.clear();
          map.clear();
        }
        expect([...small.keys()]).toEqual([...map.keys()]);
        expect([...small.values()]).toEqual([...map.values()]);
        expect(small.size).toBe(map.size);
        for (const known of ['c0', 'c1', 'c5']) {
          expect(small.get(known)).toBe(map.get(known));
          expect(small.has(known)).toBe(map.has(known));
        }
      }
    }),
  );
});

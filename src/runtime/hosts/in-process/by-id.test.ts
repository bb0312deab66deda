import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ById } from './by-id.js';

const id = fc.integer({ min: 0, max: 5 }).map((number) => `c${number}`);
const operation = fc.oneof(
  fc.record({ set: id }),
  fc.record({ delete: id }),
  fc.constant({ clear: true }),
  fc.constant({ trim: true }),
);

test('holds what a map would, in its order', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 40 }), (operations) => {
      const things = new ById<{ readonly id: string; readonly version: number }>();
      const map = new Map<string, { readonly id: string; readonly version: number }>();
      for (const [version, each] of operations.entries()) {
        if ('set' in each) {
          const thing = { id: each.set, version };
          things.set(thing);
          map.set(thing.id, thing);
        } else if ('delete' in each) {
          expect(things.delete(each.delete)).toBe(map.get(each.delete));
          map.delete(each.delete);
        } else if ('clear' in each) {
          things.clear();
          map.clear();
        } else things.trim();
        expect([...things]).toEqual([...map.values()]);
        expect(things.size).toBe(map.size);
        for (const known of ['c0', 'c1', 'c5']) expect(things.get(known)).toBe(map.get(known));
      }
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Queue } from './queue.js';

const operation = fc.oneof(
  fc.record({ push: fc.integer({ min: 1, max: 2_000 }) }),
  fc.record({ shift: fc.integer({ min: 1, max: 2_500 }) }),
  fc.record({ unshift: fc.integer({ min: 1, max: 3 }) }),
);

test('gives what was put in, in order, however much was taken out', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 20 }), (operations) => {
      const queue = new Queue<number>();
      const list: number[] = [];
      let next = 0;
      for (const each of operations) {
        if ('push' in each) {
          for (let count = 0; count < each.push; count += 1) {
            list.push(next);
            queue.push(next++);
          }
        } else if ('shift' in each) {
          const taken = Array.from({ length: each.shift }, () => queue.shift());
          const expected = list.splice(0, each.shift);
          expect(taken.slice(0, expected.length)).toEqual(expected);
          expect(taken.slice(expected.length).every((item) => item === undefined)).toBe(true);
        } else {
          const items = Array.from({ length: each.unshift }, () => next++);
          list.unshift(...items);
          queue.unshift(...items);
        }
        expect([queue.length, [...queue]]).toEqual([list.length, list]);
      }
    }),
  );
});

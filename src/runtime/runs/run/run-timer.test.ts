import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DueTimes } from './open-commands.js';

/** What is done to a list of times: one is added, one is not wanted any more, or those that are due are taken. */
const operation = fc.oneof(
  fc.record({ add: fc.nat(50) }),
  fc.record({ drop: fc.nat(200) }),
  fc.record({ take: fc.nat(50) }),
);

test('the earliest wanted time is first, as in a list that is sorted each time', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const wanted = new Map<string, number>();
      const times = new DueTimes(wanted);
      const sorted = () => [...wanted.values()].sort((one, other) => one - other);
      let ids = 0;
      for (const each of operations) {
        if ('add' in each) {
          ids += 1;
          wanted.set(`${ids}`, each.add);
          times.add(`${ids}`, each.add);
        } else if ('drop' in each) wanted.delete(`${each.drop}`);
        else {
          const expected = sorted().filter((dueAt) => dueAt <= each.take);
          const taken: number[] = [];
          for (let due = times.takeDue(each.take); due !== undefined; due = times.takeDue(each.take)) {
            taken.push(due.dueAt);
            wanted.delete(due.id);
          }
          expect(taken).toEqual(expected);
        }
        expect(times.first?.dueAt).toBe(sorted()[0]);
      }
    }),
  );
});

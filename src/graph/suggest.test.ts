import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editDistance, nearestName } from './names.js';

describe('nearestName', () => {
  test.each([
    ['titel', ['title', 'text'], 'title'],
    ['listPages', ['add-task', 'list-pages'], 'list-pages'],
    ['LIST_PAGES', ['list-page', 'list-pages'], 'list-pages'],
    ['proejct', ['projects', 'project'], 'project'],
    ['x', ['y'], undefined],
    ['id', ['ids', 'at'], 'ids'],
    ['task', ['date', 'project'], undefined],
    ['a'.repeat(5000), ['a'.repeat(5001)], undefined],
    ['same', ['same'], undefined],
  ] as [string, string[], string | undefined][])('of %s', (name, known, expected) => {
    expect(nearestName(name, known)).toBe(expected);
  });

  test('of equally near names takes the first', () => {
    expect(nearestName('cat', ['bat', 'car'])).toBe('bat');
  });

  test('gives a known name or nothing', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (name, known) => {
        const nearest = nearestName(name, known);
        return nearest === undefined || known.includes(nearest);
      }),
    );
  });
});

describe('editDistance', () => {
  test('counts insertions, deletions, substitutions and swaps', () => {
    expect(editDistance('abc', 'abc')).toBe(0);
    expect(editDistance('', 'abc')).toBe(3);
    expect(editDistance('abc', 'acb')).toBe(1);
    expect(editDistance('abcd', 'abxd')).toBe(1);
    expect(editDistance('kitten', 'sitting')).toBe(3);
  });

  test('is symmetric and at most the longer length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (left, right) => {
        const distance = editDistance(left, right);
        expect(editDistance(right, left)).toBe(distance);
        expect(distance).toBeLessThanOrEqual(Math.max(left.length, right.length));
        expect(distance === 0).toBe(left === right);
      }),
    );
  });
});

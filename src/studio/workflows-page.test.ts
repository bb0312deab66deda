import fc from 'fast-check';
import { expect, test } from 'vitest';
import { differences } from './workflows-page.js';

const of = (kind: string, lines: ReturnType<typeof differences>) =>
  lines.filter((line) => line.kind === 'same' || line.kind === kind).map(({ text }) => text);

test('a change is shown by the lines that differ', () => {
  expect(differences('a\nb\nc\n', 'a\nx\nc\n')).toEqual([
    { kind: 'same', text: 'a' },
    { kind: 'removed', text: 'b' },
    { kind: 'added', text: 'x' },
    { kind: 'same', text: 'c' },
  ]);
  expect(differences('a', 'a').every(({ kind }) => kind === 'same')).toBe(true);
});

test('both texts are in their comparison, in order', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const compared = differences(before.join('\n'), after.join('\n'));
      expect(of('removed', compared)).toEqual(before);
      expect(of('added', compared)).toEqual(after);
    }),
  );
});

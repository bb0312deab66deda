import { expect, test } from 'vitest';
import { RESULT_LIMIT } from './block.js';
import { texts } from './texts.js';

test('the intent shows as much of the arguments as a call does, and says how long they are', () => {
  const shown = texts.intent('try', [
    ['short', 'a'],
    ['long', 'x'.repeat(100_000)],
  ]);
  expect(shown).toMatch(
    /^I want to try\.\nParameters:\n {2}- short: "a"\n {2}- long: "x+\n… \(cut; the full text/,
  );
  expect(shown).toContain('has 100028 characters');
  expect(shown.length).toBeLessThan(RESULT_LIMIT + 200);
});

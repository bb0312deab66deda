import { describe, expect, test } from 'vitest';
import { printed } from './diagnostic-examples.js';
import { checkExample, graphExamples } from './graph-examples.js';

describe('the graphs that show diagnostics', () => {
  const examples = graphExamples();

  test('exist', () => {
    expect(examples.length).toBeGreaterThan(10);
  });

  test.each(examples)('$code is what the check says', ({ code, faulty, said }) => {
    const found = checkExample(faulty);
    expect(found.map((each) => each.code)).toContain(code);
    expect(printed(found)).toBe(said);
  });

  test.each(examples)('after the repair of $code nothing is wrong', ({ repaired }) => {
    expect(printed(checkExample(repaired))).toBe('');
  });
});

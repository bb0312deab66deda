import { describe, expect, test } from 'vitest';
import { limited, maskedBlock, RESULT_LIMIT, textBlock } from './messages.js';

describe('limited', () => {
  test('cuts what is too long and names the full size', () => {
    expect(limited('x'.repeat(RESULT_LIMIT))).toEqual({ text: 'x'.repeat(RESULT_LIMIT) });
    expect(limited('x'.repeat(RESULT_LIMIT + 1))).toEqual({
      text: 'x'.repeat(RESULT_LIMIT),
      size: RESULT_LIMIT + 1,
    });
    const pairs = `x${'𝒳'.repeat(RESULT_LIMIT)}`;
    expect(limited(pairs).text).not.toMatch(/\p{Cs}/u);
  });
});

describe('maskedBlock', () => {
  const mask = (value: string) => value.replaceAll('hunter2', '••••');
  const shown = (told: Parameters<typeof textBlock>[1]) =>
    maskedBlock(textBlock('user', told, { 'stepwright/part': 'result' }), mask).content;

  test('masks a text as a whole', () => {
    expect(shown('it is hunter2')).toMatchObject({ text: 'it is ••••' });
  });

  test('rewrites a text that mentions its value', () => {
    const told = (masked: (value: string) => string) => {
      const value = masked('it is hunter2');
      return `${value.length}: ${value}`;
    };
    expect(textBlock('user', told, { 'stepwright/part': 'result' }).content).toMatchObject({
      text: '13: it is hunter2',
    });
    expect(shown(told)).toMatchObject({ text: '10: it is ••••' });
  });
});

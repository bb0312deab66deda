import { describe, expect, test } from 'vitest';
import { FAILURE_META, failureResult, successResult } from './wire.js';

const text = (value: string) => [{ type: 'text', text: value }];

describe('successResult', () => {
  test('an object is structured content as well', () => {
    expect(successResult({ a: 1 }, undefined)).toStrictEqual({
      content: text('{"a":1}'),
      structuredContent: { a: 1 },
    });
  });

  test.each([
    [[1], '[1]'],
    [null, 'null'],
    [true, 'true'],
    ['plain "text"', 'plain "text"'],
  ])('%j is text alone', (value, shown) => {
    expect(successResult(value, undefined)).toStrictEqual({ content: text(shown) });
  });

  test('a result in the form of MCP keeps its content', () => {
    const image = { type: 'image', data: 'AA==', mimeType: 'image/png' };
    const callResult = { content: [image], structuredContent: { a: 1 }, _meta: { seen: true } };
    expect(successResult({ a: 1 }, callResult)).toStrictEqual(callResult);
  });
});

describe('failureResult', () => {
  test('says why in its text, and to programs in _meta', () => {
    const failure = { code: 'E_TIMEOUT', message: 'too slow', outcomeUnknown: true } as const;
    expect(failureResult(failure)).toStrictEqual({
      content: text('too slow'),
      isError: true,
      _meta: { [FAILURE_META]: failure },
    });
  });

  test('an error in the form of MCP keeps its content', () => {
    const content = [...text('one'), { type: 'image', data: 'AA==', mimeType: 'image/png' }];
    const failure = { code: 'E_TOOL_ERROR', message: 'one', details: { n: 1 } };
    expect(
      failureResult(failure, { content, structuredContent: { n: 1 }, isError: true, _meta: { seen: true } }),
    ).toStrictEqual({
      content,
      structuredContent: { n: 1 },
      isError: true,
      _meta: { seen: true, [FAILURE_META]: failure },
    });
  });

  test('tells how long to wait before the next call', () => {
    const failure = { code: 'E_RATE_LIMIT', message: 'later', retryAfterMs: 250 };
    expect(failureResult(failure)._meta).toStrictEqual({ [FAILURE_META]: failure });
  });

  test('an error without content still says why', () => {
    const failure = { code: 'E_TOOL_ERROR', message: 'silent' };
    expect(failureResult(failure, { content: [], isError: true }).content).toStrictEqual(text('silent'));
  });
});

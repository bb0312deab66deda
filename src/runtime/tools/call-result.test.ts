import { describe, expect, test } from 'vitest';
import { normalizeResult } from './call-result.js';

const text = (value: string) => ({ type: 'text', text: value });
const image = { type: 'image', data: 'AQID', mimeType: 'image/png' };

describe('normalizeResult', () => {
  test.each<[string, unknown, unknown]>([
    ['nothing', undefined, null],
    ['a plain object', { a: 1 }, { a: 1 }],
    ['an object with a content of its own', { content: ['a'] }, { content: ['a'] }],
    ['an object with an empty content', { content: [] }, { content: [] }],
    ['blocks beside other members', { id: 1, content: [text('a')] }, { id: 1, content: [text('a')] }],
    ['blocks of no known type', { content: [{ type: 'card' }] }, { content: [{ type: 'card' }] }],
    ['one text', { content: [text('hello')] }, 'hello'],
    ['one text that is an object', { content: [text('{"a": [1]}')] }, { a: [1] }],
    ['one text that is an array', { content: [text(' [1, 2]')] }, [1, 2]],
    ['one text that is another JSON value', { content: [text('42')] }, '42'],
    ['one text that only begins like JSON', { content: [text('[draft] hello')] }, '[draft] hello'],
    ['several blocks', { content: [text('a'), image] }, [text('a'), image]],
    ['one image', { content: [image] }, [image]],
    ['structured content', { content: [text('x')], structuredContent: { a: 1 } }, { a: 1 }],
    ['structured content alone', { content: [], structuredContent: { result: 1 } }, { result: 1 }],
    ['isError: false', { content: [text('fine')], isError: false }, 'fine'],
  ])('%s', (_name, raw, value) => {
    expect(normalizeResult(raw)).toMatchObject({ ok: true, value });
  });

  test('unwraps a wrapped result only where the schema says so and nothing else is there', () => {
    const schema = { type: 'object', 'x-fastmcp-wrap-result': true };
    const wrapped = (structuredContent: object) =>
      normalizeResult({ content: [], structuredContent }, schema);
    expect(wrapped({ result: [1] })).toMatchObject({ ok: true, value: [1] });
    expect(wrapped({ result: [1], more: 2 })).toMatchObject({ ok: true, value: { result: [1], more: 2 } });
  });

  test('isError is a failure with the text, on one line', () => {
    expect(
      normalizeResult({ content: [text('no\nsuch page'), image, text('!')], isError: true }),
    ).toMatchObject({
      ok: false,
      failure: { code: 'E_TOOL_ERROR', message: 'no such page !' },
    });
    expect(normalizeResult({ content: [], isError: true })).toMatchObject({
      failure: { message: 'the tool reported an error without a message' },
    });
  });

  test('keeps the original result for a direct call', () => {
    const raw = { content: [text('a'), image], _meta: { x: 1 } };
    expect(normalizeResult(raw)).toMatchObject({ callResult: raw });
    expect(normalizeResult({ ...raw, isError: true })).toMatchObject({
      ok: false,
      callResult: { content: raw.content },
    });
    expect(normalizeResult({ a: 1 })).not.toHaveProperty('callResult');
  });

  test('what is not JSON is a failure that names the place', () => {
    expect(normalizeResult({ a: [() => 1] })).toEqual({
      ok: false,
      failure: {
        code: 'E_RESULT_NOT_JSON',
        message: 'the result is not JSON: `/a/0` is a function',
        details: { pointer: '/a/0' },
      },
    });
  });

  test('a result that is too large is a failure with both sizes', () => {
    const ofSize = (size: number) => normalizeResult('x'.repeat(size - 2));
    expect(ofSize(4 * 1024 * 1024)).toMatchObject({ ok: true });
    expect(ofSize(5_000_000)).toEqual({
      ok: false,
      failure: {
        code: 'E_RESULT_TOO_LARGE',
        message: 'the result is too large: its JSON text has at least 5000000 bytes, and 4194304 are allowed',
        details: { size: 5_000_000, limit: 4_194_304 },
      },
    });
  });
});

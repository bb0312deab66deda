import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ReadMessage, readMessage } from './messages.js';

const check = (value: unknown): ReadMessage => ({ ok: true, message: value as object });
const faultIn = (text: string): string | undefined => {
  const read = readMessage(text, check);
  return read.ok ? undefined : read.refusal.error.message;
};

describe('a message', () => {
  test.each([
    ['{"id":1,"method":"a","method":"b"}', 'method'],
    [String.raw`{"id":1,"method":"a","m\u0065thod":"b"}`, 'method'],
    ['{"id":1,"params":{"x":["}",{"name":1}],"name":"a" , "name" :"b"}}', 'name'],
    ['{"params":{"a":{}},"id":1,"params":{}}', 'params'],
    [String.raw`{"a\"":"\\","method":1,"a\"":2}`, 'a"'],
  ])('with a key that is written twice is refused: %s', (text, key) => {
    expect(faultIn(text)).toContain(`Invalid Request: the key '${key}' is written twice`);
  });

  test('keeps its id in the refusal, where that is not the key', () => {
    expect(readMessage('{"id":7,"a":1,"a":2}', check)).toMatchObject({ refusal: { id: 7 } });
    expect(readMessage('{"id":7,"id":8}', check)).toMatchObject({ refusal: { id: null } });
  });

  test.each([
    '{"method":"method","params":{"name":"a","arguments":{"x":1,"x":2}}}',
    '{"params":[{"a":1,"a":2}]}',
    '{"other":{"a":1,"a":2}}',
    '{"a":"b","b":"a","c":{"a":1},"params":{"a":"\\"a\\":","b":2}}',
    '7',
  ])('is read where its keys and those of its params are different: %s', (text) => {
    expect(faultIn(text)).toBeUndefined();
  });

  test('is read with params of any kind', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(4), (params, indent) => {
        expect(faultIn(JSON.stringify({ jsonrpc: '2.0', id: 1, params }, null, indent))).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });
});

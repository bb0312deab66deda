import { expect, test } from 'vitest';
import { connected } from './connected.js';

const MIB = 1024 * 1024;
/** Three of these names make a result of exactly 1 MiB: `{"said":"Hello … Hello … Hello …"}`. */
const LONGEST_NAME = (MIB - '{"said":"Hello  Hello  Hello "}'.length) / 3;

test('the result of a prompt is left out of `_meta` where it is longer than 1 MiB, and its size told', async () => {
  const { client } = await connected();
  const greet = async (length: number) =>
    (await client.getPrompt({ name: 'greet', arguments: { name: 'x'.repeat(length), times: '3' } }))._meta;
  const fits = await greet(LONGEST_NAME);
  expect(fits).toHaveProperty('result.said');
  expect(fits).not.toHaveProperty('result_size');
  const tooLong = await greet(LONGEST_NAME + 1);
  expect(tooLong).toMatchObject({ status: 'succeeded', result_size: MIB + 3 });
  expect(tooLong).not.toHaveProperty('result');
});

test('a tool whose result is too large has failed, by name', async () => {
  const { client } = await connected();
  const result = await client.callTool({ name: 'echo', arguments: { text: 'x'.repeat(5_000_000) } });
  expect(result).toMatchObject({
    isError: true,
    _meta: { 'stepwright/failure': { code: 'E_RESULT_TOO_LARGE', details: { limit: 4 * MIB } } },
  });
});

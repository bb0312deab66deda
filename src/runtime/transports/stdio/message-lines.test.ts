import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkMessage } from '../../protocol/sdk1/adapter.js';
import type { Refusal } from '../messages.js';
import { MessageLines } from './stdio-transport.js';

const ping = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
const LIMIT = 200;

function split(chunks: readonly Buffer[]) {
  const refused: Refusal[] = [];
  const passed: unknown[] = [];
  const lines = new MessageLines(
    checkMessage,
    (message) => passed.push(message),
    (answer) => refused.push(answer),
    LIMIT,
  );
  for (const chunk of chunks) lines.write(chunk);
  lines.end();
  return { passed, refused };
}

describe('MessageLines', () => {
  test('however the bytes arrive, messages pass one by one and an overlong line is refused once', () => {
    const text = `${ping(1)}\r\n\n${'é'.repeat(LIMIT)}\n${ping(2)}\n{"a":"é"}\n${ping(3)}`;
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const { passed, refused } = split(at.slice(1).map((to, i) => bytes.subarray(at[i], to)));
        expect(passed).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }]);
        expect(refused.map(({ error }) => error.message)).toStrictEqual([
          'Invalid Request: a message must not exceed 200 bytes; send large content in several calls, or a reference to it',
          'Invalid Request: `jsonrpc` must be "2.0"',
        ]);
      }),
      { numRuns: 50 },
    );
  });

  test.each(['9007199254740993', '-9007199254740993', '1e300'])(
    'a request with the id %s is refused without it',
    (id) => {
      expect(split([Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`)])).toMatchObject({
        passed: [],
        refused: [
          { id: null, error: { code: -32600, message: expect.stringContaining('numbers beyond 2^53 - 1') } },
        ],
      });
    },
  );

  test('a line may be exactly as long as the limit', () => {
    const line = ping(1).padEnd(LIMIT);
    expect(split([Buffer.from(`${line}\n${line} \n`)])).toMatchObject({
      passed: [{ id: 1 }],
      refused: [{ id: 1, error: { code: -32600 } }],
    });
  });

  const filler = 'x'.repeat(LIMIT);
  test.each<[string, string, string | number | null]>([
    ['before the params', `{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":"${filler}"}}`, 7],
    ['behind the params', `{"method":"m","params":{"a":"${filler}"},"jsonrpc":"2.0","id":8}`, 8],
    ['a text, with spaces', `{ "params" : ["${filler}"] , "id" : "a\\"é" , "method" : "m" }`, 'a"é'],
    ['beside ids in params', `{"method":"m","params":{"id":1,"a":[{"id":2}],"b":"${filler}"},"id":3}`, 3],
    ['beside texts that look like it', `{"method":"m","params":"${filler}\\",\\"id\\":4","id":5}`, 5],
    ['beside an escaped backslash', `{"method":"m","params":"${filler}\\\\","id":6}`, 6],
    ['a long text, which no client sends', `{"id":"${filler.repeat(2)}","method":"m"}`, null],
    ['a number that is not exact', `{"id":9007199254740993,"method":"m","params":"${filler}"}`, null],
    ['null', `{"id":null,"method":"m","params":"${filler}"}`, null],
    ['missing', `{"method":"m","params":"${filler}"}`, null],
    ["that of a response, which is the server's own", `{"id":9,"result":{"a":"${filler}"}}`, null],
    ['inside a batch', `[{"id":10,"method":"m","params":"${filler}"}]`, null],
    ['after the end of the message', `{"params":"${filler}"},"id":11,"method":"m"`, null],
    ['not in JSON', `"id":12,"method":"m",${filler}`, null],
  ])('answers an overlong request with its id: %s', (_name, line, id) => {
    const bytes = Buffer.from(`${line}\n${ping(1)}\n`);
    const whole = split([bytes]);
    expect(whole.passed).toMatchObject([{ id: 1 }]);
    expect(whole.refused).toMatchObject([{ id, error: { code: -32600 } }]);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        expect(split(at.slice(1).map((to, i) => bytes.subarray(at[i], to)))).toStrictEqual(whole);
      }),
      { numRuns: 20 },
    );
  });

  test('an overlong request is answered as soon as its id is known', () => {
    const refused: Refusal[] = [];
    const lines = new MessageLines(
      checkMessage,
      () => {},
      (answer) => refused.push(answer),
      LIMIT,
    );
    lines.write(Buffer.from(`{"id":1,"method":"m","params":"${filler}`));
    expect(refused).toMatchObject([{ id: 1 }]);
    lines.write(Buffer.from(`${filler}"}\n`));
    expect(refused).toHaveLength(1);
  });

  test.each<[string, string, number, string | number | null]>([
    ['no JSON', 'nonsense', -32700, null],
    ['a batch', `[${ping(1)}]`, -32600, null],
    ['null', 'null', -32600, null],
    ['another version', '{"jsonrpc":"1.0","id":"a","method":"ping"}', -32600, 'a'],
    ['params that are a list', '{"jsonrpc":"2.0","id":0,"method":"ping","params":[]}', -32600, 0],
    ['an id of null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
    ['neither method nor result', '{"jsonrpc":"2.0","id":4}', -32600, 4],
    ['a key that messages do not have', '{"jsonrpc":"2.0","id":5,"method":"ping","more":1}', -32600, 5],
  ])('refuses %s', (_name, line, code, id) => {
    const { passed, refused } = split([Buffer.from(`${line}\n${ping(9)}\n`)]);
    expect(passed).toStrictEqual([JSON.parse(ping(9))]);
    expect(refused).toMatchObject([{ jsonrpc: '2.0', id, error: { code } }]);
    expect(refused[0]?.error.message).not.toContain('\n');
  });

  test('passes notifications and answers', () => {
    const lines = [
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}',
    ];
    const { passed, refused } = split([Buffer.from(`${lines.join('\n')}\n`)]);
    expect(passed).toStrictEqual(lines.map((line) => JSON.parse(line)));
    expect(refused).toStrictEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connected, refusal, textOf } from './connected.js';

const anything = z.looseObject({});
const failureOf = (result: { _meta?: Record<string, unknown> | undefined }) =>
  result._meta?.['stepwright/failure'];

describe('tools/call', () => {
  test('gives a result as text and as structured content', async () => {
    const { client } = await connected();
    expect(await client.callTool({ name: 'echo', arguments: { text: 'ho', times: 3 } })).toStrictEqual({
      content: [{ type: 'text', text: '{"text":"ho ho ho"}' }],
      structuredContent: { text: 'ho ho ho' },
    });
  });

  test('keeps the content of a tool that speaks MCP itself', async () => {
    const { client } = await connected();
    expect(await client.callTool({ name: 'picture' })).toStrictEqual({
      content: [
        { type: 'text', text: 'A dot' },
        { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      ],
    });
  });

  test('undefined becomes null', async () => {
    const { client } = await connected();
    expect(await client.callTool({ name: 'nothing' })).toStrictEqual({
      content: [{ type: 'text', text: 'null' }],
    });
  });

  test('gives the tool its caller', async () => {
    const auth = { token: 't0p-s3cret', clientId: 'desk', scopes: ['read'], extra: { sub: 'ada' } };
    const { client } = await connected({ auth });
    const { structuredContent } = await client.callTool({ name: 'who' });
    expect(structuredContent).toStrictEqual({
      requestId: expect.stringMatching(/^\d+$/),
      auth: { clientId: 'desk', scopes: ['read'], subject: 'ada', extra: { sub: 'ada' } },
      repeatable: false,
    });
  });

  test('a tool that is no task is not called as one', async () => {
    const { client } = await connected();
    const params = { name: 'echo', arguments: { text: 'now' }, task: { ttl: 1000 } };
    const called = client.request({ method: 'tools/call', params }, anything);
    await expect(called).rejects.toMatchObject({ code: -32601 });
  });

  test('progress reaches the caller; a report that is not a number does not', async () => {
    const { client } = await connected();
    const seen: unknown[] = [];
    await client.callTool({ name: 'report' }, undefined, { onprogress: (progress) => seen.push(progress) });
    expect(seen).toStrictEqual([
      { progress: 1, total: 2, message: 'half' },
      { progress: 2, total: 2 },
    ]);
  });
});

describe('what is wrong with a call is a result the model can read', () => {
  test.each([
    ['a missing argument', {}, 'invalid input: missing required `text`'],
    ['a wrong type', { text: 7 }, 'invalid input: `/text` must be string: send "7", not 7'],
    [
      'an unknown argument',
      { text: 'a', tmies: 2 },
      'invalid input: unknown argument `tmies` (did you mean `times`?)',
    ],
    [
      '__proto__',
      JSON.parse('{"text":"a","__proto__":{"times":2}}'),
      'invalid input: unknown argument `__proto__`',
    ],
    [
      'several at once',
      { text: '', times: 1.5 },
      'invalid input: `/text` must not have fewer than 1 characters; `/times` must be integer',
    ],
  ])('%s', async (_, args, text) => {
    const { client } = await connected();
    const result = await client.callTool({ name: 'echo', arguments: args });
    expect(result).toMatchObject({ content: [{ type: 'text', text }], isError: true });
    expect(failureOf(result)).toMatchObject({ code: 'E_INPUT_INVALID', message: text });
    expect(
      (await client.callTool({ name: 'echo', arguments: { text: 'still there' } })).isError,
    ).toBeUndefined();
  });

  test.each([
    ['throw', 'E_TOOL_ERROR', 'The disk is full'],
    ['cycle', 'E_RESULT_NOT_JSON', 'the result is not JSON'],
  ])('a tool that does: %s', async (name, code, text) => {
    const { client } = await connected();
    const result = await client.callTool({ name });
    expect(result).toMatchObject({ isError: true });
    expect(failureOf(result)).toMatchObject({ code, message: expect.stringContaining(text) });
    expect(JSON.stringify(result)).not.toContain('/srv/app');
    expect(
      (await client.callTool({ name: 'echo', arguments: { text: 'still there' } })).isError,
    ).toBeUndefined();
  });

  test('a tool that never answers', async () => {
    const { client, probe } = await connected({ toolTimeoutMs: 20 });
    const complaints: Error[] = [];
    client.onerror = (error) => complaints.push(error);
    const result = await client.callTool({ name: 'hang' }, undefined, { onprogress: () => {} });
    expect(result).toMatchObject({
      isError: true,
      content: [
        {
          type: 'text',
          text: "Tool 'hang' did not answer within 20 ms; whether it took effect is unknown",
        },
      ],
    });
    expect(failureOf(result)).toMatchObject({ code: 'E_TIMEOUT', outcomeUnknown: true });
    await probe.aborted;
    await client.ping();
    // A client complains about progress of a request that is over.
    expect(complaints).toStrictEqual([]);
  });

  test('values reach the tool as they are', async () => {
    const { client } = await connected();
    const text = `a {placeholder}\nand "Tool result:"\r\n\${this} \u2028 \u0000 💥`;
    const { structuredContent } = await client.callTool({ name: 'echo', arguments: { text } });
    expect(structuredContent).toStrictEqual({ text });
  });
});

describe('what is wrong with a request is a protocol error', () => {
  test('an unknown tool, with the nearest one', async () => {
    const { client } = await connected();
    expect(await refusal(client.callTool({ name: 'ehco' }))).toStrictEqual({
      code: -32602,
      message: "MCP error -32602: Unknown tool 'ehco'. Did you mean 'echo'?",
    });
    expect((await refusal(client.callTool({ name: 'constructor' }))).message).toBe(
      "MCP error -32602: Unknown tool 'constructor'",
    );
  });

  test.each([
    ['tools/call', {}, 'name: '],
    ['tools/call', { name: 'echo', arguments: 'text' }, 'arguments: expected an object'],
    ['tools/call', { name: 'echo', arguments: ['text'] }, 'arguments: expected an object'],
    ['tools/call', { name: 7, arguments: 7 }, '; arguments: '],
    ['tools/list', { cursor: 7 }, 'cursor: '],
    ['prompts/get', { arguments: {} }, 'name: '],
    ['prompts/get', { name: 'greet', arguments: null }, 'arguments: expected an object'],
    ['resources/read', { uri: null }, 'uri: '],
  ])('malformed params of %s: %j', async (method, params, text) => {
    const { client } = await connected();
    const { code, message } = await refusal(client.request({ method, params } as never, anything));
    expect(code).toBe(-32602);
    expect(message).toContain(`MCP error -32602: Invalid params of ${method}: `);
    expect(message).toContain(text);
  });

  test('params that are not there at all', async () => {
    const { client } = await connected();
    expect((await refusal(client.request({ method: 'tools/call' } as never, anything))).code).toBe(-32602);
    expect((await client.request({ method: 'tools/list' }, anything)).tools).toBeInstanceOf(Array);
  });

  test('an unknown method', async () => {
    const { client } = await connected();
    const asked = client.request({ method: 'tools/cull' } as never, anything);
    expect(await refusal(asked)).toStrictEqual({
      code: -32601,
      message: 'MCP error -32601: Method not found: tools/cull',
    });
  });
});

describe('a fault of the server itself', () => {
  test('is short for the client, whole in the log, and not the end', async () => {
    const callTool = () => Promise.reject(new TypeError('a secret of /srv/app'));
    const { client, log } = await connected({ broken: { callTool } });
    expect(await refusal(client.callTool({ name: 'echo' }))).toStrictEqual({
      code: -32603,
      message: "MCP error -32603: Internal error in tools/call; the server's log has the details",
    });
    expect(log.join('\n')).toMatch(/^tools\/call: TypeError: a secret of \/srv\/app\n {4}at /);
    expect((await client.listTools()).tools).not.toHaveLength(0);
  });
});

describe('cancellation', () => {
  test("aborts the tool's signal, and the server answers on", async () => {
    const { client, probe } = await connected();
    const caller = new AbortController();
    const call = refusal(client.callTool({ name: 'hang' }, undefined, { signal: caller.signal }));
    await probe.reached;
    caller.abort('changed my mind');
    await probe.aborted;
    expect((await call).message).toContain('changed my mind');
    const { content } = await client.callTool({ name: 'echo', arguments: { text: 'on' } });
    expect(textOf((content as unknown[])[0])).toBe('{"text":"on"}');
  });

  test('so does the end of the connection', async () => {
    const { client, probe } = await connected();
    const call = refusal(client.callTool({ name: 'hang' }));
    await probe.reached;
    await client.close();
    await probe.aborted;
    expect((await call).message).toContain('Connection closed');
  });
});

import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Json } from 'stepwright';
import { describe, expect, test } from 'vitest';
import { desk } from '../composite/fixture/registry.js';
import { ask, call, lit, returns, step, workflow } from '../composite/fixture/workflows.js';
import { listening, sessionOf, tokenOf } from '../composite/http.js';
import { envelope, post } from './client.js';

// Requests that hosts send again, since they did not get the answer: with a key they start one run.

const KEY = 'stepwright/idempotencyKey';

const book = workflow('book', [
  call('booked', 'create-booking', { city: lit('Rome'), seats: lit(2) }),
  ask('sure', { after: ['booked'] }),
  returns(step('sure', 'confirmed')),
]);
const plain = workflow('plain', [
  call('booked', 'create-booking', { city: lit('Rome'), seats: lit(2) }),
  returns(step('booked', 'id')),
]);

const other = { ...book, name: 'other' };

const settings = { workflows: [{ graph: book }, { graph: other }, { graph: plain }] };

interface Answer {
  readonly result?: {
    readonly structuredContent?: { readonly workflow_id: string; readonly status: string };
    readonly messages?: readonly { readonly content: { readonly _meta?: object } }[];
    readonly _meta?: { readonly workflow_id: string };
  };
  readonly error?: { readonly code: number; readonly message: string };
}

function sender(url: URL) {
  return async (
    method: string,
    params: object,
    key?: Json,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const _meta = { ...envelope({}), ...(key === undefined ? {} : { [KEY]: key }) };
    const name = Reflect.get(params, 'name') as string;
    const response = await post(url, method, {
      params: { ...params, _meta },
      headers: { 'mcp-name': name, ...headers },
    });
    return (await response.json()) as Answer;
  };
}

const runOf = ({ result }: Answer): string | undefined =>
  result?.structuredContent?.workflow_id ?? result?._meta?.workflow_id;

describe('a request that is sent again', () => {
  test('starts one run with the same key, whether one after the other or at once', async () => {
    const { server, desk: done } = desk(settings);
    const send = sender(await listening(server));
    const start = (key?: Json) => send('tools/call', { name: 'w_book', arguments: {} }, key);
    const [one, other] = await Promise.all([start('a'), start('a')]);
    expect(one.result?.structuredContent).toMatchObject({ status: 'waiting' });
    expect(runOf(other)).toBe(runOf(one));
    expect(runOf(await start('a'))).toBe(runOf(one));
    expect(done.booked).toHaveLength(1);
    const others = await Promise.all([start('b'), start(), start()]);
    expect(new Set([one, ...others].map(runOf)).size).toBe(4);
    expect(done.booked).toHaveLength(4);
  });

  test('with other arguments, or of another caller, starts a run of its own', async () => {
    const send = sender(await listening(desk(settings).server));
    const by = (who: string, tool: string) =>
      send('tools/call', { name: tool, arguments: {} }, 'a', { authorization: `Bearer ${tokenOf(who)}` });
    const runs = [
      await by('ada', 'w_book'),
      await by('bob', 'w_book'),
      await by('ada', 'w_other'),
      await by('ada', 'w_book'),
    ].map(runOf);
    expect(runs[0]).toBeDefined();
    expect(runs[3]).toBe(runs[0]);
    expect(new Set(runs).size).toBe(3);
  });

  test('is one run of a prompt, which shows what it waits for or came to', async () => {
    const { server, desk: done } = desk(settings);
    const send = sender(await listening(server));
    const book = () => send('prompts/get', { name: 'book' }, 'a');
    const [one, other] = [await book(), await book()];
    expect(runOf(other)).toBe(runOf(one));
    expect(other.result?.messages?.at(-1)).toEqual(one.result?.messages?.at(-1));
    expect(other.result?._meta).toMatchObject({ status: 'running', actions: [{ action_id: 'sure#1' }] });

    const plain = () => send('prompts/get', { name: 'plain' }, 'a');
    const meta = { status: 'succeeded', result: 'b-2' };
    expect((await plain()).result?._meta).toMatchObject(meta);
    expect((await plain()).result?._meta).toMatchObject(meta);
    expect(done.booked).toHaveLength(2);
  });

  test('starts one run over two sessions of 2025-11-25', async () => {
    const { server, desk: done } = desk(settings);
    const url = await listening(server);
    const params = { name: 'w_book', arguments: {}, _meta: { [KEY]: 'a' } };
    const runs: unknown[] = [];
    for (const token of [tokenOf('ada'), tokenOf('ada')]) {
      const { client } = await sessionOf(url, { token });
      const { structuredContent } = await client.request(
        { method: 'tools/call', params },
        CallToolResultSchema,
      );
      runs.push(structuredContent?.workflow_id);
    }
    expect(runs[0]).toEqual(expect.any(String));
    expect(runs[1]).toBe(runs[0]);
    expect(done.booked).toHaveLength(1);
  });

  test('starts another run after one that was cancelled', async () => {
    const { server, desk: done } = desk(settings);
    const send = sender(await listening(server));
    const start = () => send('tools/call', { name: 'w_book', arguments: {} }, 'a');
    const first = runOf(await start());
    await send('tools/call', { name: 'cancel_workflow', arguments: { workflow_id: first } });
    const second = runOf(await start());
    expect(second).not.toBe(first);
    expect(runOf(await start())).toBe(second);
    expect(done.booked).toHaveLength(2);
  });

  test.each([5, '', null])('with the key %j is refused', async (key) => {
    const { server, desk: done } = desk(settings);
    const send = sender(await listening(server));
    const answer = await send('tools/call', { name: 'w_book', arguments: {} }, key);
    expect(answer.error).toEqual({ code: -32_602, message: expect.stringContaining(KEY) });
    expect(done.booked).toEqual([]);
  });
});

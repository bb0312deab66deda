import { describe, expect, test } from 'vitest';
import { servedWorkflows } from '../../../src/runtime/server/composite/served-workflows.js';
import { atDesk, callOf, clientOf, failureIn, runIn, textIn } from './client.js';
import { desk, registry } from './fixture/registry.js';
import { all, book, built, careful, lit, returns, runs, step, workflow } from './fixture/workflows.js';

describe('tools/list', () => {
  test('has the workflows behind the plain tools, and then what looks after their runs', async () => {
    const { client } = await atDesk();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['create-booking', 'process-payment', 'search', 'slow-work'],
      ...['w_book', 'w_careful', 'w_deep', 'w_nap', 'w_pay', 'w_slow', 'w_twice'],
      ...['submit_result', 'get_workflow_status', 'cancel_workflow', 'list_workflows'],
    ]);
  });

  test('says what a workflow takes, does and gives', async () => {
    const { client } = await atDesk({ describe: 'full' });
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === 'w_book');
    expect(tool?.inputSchema).toStrictEqual({
      type: 'object',
      properties: {
        city: { type: 'string', minLength: 1, description: 'the city' },
        seats: { type: 'integer', minimum: 1, description: 'the seats', default: 1 },
      },
      required: ['city'],
      additionalProperties: false,
    });
    expect(tool?.description).toBe(
      [
        'book a flight',
        '',
        '┌─ Workflow: book',
        '│ booking',
        '│ On failure: stops at the first failure',
        '│ Params:',
        '│   city (string, required)',
        '│   seats (integer, optional, default 1)',
        '└─',
      ].join('\n'),
    );
    const output = tool?.outputSchema as
      | { anyOf?: { properties?: object; required?: unknown }[] }
      | undefined;
    expect(output?.anyOf?.[0]).toMatchObject({ required: ['id', 'city', 'seats'] });
    expect(output?.anyOf?.[1]).toMatchObject({
      required: ['workflow_id', 'status'],
    });
    const secret = tools.find(({ name }) => name === 'w_pay')?.inputSchema.properties?.card;
    expect(secret).toMatchObject({ description: expect.stringContaining('secret') });
  });

  test('has none of it where no workflow is a tool or can wait', async () => {
    const prompts = built([{ ...book, expose: ['prompt'] }]);
    const client = await clientOf(desk({ workflows: prompts }).server);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      ...['create-booking', 'process-payment', 'search', 'slow-work'],
    ]);
    const waiting = await clientOf(desk({ workflows: built([{ ...careful, expose: ['prompt'] }]) }).server);
    expect((await waiting.listTools()).tools.map(({ name }) => name)).toContain('submit_result');
  });

  test('a description that is too long is cut, and keeps a short box', async () => {
    const long = built([
      { ...book, description: 'a'.repeat(900) },
      { ...book, name: 'longer', description: 'b'.repeat(2_000) },
    ]);
    const client = await clientOf(desk({ workflows: long, describe: 'full' }).server);
    const { tools } = await client.listTools();
    const described = (name: string) => tools.find((tool) => tool.name === name)?.description;
    const box = (name: string) =>
      [
        `┌─ Workflow: ${name}`,
        '│ booking',
        '│ On failure: stops at the first failure',
        '│ Params: 2, as the input schema says',
        '└─',
      ].join('\n');
    const short = `\n\n${box('longer')}`;
    expect(described('w_book')).toBe(`${'a'.repeat(900)}\n\n${box('book')}`);
    expect(described('w_longer')).toBe(`${'b'.repeat(1_023 - short.length)}…${short}`);
  });

  test('comes in pages, in the same order', async () => {
    const { client } = await atDesk({ pageSize: 4 });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      names.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(names).toHaveLength(15);
    expect(new Set(names).size).toBe(15);
  });
});

test('a tool of the registry may not be named as one that looks after runs', () => {
  const { tools } = registry;
  const taken = { ...registry, tools: { ...tools, submit_result: tools.search ?? expect.unreachable() } };
  expect(servedWorkflows(taken, built()).problems).toMatchObject([
    { name: 'ToolNameError', tool: 'submit_result', reason: 'reserved' },
  ]);
  expect(servedWorkflows(taken, built([{ ...book, expose: ['prompt'] }])).problems).toEqual([]);
});

describe('a workflow as a tool', () => {
  test('gives its result as structured content and as text', async () => {
    const { client, desk } = await atDesk();
    const answer = await callOf(client, 'w_book', { city: 'Rome' });
    expect(answer).toStrictEqual({
      content: [{ type: 'text', text: '{"id":"b-1","city":"Rome","seats":1}' }],
      structuredContent: { id: 'b-1', city: 'Rome', seats: 1 },
      _meta: {
        'stepwright/run': {
          workflow_id: expect.stringMatching(/^[0-9a-f]{32}$/),
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      },
    });
    expect(desk.booked).toEqual(['Rome']);
  });

  test('wraps a result that is no object, or that may be none', async () => {
    const { client, desk } = await atDesk();
    const answer = callOf(client, 'w_slow');
    await desk.begun;
    desk.finish(7);
    expect((await answer).structuredContent).toStrictEqual({ result: 7 });
  });

  test('fails with code, message, step, and what had succeeded; secrets masked', async () => {
    const { client } = await atDesk();
    const answer = await callOf(client, 'w_pay', { card: '4111-1111' });
    expect(answer.isError).toBe(true);
    expect(failureIn(answer)).toStrictEqual({
      code: 'E_DECLINED',
      message: 'card •••• is declined',
      node: 'payment',
      partial: { booking: { id: 'b-1', city: 'Rome', seats: 2 } },
    });
    expect(answer.structuredContent).toMatchObject({ status: 'failed', error: { code: 'E_DECLINED' } });
    expect(textIn(answer)).toBe(
      "Workflow 'pay' failed at step 'payment': card •••• is declined (E_DECLINED)\nFinished before that: booking.",
    );
    expect(JSON.stringify(answer)).not.toContain('4111');
  });

  test.each([
    ['nothing', {}, 'missing required `city`'],
    ['an unknown argument', { city: 'Rome', seat: 1 }, 'unknown argument `seat` (did you mean `seats`?)'],
    ['a number as text', { city: 'Rome', seats: '5' }, '`/seats` must be integer: send 5, not "5"'],
    ['a text as number', { city: 7 }, '`/city` must be string: send "7", not 7'],
    ['what no type would put right', { city: 'Rome', seats: 'many' }, '`/seats` must be integer'],
    ['too little', { city: '', seats: 0 }, '`/seats` must be >= 1'],
    ['__proto__', JSON.parse('{"city":"Rome","__proto__":{"seats":2}}'), 'unknown argument `__proto__`'],
  ])('refuses %s', async (_, args, message) => {
    const { client, desk } = await atDesk();
    const answer = await callOf(client, 'w_book', args);
    expect(answer.isError).toBe(true);
    expect(failureIn(answer)).toMatchObject({ code: 'E_INPUT_INVALID' });
    expect(textIn(answer)).toContain(message);
    if (message.startsWith('`/seats` must be integer') && args.seats === 'many')
      expect(textIn(answer)).not.toContain('send');
    expect(desk.booked).toEqual([]);
  });

  test('does not repeat a secret of the wrong type', async () => {
    const { client } = await atDesk();
    const answer = await callOf(client, 'w_pay', { card: 41_111_111 });
    expect(failureIn(answer)).toMatchObject({ code: 'E_INPUT_INVALID' });
    expect(JSON.stringify(answer)).not.toContain('4111');
  });

  test('tells how far it is', async () => {
    const { client, desk } = await atDesk();
    const seen: unknown[] = [];
    const answer = client.callTool({ name: 'w_slow' }, undefined, {
      onprogress: (progress) => seen.push(progress),
    });
    await desk.begun;
    desk.finish('done');
    await answer;
    expect(seen).toEqual([
      { progress: 0, total: 1, message: 'Step 1/1: work' },
      { progress: 0.5, total: 1, message: 'half' },
      { progress: 1, total: 1, message: 'Workflow execution complete' },
    ]);
  });

  test('is cancelled with its request', async () => {
    const { client, desk } = await atDesk();
    const abort = new AbortController();
    const answer = client.callTool({ name: 'w_slow' }, undefined, { signal: abort.signal });
    const signal = await desk.begun;
    abort.abort('changed my mind');
    await expect(answer).rejects.toThrow();
    await expect.poll(() => signal.aborted).toBe(true);
    const { structuredContent } = await callOf(client, 'list_workflows', { status: 'cancelled' });
    expect(structuredContent?.runs).toHaveLength(1);
  });

  test('that takes too long answers as running, and goes on', async () => {
    const { client, desk } = await atDesk({ toolAnswerMs: 20 });
    const answer = await callOf(client, 'w_slow');
    expect(answer).toMatchObject({ structuredContent: { status: 'running', actions: [] } });
    expect(answer.isError).toBeUndefined();
    const status = () => callOf(client, 'get_workflow_status', { workflow_id: runIn(answer) });
    expect((await status()).structuredContent).toMatchObject({
      status: 'running',
      definition_changed: false,
    });
    desk.finish({ late: true });
    await expect.poll(async () => (await status()).structuredContent?.status).toBe('completed');
    expect((await status()).structuredContent).toMatchObject({ result: { late: true } });
  });

  test('a name that is no tool is still a protocol error', async () => {
    const { client } = await atDesk();
    await expect(callOf(client, 'w_bok')).rejects.toThrow("Did you mean 'w_book'?");
  });

  test('a workflow that runs another one brings it along', async () => {
    const outer = workflow('outer', [
      runs('inner', 'book', { city: lit('Oslo') }),
      returns(step('inner', 'id')),
    ]);
    const client = await clientOf(desk({ workflows: built([...all, outer]) }).server);
    expect((await callOf(client, 'w_outer')).structuredContent).toEqual({ result: 'b-1' });
  });
});

describe('list_workflows', () => {
  type Line = Readonly<Record<string, unknown>>;
  interface Listed {
    readonly workflows: readonly Line[];
    readonly runs: readonly Line[];
    readonly next_cursor?: string;
  }
  const listOf = async (client: Parameters<typeof callOf>[0], args: Record<string, unknown> = {}) => {
    const { structuredContent } = await callOf(client, 'list_workflows', args);
    return structuredContent as unknown as Listed;
  };
  const idsOf = ({ runs: listed }: Listed) => listed.map(({ workflow_id }) => workflow_id);
  const book3 = async (client: Parameters<typeof callOf>[0]) => {
    const ids: string[] = [];
    for (const city of ['Oslo', 'Rome', 'Bern']) ids.unshift(runIn(await callOf(client, 'w_book', { city })));
    return ids;
  };

  test('gives as many workflows and as many runs as it is asked for, and the cursor of the rest', async () => {
    const { client } = await atDesk();
    const ids = await book3(client);
    const pages: Listed[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await listOf(client, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      pages.push(page);
      cursor = page.next_cursor;
    }
    const whole = await listOf(client);
    expect(whole.next_cursor).toBeUndefined();
    expect(idsOf(whole)).toEqual(ids);
    expect(pages.flatMap(({ workflows }) => workflows)).toEqual(whole.workflows);
    expect(pages.flatMap(idsOf)).toEqual(ids);
    expect(pages.map(({ runs: listed }) => listed.length)).toEqual([2, 1, 0, 0]);
  });

  test('a run that begins between two pages moves none to another page', async () => {
    const { client } = await atDesk();
    const ids = await book3(client);
    const first = await listOf(client, { limit: 2 });
    await callOf(client, 'w_book', { city: 'Lima' });
    const second = await listOf(client, { limit: 2, cursor: first.next_cursor });
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids);
  });

  test('a page has at most as many items as a page of any list', async () => {
    const { client } = await atDesk({ pageSize: 2 });
    await book3(client);
    const page = await listOf(client, { limit: 50 });
    expect([page.workflows.length, page.runs.length]).toEqual([2, 2]);
    const text = textIn(await callOf(client, 'list_workflows'));
    expect(text).toContain('There are more: call list_workflows again with "cursor": "');
  });

  test('pages hold only runs of the status that is asked for', async () => {
    const { client } = await atDesk();
    await book3(client);
    expect((await listOf(client, { status: 'failed', limit: 50 })).runs).toEqual([]);
    const page = await listOf(client, { status: 'completed', limit: 50 });
    expect(page.runs).toHaveLength(3);
    expect(page.next_cursor).toBeUndefined();
  });

  test.each(['nonsense', '', Buffer.from('list_workflows 0 no-such-run').toString('base64url')])(
    'refuses the cursor %j, which it did not return',
    async (cursor) => {
      const { client } = await atDesk();
      const answer = await callOf(client, 'list_workflows', { cursor });
      expect(answer.isError).toBe(true);
      expect(failureIn(answer)).toMatchObject({ code: 'E_INPUT_INVALID' });
    },
  );

  test.each([0, 1.5, '2'])('refuses the limit %j', async (limit) => {
    const { client } = await atDesk();
    expect(failureIn(await callOf(client, 'list_workflows', { limit }))).toMatchObject({
      code: 'E_INPUT_INVALID',
      message: expect.stringContaining('limit'),
    });
  });
});

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  type ElicitResult,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Resource, Tool, type ToolContext } from 'stepwright';
import { connect, createServer, type StepwrightServer } from 'stepwright/runtime';
import { toolContext } from 'stepwright/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { callOf, failureIn } from '../composite/client.js';
import { call, returns, step, workflow } from '../composite/fixture/workflows.js';
import { listening, sessionOf, tokenOf } from '../composite/http.js';
import { registryOf } from '../server/fixture/registry-of.js';

const FORM = {
  properties: {
    seats: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
    meal: { type: 'string', enum: ['fish', 'none'] },
    extras: { type: 'array', items: { anyOf: [{ const: 'wifi', title: 'Wireless' }] }, maxItems: 1 },
    window: { type: 'boolean' },
    name: { type: 'string', maxLength: 5 },
  },
  required: ['seats'],
} as const;

@Tool({ name: 'book', description: 'Asks how to book' })
class Book {
  async execute(_input: object, { elicit }: ToolContext) {
    const answer = await elicit('How many?', FORM);
    if (answer.action !== 'accept') return { action: answer.action };
    const { seats, meal, extras, window: isWindow } = answer.content;
    // The types follow from the form.
    const typed: [number, 'fish' | 'none' | undefined, 'wifi'[] | undefined, boolean | undefined] = [
      seats,
      meal,
      extras,
      isWindow,
    ];
    return { action: 'accept', seats, typed: typed.length };
  }
}

@Tool({ name: 'book-by-zod', description: 'Asks by a schema of zod' })
class BookByZod {
  async execute(_input: object, { elicit }: ToolContext) {
    const answer = await elicit('How many?', z.object({ seats: z.number().int().min(1) }));
    return answer.action === 'accept' ? { seats: answer.content.seats } : { seats: 0 };
  }
}

@Tool({ name: 'nested', description: 'Asks for what no client shows' })
class Nested {
  async execute(_input: object, { elicit }: ToolContext) {
    return await elicit('Where?', { properties: { place: { type: 'object' } } } as never);
  }
}

@Tool({ name: 'log', description: 'Logs', secret: ['card'] })
class Log {
  execute({ card = 'none' }: { card?: string }, { log }: ToolContext) {
    log('debug', 'looking', 'desk');
    log('error', { card });
    return { done: true };
  }
}

@Tool({ name: 'look-around', description: 'Tells what it knows of its caller' })
class LookAround {
  async execute(_input: object, { roots, sample, client, headers, session, principal }: ToolContext) {
    const found = await roots().catch((error: { code: string }) => error.code);
    const said = await sample({ messages: [], maxTokens: 1 }).catch((error: { code: string }) => error.code);
    return { found, said, client, headers, hasSession: session !== undefined, principal };
  }
}

@Resource({ name: 'board', description: 'Departures' })
class Board {
  static readonly uri = 'desk://board';

  read(): string {
    return 'Rome';
  }
}

const input = { type: 'object' };
const registry = registryOf({
  tools: [Book, BookByZod, Nested, Log, LookAround].map((tool) => ({ class: tool, input })),
  resources: [{ class: Board }],
});

function serverOf(): StepwrightServer {
  const inStep = workflow('in-step', [call('booked', 'book'), returns(step('booked'))]);
  return createServer(registry, { workflows: [{ graph: inStep }], log: () => {} });
}

type Answering = (message: string, schema: unknown) => ElicitResult | Promise<ElicitResult>;

async function clientOf(server: StepwrightServer, user?: Answering, more: object = {}): Promise<Client> {
  const [toServer, toClient] = InMemoryTransport.createLinkedPair();
  await connect(server, toClient, { log: () => {}, local: true });
  const capabilities = { ...(user === undefined ? {} : { elicitation: { form: {} } }), ...more };
  const client = new Client({ name: 'test', version: '1.2.3', title: 'Test' }, { capabilities });
  if (user !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) =>
      user(params.message, 'requestedSchema' in params ? params.requestedSchema : undefined),
    );
  }
  await client.connect(toServer);
  onTestFinished(() => client.close());
  return client;
}

const accept = (content: Record<string, unknown>): ElicitResult =>
  ({ action: 'accept', content }) as ElicitResult;

describe('a form', () => {
  test('reaches the user as it is, and its values the tool', async () => {
    const asked: unknown[] = [];
    const client = await clientOf(serverOf(), (...question) => {
      asked.push(question);
      return accept({ seats: 3, meal: 'fish', extras: ['wifi'], window: true, name: 'Ada' });
    });
    expect((await callOf(client, 'book')).structuredContent).toEqual({
      action: 'accept',
      seats: 3,
      typed: 4,
    });
    expect(asked).toEqual([['How many?', { type: 'object', ...FORM }]]);
  });

  test.each(['decline', 'cancel'] as const)('tells the tool of a user who does %s', async (action) => {
    const client = await clientOf(serverOf(), () => ({ action }));
    expect((await callOf(client, 'book')).structuredContent).toEqual({ action });
  });

  test('reaches the user from a step of a workflow as well', async () => {
    const client = await clientOf(serverOf(), () => accept({ seats: 4 }));
    const { structuredContent } = await callOf(client, 'w_in-step');
    expect(structuredContent).toMatchObject({ result: { action: 'accept', seats: 4 } });
  });

  test('may be a schema of zod, which then checks the values', async () => {
    let seats = 5;
    const asked: unknown[] = [];
    const client = await clientOf(serverOf(), (_message, schema) => {
      asked.push(schema);
      return accept({ seats });
    });
    expect((await callOf(client, 'book-by-zod')).structuredContent).toEqual({ seats: 5 });
    expect(asked).toEqual([
      {
        type: 'object',
        properties: { seats: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } },
        required: ['seats'],
      },
    ]);
    seats = 0;
    expect(failureIn(await callOf(client, 'book-by-zod'))).toMatchObject({ code: 'E_ELICIT_ANSWER' });
  });

  test.each<[Record<string, unknown>, string]>([
    [{}, 'seats: is missing'],
    [{ seats: '3' }, 'seats: must be a number'],
    [{ seats: 1.5 }, 'seats: must be a whole number'],
    [{ seats: 0 }, 'seats: must be at least 1, and is 0'],
    [{ seats: 10 }, 'seats: must be at most 9, and is 10'],
    [{ seats: 1, meal: 'beef' }, 'meal: must be one of: fish, none'],
    [{ seats: 1, extras: ['pool'] }, 'extras: must be one of: wifi'],
    [{ seats: 1, extras: ['wifi', 'wifi'] }, 'extras: must be at most 1, and is 2'],
    [{ seats: 1, extras: 'wifi' }, 'extras: must be a list'],
    [{ seats: 1, window: 'yes' }, 'window: must be true or false'],
    [{ seats: 1, name: 'Leonardo' }, 'name: must be at most 5, and is 8'],
    [{ seats: 1, other: 1 }, 'other: is not a field of the form'],
  ])('refuses %j', async (content, problem) => {
    const failure = failureIn(await callOf(await clientOf(serverOf(), () => accept(content)), 'book'));
    expect(failure).toMatchObject({ code: 'E_ELICIT_ANSWER', message: expect.stringContaining(problem) });
  });

  test('that no client can show is refused before anybody is asked', async () => {
    let asked = 0;
    const client = await clientOf(serverOf(), () => {
      asked += 1;
      return { action: 'decline' };
    });
    expect(failureIn(await callOf(client, 'nested'))).toMatchObject({
      code: 'E_ELICIT_FORM',
      message: expect.stringContaining('field `place` of the form'),
    });
    expect(asked).toBe(0);
  });

  test('fails for a client that cannot ask, and one that fails to', async () => {
    expect(failureIn(await callOf(await clientOf(serverOf()), 'book'))).toMatchObject({
      code: 'E_CLIENT_UNSUPPORTED',
    });
    const broken = await clientOf(serverOf(), () => {
      throw new Error('the window is gone');
    });
    expect(failureIn(await callOf(broken, 'book'))).toMatchObject({
      code: 'E_CLIENT',
      message: expect.stringContaining('the window is gone'),
    });
  });
});

test('log messages reach a client that wants their level, without secrets', async () => {
  const client = await clientOf(serverOf());
  const seen: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void seen.push(params));
  await callOf(client, 'log', { card: '4711-0815' });
  await client.setLoggingLevel('error');
  await callOf(client, 'log', {});
  expect(seen).toEqual([
    { level: 'debug', data: 'looking', logger: 'desk' },
    { level: 'error', data: { card: '••••' } },
    { level: 'error', data: { card: 'none' } },
  ]);
  await expect(client.setLoggingLevel('loud' as never)).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('expected one of debug, info'),
  });
});

test('a tool asks the model and the folders of a client that has them', async () => {
  const client = await clientOf(serverOf(), undefined, { sampling: {}, roots: {} });
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///home/ada' }] }));
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: 'assistant',
    model: 'm',
    content: { type: 'text', text: 'hello' },
  }));
  expect((await callOf(client, 'look-around')).structuredContent).toMatchObject({
    found: [{ uri: 'file:///home/ada' }],
    said: { model: 'm', content: { type: 'text', text: 'hello' } },
    client: { name: 'test', version: '1.2.3', title: 'Test', capabilities: { sampling: {}, roots: {} } },
    principal: { kind: 'local' },
  });
  expect((await callOf(await clientOf(serverOf()), 'look-around')).structuredContent).toMatchObject({
    found: 'E_CLIENT_UNSUPPORTED',
    said: 'E_CLIENT_UNSUPPORTED',
  });
});

test('a tool sees the request over HTTP, and not what proves who the caller is', async () => {
  const url = await listening(serverOf());
  const { client } = await sessionOf(url, { token: tokenOf('desktop', { sub: 'ada' }) });
  const { structuredContent } = await callOf(client, 'look-around');
  expect(structuredContent).toMatchObject({
    hasSession: true,
    headers: { 'content-type': 'application/json', host: url.host },
    client: { name: 'test' },
    principal: { kind: 'principal', subject: 'ada' },
  });
  expect(JSON.stringify(structuredContent)).not.toContain('authorization');
});

describe('a change of a resource', () => {
  test('is told to clients that have subscribed to it, and of a list to all', async () => {
    const server = serverOf();
    const [one, other] = [await clientOf(server), await clientOf(server)];
    const told: string[] = [];
    for (const [name, client] of Object.entries({ one, other })) {
      client.setNotificationHandler(
        ResourceUpdatedNotificationSchema,
        ({ params }) => void told.push(`${name}: ${params.uri}`),
      );
      client.setNotificationHandler(
        ResourceListChangedNotificationSchema,
        () => void told.push(`${name}: list`),
      );
    }
    await one.subscribeResource({ uri: Board.uri });
    server.resourceUpdated(Board.uri);
    server.resourceUpdated('desk://other');
    server.listChanged('resources');
    await one.unsubscribeResource({ uri: Board.uri });
    server.resourceUpdated(Board.uri);
    await one.ping();
    await other.ping();
    expect(told.sort()).toEqual(['one: desk://board', 'one: list', 'other: list']);
  });

  test('cannot be asked for where there is no resource', async () => {
    await expect(
      (await clientOf(serverOf())).subscribeResource({ uri: 'desk://nothing' }),
    ).rejects.toMatchObject({
      code: -32002,
      data: { uri: 'desk://nothing' },
    });
  });

  test('can be asked for a thousand times on one connection', async () => {
    @Resource({ name: 'page', description: 'A page' })
    class Page {
      static readonly uriTemplate = 'desk://pages/{id}';

      read({ id }: { id: string }): string {
        return id;
      }
    }
    const client = await clientOf(createServer(registryOf({ tools: [], resources: [{ class: Page }] })));
    for (let id = 0; id < 1_000; id++) await client.subscribeResource({ uri: `desk://pages/${id}` });
    await expect(client.subscribeResource({ uri: 'desk://pages/1000' })).rejects.toMatchObject({
      code: -32005,
    });
    await client.subscribeResource({ uri: 'desk://pages/7' });
  });
});

test('a tool is tested with a context of its own', async () => {
  const answer = { action: 'accept', content: { seats: 2 } } as const;
  const context = toolContext({ elicit: (async () => answer) as ToolContext['elicit'] });
  expect(await new Book().execute({}, context)).toMatchObject({ seats: 2 });
  await expect(new Book().execute({}, toolContext())).rejects.toMatchObject({ code: 'E_CLIENT_UNSUPPORTED' });
});

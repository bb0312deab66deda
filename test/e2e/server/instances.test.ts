import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { Prompt, type PromptMessages, Resource, Tool } from 'stepwright';
import { createServer, type InstanceContext, type ServerSettings } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { callOf, clientOf, runIn } from '../composite/client.js';
import { ask, call, lit, returns, step, workflow } from '../composite/fixture/workflows.js';
import { listening, sessionOf, tokenOf } from '../composite/http.js';
import { registryOf } from './fixture/registry-of.js';

/** The container of these tests: it numbers what it makes. */
class Container {
  made = 0;
  readonly contexts: InstanceContext[] = [];

  readonly get = (cls: new (number: number) => object, context: InstanceContext): object => {
    this.made += 1;
    this.contexts.push(context);
    return new cls(this.made);
  };
}

@Tool({ name: 'which', description: 'Says which instance it is' })
class Which {
  constructor(readonly number: number) {}
  execute() {
    return { number: this.number };
  }
}

@Resource({ name: 'page', description: 'Says which instance it is' })
class Page {
  static readonly uri = 'res://page';
  constructor(readonly number: number) {}
  read() {
    return String(this.number);
  }
}

@Prompt({ name: 'greet', description: 'Says which instance it is' })
class Greet {
  constructor(readonly number: number) {}
  render(): PromptMessages {
    return [{ role: 'user', content: String(this.number) }];
  }
}

const input = { type: 'object', properties: {}, additionalProperties: false } as const;
const registry = registryOf({
  tools: [{ class: Which, input }],
  resources: [{ class: Page }],
  prompts: [{ class: Greet, arguments: [] }],
});
/** Two calls, a question, and a call. */
const graph = workflow('thrice', [
  call('first', 'which'),
  call('second', 'which'),
  ask('sure', { message: lit('Go on?') }),
  call('third', 'which'),
  returns({ kind: 'list', items: ['first', 'second', 'third'].map((id) => ({ value: step(id) })) }),
]);

function serverWith(settings: Pick<ServerSettings, 'newRunId'> & { instances?: 'session' | 'request' } = {}) {
  const container = new Container();
  const server = createServer(registry, {
    create: container.get,
    workflows: [{ graph }],
    log: () => {},
    ...settings,
  });
  return { server, container };
}

async function numberOf(client: Client): Promise<unknown> {
  return (await callOf(client, 'which')).structuredContent?.number;
}

async function numbersOf(client: Client): Promise<unknown> {
  const begun = await callOf(client, 'w_thrice');
  const ended = await callOf(client, 'submit_result', { workflow_id: runIn(begun), result: true });
  const result = ended.structuredContent?.result as readonly { readonly number: number }[];
  return result.map(({ number }) => number);
}

describe('instances', () => {
  test('of the process are shared by all clients', async () => {
    const { server, container } = serverWith();
    const clients = [await clientOf(server), await clientOf(server)] as const;
    expect(await Promise.all(clients.map(numberOf))).toEqual([1, 1]);
    expect(await numbersOf(clients[0])).toEqual([1, 1, 1]);
    expect(container.contexts).toEqual([{ kind: 'tool', name: 'which' }]);
  });

  test('of a session are shared by its requests', async () => {
    const { server, container } = serverWith({ instances: 'session' });
    const [one, other] = [await clientOf(server), await clientOf(server)];
    expect([await numberOf(one), await numberOf(other), await numberOf(one)]).toEqual([1, 2, 1]);
    expect(container.contexts[0]?.request?.principal).toEqual({ kind: 'local' });
    // The last step runs in no session.
    expect(await numbersOf(one)).toEqual([1, 1, 3]);
  });

  test('of a session belong to one caller', async () => {
    const { server, container } = serverWith({ instances: 'session' });
    const url = await listening(server);
    const { client: ada } = await sessionOf(url, { token: tokenOf('ada') });
    const { client: bob } = await sessionOf(url, { token: tokenOf('bob') });
    expect([await numberOf(ada), await numberOf(bob), await numberOf(ada)]).toEqual([1, 2, 1]);
    expect(container.contexts.map(({ request }) => request?.principal)).toEqual([
      { kind: 'principal', clientId: 'ada' },
      { kind: 'principal', clientId: 'bob' },
    ]);
  });

  test('of a request are made for each; steps share those of the request that started the run', async () => {
    const { server, container } = serverWith({ instances: 'request' });
    const client = await clientOf(server);
    expect([await numberOf(client), await numberOf(client)]).toEqual([1, 2]);
    expect(await numbersOf(client)).toEqual([3, 3, 4]);
    const page = await client.readResource({ uri: 'res://page' });
    expect(page.contents).toEqual([{ uri: 'res://page', text: '5' }]);
    const { messages } = await client.getPrompt({ name: 'greet' });
    expect(messages).toMatchObject([{ content: { text: '6' } }]);
    expect(container.contexts.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      ...Array(4).fill('tool which'),
      'resource page',
      'prompt greet',
    ]);
  });

  test('that a promise gives are made once, and again after a failure', async () => {
    let made = 0;
    const server = createServer(registry, {
      create: async (cls) => {
        made += 1;
        await Promise.resolve();
        if (made === 1) throw new Error('not ready');
        return new cls(made);
      },
      log: () => {},
    });
    const client = await clientOf(server);
    const failed = await Promise.all([callOf(client, 'which'), callOf(client, 'which')]);
    expect(failed).toMatchObject([{ isError: true }, { isError: true }]);
    expect(failed[0]?.content[0]?.text).toBe('the factory of tool `which` failed: not ready');
    expect(await Promise.all([numberOf(client), numberOf(client)])).toEqual([2, 2]);
    expect(made).toBe(2);
  });

  test('an object without the method is refused', async () => {
    const server = createServer(registry, { create: () => ({}), log: () => {} });
    const answer = await callOf(await clientOf(server), 'which');
    expect(answer).toMatchObject({
      isError: true,
      _meta: { 'stepwright/failure': { code: 'E_TOOL_FACTORY' } },
    });
  });
});

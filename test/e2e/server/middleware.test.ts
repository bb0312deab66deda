import type { Middleware, MiddlewareCall } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/model.js';
import { connected, refusal, speaking, textsOf } from './connected.js';
import { dict, input, node, ref } from './fixture/graph.js';

const failureOf = (result: { _meta?: Record<string, unknown> | undefined }) =>
  result._meta?.['stepwright/failure'];
const metaOf = (result: { _meta?: Record<string, unknown> | undefined }) => result._meta ?? {};

/** Records its calls. */
function watcher(events: string[]): Middleware {
  const who = (call: MiddlewareCall) =>
    call.source === 'client' ? 'client' : `${call.workflow}/${call.node}`;
  return {
    name: 'watcher',
    onRequest: (call) => void events.push(`${who(call)} -> ${call.tool} ${JSON.stringify(call.shownInput)}`),
    onResponse: (call, { shownValue }) => void events.push(`${who(call)} <- ${JSON.stringify(shownValue)}`),
    onError: (call, { code }) => void events.push(`${who(call)} <- ${code}`),
  };
}

const readersOnly: Middleware = {
  name: 'readers-only',
  onRequest: (_call, { auth }) => {
    if (!auth?.scopes.includes('read')) {
      throw Object.assign(new Error('you may not read'), { code: 'E_FORBIDDEN' });
    }
  },
};

describe('middleware', () => {
  test('wraps direct calls and workflow steps alike, and can tell them apart', async () => {
    const events: string[] = [];
    const { client } = await connected({ middleware: [watcher(events)] });
    await client.callTool({ name: 'echo', arguments: { text: 'ho' } });
    await client.callTool({ name: 'throw' });
    await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } });
    expect(events).toStrictEqual([
      'client -> echo {"text":"ho"}',
      'client <- {"text":"ho"}',
      'client -> throw {}',
      'client <- E_TOOL_ERROR',
      'greet/hello -> echo {"text":"Hello Ada","times":1}',
      'greet/hello <- {"text":"Hello Ada"}',
    ]);
  });

  test('refuses for both: a result with its code, a failed step with its code', async () => {
    const { client } = await connected({ middleware: [readersOnly] });
    const result = await client.callTool({ name: 'echo', arguments: { text: 'ho' } });
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: 'you may not read' }] });
    expect(failureOf(result)).toStrictEqual({ code: 'E_FORBIDDEN', message: 'you may not read' });
    const trace = await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } });
    expect(metaOf(trace)).toMatchObject({
      status: 'failed',
      errors: [{ step: 'hello', code: 'E_FORBIDDEN' }],
    });
    // It was not attempted, and so is not shown as a call.
    expect(textsOf(trace).some((text) => text.startsWith('Calling tool'))).toBe(false);
  });

  test('lets pass whom it knows', async () => {
    const auth = { token: 't', clientId: 'desk', scopes: ['read'] };
    const { client } = await connected({ auth, middleware: [readersOnly] });
    const trace = await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } });
    expect(metaOf(trace)).toMatchObject({ status: 'succeeded' });
  });

  test('changes what the tool is given; the check comes after', async () => {
    const louder: Middleware = {
      name: 'louder',
      onRequest: ({ input }) => ({ input: { ...input, text: String(input.text).toUpperCase() } }),
    };
    const wrong: Middleware = { name: 'wrong', onRequest: () => ({ input: { text: 7 } }) };
    const { client } = await connected({ middleware: [louder] });
    expect(
      (await client.callTool({ name: 'echo', arguments: { text: 'ho' } })).structuredContent,
    ).toStrictEqual({ text: 'HO' });
    const other = await connected({ middleware: [wrong] });
    expect(failureOf(await other.client.callTool({ name: 'echo', arguments: { text: 'ho' } }))).toMatchObject(
      {
        code: 'E_INPUT_INVALID',
      },
    );
  });

  test('that breaks after the call is logged; the result is kept', async () => {
    const log: string[] = [];
    const broken: Middleware = {
      name: 'broken',
      onResponse: () => {
        throw new Error('the disk is full');
      },
    };
    const { client } = await connected({ middleware: [broken], log: (text) => log.push(text) });
    expect(
      (await client.callTool({ name: 'echo', arguments: { text: 'ho' } })).structuredContent,
    ).toStrictEqual({ text: 'ho' });
    expect(log).toHaveLength(1);
    expect(log[0]).toContain('middleware `broken`: onResponse of a call of `echo` failed: Error: the disk');
  });

  test('that never answers is cut off with the call, which never reaches the tool', async () => {
    const hang: Middleware = { name: 'hang', onRequest: () => new Promise(() => {}) };
    const { client, probe } = await connected({ toolTimeoutMs: 20, middleware: [hang] });
    let reached = false;
    void probe.reached.then(() => {
      reached = true;
    });
    expect(failureOf(await client.callTool({ name: 'hang' }))).toMatchObject({ code: 'E_TIMEOUT' });
    expect(reached).toBe(false);
  });
});

describe('secrets', () => {
  test('of a tool stay out of its failures and of what middleware may log', async () => {
    const events: string[] = [];
    const { client } = await speaking({ middleware: [watcher(events)] });
    const result = await client.callTool({
      name: 'deploy',
      arguments: { token: 'hunter22', target: 'nowhere' },
    });
    expect(failureOf(result)).toMatchObject({ message: 'nowhere does not know ••••' });
    expect(JSON.stringify(result)).not.toContain('hunter22');
    expect(events[0]).toBe('client -> deploy {"token":"••••","target":"nowhere"}');
  });

  test('of a tool stay out of what is wrong with its input', async () => {
    const { client } = await speaking();
    const token = 'hunter22'.repeat(10);
    const result = await client.callTool({ name: 'deploy', arguments: { token, targt: token } });
    expect(JSON.stringify(result)).not.toContain('hunter22');
    expect(failureOf(result)).toMatchObject({ code: 'E_INPUT_INVALID' });
  });

  test('of a run stay out of its trace, and of what middleware may log', async () => {
    const events: string[] = [];
    const { client } = await speaking({ middleware: [watcher(events)] });
    const trace = await client.getPrompt({
      name: 'deploy-page',
      arguments: { key: 'hunter22', target: 'nowhere' },
    });
    expect(metaOf(trace)).toMatchObject({ status: 'failed' });
    expect(JSON.stringify(trace)).not.toContain('hunter22');
    expect(events.join()).not.toContain('hunter22');
    expect(events).toContain('deploy-page/done -> deploy {"token":"••••","target":"nowhere"}');
  });

  test('of a tool stay out of the trace of a workflow that does not call them so', async () => {
    const graph: Graph = {
      graphVersion: 1,
      name: 'careless',
      description: 'deploy carelessly',
      inputs: [input('word', 'The token', { schema: { type: 'string' } })],
      instructions: [],
      nodes: [
        {
          ...node('first'),
          kind: 'call',
          tool: 'deploy',
          input: dict({ token: { kind: 'literal', value: 'literal-token' }, target: ref('inputs', 'word') }),
        },
        {
          ...node('second', 'first'),
          kind: 'call',
          tool: 'deploy',
          input: dict({
            token: ref('steps', 'first', 'deployed'),
            target: ref('steps', 'first', 'deployed'),
          }),
        },
        {
          ...node('third', 'second'),
          kind: 'call',
          tool: 'deploy',
          input: dict({
            token: ref('inputs', 'word'),
            target: { kind: 'literal', value: 'nowhere' },
          }),
        },
        {
          ...node('fourth', 'third'),
          kind: 'call',
          tool: 'deploy',
          input: dict({ token: ref('inputs', 'word') }),
        },
      ],
    };
    const { client } = await speaking({ workflows: [{ graph }] });
    const trace = await client.getPrompt({ name: 'careless', arguments: { word: 'hunter22' } });
    expect(metaOf(trace)).toMatchObject({ status: 'failed' });
    expect(JSON.stringify(trace)).not.toContain('hunter22');
    expect(JSON.stringify(trace)).not.toContain('literal-token');
    expect(metaOf(trace).calls).toStrictEqual([
      { step: 'fourth', tool: 'deploy', arguments: { token: '<prompt arg word>' }, note: expect.any(String) },
    ]);
  });

  test('stay out of the log when the server itself breaks', async () => {
    const { client, log } = await connected({
      broken: { getPrompt: () => Promise.reject(new Error('no secret here')) },
    });
    await refusal(client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } }));
    expect(log.join()).toContain('no secret here');
  });
});

describe('a secret that is an object', () => {
  test('is masked part by part in what a step fails with', async () => {
    const login = { schema: { type: 'object' }, secret: true } as const;
    const graph: Graph = {
      graphVersion: 1,
      name: 'log-in',
      description: 'log in',
      inputs: [input('login', 'Who', login)],
      instructions: [],
      nodes: [
        {
          ...node('echo'),
          kind: 'call',
          tool: 'deploy',
          // The tool does not call this one secret, and repeats it.
          input: dict({
            token: { kind: 'literal', value: 'nothing' },
            target: ref('inputs', 'login', 'key'),
          }),
        },
      ],
    };
    const seen: string[] = [];
    const { client } = await speaking({ workflows: [{ graph }], middleware: [watcher(seen)] });
    const trace = await client.getPrompt({
      name: 'log-in',
      arguments: { login: JSON.stringify({ user: 'ada', key: 'nowhere-k3y' }) },
    });
    expect(seen).toHaveLength(2);
    expect(seen.join()).not.toContain('k3y');
    expect(JSON.stringify(trace)).not.toContain('k3y');
  });
});

import { Tool, type ToolContext } from 'stepwright';
import { createServer, type ServerSettings } from 'stepwright/runtime';
import { describe, expect, test, vi } from 'vitest';
import { ask, call, returns, step, workflow } from '../composite/fixture/workflows.js';
import { listening, tokenOf } from '../composite/http.js';
import { registryOf } from '../server/fixture/registry-of.js';
import { envelope, post, statelessClient } from './client.js';

// What tools ask by themselves, in the era without connections.

const SEATS = { properties: { seats: { type: 'integer', minimum: 1 } }, required: ['seats'] } as const;

/** The side effects of the tools, in order. */
const effects: string[] = [];

@Tool({ name: 'book', description: 'Books twice, and asks between' })
class Book {
  async execute(_input: object, { elicit, progress, signal }: ToolContext) {
    effects.push('held');
    signal.addEventListener('abort', () => effects.push('aborted'));
    progress(1, 2, 'held');
    const seats = await elicit('How many?', SEATS, { key: 'seats' });
    progress(2, 2, 'asked');
    const meal = await elicit('Which meal?', { properties: { meal: { type: 'string' } } });
    effects.push('booked');
    return { seats, meal };
  }
}

@Tool({ name: 'look-around', description: 'Asks for three things at once' })
class LookAround {
  async execute(_input: object, { elicit, roots, sample }: ToolContext) {
    const [answer, { content }, places] = await Promise.all([
      elicit('How many?', SEATS),
      sample({ messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 }),
      roots(),
    ]);
    return { answer, content, places };
  }
}

@Tool({ name: 'patient', description: 'Goes on without an answer' })
class Patient {
  async execute(_input: object, { elicit }: ToolContext) {
    const answer = elicit('How many?', SEATS).then(({ action }) => action);
    const late = new Promise<string>((resolve) => setTimeout(resolve, 100, 'late'));
    effects.push(await Promise.race([answer, late]));
    return { done: true };
  }
}

@Tool({ name: 'slow', description: 'Works until it is cancelled, once it has its answer' })
class Slow {
  async execute(_input: object, { elicit, signal }: ToolContext) {
    await elicit('How many?', SEATS);
    effects.push('begun');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    effects.push('aborted');
  }
}

const registry = registryOf({
  tools: [Book, LookAround, Patient, Slow].map((tool) => ({ class: tool, input: { type: 'object' } })),
});
const trip = workflow('trip', [
  call('booked', 'book'),
  ask('sure', { after: ['booked'] }),
  returns(step('booked')),
]);
const plain = workflow('plain', [call('booked', 'book'), returns(step('booked'))]);

function serverOf(settings: ServerSettings = {}) {
  effects.length = 0;
  return createServer(registry, {
    workflows: [{ graph: trip }, { graph: plain }],
    log: () => {},
    ...settings,
  });
}

interface Round {
  readonly result?: {
    readonly resultType?: string;
    readonly inputRequests?: Readonly<Record<string, { readonly method: string; readonly params?: object }>>;
    readonly requestState?: string;
    readonly structuredContent?: object;
    readonly messages?: readonly object[];
  };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: object };
}

const ALL = { elicitation: { form: {} }, sampling: {}, roots: {} };

/** One exchange for the call of a tool. */
async function round(url: URL, name: string, more: object = {}, headers: Record<string, string> = {}) {
  const response = await post(url, 'tools/call', {
    params: { name, arguments: {}, _meta: envelope(ALL), ...more },
    headers: { 'mcp-name': name, ...headers },
  });
  return { status: response.status, ...((await response.json()) as Round) };
}

const accept = (content: object) => ({ action: 'accept', content });
const seats = { seats: accept({ seats: 2 }) };
const meal = { elicitation: accept({ meal: 'fish' }) };
const INVALID = { error: { code: -32_602, message: 'Invalid or expired requestState' } };

async function asked(url: URL) {
  const client = await statelessClient(url, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', ({ params: { message } }) => ({
    action: 'accept' as const,
    content:
      message === 'How many?' ? { seats: 2 } : message === 'sure?' ? { confirmed: true } : { meal: 'fish' },
  }));
  return client;
}

describe('what a tool asks by itself', () => {
  test('is asked between two requests, and the call is made once', async () => {
    const client = await asked(await listening(serverOf()));
    const seen: unknown[] = [];
    const onprogress = ({ message }: { readonly message?: string | undefined }): void =>
      void seen.push(message);
    const { structuredContent } = await client.callTool({ name: 'book', arguments: {} }, { onprogress });
    expect(structuredContent).toMatchObject({
      seats: { content: { seats: 2 } },
      meal: { content: { meal: 'fish' } },
    });
    expect(effects).toEqual(['held', 'booked']);
    expect(seen[0]).toBe('held');
  });

  test('in a step of a workflow is asked before what the workflow asks', async () => {
    const client = await asked(await listening(serverOf()));
    const { structuredContent } = await client.callTool({ name: 'w_trip', arguments: {} });
    expect(structuredContent).toMatchObject({ result: { seats: { content: { seats: 2 } } } });
    expect(effects).toEqual(['held', 'booked']);
  });

  test('in a step of a prompt is asked during the prompt', async () => {
    const client = await asked(await listening(serverOf()));
    const { messages } = await client.getPrompt({ name: 'plain' });
    expect(JSON.stringify(messages)).toContain('fish');
    expect(effects).toEqual(['held', 'booked']);
  });

  test('at once is asked in one round; a question without an answer is asked again', async () => {
    const url = await listening(serverOf());
    const first = (await round(url, 'look-around')).result;
    expect(first).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        elicitation: { method: 'elicitation/create', params: { message: 'How many?' } },
        sampling: { method: 'sampling/createMessage', params: { maxTokens: 5 } },
        roots: { method: 'roots/list' },
      },
    });
    const second = await round(url, 'look-around', {
      requestState: first?.requestState,
      inputResponses: { roots: { roots: [{ uri: 'file:///a' }] }, other: accept({}) },
    });
    expect(Object.keys(second.result?.inputRequests ?? {})).toEqual(['elicitation', 'sampling']);
    const content = { type: 'text', text: 'hello' };
    const last = await round(url, 'look-around', {
      requestState: second.result?.requestState,
      inputResponses: {
        elicitation: { action: 'decline' },
        sampling: { role: 'assistant', model: 'm', content },
      },
    });
    expect(last.result?.structuredContent).toEqual({
      answer: { action: 'decline' },
      content,
      places: [{ uri: 'file:///a' }],
    });
  });

  test('that no client can answer is refused with the capability that is missing', async () => {
    const url = await listening(serverOf());
    const refused = await round(url, 'look-around', { _meta: envelope({ sampling: {}, roots: {} }) });
    expect(refused).toMatchObject({
      status: 400,
      error: { code: -32_021, data: { requiredCapabilities: { elicitation: {} } } },
    });
    // A workflow gives what it did before.
    const left = await round(url, 'w_plain', { _meta: envelope() });
    expect(left.result).toMatchObject({ isError: true });
    expect(JSON.stringify(left.result)).toContain('E_CLIENT_UNSUPPORTED');
  });
});

describe('the state of an open call', () => {
  test('remains where a response is malformed, or is one to another request', async () => {
    const url = await listening(serverOf());
    const { requestState, inputRequests = {} } = (await round(url, 'look-around')).result ?? {};
    const other = { elicitation: { roots: [] }, sampling: accept({}), roots: accept({}) };
    for (const [key, response] of Object.entries(inputRequests).flatMap(([key]) => [
      [key, {}] as const,
      [key, null] as const,
      [key, other[key as keyof typeof other]] as const,
    ]))
      expect(
        await round(url, 'look-around', { requestState, inputResponses: { [key]: response } }),
      ).toMatchObject({ error: { code: -32_602, message: expect.stringContaining(`'${key}'`) } });
    const inputResponses = { roots: { roots: [{ uri: 'file:///a' }] } };
    const next = await round(url, 'look-around', { requestState, inputResponses });
    expect(Object.keys(next.result?.inputRequests ?? {})).toEqual(['elicitation', 'sampling']);
  });

  test('can be used once, by its caller, for its tool and arguments and at its server', async () => {
    const [url, other] = [await listening(serverOf()), await listening(serverOf())];
    const ada = { authorization: `Bearer ${tokenOf('ada')}` };
    const requestState = (await round(url, 'book', {}, ada)).result?.requestState;
    const answers = { requestState, inputResponses: seats };
    const bob = { authorization: `Bearer ${tokenOf('bob')}` };
    expect(await round(url, 'book', answers, bob)).toMatchObject(INVALID);
    expect(await round(url, 'look-around', answers, ada)).toMatchObject(INVALID);
    expect(await round(url, 'book', { ...answers, arguments: { a: 1 } }, ada)).toMatchObject(INVALID);
    expect(await round(other, 'book', answers, ada)).toMatchObject(INVALID);
    const next = await round(url, 'book', answers, ada);
    expect(next.result).toMatchObject({ inputRequests: { elicitation: {} } });
    expect(await round(url, 'book', answers, ada)).toMatchObject(INVALID);
    const last = { requestState: next.result?.requestState, inputResponses: meal };
    expect((await round(url, 'book', last, ada)).result).toMatchObject({ structuredContent: {} });
    expect(effects).toEqual(['held', 'booked']);
  });

  test('of a prompt or a resource that is unknown is refused', async () => {
    const url = await listening(serverOf());
    const params = { name: 'plain', requestState: 'x', inputResponses: {} };
    const response = await post(url, 'prompts/get', { params, headers: { 'mcp-name': 'plain' } });
    expect(await response.json()).toMatchObject(INVALID);
  });

  test('gives the result of a tool that went on without its answer', async () => {
    const url = await listening(serverOf());
    const requestState = (await round(url, 'patient')).result?.requestState;
    await vi.waitFor(() => expect(effects).toEqual(['late']), 20_000);
    const { result } = await round(url, 'patient', { requestState, inputResponses: {} });
    expect(result?.structuredContent).toEqual({ done: true });
  });

  test('ends with the time that a call of a tool may take', async () => {
    const url = await listening(serverOf({ toolTimeoutMs: 300 }));
    const requestState = (await round(url, 'book')).result?.requestState;
    await vi.waitFor(() => expect(effects).toEqual(['held', 'aborted']), 20_000);
    const { result } = await round(url, 'book', { requestState, inputResponses: seats });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain('did not answer within 300 ms');
  });

  test('a client that closes the request with its answers cancels the call', async () => {
    const url = await listening(serverOf());
    const requestState = (await round(url, 'slow')).result?.requestState;
    const abort = new AbortController();
    const inputResponses = { elicitation: accept({ seats: 2 }) };
    const params = { name: 'slow', arguments: {}, _meta: envelope(ALL), requestState, inputResponses };
    const headers = { 'mcp-name': 'slow' };
    const left = post(url, 'tools/call', { params, headers, signal: abort.signal });
    await vi.waitFor(() => expect(effects).toEqual(['begun']), 20_000);
    abort.abort();
    await expect(left).rejects.toThrow();
    await vi.waitFor(() => expect(effects).toEqual(['begun', 'aborted']), 20_000);
  });
});

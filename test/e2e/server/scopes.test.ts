import { Tool } from 'stepwright';
import {
  type BearerAuth,
  type BuiltWorkflow,
  createServer,
  fetchHandler,
  type StepwrightServer,
} from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sequential, step } from '../../../src/formats/builder/index.js';
import { clientOf } from '../composite/client.js';
import { runs, workflow } from '../composite/fixture/workflows.js';
import { connectedTo, refusal } from './connected.js';
import { registryOf } from './fixture/registry-of.js';

const object = { type: 'object', properties: {}, additionalProperties: false } as const;

@Tool({ name: 'read-note', description: 'Reads' })
class ReadNote {
  execute() {
    return { text: 'n' };
  }
}

@Tool({ name: 'write-note', description: 'Writes', scopes: ['notes:write'] })
class WriteNote {
  execute() {
    return { id: 'n-1' };
  }
}

@Tool({ name: 'fail-now', description: 'Fails' })
class FailNow {
  execute() {
    throw new Error('no luck');
  }
}

const registry = registryOf({
  tools: [
    { class: ReadNote, input: object, hints: { category: 'notes', next: ['fail-now', 'write-note'] } },
    { class: WriteNote, input: object },
    { class: FailNow, input: object },
  ],
});

const open = sequential('note-down', 'note something').step(step(WriteNote).bind('note')).build();
const scoped = sequential('audit', 'audit notes', { scopes: ['notes:audit'] })
  .step(step(WriteNote).bind('note'))
  .build();
const failing = sequential('try-first', 'try first')
  .step(step(FailNow).bind('risky'))
  .step(step(WriteNote).bind('note'))
  .build();
const workflows: readonly BuiltWorkflow[] = [open, scoped, failing];

const server = (): StepwrightServer => createServer(registry, { workflows, log: () => {} });
const tokenOf = (...scopes: readonly string[]) => ({ token: 't', clientId: 'app', scopes: [...scopes] });
const clientWith = async (...scopes: readonly string[]) =>
  (await connectedTo(server(), tokenOf(...scopes))).client;

const ALL = ['fail-now', 'read-note', 'write-note', 'w_audit', 'w_note-down', 'w_try-first'];
const RUNS = ['get_workflow_status', 'cancel_workflow'];

describe('lists', () => {
  test.each([
    [
      'with no scope',
      [],
      ['fail-now', 'read-note', 'w_note-down', 'w_try-first'],
      ['note-down', 'try-first'],
    ],
    ['with all', ['notes:write', 'notes:audit'], ALL, ['audit', 'note-down', 'try-first']],
  ] as const)('of a caller %s', async (_, scopes, tools, prompts) => {
    const client = await clientWith(...scopes);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([...tools, ...RUNS]);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(prompts);
  });

  test('of the user of the process have everything', async () => {
    const client = await clientOf(server());
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([...ALL, ...RUNS]);
    const written = await client.callTool({ name: 'write-note', arguments: {} });
    expect(written.structuredContent).toEqual({ id: 'n-1' });
  });
});

describe('a call', () => {
  test.each([
    ['write-note', 'notes:write'],
    ['w_audit', 'notes:audit'],
  ])('of %s is refused without its scope', async (name, scope) => {
    const client = await clientWith('other');
    const answer = await client.callTool({ name, arguments: {} });
    expect(answer.isError).toBe(true);
    expect(answer._meta?.['stepwright/failure']).toMatchObject({
      code: 'E_SCOPE',
      message: `The caller lacks the scope '${scope}': call again with a token that has it`,
      details: { missing: [scope] },
    });
    const allowed = await (await clientWith(scope)).callTool({ name, arguments: {} });
    expect(allowed.isError).not.toBe(true);
  });

  test('without a token has no scopes', async () => {
    const { client } = await connectedTo(server());
    const answer = await client.callTool({ name: 'write-note', arguments: {} });
    expect(answer._meta?.['stepwright/failure']).toMatchObject({ code: 'E_SCOPE' });
  });

  test('of a step acts for the workflow', async () => {
    const client = await clientWith();
    const answer = await client.callTool({ name: 'w_note-down', arguments: {} });
    expect(answer.isError).not.toBe(true);
  });

  test('of a workflow inside another acts for the outer one', async () => {
    const outer = { graph: workflow('outer', [runs('inner', 'audit', {})]) };
    const made = createServer(registry, { workflows: [scoped, outer], log: () => {} });
    const { client } = await connectedTo(made, tokenOf());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('w_audit');
    const refused = await client.callTool({ name: 'w_audit', arguments: {} });
    expect(refused._meta?.['stepwright/failure']).toMatchObject({ code: 'E_SCOPE' });
    const allowed = await client.callTool({ name: 'w_outer', arguments: {} });
    expect(allowed.isError).not.toBe(true);
  });

  test('of an outer workflow needs its scopes, whatever the inner one needs', async () => {
    const outer = { graph: workflow('outer', [runs('inner', 'audit', {})], { scopes: ['notes:outer'] }) };
    const made = createServer(registry, { workflows: [scoped, outer], log: () => {} });
    const { client } = await connectedTo(made, tokenOf('notes:audit'));
    const refused = await client.callTool({ name: 'w_outer', arguments: {} });
    expect(refused._meta?.['stepwright/failure']).toMatchObject({
      code: 'E_SCOPE',
      details: { missing: ['notes:outer'] },
    });
    expect(await refusal(client.getPrompt({ name: 'outer' }))).toMatchObject({ data: { code: 'E_SCOPE' } });
  });

  test('of a prompt is refused like that of a tool', async () => {
    const client = await clientWith();
    const error = await refusal(client.getPrompt({ name: 'audit' }));
    expect(error).toMatchObject({ code: -32006, data: { code: 'E_SCOPE', missing: ['notes:audit'] } });
  });
});

test('a hand-off lists no call that its caller may not make', async () => {
  const lacking = await (await clientWith()).getPrompt({ name: 'try-first' });
  expect(lacking._meta?.calls).toMatchObject([{ tool: 'w_try-first' }]);
  const allowed = await (await clientWith('notes:write')).getPrompt({ name: 'try-first' });
  expect(allowed._meta?.calls).toMatchObject([{ tool: 'write-note' }]);
});

describe('over HTTP', () => {
  const auth: BearerAuth = {
    verify: (token) => ({ clientId: 'app', scopes: token === 'writer' ? ['notes:write'] : [] }),
    allowAnonymous: true,
  };

  const send = async (method: string, name: string, token?: string) => {
    const handler = fetchHandler(server(), { auth, sessions: 'never', log: () => {} });
    onTestFinished(() => handler.close());
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name, arguments: {} } });
    return handler(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
  };

  test.each([
    ['tools/call', 'write-note', 'notes:write'],
    ['tools/call', 'w_audit', 'notes:audit'],
    ['prompts/get', 'audit', 'notes:audit'],
  ])('%s of %s gets the status 403 without its scope', async (method, name, scope) => {
    const response = await send(method, name, 'reader');
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toContain(
      `error="insufficient_scope", error_description="The token lacks the scopes ${scope}", scope="${scope}"`,
    );
  });

  test('a request without a token is told which scopes one needs', async () => {
    const response = await send('tools/call', 'write-note');
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('scope="notes:write"');
  });

  test.each([
    ['reader', ['fail-now']],
    ['writer', ['fail-now', 'write-note']],
  ])('the list of a %s has the tools of its scopes, also in hints', async (token, next) => {
    const response = await send('tools/list', '', token);
    expect(response.status).toBe(200);
    const { result } = JSON.parse(await response.text());
    const tools = result.tools as readonly { readonly name: string; readonly _meta?: object }[];
    expect(tools.find(({ name }) => name === 'read-note')).toMatchObject({
      _meta: { 'stepwright/hints': { category: 'notes', next } },
    });
    expect(JSON.stringify(result).includes('"write-note"')).toBe(next.includes('write-note'));
  });

  test.each([
    ['tools/call', 'write-note', 'writer'],
    ['tools/call', 'read-note', 'reader'],
    ['tools/call', 'constructor', 'reader'],
  ])('%s of %s is answered for a %s', async (method, name, token) => {
    expect((await send(method, name, token)).status).toBe(200);
  });
});

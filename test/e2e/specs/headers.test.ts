import type { HttpSettings } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { nightlyTest } from '../../nightly.js';
import { callOf, runIn } from '../composite/client.js';
import { listening, sessionOf, tokenOf } from '../composite/http.js';
import { ask, folderWith, repeat, serverWith, workflowTools } from './fixture.js';
import { send, web, yaml } from './web.js';

const everyone = { toolHints: () => true, workflowUrl: () => true, workflowResources: () => true };
const hints = { echo: { category: 'search', hint: 'Say it first', next: ['meet'] } };

/** Sends one request without a session. */
async function sent(
  url: URL,
  headers: Readonly<Record<string, string>>,
  method = 'tools/list',
  signal: AbortSignal = new AbortController().signal,
) {
  const response = await fetch(url, {
    method: 'POST',
    signal,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

/** A server that takes all headers, and reads one web server. */
async function serving(text: string, settings: object = {}) {
  const site = await web(yaml(text));
  const made = serverWith({ specs: { remote: { allow: [`${site.origin}/flows/`] } }, ...settings });
  const url = await listening(made.server, { headers: everyone });
  return { ...made, site, url, address: `${site.origin}/flows/a.yaml` };
}

describe('hints', () => {
  test('are part of the descriptions of one client', async () => {
    const { url } = await serving('');
    const { client } = await sessionOf(url, { headers: { 'X-Tool-Hints': JSON.stringify(hints) } });
    const of = async (each: typeof client) =>
      (await each.listTools()).tools.find(({ name }) => name === 'echo')?.description;
    expect(await of(client)).toContain('├─ Next: meet\n  └─ Hint: Say it first');
    const { client: other } = await sessionOf(url);
    expect(await of(other)).not.toContain('Say it first');
  });

  test('may be base64url, for other characters than ASCII', async () => {
    const { url } = await serving('');
    const json = Buffer.from(JSON.stringify({ echo: { hint: 'Grüße' } })).toString('base64url');
    const { status, body } = await sent(url, { 'X-Tool-Hints': `base64url:${json}` });
    expect(status).toBe(200);
    expect(JSON.stringify(body)).toContain('Hint: Grüße');
  });

  test('are private to the client: lists must not be kept', async () => {
    const { url } = await serving('');
    const { body } = await sent(url, { 'X-Tool-Hints': JSON.stringify(hints) });
    expect(body.result).toMatchObject({ cacheScope: 'private', ttlMs: 0 });
    expect((await sent(url, {})).body.result).not.toHaveProperty('cacheScope');
  });

  test.each([
    ['{bad', /it is not JSON/],
    ['[]', /it is not an object of hints by tool/],
    ['base64url:$', /it is not base64url/],
    ['{"ecko":{}}', /no tool 'ecko'; did you mean 'echo'\?/],
    ['{"echo":{"next":["mete"]}}', /no tool 'mete'; did you mean 'meet'\?/],
    ['{"echo":{"hnt":"x"}}', /'hnt', which is not a hint; did you mean 'hint'\?/],
    ['{"echo":{"hint":7}}', /'hint' of 'echo' must be a text/],
    [JSON.stringify({ echo: { hint: 'x'.repeat(501) } }), /1 to 500 printable characters/],
    ['{"echo":{"hint":"a\\u202eb"}}', /printable characters/],
    ['{"echo":{"outputs":[""]}}', /must be a list of at most 50 texts/],
    ['{"__proto__":{"hint":"x"}}', /no tool '__proto__'/],
    [
      '{"echo":{"requires":["meet"]},"meet":{"requires":["echo"]}}',
      /'requires' of 'echo' and 'meet' name each other: leave one out/,
    ],
  ])('that are malformed are refused: %s', async (value, message) => {
    const { url } = await serving('');
    const { status, body } = await sent(url, { 'X-Tool-Hints': value });
    expect(status).toBe(400);
    expect(body).toMatchObject({ id: 1, error: { code: -32_602, message: expect.stringMatching(message) } });
  });
});

describe('an address of workflows', () => {
  test('is offered to one client, whose runs outlast its session', async () => {
    const { url, address } = await serving(ask('careful', 'yes'));
    const headers = { 'X-Workflow-URL': address };
    const first = await sessionOf(url, { headers });
    expect(workflowTools(await first.client.listTools())).toContain('w_careful');
    expect((await first.client.listPrompts()).prompts.map(({ name }) => name)).toContain('careful');
    const workflow_id = runIn(await callOf(first.client, 'w_careful'));
    await first.end();
    const { client } = await sessionOf(url, { headers });
    const end = await callOf(client, 'submit_result', { workflow_id, result: { sure: true } });
    expect(end.structuredContent).toMatchObject({ status: 'completed', result: { text: 'yes' } });
    const { client: other } = await sessionOf(url);
    expect(workflowTools(await other.listTools())).not.toContain('w_careful');
  });

  nightlyTest('is read once for requests without a session', async () => {
    const { url, address, site } = await serving(repeat('twice'));
    const headers = { 'X-Workflow-URL': address };
    const answers = await Promise.all([1, 2, 3].map(() => sent(url, headers)));
    for (const { body } of answers) expect(JSON.stringify(body)).toContain('w_twice');
    await sent(url, headers);
    expect(site.requests).toHaveLength(1);
  });

  test('that is not allowed is refused before anything is sent', async () => {
    const { url, site } = await serving(repeat('twice'));
    for (const address of [
      `${site.origin}/other/a.yaml`,
      `${site.origin}/flows/..%2fa.yaml`,
      'file:///etc/passwd',
    ]) {
      const { status, body } = await sent(url, { 'X-Workflow-URL': address });
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ data: { code: 'E_SPEC_NOT_ALLOWED' } });
    }
    expect(site.requests).toEqual([]);
  });

  test('that cannot be read says nothing about the network to the client', async () => {
    const { server, next } = serverWith({
      specs: { remote: { allow: ['http://127.0.0.1:1/', 'https://10.0.0.1/'] } },
    });
    const url = await listening(server, { headers: everyone });
    const messages: unknown[] = [];
    for (const [address, why] of [
      ['http://127.0.0.1:1/a.yaml', 'ECONNREFUSED'],
      ['https://10.0.0.1/a.yaml', 'private'],
    ] as const) {
      const { body } = await sent(url, { 'X-Workflow-URL': address });
      const { message, data } = body.error as unknown as { message: string; data: unknown };
      expect(data).toEqual({ code: 'E_SPEC_FETCH' });
      messages.push(message.replace(address, ''));
      expect((await next('specs.refused')).message).toContain(why);
    }
    expect(new Set(messages).size).toBe(1);
  });

  nightlyTest('with faults is refused with their places', async () => {
    const { url, address } = await serving(repeat('twice').replace('echo', 'ecko'));
    const { status, body } = await sent(url, { 'X-Workflow-URL': address });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      message: expect.stringMatching(/a\.yaml:7:7[\s\S]*ecko/),
      data: { code: 'E_SPEC_INVALID' },
    });
  });

  nightlyTest('with the name of a workflow of the server is refused', async () => {
    const { url, address } = await serving(repeat('greet'));
    const { body } = await sent(url, { 'X-Workflow-URL': address });
    expect(body.error).toMatchObject({
      message: expect.stringContaining('greet'),
      data: { code: 'E_SPEC_INVALID' },
    });
  });

  test('is refused where workflows are switched off', async () => {
    const { url, address, site } = await serving(repeat('twice'), { offerWorkflows: false });
    const { body } = await sent(url, { 'X-Workflow-URL': address });
    expect(body.error).toMatchObject({ data: { code: 'E_SPEC_OFF' } });
    expect(site.requests).toEqual([]);
  });

  nightlyTest('may be used with a profile', async () => {
    const { url, address } = await serving(repeat('twice'), { profiles: { a: { workflows: ['greet'] } } });
    const { body } = await sent(new URL(`${url.href}/a`), { 'X-Workflow-URL': address });
    expect(workflowTools(body.result as never)).toEqual(['w_greet', 'w_twice']);
  });
});

nightlyTest('an address of resources is described, and not offered', async () => {
  const { url, address } = await serving(repeat('twice'));
  const { client } = await sessionOf(url, { headers: { 'X-Workflow-Resources': address } });
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain('workflow://default/twice');
  const { contents } = await client.readResource({ uri: 'workflow://default/overview' });
  expect(JSON.stringify(contents)).toContain('twice');
  expect(workflowTools(await client.listTools())).not.toContain('w_twice');
});

nightlyTest('one address may be offered and described', async () => {
  const { url, address } = await serving(repeat('twice'));
  const headers = { 'X-Workflow-URL': address, 'X-Workflow-Resources': address };
  const { client } = await sessionOf(url, { headers });
  expect(workflowTools(await client.listTools())).toContain('w_twice');
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain('workflow://default/twice');
});

test('headers are ignored unless they are turned on, and logged once', async () => {
  const log: string[] = [];
  const { server } = serverWith({});
  const url = await listening(server, { log: (text: string) => void log.push(text) } as HttpSettings);
  const headers = { 'X-Tool-Hints': '{bad', 'X-Workflow-URL': 'https://example.com/a.yaml' };
  const plain = await sent(url, {});
  for (const _ of [1, 2]) expect(await sent(url, headers)).toEqual(plain);
  expect(log).toHaveLength(2);
  expect(log[0]).toContain('X-Tool-Hints, which is ignored: set headers.toolHints');
  expect(log[1]).toContain('X-Workflow-URL, which is ignored: set headers.workflowUrl');
});

test('a header is for the callers of its rule', async () => {
  const { server } = serverWith({});
  const url = await listening(server, {
    headers: {
      toolHints: ({ auth, principal }) => auth?.clientId === 'ann' && principal.kind === 'principal',
    },
  });
  const of = (client: string) => ({
    authorization: `Bearer ${tokenOf(client)}`,
    'X-Tool-Hints': JSON.stringify(hints),
  });
  expect((await sent(url, of('ann'))).status).toBe(200);
  for (const headers of [of('bob'), { 'X-Tool-Hints': JSON.stringify(hints) }]) {
    const { status, body } = await sent(url, headers);
    expect(status).toBe(403);
    expect(body.error).toMatchObject({
      message: 'This caller may not use the header X-Tool-Hints of this server',
    });
  }
});

test('a rule has to be a function', async () => {
  const { server } = serverWith({});
  await expect(listening(server, { headers: { toolHints: true as never } })).rejects.toThrow(
    /headers\.toolHints must be a function/,
  );
});

nightlyTest('an address of the configuration is read at the start', async () => {
  const site = await web(yaml(repeat('twice')));
  const remote = { allow: [site.origin] };
  const { server } = serverWith({ specs: { urls: [`${site.origin}/a.yaml`], remote } });
  await server.start();
  expect(workflowTools(server.listTools())).toContain('w_twice');
  const root = folderWith({});
  const { server: other } = serverWith({ specs: { root, urls: [`${site.origin}/a.yaml`] } });
  await expect(other.start()).rejects.toThrow(/reads nothing from other hosts.*specs\.remote\.allow/);
});

nightlyTest('addresses of requests that were cancelled are not read, and too many are refused', async () => {
  const held: (() => void)[] = [];
  let isHeld = true;
  const site = await web((_request, response) => {
    const answer = (): void => send(response, repeat('twice'));
    if (isHeld) held.push(answer);
    else answer();
  });
  const { server } = serverWith({ specs: { remote: { allow: [site.origin] } } });
  const limits = { concurrentPerOwner: 1, queuedPerOwner: 2 };
  const url = await listening(server, { headers: everyone, limits });
  const read = async (name: string, signal?: AbortSignal): Promise<number> =>
    (await sent(url, { 'X-Workflow-URL': `${site.origin}/a.yaml?${name}` }, 'tools/list', signal)).status;
  const first = read('first');
  await expect.poll(() => site.requests.length).toBe(1);
  const leave = new AbortController();
  const waiting = ['a', 'b', 'c'].map((name) => read(name, leave.signal).catch(() => 0));
  expect(await Promise.race(waiting)).toBe(429);
  leave.abort();
  await Promise.all(waiting);
  // Two others wait once the server has seen that the clients have left.
  const queued = async (name: string): Promise<{ readonly status: Promise<number> }> => {
    const status = read(name);
    const soon = await Promise.race([status, new Promise((resolve) => setTimeout(resolve, 200))]);
    return soon === 429 ? queued(name) : { status };
  };
  const others = [await queued('d'), await queued('e')];
  isHeld = false;
  for (const answer of held) answer();
  expect(await Promise.all([first, ...others.map(({ status }) => status)])).toEqual([200, 200, 200]);
  expect(site.requests.map((request) => request.url)).toEqual(['/a.yaml?first', '/a.yaml?d', '/a.yaml?e']);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { HttpSettings, LogFunction, ServerSettings } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { defined } from '../../../src/graph/defined.js';
import type { AskNode } from '../../../src/graph/model.js';
import { sentFields } from '../../../src/print/form/sent-fields.fixture.js';
import type { RunStoreSource } from '../../../src/runtime/runs/operate/run-stores.js';
import type { RunStore } from '../../../src/runtime/runs/run-store.js';
import { resolveSettings } from '../../../src/runtime/server/options.js';
import { type Answer, callOf, failureIn, textIn } from '../composite/client.js';
import { desk } from '../composite/fixture/registry.js';
import { ask, returns, step, workflow } from '../composite/fixture/workflows.js';
import { freshCall, listening, sessionOf, tokenOf } from '../composite/http.js';

const LINES = {
  type: 'object',
  properties: {
    note: { type: 'string', minLength: 3, maxLength: 20 },
    lines: { type: 'array', items: { type: 'string', maxLength: 20 } },
  },
  required: ['note'],
  additionalProperties: false,
};

const question = (name: string, more: Partial<AskNode> = {}) =>
  workflow(name, [ask('sure', more), returns(step('sure'))]);

const settings: ServerSettings = {
  workflows: [
    question('plain'),
    question('lines', { mode: 'yield', expects: LINES }),
    question('person', { answerBy: [{ kind: 'human' }] }),
    question('lead', { answerBy: [{ kind: 'role', role: 'lead' }] }),
    question('both', { answerBy: [{ kind: 'human' }, { kind: 'role', role: 'lead' }] }),
    question('soon', { timeoutMs: 60_000 }),
  ].map((graph) => ({ graph })),
  questions: { page: true },
};

const open: HttpSettings = { auth: undefined } as unknown as HttpSettings;

async function started(http: HttpSettings = open, more: ServerSettings = {}): Promise<URL> {
  return listening(desk({ ...settings, ...more }).server, http);
}

/** The address of the page of the one open question. */
function pageOf({ structuredContent }: Answer): string {
  const action = structuredContent?.action as { readonly page_url: string } | undefined;
  return action?.page_url ?? '';
}

/** What a browser sends with the form of a page, with these changes. */
async function fieldsOf(url: string, changes: Readonly<Record<string, string>>): Promise<URLSearchParams> {
  const html = await (await fetch(url)).text();
  const fields = sentFields(html).filter(([name]) => !Object.hasOwn(changes, name));
  return new URLSearchParams([...fields, ...Object.entries(changes)]);
}

/** A bearer token of a caller with the role `lead`. */
function withRole(clientId: string, extra: Record<string, unknown>): string {
  return Buffer.from(JSON.stringify({ clientId, extra, roles: ['lead'] })).toString('base64url');
}

const BROWSER = { origin: 'null', 'sec-fetch-site': 'same-origin' };

async function send(url: string, body: URLSearchParams, headers: Record<string, string> = BROWSER) {
  const response = await fetch(url, { method: 'POST', body, headers });
  return { status: response.status, html: await response.text() };
}

const YES = { 'value/confirmed': '0' };

async function statusOf(url: URL, { structuredContent }: Answer, token?: string): Promise<unknown> {
  const visitor = token === undefined ? {} : { token };
  const answer = await freshCall(
    url,
    'get_workflow_status',
    { workflow_id: structuredContent?.workflow_id },
    visitor,
  );
  return answer.structuredContent;
}

describe('the page of a question', () => {
  test('shows it, takes the answer once, and the run continues', async () => {
    const url = await started();
    const waiting = await freshCall(url, 'w_plain');
    const page = pageOf(waiting);
    expect(page).toMatch(new RegExp(`^${url.origin}/questions/[\\w-]{40,}$`));
    expect(textIn(waiting)).toContain(`A person can answer on this page as well: ${page}`);
    const response = await fetch(page);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'/,
      ),
    });
    const html = await response.text();
    expect(html).toContain('<h1>sure?</h1>');
    expect(html).not.toContain(String(waiting.structuredContent?.workflow_id));
    const fields = await fieldsOf(page, YES);
    const taken = await send(page, fields);
    expect(taken).toMatchObject({ status: 200, html: expect.stringContaining('Your answer was taken') });
    expect(taken.html).toContain('<pre>Yes</pre>');
    expect(await statusOf(url, waiting)).toMatchObject({ status: 'completed', result: { confirmed: true } });
    const again = await send(page, new URLSearchParams([...fields, ['value/confirmed', '1']]));
    expect(again.html).toContain('This question is no longer open');
  });

  test('shows faults beside their fields, and a further row on request', async () => {
    const url = await started();
    const waiting = await freshCall(url, 'w_lines');
    const page = pageOf(waiting);
    const short = await send(page, await fieldsOf(page, { 'value/note': 'ab' }));
    expect(short.status).toBe(422);
    expect(short.html).toMatch(/value="ab"[^>]* aria-invalid="true"/);
    const longer = await send(
      page,
      await fieldsOf(page, { 'value/note': 'abc', 'value/lines/0': 'one', add: '/lines' }),
    );
    expect(longer.status).toBe(200);
    expect(longer.html).toContain('name="value/lines/3"');
    const sent = sentFields(longer.html).filter(([name]) => name !== 'value/lines/2');
    await send(page, new URLSearchParams([...sent, ['value/lines/2', 'two']]));
    expect(await statusOf(url, waiting)).toMatchObject({ result: { note: 'abc', lines: ['one', 'two'] } });
  });

  test.each([
    ['another page of the same site', { 'sec-fetch-site': 'same-site' }],
    ['a page of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a page of another site, in an old browser', { origin: 'https://evil.example' }],
  ])('refuses what %s sends', async (_name, headers) => {
    const url = await started();
    const waiting = await freshCall(url, 'w_plain');
    const page = pageOf(waiting);
    expect(await send(page, await fieldsOf(page, YES), headers)).toMatchObject({ status: 403 });
    expect(await statusOf(url, waiting)).toMatchObject({ status: 'waiting' });
  });

  test('refuses what was not sent with its form', async () => {
    const url = await started();
    const [one, other] = [await freshCall(url, 'w_plain'), await freshCall(url, 'w_plain')].map(pageOf);
    if (one === undefined || other === undefined) throw new Error('there is a page');
    expect((await send(one, new URLSearchParams(YES))).status).toBe(403);
    expect((await send(one, await fieldsOf(other, YES))).status).toBe(403);
  });

  test('says what to do for a token that is not one, or has expired', async () => {
    const url = await started();
    const page = pageOf(await freshCall(url, 'w_plain'));
    const changed = `${page.slice(0, -2)}${page.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const bad of [changed, `${page}A`, new URL('/questions/abc', url).href]) {
      const response = await fetch(bad);
      expect(response.status).toBe(404);
      expect(await response.text()).toContain('This link is not valid');
    }
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    const expired = await fetch(page);
    expect(expired.status).toBe(410);
    expect(await expired.text()).toContain('This link has expired');
  });

  test('another process with the same store takes the answer', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-page-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const store = `sqlite:${path.join(folder, 'runs.db')}` as const;
    const url = await started(open, { store });
    const second = await started(open, { store });
    const waiting = await freshCall(url, 'w_plain');
    const page = new URL(new URL(pageOf(waiting)).pathname, second).href;
    expect((await send(page, await fieldsOf(page, YES))).html).toContain('Your answer was taken');
    await vi.waitFor(
      async () => expect(await statusOf(url, waiting)).toMatchObject({ status: 'completed' }),
      20_000,
    );
  });

  const KEY = 'a'.repeat(32);
  test.each([
    ['without a key', undefined, KEY, 404],
    ['with another key', 'b'.repeat(32), KEY, 404],
    ['with the same key', KEY, KEY, 200],
  ])(
    'of a store without a key , of a server %s, is read by one with a key',
    async (_, key, other, status) => {
      const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-page-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const { storeSource } = resolveSettings({ store: `sqlite:${path.join(folder, 'runs.db')}` });
      // As the store on Temporal.
      const store: RunStoreSource = {
        open: (options) => Object.assign(storeSource?.open(options) as RunStore, { key: undefined }),
      };
      const warnings: string[] = [];
      const log: LogFunction = (text, { event }) =>
        void (event === 'store.without_key' && warnings.push(text));
      const serverWith = (key: string | undefined) =>
        started(open, { store, log, questions: { page: true, ...defined({ key }) } });
      const [first, second] = [await serverWith(key), await serverWith(other)];
      const page = new URL(new URL(pageOf(await freshCall(first, 'w_plain'))).pathname, second).href;
      expect((await fetch(page)).status).toBe(status);
      expect(warnings).toEqual(key === undefined ? [expect.stringContaining('`questions.key`')] : []);
    },
  );

  test('is at the public address of the server', async () => {
    const url = await started(open, {
      questions: { page: true, publicUrl: 'https://agents.example.com/a/' },
    });
    expect(pageOf(await freshCall(url, 'w_plain'))).toMatch(
      /^https:\/\/agents\.example\.com\/a\/questions\//,
    );
  });
});

describe('a question for a person', () => {
  test('is refused in each other way', async () => {
    const url = await started();
    let asked = 0;
    const { client } = await sessionOf(url, {
      user: () => {
        asked += 1;
        return { action: 'accept', content: { confirmed: true } };
      },
    });
    const waiting = await callOf(client, 'w_person');
    expect(waiting.structuredContent).toMatchObject({ status: 'waiting' });
    expect(asked).toBe(0);
    const { workflow_id, action } = waiting.structuredContent as {
      workflow_id: string;
      action: { action_id: string };
    };
    for (const args of [{ workflow_id }, { workflow_id, action_id: action.action_id }]) {
      const refused = await callOf(client, 'submit_result', { ...args, result: true });
      expect(failureIn(refused)).toMatchObject({
        code: 'NOT_PERMITTED',
        message: expect.stringContaining('a person on the page of the question'),
      });
    }
    const page = pageOf(waiting);
    expect(textIn(waiting)).toContain(`Only a person on the page of the question may answer: ${page}.`);
    expect((await send(page, await fieldsOf(page, YES))).status).toBe(200);
    expect(await statusOf(url, waiting)).toMatchObject({ status: 'completed' });
  });

  test('is not asked by a server without pages', async () => {
    const url = await started(open, { questions: {} });
    expect(failureIn(await freshCall(url, 'w_person'))).toMatchObject({
      code: 'E_NO_ROLES',
      message: expect.stringContaining('questions: { page: true }'),
    });
  });

  test('is answered by a caller with a role as well, if that is named', async () => {
    const url = await listening(desk(settings).server);
    const [ada, bob] = [tokenOf('web', { sub: 'ada' }), withRole('web', { sub: 'bob' })];
    for (const name of ['w_both', 'w_lead']) {
      const waiting = await freshCall(url, name, {}, { token: ada });
      const page = pageOf(waiting);
      expect((await fetch(page, { headers: { authorization: `Bearer ${ada}` } })).status).toBe(
        name === 'w_lead' ? 403 : 200,
      );
      const headers = { authorization: `Bearer ${bob}` };
      const html = await (await fetch(page, { headers })).text();
      // Others decide by the message alone.
      expect(html).not.toContain('What happens next');
      const fields = sentFields(html).filter(([key]) => key !== 'value/confirmed');
      const sent = new URLSearchParams([...fields, ['value/confirmed', '0']]);
      const taken = await send(page, sent, { ...BROWSER, ...headers });
      expect(taken.html).toContain('Your answer was taken');
      expect(await statusOf(url, waiting, ada)).toMatchObject({ status: 'completed' });
    }
  });

  test('is answered by its owner alone, where the server knows its callers', async () => {
    const url = await listening(desk(settings).server);
    const [ada, bob] = [tokenOf('web', { sub: 'ada' }), tokenOf('web', { sub: 'bob' })];
    const waiting = await freshCall(url, 'w_person', {}, { token: ada });
    const page = pageOf(waiting);
    const statuses = await Promise.all(
      [undefined, bob, ada].map(async (token) => {
        const headers: Record<string, string> =
          token === undefined ? {} : { authorization: `Bearer ${token}` };
        return (await fetch(page, { headers })).status;
      }),
    );
    expect(statuses).toEqual([401, 403, 200]);
  });
});

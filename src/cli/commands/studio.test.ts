import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { ask } from '../../runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, lit, step } from '../../runtime/engine/graph.fixture.js';
import { SqliteOperator } from '../../runtime/runs/operate/sqlite-operator.js';
import type { StoreOperator } from '../../runtime/runs/operate/store-operator.js';
import type { ReadRun, StoredHead, StoreReader } from '../../runtime/runs/store/reader.js';
import { ada, never } from '../../runtime/runs/store.fixture.js';
import { definitionsOf } from '../../runtime/server/definitions.js';
import type { StepwrightServer } from '../../runtime/server/stepwright-server.js';
import { trustRegistry } from '../../runtime/server/verify-sources.js';
import { dataRegistry } from '../../runtime/tools/data-registry.js';
import { runRef } from '../../runtime/tools/port.js';
import { localAccess } from '../../studio/access.js';
import { studioOf } from '../../studio/studio.js';
import { dispatched } from '../dispatched.fixture.js';
import { ServedStore } from './runs/store.fixture.js';
import { operatorOf } from './runs/store-command.js';
import { studioFor } from './studio.fixture.js';
import { listen } from './studio.js';

const store = new ServedStore();
const asking = graph(chain(ask('sure'), done('out', lit(1))), { name: 'asking' });

test('a command line without a store, or with a wrong one, is refused', async () => {
  const root = store.file('.');
  expect(await dispatched('studio', '--port', 'x')).toMatchObject({ code: 2, out: '' });
  const wrong = await dispatched('studio', '--store', 'memory', '--root', root);
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("`--store` is 'sqlite:PATH'") });
});

test('a store that does not exist is refused where no run can start, and named where one can', async () => {
  const absent = store.file('absent.db');
  const args = ['studio', '--root', store.file('.'), '--store', `sqlite:${absent}`, '--host', '0.0.0.0'];
  expect(await dispatched(...args)).toMatchObject({
    ...{ code: 2, out: '' },
    err: expect.stringContaining(`there is no file '${absent}': give the path of a store`),
  });
  const registry = JSON.stringify(dataRegistry({ tools: [], graphs: [asking] }));
  writeFileSync(store.file('registry.mjs'), `export const registry = ${registry};`);
  expect(await dispatched(...args, '--registry', 'registry.mjs')).toMatchObject({
    code: 2,
    out: `the store '${absent}' does not exist yet: the first run creates it\n`,
    err: expect.stringContaining('needs `auth`'),
  });
  expect(existsSync(absent)).toBe(false);
});

test('the page of a store that does not exist yet has no runs, and follows its first one', async () => {
  const studio = await studioFor(`sqlite:${store.path}`);
  const page = await studio.get('ada', '/runs');
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('There are no runs yet')]);
  expect((await studio.get('ada', '/runs/AB12')).status).toBe(404);
  const change = studio.follow('ada', '/live/runs?at=before', 'There are no runs yet');
  await change;
  const ref = runRef(await store.start(asking));
  await studio.follow('ada', '/live/runs', ref);
  await studio.close();
});

test('pages are sent to the holder of the token, over a stream as well', async () => {
  const ref = runRef(await store.start(asking));
  const token = 'a-token';
  const studio = await listen({ store: `sqlite:${store.path}`, options: {} }, { token, port: 0 });
  try {
    const signIn = await fetch(studio.url, { redirect: 'manual' });
    const [cookie = ''] = (signIn.headers.get('set-cookie') ?? '').split(';');
    expect([signIn.status, signIn.headers.get('location')]).toEqual([303, '/runs']);
    const get = (path: string) => fetch(new URL(path, studio.url), { headers: { cookie } });
    expect(await (await get('/runs')).text()).toContain(`/runs/${ref}`);
    expect((await fetch(new URL('/runs', studio.url))).status).toBe(403);
    const stream = await get(`/live/runs/${ref}?at=before`);
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('data: ')) text += (await reader?.read())?.value ?? '';
    expect(text).toContain('"id":"waits"');
    await reader?.cancel();
  } finally {
    await studio.close();
  }
});

describe('a page for callers of a server', () => {
  const approved = graph(
    chain(
      ask('sure', 'confirm', { answerBy: [{ kind: 'role', role: 'lead', except: 'owner' }] }),
      done('out', step('sure')),
    ),
  );

  const served = () => studioFor(`sqlite:${store.path}`);

  const eventsOf = (run: string) =>
    new SqliteOperator(store.path).read((reader) => {
      const [head] = reader.find(run);
      return reader.entries(head as StoredHead, 1, 100).flatMap(({ events }) => events);
    });

  test('opens with a token of an operator alone, and asks for one', async () => {
    const run = runRef(await store.start(approved));
    const studio = await served();
    const [asked, wrong, right] = [
      await fetch(studio.at(`/runs/${run}?token=ada`)),
      await studio.signIn('eve'),
      await studio.signIn('ada', `//elsewhere.example/runs/${run}?limit=3`),
    ];
    const bearer = await studio.get('ada', '/runs');
    const [askedText, wrongText] = [await asked.text(), await wrong.text()];
    await studio.close();
    expect([studio.url.search, asked.status, wrong.status, right.status, bearer.status]).toEqual([
      ...['', 403, 403, 303, 200],
    ]);
    expect(askedText).toContain(`name="to" value="/runs/${run}"`);
    expect(askedText).not.toContain('approved');
    expect(wrongText).toContain('eve lacks the role &#39;operator&#39;');
    expect(right.headers.get('location')).toBe(`/runs/${run}?limit=3`);
    expect(right.headers.get('set-cookie')).toMatch(/=ada; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  test('answers as the user, who must be permitted to; the log names the user and the way', async () => {
    const run = runRef(await store.start(approved));
    const studio = await served();
    const answer = { action: 'sure#1', 'json/confirmed': 'true' };
    const forbidden = await studio.send('ada', run, 'answer', answer);
    const response = await studio.send('lea', run, 'answer', answer);
    const page = await (await studio.get('ada', `/runs/${run}`)).text();
    await studio.close();
    expect(page).toMatch(/<td>actionSubmitted<\/td><td><code>[^<]*<\/code><\/td><td>lea<\/td>/);
    expect([forbidden.status, response.status]).toEqual([422, 303]);
    const principal = { kind: 'principal', subject: 'lea', roles: ['operator', 'lead'], person: true };
    expect(await eventsOf(run)).toContainEqual(
      expect.objectContaining({ kind: 'actionSubmitted', by: { kind: 'operator', name: 'lea', principal } }),
    );
  });

  test('the run itself refuses an answer of an operator who may not give it', async () => {
    const id = await store.start(approved);
    const principal = { kind: 'principal', subject: 'eve', roles: ['operator'] } as const;
    const outcome = await new SqliteOperator(store.path).send(
      id,
      { command: 'answer', actionId: 'sure#1', result: true },
      { kind: 'operator', name: 'eve', principal },
      5_000,
    );
    expect(outcome).toMatchObject({ outcome: 'refused', failure: { code: 'NOT_PERMITTED' } });
    expect(await store.served().get(ada, id)).toMatchObject({ envelope: { status: 'waiting' } });
  });

  test('cancels as the user', async () => {
    const run = runRef(await store.start(approved));
    const studio = await served();
    const long = await studio.send('ada', run, 'cancel', { reason: 'x'.repeat(501) });
    expect([long.status, await long.text()]).toEqual([
      422,
      expect.stringContaining('The reason has 501 characters, and 500 are the most'),
    ]);
    const { status } = await studio.send('ada', run, 'cancel', { reason: 'not needed' });
    await studio.close();
    expect(status).toBe(303);
    expect((await eventsOf(run)).at(-1)).toMatchObject({
      kind: 'cancelled',
      by: { kind: 'operator', name: 'ada', principal: { subject: 'ada' }, reason: 'not needed' },
    });
  });

  test('decides about a call that may have taken effect', async () => {
    let isCalled = false;
    store.tools['tool-pay'] = () => {
      isCalled = true;
      return never();
    };
    void store.start(graph(chain(call('pay'), done('out', step('pay'))))).catch(() => {});
    await expect.poll(() => isCalled).toBe(true);
    await store.close();
    const run = runRef(`run-${store.started}`);
    await store.served({ leaseMs: 400 }).resumeAll();
    const studio = await served();
    const page = async () => (await studio.get('ada', `/runs/${run}`)).text();
    await expect.poll(page).toContain('may have taken effect before its server stopped');
    const fields = { step: 'pay', how: 'happened', value: '{"id": 7}', reason: 'seen in the bank' };
    const malformed = await studio.send('ada', run, 'decide', { ...fields, value: '{' });
    const response = await studio.send('ada', run, 'decide', fields);
    const text = await page();
    await studio.close();
    expect([malformed.status, response.status]).toEqual([422, 303]);
    expect(text).toContain('ada, as an operator: seen in the bank');
    expect(text).toMatch(/<h2>Result<\/h2><pre tabindex="0">\{\n {2}&quot;id&quot;: 7/);
  });

  test('starts a run as the user, who owns it', async () => {
    await store.start(asking);
    const registry = dataRegistry({ tools: [], graphs: [asking] });
    const startRun = vi.fn(async () => ({ ok: true, envelope: { workflow_id: 'run-1' } }));
    const server = async () => ({ startRun }) as unknown as StepwrightServer;
    const projects = [{ file: 'a.registry.ts', definitions: definitionsOf(registry, {}), server }];
    const studio = await studioFor(`sqlite:${store.path}`, projects);
    const started = await studio.send('lea', 'asking', 'start', {}, 'workflows');
    await studio.close();
    expect([started.status, started.headers.get('location')]).toEqual([303, `/runs/${runRef('run-1')}`]);
    expect(startRun).toHaveBeenCalledWith(
      ...['asking', {}],
      expect.objectContaining({ auth: expect.objectContaining({ extra: { sub: 'lea' } }) }),
    );
  });

  test('compares two definitions of a workflow, of runs that are over as well', async () => {
    const page = async (query = '') => {
      const projects = [{ file: 'a.registry.ts', definitions: definitionsOf(registry, {}) }];
      const studio = await studioFor(`sqlite:${store.path}`, projects);
      const text = await (await studio.get('ada', `/workflows/asking/change${query}`)).text();
      await studio.close();
      return text;
    };
    const registry = dataRegistry({ tools: [], graphs: [asking] });
    expect(await page()).not.toContain('Compare two definitions');
    const older = graph(chain(done('out', lit('the old value'))), { name: 'asking' });
    const ref = runRef(await store.start(older));
    const text = await page();
    expect(text).toContain(`>run ${ref} of `);
    expect(text).not.toContain('the old value');
    const [now, then] = [...text.matchAll(/<option value="([^"]+)"/g)].map(([, hash]) => hash);
    const compared = await page(`?from=${then}&to=${now}`);
    expect(compared).toMatch(/<del>− .*the old value/);
    expect(compared).toMatch(/<ins>\+ .*sure/);
    expect(await page(`?from=other&to=${now}`)).toContain('The latest runs have no definition other');
  });

  test('does not verify a registry again that its process trusts', () => {
    const registry = { ...dataRegistry({ tools: [], graphs: [asking] }), checksum: 'another' };
    expect(() => definitionsOf(registry, {})).toThrow('its checksum does not match');
    trustRegistry(registry);
    expect(definitionsOf(registry, {}).workflows.has('asking')).toBe(true);
  });

  test('is not served to other machines without authentication', async () => {
    await store.start(asking);
    const refused = await dispatched(
      ...['studio', '--root', store.file('.'), '--store', `sqlite:${store.path}`, '--host', '0.0.0.0'],
    );
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining('`--host 0.0.0.0` needs `auth` in the options of the server'),
    });
  });
});

test('a run of a later version has a page that says so', async () => {
  const ref = runRef(await store.start(asking));
  const operator = await operatorOf(`sqlite:${store.path}`);
  const laterReader = (reader: StoreReader): StoreReader => ({
    list: (filter) => reader.list(filter),
    find: (name) => reader.find(name),
    entries: (run, from, most) => reader.entries(run, from, most),
    countExpired: (retention) => reader.countExpired(retention),
    check: () => reader.check(),
    metrics: (now) => reader.metrics(now),
    watch: (onChange) => reader.watch(onChange),
    async read(head) {
      const run = (await reader.read(head)) as ReadRun;
      return { ...run, loaded: { ...run.loaded, rows: run.loaded.rows.map(ofLaterVersion) } };
    },
  });
  const later: StoreOperator = Object.assign(Object.create(operator), {
    read: <T>(work: (reader: StoreReader) => T | Promise<T>) =>
      operator.read((reader) => work(laterReader(reader))),
  });
  const studio = studioOf({
    store: later,
    access: localAccess('a', { owner: { kind: 'local' }, name: 'ada' }),
  });
  const headers = { cookie: 'stepwright_studio_0=a', host: 'localhost' };
  const page = await studio(new Request(`http://localhost/runs/${ref}`, { headers }));
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('The run cannot be read')]);
  await studio.close();
});

function ofLaterVersion(row: ReadRun['loaded']['rows'][number]): typeof row {
  return row.table === 'run' ? { ...row, row: { ...row.row, stateVersion: 99 } } : row;
}

import { expect, test } from 'vitest';
import { ask } from '../../runtime/engine/constructs.fixture.js';
import { chain, done, graph, lit } from '../../runtime/engine/graph.fixture.js';
import type { StoreOperator } from '../../runtime/runs/operate/store-operator.js';
import type { ReadRun, StoreReader } from '../../runtime/runs/store/reader.js';
import { runRef } from '../../runtime/tools/port.js';
import { studioOf } from '../../studio/studio.js';
import { dispatched } from '../dispatched.fixture.js';
import { ServedStore } from './runs/store.fixture.js';
import { operatorOf } from './runs/store-command.js';
import { listen } from './studio.js';

const store = new ServedStore();
const asking = graph(chain(ask('sure'), done('out', lit(1))), { name: 'asking' });

test('a command line without a store, or with a wrong one, is refused', async () => {
  const root = store.file('.');
  expect(await dispatched('studio', '--port', 'x')).toMatchObject({ code: 2, out: '' });
  const wrong = await dispatched('studio', '--store', 'memory', '--root', root);
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("`--store` is 'sqlite:PATH'") });
});

test('pages are sent to the holder of the token, over a stream as well', async () => {
  const ref = runRef(await store.start(asking));
  const token = 'a-token';
  const studio = await listen({ store: `sqlite:${store.path}` }, { token, port: 0 });
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
    async read(head) {
      const run = (await reader.read(head)) as ReadRun;
      return { ...run, loaded: { ...run.loaded, rows: run.loaded.rows.map(ofLaterVersion) } };
    },
  });
  const later: StoreOperator = Object.assign(Object.create(operator), {
    read: <T>(work: (reader: StoreReader) => T | Promise<T>) =>
      operator.read((reader) => work(laterReader(reader))),
  });
  const studio = studioOf({ store: later, user: { kind: 'local' }, userName: 'ada', token: 'a' });
  const headers = { cookie: 'stepwright_studio_0=a', host: 'localhost' };
  const page = await studio(new Request(`http://localhost/runs/${ref}`, { headers }));
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('The run cannot be read')]);
  await studio.close();
});

function ofLaterVersion(row: ReadRun['loaded']['rows'][number]): typeof row {
  return row.table === 'run' ? { ...row, row: { ...row.row, stateVersion: 99 } } : row;
}

import { expect, test } from 'vitest';
import { ask } from '../../runtime/engine/constructs.fixture.js';
import { chain, done, graph, lit } from '../../runtime/engine/graph.fixture.js';
import { runRef } from '../../runtime/tools/port.js';
import { dispatched } from '../dispatched.fixture.js';
import { ServedStore } from './runs/store.fixture.js';
import { listen, newToken } from './studio.js';

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
  const token = newToken();
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

import { describe, expect, test } from 'vitest';
import { ask } from '../../runtime/engine/constructs.fixture.js';
import { again, call, chain, done, graph, lit, step } from '../../runtime/engine/graph.fixture.js';
import { ok } from '../../runtime/runs/store.fixture.js';
import { dispatched } from '../dispatched.fixture.js';
import { ServedStore } from './runs/store.fixture.js';

const store = new ServedStore();

const order = graph(
  chain(
    call('a', { x: lit(1) }, { retry: again(2, { delayMs: 0 }) }),
    call('never', {}, { when: lit(false) }),
    ask('sure'),
    done('out', step('a')),
  ),
  { name: 'order' },
);

const draw = (...args: readonly string[]) => dispatched('graph', ...args);

const drawRun = (id: string, format: string) =>
  draw('--run', id, '--store', `sqlite:${store.path}`, '--format', format);

/** A run whose call fails once, and that waits for an answer. */
async function waiting(): Promise<string> {
  let calls = 0;
  store.tools['tool-a'] = (input) => {
    calls += 1;
    store.clock.pass(150);
    if (calls > 1) return ok(input);
    const failure = { code: 'E_BUSY', message: 'busy' };
    return { ok: false, attempted: true, failure };
  };
  return store.start(order);
}

describe('stepwright graph --run', () => {
  test('shows states, attempts and times of a run while a server has it', async () => {
    const id = await waiting();
    const { code, out, err } = await drawRun(id, 'svg');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/s-succeeded" data-key="a">/);
    expect(out).toMatch(/s-skipped" data-key="never">/);
    expect(out).toMatch(/s-waiting" data-key="sure">/);
    expect(out).toContain('>succeeded (2×) · 300 ms<');
    expect(out).not.toMatch(/s-[a-z]+" data-key="out">/);
    expect((await drawRun(id, 'svg')).out).toBe(out);
    await store.answer(id, 'sure#1', true);
    expect((await drawRun(id, 'svg')).out).toMatch(/s-succeeded" data-key="out">/);
  });

  test('has the times in the details of the page', async () => {
    const id = await waiting();
    const { code, out } = await drawRun(id, 'html');
    expect(code).toBe(0);
    expect(out).toMatch(/\["attempts","2"\],\["started","1970-01-01T00:00:0\d\.\d{3}Z"\],\["ended",/);
    expect(out).toContain('["took","300 ms"]');
    expect(out).toContain('["status","skipped: condition_false"]');
    expect(out).toMatch(/"about":"run [0-9a-f]{12}: waiting, started 1970/);
    expect(out).not.toContain(id);
  });

  test('knows the states of a fork, whose log is not whole, without times', async () => {
    const id = await waiting();
    const { view } = await forked(id);
    const { out } = await drawRun(view, 'svg');
    expect(out).toMatch(/s-succeeded" data-key="a">/);
    expect(out).toContain('>succeeded (2×)<');
  });

  test.each<[readonly string[], string]>([
    [['--run', 'x'], '`--run` is for `--format svg` and `--format html`, not `text`'],
    [['--run', 'x', '--format', 'svg'], '`stepwright graph --run` needs `--store'],
    [['--run', 'x', '--format', 'svg', '--store', 'file'], 'sqlite:'],
    [['order', '--run', 'x', '--format', 'svg'], 'leave out `order`'],
    [['order', '--store', 'sqlite:a.db'], '`--store` is for `stepwright graph --run RUN`'],
    [['--format', 'svg'], 'needs the name of a workflow'],
  ])('refuses %j', async (args, message) => {
    const { code, out, err } = await draw(...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
  });

  test('names a run that there is not', async () => {
    await waiting();
    expect(await drawRun('nothing', 'svg')).toMatchObject({
      code: 2,
      err: expect.stringContaining('has no run `nothing`'),
    });
  });
});

async function forked(id: string): Promise<{ readonly view: string }> {
  const args = ['--at', '3', '--real', '--yes', '--json', '--store', `sqlite:${store.path}`];
  const { out } = await dispatched('runs', 'fork', id, ...args);
  return { view: JSON.parse(out).run };
}

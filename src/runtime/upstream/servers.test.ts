import { describe, expect, test } from 'vitest';
import { type UpstreamCall, UpstreamError } from './port.js';
import { SessionLostError, type UpstreamConnection, UpstreamServers } from './servers.js';

const call: UpstreamCall = { signal: new AbortController().signal, progress: () => {} };
const echo = { server: 'a', tool: 'echo' };

/** Servers whose connections are made here. */
function servers(
  open: (
    count: number,
    signal: AbortSignal,
  ) => Promise<Partial<UpstreamConnection>> | Partial<UpstreamConnection>,
  settings: { readonly timeoutMs?: number } = {},
) {
  const log: string[] = [];
  const waits: number[] = [];
  const ends: (() => void)[] = [];
  let opened = 0;
  const upstream = new UpstreamServers(
    { a: { ...settings, command: 'a', env: { T: `$\{TOKEN}` } }, b: { command: 'b' } },
    {
      env: { TOKEN: 'abc-secret' },
      log: (text) => log.push(text),
      wait: async (ms) => void waits.push(ms),
      open: async (_name, _server, say, _changed, _secrets, signal) => {
        opened += 1;
        say('the token is abc-secret');
        const made = await open(opened, signal);
        return {
          call: async (tool) => ({ content: [{ type: 'text', text: tool }], isError: false }),
          list: async () => ({ server: { name: 'a', version: '1' }, tools: [] }),
          closed: new Promise((resolve) => ends.push(resolve)),
          close: async () => ends.at(-1)?.(),
          ...made,
        };
      },
    },
  );
  return { upstream, log, waits, ends, opened: () => opened };
}

describe('a connection to an upstream server', () => {
  test('is opened by the first call, once', async () => {
    const { upstream, opened } = servers(() => ({}));
    expect(opened()).toBe(0);
    await Promise.all([
      upstream.call(echo, {}, call),
      upstream.call(echo, {}, call),
      upstream.list('a', call.signal),
    ]);
    expect(opened()).toBe(1);
  });

  test('is opened again after it has ended, with a delay', async () => {
    const { upstream, waits, ends, log, opened } = servers(() => ({}));
    await upstream.call(echo, {}, call);
    ends[0]?.();
    await new Promise(setImmediate);
    await upstream.call(echo, {}, call);
    expect([opened(), waits]).toEqual([2, [100]]);
    expect(log).toContain("upstream server 'a': the connection ended");
    ends[1]?.();
    await new Promise(setImmediate);
    await upstream.call(echo, {}, call);
    // The call between them succeeded.
    expect(waits).toEqual([100, 100]);
  });

  test('is waited for twice as long after each failure, up to half a minute', async () => {
    const { upstream, waits } = servers(() => {
      throw new Error('no such program abc-secret');
    });
    const failures: unknown[] = [];
    for (let i = 0; i < 11; i += 1)
      failures.push(await upstream.call(echo, {}, call).catch((error) => error));
    expect(failures[0]).toMatchObject({
      code: 'E_UPSTREAM_UNAVAILABLE',
      message: "The upstream server 'a' cannot be reached: no such program ••••",
      retryAfterMs: 100,
    });
    expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000]);
  });

  test('is opened again where the server has forgotten the session, for the same call', async () => {
    const { upstream, opened } = servers((count) => ({
      call: async () => {
        if (count === 1) throw new SessionLostError('404');
        return { content: [], isError: false };
      },
    }));
    expect(await upstream.call(echo, {}, call)).toEqual({ content: [], isError: false });
    expect(opened()).toBe(2);
  });

  test('repeats no secret of the configuration', async () => {
    const { upstream, log } = servers(() => ({
      call: async () => {
        throw new UpstreamError('E_UPSTREAM_LOST', 'abc-secret was wrong', { outcomeUnknown: true });
      },
    }));
    const lost = { code: 'E_UPSTREAM_LOST', message: '•••• was wrong', outcomeUnknown: true };
    await expect(upstream.call(echo, {}, call)).rejects.toMatchObject(lost);
    expect(log).toEqual(["upstream server 'a': the token is ••••"]);
  });

  test('that a caller does not wait for any longer is opened all the same', async () => {
    let open = (): void => {};
    const { upstream, opened } = servers(
      () =>
        new Promise((resolve) => {
          open = () => resolve({});
        }),
    );
    const stop = new AbortController();
    const first = upstream.call(echo, {}, { ...call, signal: stop.signal });
    const second = upstream.call(echo, {}, call);
    await new Promise(setImmediate);
    stop.abort(new Error('stopped'));
    await expect(first).rejects.toThrow('stopped');
    open();
    expect(await second).toMatchObject({ isError: false });
    expect(opened()).toBe(1);
  });

  test('takes no longer than a call may, and is opened all the same', async () => {
    let open = (): void => {};
    const { upstream, opened } = servers(
      () =>
        new Promise((resolve) => {
          open = () => resolve({});
        }),
      { timeoutMs: 20 },
    );
    await expect(upstream.call(echo, {}, call)).rejects.toMatchObject({
      code: 'E_UPSTREAM_UNAVAILABLE',
      message: "The upstream server 'a' cannot be reached: it did not connect within 20 ms",
      retryAfterMs: 100,
    });
    await expect(upstream.list('a', call.signal)).rejects.toMatchObject({ code: 'E_UPSTREAM_UNAVAILABLE' });
    open();
    expect(await upstream.call(echo, {}, call)).toMatchObject({ isError: false });
    expect(opened()).toBe(1);
  });

  test('says how it failed the last time, where a further one would be too late', async () => {
    const { upstream } = servers((count) => {
      if (count === 1) throw new Error('`a` exited with code 3 (abc-secret)');
      return new Promise(() => {});
    });
    await expect(upstream.call(echo, {}, call)).rejects.toMatchObject({ code: 'E_UPSTREAM_UNAVAILABLE' });
    await expect(upstream.list('a', AbortSignal.timeout(1))).rejects.toMatchObject({
      code: 'E_UPSTREAM_UNAVAILABLE',
      message: expect.stringMatching(
        /^The upstream server 'a' cannot be reached: it did not connect before the deadline; the last time, `a` exited with code 3 \((?!abc)/,
      ),
    });
  });

  test('that a call has opened may have other tools; one that a list has opened is compared already', async () => {
    const { upstream, ends } = servers(() => ({}));
    const changed: string[] = [];
    upstream.onToolsChanged((server) => changed.push(server));
    await upstream.list('a', call.signal);
    await upstream.call(echo, {}, call);
    expect(changed).toEqual([]);
    ends[0]?.();
    await new Promise(setImmediate);
    await upstream.call(echo, {}, call);
    await upstream.call(echo, {}, call);
    expect(changed).toEqual(['a']);
  });

  test('is closed on request, without a delay for the next one', async () => {
    const { upstream, waits, opened, log } = servers(() => ({}));
    await upstream.call(echo, {}, call);
    await upstream.close();
    await upstream.call(echo, {}, call);
    expect([opened(), waits]).toEqual([2, []]);
    expect(log.filter((line) => line.includes('ended'))).toEqual([]);
  });

  test('to a server that does not respond is ended by a close, and may be opened again', async () => {
    const { upstream, opened } = servers(
      (_count, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject)),
    );
    const closed = { code: 'E_UPSTREAM_UNAVAILABLE', message: expect.stringContaining('it was closed') };
    for (const count of [1, 2]) {
      const refused = expect(upstream.call(echo, {}, call)).rejects.toMatchObject(closed);
      await new Promise(setImmediate);
      await upstream.close();
      await refused;
      expect(opened()).toBe(count);
    }
    await upstream.close();
  });

  test('is that of a configured server', async () => {
    const { upstream } = servers(() => ({}));
    await expect(upstream.call({ server: 'c', tool: 'echo' }, {}, call)).rejects.toMatchObject({
      code: 'E_UPSTREAM_CONFIG',
      message: expect.stringContaining("No upstream server 'c' is configured"),
    });
  });
});

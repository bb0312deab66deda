import { type UpstreamCall, type UpstreamPort, upstreamServers } from 'stepwright/runtime';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { programWithPackage } from '../../built-package.js';
import { smoke } from '../../nightly.js';
import { type HttpFixture, httpFixture } from './http.fixture.js';
import { FIXTURE_TOOLS } from './server.fixture.js';
import { publishedServer } from './servers.js';

const SECRET = 'a-token-that-is-not-shown';
process.env.UPSTREAM_TEST_TOKEN = SECRET;
const VARIABLE = `$\{UPSTREAM_TEST_TOKEN}`;

const call = (more: Partial<UpstreamCall> = {}): UpstreamCall => ({
  signal: new AbortController().signal,
  progress: () => {},
  ...more,
});
const tool = (name: string) => ({ server: 'fixture', tool: name });

interface State {
  readonly pid: number;
  readonly cancelled: number;
  readonly secret: string;
}

async function stateOf(upstream: UpstreamPort): Promise<State> {
  const { content } = await upstream.call(tool('state'), {}, call());
  return JSON.parse(String(content[0]?.text)) as State;
}

/** Settles once the server has heard of so many cancellations: over HTTP they are requests of their own. */
async function untilCancelled(upstream: UpstreamPort, count: number): Promise<number> {
  for (;;) {
    const { cancelled } = await stateOf(upstream);
    if (cancelled >= count) return cancelled;
  }
}

/** Settles with the first report of progress. */
function started(): {
  readonly progress: UpstreamCall['progress'];
  readonly report: Promise<readonly unknown[]>;
} {
  let progress: UpstreamCall['progress'] = () => {};
  const report = new Promise<readonly unknown[]>((resolve) => {
    progress = (...report) => resolve(report);
  });
  return { progress, report };
}

/** In `npm test` each transport and each revision once. */
const kinds = smoke(
  [
    ['http', '2025-11-25'],
    ['stdio', '2026-07-28'],
    ['stdio', '2025-11-25'],
    ['http', '2026-07-28'],
  ] as const,
  2,
);

describe.each(kinds)('an upstream server over %s, %s', { timeout: 120_000 }, (kind, revision) => {
  let http: HttpFixture | undefined;
  let upstream: Required<UpstreamPort>;

  function open(timeoutMs?: number): Required<UpstreamPort> {
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    const fixture =
      kind === 'http'
        ? { url: http?.url ?? '', headers: { Authorization: `Bearer ${VARIABLE}` }, ...limit }
        : {
            command: process.execPath,
            args: [programWithPackage('test/e2e/upstream/server.fixture.ts'), revision],
            env: { FIXTURE_SECRET: VARIABLE },
            ...limit,
          };
    return upstreamServers({ fixture }, { log: () => {} });
  }

  beforeAll(async () => {
    if (kind === 'http') http = await httpFixture(SECRET, revision === '2026-07-28');
    upstream = open();
  });
  afterAll(async () => {
    await upstream.close();
    await http?.close();
  });

  test('lists the tools of all pages', async () => {
    const { server, tools } = await upstream.list('fixture', call().signal);
    expect(server).toEqual({ name: 'fixture', version: '1.0.0' });
    expect(tools).toEqual(FIXTURE_TOOLS);
  });

  test('gets the input and the idempotency key, and gives structured content', async () => {
    const result = await upstream.call(
      tool('echo'),
      { text: 'hi', twice: true },
      call({ idempotencyKey: 'k1' }),
    );
    expect(result).toMatchObject({ structuredContent: { text: 'hi hi', key: 'k1' }, isError: false });
    const without = await upstream.call(tool('echo'), { text: 'hi' }, call());
    expect(without.structuredContent).toEqual({ text: 'hi' });
  });

  test('gives a result that is an error', async () => {
    expect(await upstream.call(tool('fail'), {}, call())).toEqual({
      content: [{ type: 'text', text: 'nothing to fail' }],
      isError: true,
    });
  });

  test('is refused what it asks a client, at once', async () => {
    const answer = upstream.call(tool('ask-client'), {}, call());
    if (revision === '2026-07-28') {
      await expect(answer).rejects.toMatchObject({
        code: 'E_UPSTREAM_REFUSED',
        message: expect.stringContaining('it asks for input'),
      });
      return;
    }
    const { content } = await answer;
    expect(JSON.parse(String(content[0]?.text))).toEqual([-32601, -32601, -32601]);
  });

  test('refuses what it does not have', async () => {
    await expect(upstream.call(tool('nothing'), {}, call())).rejects.toMatchObject({
      code: 'E_UPSTREAM_REFUSED',
      message: expect.stringContaining('no tool nothing'),
    });
  });

  test('reports progress, and hears that a call is cancelled', async () => {
    const stop = new AbortController();
    const { progress, report } = started();
    const slow = upstream.call(tool('slow'), {}, call({ signal: stop.signal, progress }));
    expect(await report).toEqual([1, 2, 'half way']);
    const { cancelled } = await stateOf(upstream);
    stop.abort(new Error('no longer needed'));
    await expect(slow).rejects.toThrow('no longer needed');
    expect(await untilCancelled(upstream, cancelled + 1)).toBe(cancelled + 1);
  });

  test('hears that a call has timed out', async () => {
    const { cancelled } = await stateOf(upstream);
    const limited = open(1_500);
    onTestFinished(() => limited.close());
    // The limit is that of connecting, too; the connection is made all the same.
    while ((await stateOf(limited).catch(() => undefined)) === undefined);
    await expect(limited.call(tool('slow'), {}, call())).rejects.toMatchObject({
      code: 'E_TIMEOUT',
      message: "The call of 'slow' of the upstream server 'fixture' timed out after 1500 ms",
      outcomeUnknown: true,
    });
    // Over stdio the other connection has a process of its own.
    const count = kind === 'http' ? cancelled + 1 : 1;
    expect(await untilCancelled(kind === 'http' ? upstream : limited, count)).toBe(count);
  });
});

describe('an upstream server over stdio', { timeout: 120_000 }, () => {
  const open = (log: string[] = []) => {
    const program = programWithPackage('test/e2e/upstream/server.fixture.ts');
    const fixture = { command: process.execPath, args: [program], env: { FIXTURE_SECRET: VARIABLE } };
    const upstream = upstreamServers({ fixture }, { log: (text) => log.push(text) });
    onTestFinished(() => upstream.close());
    return upstream;
  };

  test('is one process, with the secrets of the environment', async () => {
    const upstream = open();
    const states = await Promise.all([stateOf(upstream), stateOf(upstream), stateOf(upstream)]);
    expect(new Set(states.map(({ pid }) => pid)).size).toBe(1);
    expect(states[0]?.secret).toBe(SECRET);
  });

  test('that ends during a call leaves the outcome unknown, and is started again by the next call', async () => {
    const log: string[] = [];
    const upstream = open(log);
    const { pid } = await stateOf(upstream);
    await expect(upstream.call(tool('crash'), {}, call())).rejects.toMatchObject({
      code: 'E_UPSTREAM_LOST',
      message: expect.stringMatching(
        /'crash': `.*` exited with code 3; the end of its stderr:\n {2}going down with ••••$/,
      ),
      outcomeUnknown: true,
    });
    expect((await stateOf(upstream)).pid).not.toBe(pid);
    expect(log).toContain("upstream server 'fixture': going down with ••••");
    expect(log).toContain("upstream server 'fixture': the connection ended");
  });

  test('is found from the root of the project', async () => {
    const server = publishedServer('filesystem', '.');
    const upstream = upstreamServers(
      { files: { ...server, cwd: 'upstream' } },
      { root: `${import.meta.dirname}/..`, log: () => {} },
    );
    onTestFinished(() => upstream.close());
    const listed = await upstream.call(
      { server: 'files', tool: 'list_directory' },
      { path: import.meta.dirname },
      call(),
    );
    expect(JSON.stringify(listed)).toContain('client.test.ts');
  });

  const ends = (script: string, plain: readonly string[] = []) => {
    const fixture = {
      command: process.execPath,
      args: ['-e', script],
      env: { FIXTURE_SECRET: VARIABLE },
      ...(plain.length === 0 ? {} : { plain: [...plain] }),
    };
    const upstream = upstreamServers({ fixture }, { log: () => {} });
    return upstream.list('fixture', call().signal).catch((error: Error) => error.message);
  };
  const unreachable = (script: string, end: string) =>
    `The upstream server 'fixture' cannot be reached: \`${process.execPath} -e ${script}\` ${end}`;

  test('that exits at once is named with its command, its exit code and the end of its stderr', async () => {
    const noise = 'for (let i = 0; i < 20; i += 1) console.error(i)';
    const script = `${noise}; console.error("\\u001b[31m" + process.env.FIXTURE_SECRET); process.exit(7)`;
    const lines = [...Array.from({ length: 9 }, (_, index) => String(index + 11)), '\\u001b[31m••••'];
    const end = `exited with code 7; the end of its stderr:\n${lines.map((line) => `  ${line}`).join('\n')}`;
    expect(await ends(script)).toBe(unreachable(script, end));
    expect(await ends(script, ['UPSTREAM_TEST_TOKEN'])).toContain(SECRET);
  });

  test('that exits at once is started again, and logs its reason once', async () => {
    const logged: string[] = [];
    const fixture = { command: process.execPath, args: ['-e', "console.error('no key'); process.exit(1)"] };
    const upstream = upstreamServers({ fixture }, { log: (line) => logged.push(line) });
    await expect(upstream.list('fixture', call().signal)).rejects.toThrow('no key');
    expect(logged).toEqual(["upstream server 'fixture': no key"]);
  });

  test('that throws is named with its error, without the stack', async () => {
    const end = await ends("throw new TypeError('no such folder')");
    expect(end).toMatch(/\n {2}TypeError: no such folder\n/);
    expect(end).not.toMatch(/^\s+at /m);
  });

  test('that npx has installed in part has the folder to remove in its message', async () => {
    const end = await ends(
      `console.error("no file '/home/ada/.npm/_npx/68b53d3fd47bf8db/package.json'"); process.exit(1)`,
    );
    expect(end).toMatch(/remove '\/home\/ada\/\.npm\/_npx\/68b53d3fd47bf8db', and start it again$/);
  });

  test('that says nothing, or is ended by a signal, is named too', async () => {
    const silent = 'process.exit(0)';
    expect(await ends(silent)).toBe(unreachable(silent, 'exited with code 0; it wrote nothing to stderr'));
    const killed = 'process.kill(process.pid, "SIGKILL")';
    expect(await ends(killed)).toBe(unreachable(killed, 'was ended by SIGKILL; it wrote nothing to stderr'));
  });

  test('shows no part of a secret where its lines and its command are cut', async () => {
    const padding = 'x'.repeat(290);
    const script = `console.error("${padding}" + process.env.FIXTURE_SECRET); process.exit(1)`;
    expect(await ends(script)).not.toContain(SECRET.slice(0, 5));
    const end = 'process.exit(1)';
    const before = `${process.execPath} -e ${end} `;
    const upstream = upstreamServers(
      { fixture: { command: process.execPath, args: ['-e', end, padding.slice(before.length), VARIABLE] } },
      { log: () => {} },
    );
    const failure = await upstream.list('fixture', call().signal).catch((error: Error) => error.message);
    expect(failure).not.toContain(SECRET.slice(0, 5));
  });

  test('cannot be reached where there is no such program', async () => {
    const upstream = upstreamServers({ fixture: { command: `${import.meta.dirname}/nothing` } });
    await expect(upstream.list('fixture', call().signal)).rejects.toMatchObject({
      code: 'E_UPSTREAM_UNAVAILABLE',
      message: expect.stringContaining('ENOENT'),
      retryAfterMs: 100,
    });
  });
});

describe('an upstream server over HTTP', { timeout: 120_000 }, () => {
  test('that forgot the session gets a new one, for the same call', async () => {
    const http = await httpFixture(SECRET);
    onTestFinished(() => http.close());
    const headers = { Authorization: `Bearer ${SECRET}` };
    const upstream = upstreamServers({ fixture: { url: http.url, headers } });
    onTestFinished(() => upstream.close());
    await stateOf(upstream);
    http.forget();
    expect(await stateOf(upstream)).toMatchObject({ pid: process.pid });
  });

  test('that refuses the caller cannot be reached; the failure has no secret', async () => {
    const http = await httpFixture('another');
    onTestFinished(() => http.close());
    const headers = { Authorization: `Bearer ${VARIABLE}` };
    const upstream = upstreamServers({ fixture: { url: http.url, headers } });
    const failure = await stateOf(upstream).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'E_UPSTREAM_UNAVAILABLE',
      message: expect.stringContaining('••••'),
    });
    expect(String((failure as Error).stack)).not.toContain(SECRET);
  });

  test('is not there', async () => {
    const http = await httpFixture(SECRET);
    await http.close();
    const upstream = upstreamServers({ fixture: { url: http.url } });
    await expect(stateOf(upstream)).rejects.toMatchObject({
      code: 'E_UPSTREAM_UNAVAILABLE',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('that goes down between two calls cannot be reached', async () => {
    const http = await httpFixture(SECRET);
    const upstream = upstreamServers({
      fixture: { url: http.url, headers: { Authorization: `Bearer ${SECRET}` } },
    });
    await stateOf(upstream);
    await http.close();
    // The connection that was open may still have taken the request.
    await expect(stateOf(upstream)).rejects.toMatchObject({
      code: expect.stringMatching(/^E_UPSTREAM_(LOST|UNAVAILABLE)$/),
    });
    await expect(stateOf(upstream)).rejects.toMatchObject({ code: 'E_UPSTREAM_UNAVAILABLE' });
  });
});

describe('an upstream server of 2025-11-25 over stdio that does not know `server/discover`', () => {
  const open = (onOther: string) => {
    const script = `
      const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method, params } = JSON.parse(line);
        if (method === 'initialize')
          answer(id, { ...params, capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } });
        else if (method === 'tools/list') answer(id, { tools: [] });
        else if (id !== undefined) ${onOther};
      });`;
    const upstream = upstreamServers(
      { fixture: { command: process.execPath, args: ['-e', script] } },
      { log: () => {} },
    );
    onTestFinished(() => upstream.close());
    return upstream.list('fixture', call().signal);
  };

  test.each(
    smoke([
      ['ends', 'process.exit(1)'],
      ['answers nothing', 'undefined'],
    ]),
  )('and %s is connected all the same', { timeout: 60_000 }, async (_, onOther) => {
    expect(await open(onOther)).toEqual({ server: { name: 'old', version: '1' }, tools: [] });
  });
});

test('an upstream server of 2026-07-28 over HTTP reports changes, also after its stream has ended', async () => {
  const http = await httpFixture(undefined, true);
  onTestFinished(() => http.close());
  const upstream = upstreamServers({ fixture: { url: http.url } }, { log: () => {} });
  onTestFinished(() => upstream.close());
  let onChange = (_: string): void => {};
  upstream.onToolsChanged((server) => onChange(server));
  const change = () =>
    new Promise<string>((resolve) => {
      onChange = resolve;
    });
  await upstream.list('fixture', call().signal);
  const first = change();
  // Until the subscription is made, a change is not heard of.
  const announcing = setInterval(() => http.announce(), 50);
  expect(await first).toBe('fixture');
  clearInterval(announcing);
  const missed = change();
  http.drop();
  expect(await missed).toBe('fixture');
});

test.each([
  [
    { '1': { command: 'a' } },
    ['`/upstream/1`: a name is at most 32 of a-z, 0-9, _ and -, and begins with a letter'],
  ],
  [{ a: {} }, ['`/upstream/a/command` is missing']],
  [
    { a: { comand: 'a', args: ['b'] }, b: { url: 5 } },
    [
      '`/upstream/a/command` is missing',
      "`/upstream/a/comand` is not a setting. Did you mean 'command'?",
      '`/upstream/b/url` must be a text',
    ],
  ],
])(
  'a malformed configuration of a program is refused in the words of the command line: %j',
  (config, lines) => {
    const message = ['the upstream servers are malformed:', ...lines.map((line) => `  - ${line}`)].join('\n');
    expect(() => upstreamServers(config as unknown as Parameters<typeof upstreamServers>[0])).toThrow(
      new RangeError(message),
    );
  },
);

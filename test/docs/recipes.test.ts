import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type {
  BuiltWorkflow,
  Middleware,
  Registry,
  RunningHttpServer,
  ServerSettings,
} from 'stepwright/runtime';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { importBuilt } from '../built-package.js';
import { fencesOf, page } from './fences.js';
import { fenceNamed, type PageProject, pageProject } from './pages.js';

// The package that the samples import.
const { createServer } = await importBuilt<typeof import('../../src/runtime/index.js')>('runtime/index.js');

const PAGE = 'docs/recipes.md';

type Server = ReturnType<typeof createServer>;
type Settings = Pick<ServerSettings, 'middleware' | 'workflows'> & { readonly tools?: object };

/** The run in the result of a workflow's tool. */
function workflowIn({ structuredContent }: { readonly structuredContent?: unknown }): string {
  return String((structuredContent as { readonly workflow_id?: string } | undefined)?.workflow_id);
}

describe('in the recipes', () => {
  let recipes: PageProject;
  let classes: { readonly AddLine: new () => object; readonly FindPage: new () => object };

  beforeAll(async () => {
    recipes = await pageProject(PAGE);
    classes = (await recipes.load('src/tools.ts')) as never;
  }, 300_000);
  afterAll(() => recipes.remove());

  /** A server of all recipes, and the lines that its tools added. */
  const serve = async (settings: Settings = {}): Promise<{ server: Server; lines: string[] }> => {
    const lines: string[] = [];
    const { registry } = await recipes.load('generated/registry.ts');
    const { CountNotes } = (await recipes.load('src/dependencies.ts')) as never as {
      CountNotes: new (store: object) => object;
    };
    class Recorded extends classes.AddLine {
      execute({ path, text }: { path: string; text: string }): { line: number } {
        if (path.startsWith('broken')) throw new Error('disk full');
        return { line: lines.push(`${path}: ${text}`) };
      }
    }
    const tools = {
      'add-line': () => new Recorded(),
      'count-notes': () => new CountNotes({ count: () => 3 }),
      ...settings.tools,
    };
    return { server: createServer(registry as Registry, { ...settings, tools } as never), lines };
  };
  const request = { signal: new AbortController().signal, requestId: '1', progress: () => {} };
  const run = async (
    { server }: { server: Server },
    name: string,
    args: Record<string, string>,
  ): Promise<{ readonly text: string; readonly meta: Record<string, unknown> }> => {
    const trace = await server.getPrompt(name, args, request);
    if (!('_meta' in trace)) throw new Error(`${name} is no workflow`);
    return { text: JSON.stringify(trace.messages), meta: { ...trace._meta } };
  };

  test('a step runs on a condition', async () => {
    const served = await serve();
    expect((await run(served, 'only-if', { text: 'hello' })).meta).toMatchObject({
      result: { lines: 1, last: 1 },
      steps: [{ status: 'completed' }, { status: 'completed' }, { name: 'signed', status: 'skipped' }],
    });
    expect((await run(served, 'only-if', { text: 'again', author: 'Ada' })).meta.result).toEqual({
      lines: 2,
      last: 3,
    });
    expect(served.lines).toEqual(['hello', 'again', 'said by Ada'].map((text) => `pages/Inbox.md: ${text}`));
  });

  test('a run stops with a reason, or early', async () => {
    const served = await serve();
    expect((await run(served, 'stop', { page: 'Inbox', text: ' ' })).meta).toMatchObject({
      status: 'succeeded',
      result: { line: 0 },
    });
    const long = await run(served, 'stop', { page: 'Inbox', text: 'x'.repeat(501) });
    expect(long.meta).toMatchObject({ status: 'failed', calls: [] });
    expect(long.text).toContain('A note has at most 500 characters');
    expect((await run(served, 'stop', { page: 'Inbox', text: 'x' })).text).toContain('Inbox has no alias');
    expect(served.lines).toEqual([]);
  });

  test('values are computed and transformed', async () => {
    const served = await serve();
    const days = JSON.stringify(['2025-12-31', '2026-02-01', '2026-01-13', '2026-01-12']);
    expect((await run(served, 'compute', { days })).meta.result).toEqual({
      months: ['2026-01', '2026-02'],
      line: 1,
    });
    await run(served, 'part', { page: 'Inbox' });
    expect(served.lines).toEqual(['log.md: 1. 2026-01\n2. 2026-02', 'pages/index.md: see pages/Inbox.md']);
  });

  test('a chain is one step', async () => {
    const served = await serve();
    const args = { text: 'hello' };
    expect((await run(served, 'one-after-the-other', args)).meta.result).toEqual({ line: 2 });
    expect(served.lines).toEqual(['pages/Inbox.md: hello', 'log.md: line 1 is new']);
    expect((await run(served, 'one-after-the-other', { ...args, really: 'no' })).meta.result).toEqual({
      line: null,
    });
  });

  test('a run goes on without a failed step', async () => {
    class Lost extends classes.FindPage {
      execute(): never {
        throw new Error('nowhere');
      }
    }
    const served = await serve({ tools: { 'find-page': () => new Lost() } });
    const { meta } = await run(served, 'go-on', { page: 'Inbox', text: 'hello' });
    expect(meta).toMatchObject({ status: 'succeeded', result: { path: 'inbox.md' } });
    expect(served.lines).toEqual(['inbox.md: hello']);
  });

  test('a step is retried with the same key', async () => {
    const { Send } = (await recipes.load('src/try-again.ts')) as never as {
      Send: new () => { execute(input: object, context: { idempotencyKey: string }): Promise<object> };
    };
    const keys: string[] = [];
    class Flaky extends Send {
      override execute(input: object, context: { idempotencyKey: string }): Promise<object> {
        keys.push(context.idempotencyKey);
        if (keys.length < 3) throw Object.assign(new Error('busy'), { retryAfterMs: 1 });
        return super.execute(input, context);
      }
    }
    const served = await serve({ tools: { send: () => new Flaky() } });
    expect((await run(served, 'try-again', { text: 'hello' })).meta.result).toEqual({ length: 5 });
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  test('the rest is done, and all failures are reported', async () => {
    const failing: Middleware = {
      name: 'failing',
      onRequest: ({ input }) =>
        input.path === 'week.md' ? undefined : { input: { ...input, path: `broken/${input.path}` } },
    };
    const served = await serve({ middleware: [failing] });
    const { meta } = await run(served, 'collect', { text: 'hello' });
    expect(meta).toMatchObject({
      status: 'failed',
      errors: [
        { step: 'today', message: 'disk full' },
        { step: 'year', message: 'disk full' },
      ],
    });
    expect(served.lines).toEqual(['week.md: hello']);
  });

  test('resources are read, linked, or read without being shown', async () => {
    const served = await serve();
    const { text, meta } = await run(served, 'resources', { date: '2026-01-12' });
    expect(meta.result).toMatchObject({ day: { type: 'resource_link', uri: 'notes://days/2026-01-12' } });
    expect(served.lines).toEqual(['log.md: # 2026-01-12\n']);
    expect(text).toContain('One line, one thought.');
  });

  test('guidance and summary are shown', async () => {
    const { text, meta } = await run(await serve(), 'guidance', { page: 'Inbox' });
    expect(text).toContain('Find the page that Inbox means. An alias counts as well.');
    expect(text).toContain('1000 lines of pages/Inbox.md');
    expect(text).not.toContain('pages/Inbox.md:500');
    expect(meta.result).toEqual({ lines: 1000, next: 'To add a line to pages/Inbox.md, call add-line.' });
  });

  test('a secret is masked', async () => {
    const { text, meta } = await run(await serve(), 'secret', { user: 'Ada', password: 'correct horse' });
    expect(meta.result).toEqual({ ok: true });
    expect(text).not.toContain('correct horse');
    expect(text).toContain('••••');
  });

  test('a loose prompt has its messages, and an argument its suggestions', async () => {
    const { server } = await serve();
    const { messages } = await server.getPrompt('describe', { page: 'Inbox' }, request);
    expect(messages.map(({ role, content }) => [role, content.type])).toEqual([
      ['user', 'text'],
      ['user', 'text'],
      ['user', 'resource_link'],
      ['user', 'image'],
      ['assistant', 'text'],
    ]);
    const asked = { argument: 'page', value: 'g', given: { area: 'home' } };
    const { completion } = (await server.complete(
      { kind: 'prompt', name: 'complete' },
      asked as never,
      request,
    )) as never as { completion: { values: string[] } };
    expect(completion.values).toEqual(['Garden']);
  });

  test('middleware refuses, limits and logs', async () => {
    const { limited, logging, writers } = (await recipes.load('src/middleware.ts')) as never as {
      limited(most: number, perMs: number, now: () => number): Middleware;
      logging(log: (line: string) => void): Middleware;
      writers(tools: ReadonlySet<string>): Middleware;
    };
    const log: string[] = [];
    let now = 0;
    const { server } = await serve({
      middleware: [
        logging((line) => log.push(line)),
        limited(2, 1_000, () => now),
        writers(new Set(['add-line'])),
      ],
    });
    const count = () => server.callTool('count-notes', {}, request);
    expect(await count()).toMatchObject({ structuredContent: { count: 3 } });
    const add = await server.callTool('add-line', { path: 'a', text: 'b' }, request);
    expect(add).toMatchObject({ isError: true });
    expect(await count()).toMatchObject({ isError: true });
    now = 1_001;
    expect(await count()).toMatchObject({ structuredContent: { count: 3 } });
    expect(log).toEqual([
      'count-notes {} succeeded',
      'add-line {"path":"a","text":"b"} failed: FORBIDDEN',
      'count-notes {} failed: RATE_LIMIT',
      'count-notes {} succeeded',
    ]);
  });

  test('a workflow is built for each page', async () => {
    const { noteOn } = (await recipes.load('src/build.ts')) as never as {
      noteOn(pages: readonly string[]): BuiltWorkflow;
    };
    const served = await serve({ workflows: [noteOn(['Inbox', 'Log'])] });
    expect((await run(served, 'note-on-all', { text: 'hello' })).meta).toMatchObject({ status: 'succeeded' });
    expect(served.lines).toEqual(['pages/Inbox.md: hello', 'pages/Log.md: hello']);
  });

  test('a question is asked first', async () => {
    const served = await serve();
    for (const [confirmed, line] of [
      [true, 1],
      [false, null],
    ]) {
      const asked = await served.server.callTool('w_ask-first', { text: 'hello' }, request);
      expect(asked.structuredContent).toMatchObject({
        status: 'waiting',
        action: { parameters: { message: 'Shall I note "hello"?' } },
      });
      const answer = { workflow_id: workflowIn(asked), result: { confirmed } };
      const answered = await served.server.callTool('submit_result', answer as never, request);
      expect(answered.structuredContent).toMatchObject({ status: 'completed', result: { line } });
    }
    expect(served.lines).toEqual(['log.md: hello']);
  });

  test('clients are served over HTTP, with separate runs', { timeout: 60_000 }, async () => {
    vi.stubEnv('PORT', '0');
    vi.stubEnv('CLIENTS', '{"t-ada":"ada"}');
    const { running } = (await recipes.load('src/main-http.ts')) as never as { running: RunningHttpServer };
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await running.close();
    });
    const clientWith = async (token: string): Promise<Client> => {
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      const client = new Client({ name: 'test', version: '1.0.0' });
      await client.connect(new StreamableHTTPClientTransport(running.url, { requestInit }) as Transport);
      onTestFinished(() => client.close());
      return client;
    };
    await expect(clientWith('mallory')).rejects.toMatchObject({ code: 401 });
    const ada = await clientWith('t-ada');
    const asked = await ada.callTool({ name: 'w_ask-first', arguments: { text: 'hello' } });
    const answer = { workflow_id: workflowIn(asked as never), result: { confirmed: false } };
    const elsewhere = await clientWith('t-ada');
    expect(await elsewhere.callTool({ name: 'submit_result', arguments: answer })).toMatchObject({
      structuredContent: { status: 'completed' },
    });
  });

  test('a schedule starts a workflow by one request', { timeout: 60_000 }, async () => {
    vi.stubEnv('PORT', '0');
    vi.stubEnv('CLIENTS', '{"t-cron":"cron"}');
    const { running } = (await recipes.load('src/main-http.ts?schedule')) as never as {
      running: RunningHttpServer;
    };
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await running.close();
    });
    const script = fenceNamed(PAGE, 'start-nightly.sh').body;
    const headers = [...script.matchAll(/-H ["'](.*?): (.*?)["']/g)].map(([, name = '', value = '']) => [
      name,
      value.replace('$TOKEN', 't-cron'),
    ]);
    const body = /-d '(.*)'/s.exec(script)?.[1] ?? '';
    const response = await fetch(running.url, { method: 'POST', headers: Object.fromEntries(headers), body });
    expect(await response.json()).toMatchObject({ result: { structuredContent: { lines: 2 } } });
  });

  test('the test of a workflow passes', async () => {
    await expect(recipes.load('src/only-if.check.ts')).resolves.toBeDefined();
  });
});

test('every recipe is in the list of contents', () => {
  const text = page(PAGE);
  const anchors = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
  const sections = [...text.matchAll(/^## (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  expect([...anchors].sort()).toEqual([...sections].sort());
  expect(fencesOf(text).length).toBeGreaterThan(sections.length - 1);
});

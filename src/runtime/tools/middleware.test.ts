import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../../decorators/context.js';
import type { JsonObject } from '../../graph/json.js';
import { MASKED } from '../../graph/printable-text.js';
import { CallMask } from '../secrets/call-mask.js';
import { Mask } from '../secrets/mask.js';
import type { Middleware, MiddlewareCall } from './middleware.js';
import type { CallContext } from './port.js';
import type { Registry, ToolEntry } from './registry.js';
import { createToolset } from './toolset.js';

const context: CallContext = {
  signal: new AbortController().signal,
  requestId: 'r1',
  auth: { clientId: 'desk', scopes: [] },
  progress() {},
};

/** What happened, in order. */
class Events {
  readonly list: string[] = [];

  /** A middleware that writes down what it is told. */
  watcher(name: string, more: Partial<Middleware> = {}): Middleware {
    return {
      name,
      onRequest: () => void this.list.push(`${name}:request`),
      onResponse: (_call, { value }) => void this.list.push(`${name}:response ${JSON.stringify(value)}`),
      onError: (_call, { code }) => void this.list.push(`${name}:error ${code}`),
      ...more,
    };
  }
}

interface Setup {
  readonly middleware: readonly Middleware[];
  readonly execute?: (input: JsonObject, context: ToolContext) => unknown;
  readonly entry?: Partial<ToolEntry>;
  readonly log?: (text: string) => void;
}

function toolsetOf({ middleware, execute = (input) => input, entry, log }: Setup) {
  class Go {
    execute(input: JsonObject, given: ToolContext) {
      return execute(input, given);
    }
  }
  const registry: Registry = {
    registryVersion: 1,
    checksum: '',
    tools: {
      go: { class: Go, description: 'Goes', inputSchema: { type: 'object' }, fingerprint: '', ...entry },
    },
    resources: {},
    workflows: {},
  };
  return createToolset<Registry>(registry, { middleware, ...(log === undefined ? {} : { log }) });
}

const callWith = (setup: Setup, input: JsonObject = {}, given: CallContext = context) =>
  toolsetOf(setup).callTool('go', input, given);

describe('order', () => {
  test('requests in the order of the list, answers in reverse, the tool in the middle', async () => {
    const events = new Events();
    const middleware = [events.watcher('a'), events.watcher('b')];
    await callWith({ middleware, execute: () => events.list.push('tool') });
    expect(events.list).toEqual(['a:request', 'b:request', 'tool', 'b:response 3', 'a:response 3']);
  });

  test('failures in reverse as well, an input that the schema refuses among them', async () => {
    const events = new Events();
    const middleware = [events.watcher('a'), events.watcher('b')];
    const entry = { inputSchema: { type: 'object', required: ['title'] } };
    expect(await callWith({ middleware, entry })).toMatchObject({ ok: false, attempted: false });
    expect(events.list.slice(2)).toEqual(['b:error E_INPUT_INVALID', 'a:error E_INPUT_INVALID']);
  });

  test('each hook may be left out', async () => {
    expect(await callWith({ middleware: [{ name: 'idle' }] }, { x: 1 })).toEqual({
      ok: true,
      value: { x: 1 },
    });
    const execute = () => {
      throw new Error('no');
    };
    expect(await callWith({ middleware: [{ name: 'idle' }], execute })).toMatchObject({ ok: false });
  });

  test('hooks are waited for', async () => {
    const events = new Events();
    const slow = (name: string) =>
      events.watcher(name, {
        onRequest: async () => {
          await new Promise((resolve) => setImmediate(resolve));
          events.list.push(`${name}:request`);
        },
      });
    await callWith({ middleware: [slow('a'), slow('b')], execute: () => events.list.push('tool') });
    expect(events.list.slice(0, 3)).toEqual(['a:request', 'b:request', 'tool']);
  });

  test('no middleware sees a call of a tool that does not exist', async () => {
    const events = new Events();
    const toolset = toolsetOf({ middleware: [events.watcher('a')] });
    expect(await toolset.callTool('stop', {}, context)).toMatchObject({
      failure: { code: 'E_TOOL_UNKNOWN' },
    });
    expect(events.list).toEqual([]);
  });
});

describe('onRequest', () => {
  test('changes the input for the next middleware, the check and the tool', async () => {
    const seen: JsonObject[] = [];
    const add = (key: string): Middleware => ({
      name: key,
      onRequest: ({ input }) => {
        seen.push(input);
        return { input: { ...input, [key]: true } };
      },
    });
    const entry = { inputSchema: { type: 'object', required: ['a', 'b'] } };
    expect(await callWith({ middleware: [add('a'), add('b')], entry }, { x: 1 })).toEqual({
      ok: true,
      value: { x: 1, a: true, b: true },
    });
    expect(seen).toEqual([{ x: 1 }, { x: 1, a: true }]);
  });

  test('refuses a call by throwing, with the code of the error; those before it are told, itself and the rest are not', async () => {
    const events = new Events();
    const limit = events.watcher('limit', {
      onRequest: () => {
        throw Object.assign(new Error('come back\nlater'), { code: 'E_RATE_LIMIT', retryAfterMs: 250 });
      },
    });
    const middleware = [events.watcher('a'), limit, events.watcher('c')];
    expect(await callWith({ middleware, execute: () => events.list.push('tool') })).toEqual({
      ok: false,
      attempted: false,
      failure: { code: 'E_RATE_LIMIT', message: 'come back later', retryAfterMs: 250 },
    });
    expect(events.list).toEqual(['a:request', 'a:error E_RATE_LIMIT']);
  });

  test.each([
    ['an error without a code', new Error('no'), 'no'],
    ['a text', 'no', 'no'],
    ['nothing', undefined, 'it threw undefined'],
    ['a code of another form', Object.assign(new Error('no'), { code: 'ENOENT no' }), 'no'],
  ])('whatever it throws refuses: %s', async (_, thrown, message) => {
    const refuse: Middleware = {
      name: 'refuse',
      onRequest: () => Promise.reject(thrown),
    };
    expect(await callWith({ middleware: [refuse] })).toEqual({
      ok: false,
      attempted: false,
      failure: { code: 'E_REFUSED', message },
    });
  });

  test.each([[7], ['x'], [null], [{}], [{ input: 7 }], [{ input: [] }], [{ input: { a: () => 1 } }]])(
    'an answer that is not an input refuses: %j',
    async (answer) => {
      const odd = { name: 'odd', onRequest: () => answer } as unknown as Middleware;
      expect(await callWith({ middleware: [odd] })).toEqual({
        ok: false,
        attempted: false,
        failure: {
          code: 'E_MIDDLEWARE',
          message: 'middleware `odd` must return nothing, or { input } with a JSON object',
        },
      });
    },
  );

  test('cannot change the input in place, nor the caller’s own', async () => {
    const input = { list: [1] };
    const push: Middleware = {
      name: 'push',
      onRequest: (call) => void (call.input.list as number[]).push(2),
    };
    expect(await callWith({ middleware: [push] }, input)).toMatchObject({ failure: { code: 'E_REFUSED' } });
    expect(input).toEqual({ list: [1] });
    const execute = (given: JsonObject) => (given.list as number[]).push(2);
    expect(await callWith({ middleware: [{ name: 'idle' }], execute }, input)).toEqual({
      ok: true,
      value: 2,
    });
  });

  test('a call that was cancelled meanwhile does not reach the tool', async () => {
    const controller = new AbortController();
    const abort: Middleware = { name: 'abort', onRequest: () => controller.abort() };
    const outcome = await callWith({ middleware: [abort] }, {}, { ...context, signal: controller.signal });
    expect(outcome).toMatchObject({ ok: false, attempted: false, failure: { code: 'E_CANCELLED' } });
  });

  test('an input that is not JSON is refused without asking', async () => {
    const events = new Events();
    const input = { f: () => 1 } as unknown as JsonObject;
    expect(await callWith({ middleware: [events.watcher('a')] }, input)).toMatchObject({
      failure: { code: 'E_INPUT_INVALID' },
    });
    expect(events.list).toEqual([]);
  });
});

describe('onResponse and onError', () => {
  test('what they throw is logged and changes nothing; the others are told all the same', async () => {
    const events = new Events();
    const log: string[] = [];
    const broken = events.watcher('broken', {
      onResponse: () => Promise.reject(new Error('the disk is full')),
      onError: () => {
        throw new Error('the disk is full');
      },
    });
    const middleware = [events.watcher('a'), broken];
    const logged = { middleware, log: (text: string) => log.push(text) };
    expect(await callWith(logged, { x: 1 })).toEqual({ ok: true, value: { x: 1 } });
    const execute = () => {
      throw new Error('no');
    };
    expect(await callWith({ ...logged, execute })).toMatchObject({ failure: { message: 'no' } });
    expect(events.list).toEqual([
      'a:request',
      'broken:request',
      'a:response {"x":1}',
      'a:request',
      'broken:request',
      'a:error E_TOOL_ERROR',
    ]);
    expect(log).toEqual([
      expect.stringMatching(
        /^middleware `broken`: onResponse of a call of `go` failed: Error: the disk is full\n/,
      ),
      expect.stringMatching(/^tool `go` threw \(called by a client\): Error: no\n/),
      expect.stringMatching(
        /^middleware `broken`: onError of a call of `go` failed: Error: the disk is full\n/,
      ),
    ]);
  });

  test('changing what they are shown changes nothing', async () => {
    const vandal: Middleware = {
      name: 'vandal',
      onResponse: (_call, { value }) => void (value as { list: number[] }).list.push(9),
      onError: (_call, failure) => void Object.assign(failure, { code: 'E_MINE' }),
    };
    expect(await callWith({ middleware: [vandal] }, { list: [1] })).toEqual({
      ok: true,
      value: { list: [1] },
    });
    const execute = () => {
      throw new Error('no');
    };
    expect(await callWith({ middleware: [vandal], execute })).toMatchObject({
      failure: { code: 'E_TOOL_ERROR' },
    });
  });
});

describe('what middleware sees', () => {
  const seenBy = async (given: CallContext, input: JsonObject = {}, entry: Partial<ToolEntry> = {}) => {
    const seen: { call: MiddlewareCall; context: ToolContext }[] = [];
    const watch: Middleware = {
      name: 'watch',
      onRequest: (call, toolContext) => void seen.push({ call, context: toolContext }),
    };
    await callWith({ middleware: [watch], entry }, input, given);
    const [first] = seen;
    if (first === undefined) throw new Error('it was not asked');
    return first;
  };

  test('who asked: the client, or a node of a workflow', async () => {
    expect((await seenBy(context)).call).toMatchObject({ source: 'client', tool: 'go' });
    const origin = { source: 'workflow', workflow: 'greet', run: 'run-1', node: 'hello' } as const;
    expect((await seenBy({ ...context, origin })).call).toMatchObject(origin);
  });

  test('the context of the tool, and no more', async () => {
    const seen = await seenBy({
      ...context,
      idempotencyKey: 'k',
      mask: new CallMask(new Mask(['hunter22'])),
    });
    expect(Object.keys(seen.context).sort()).toEqual([
      'auth',
      'callUpstream',
      'closeStream',
      'elicit',
      'idempotencyKey',
      'log',
      'progress',
      'requestId',
      'roots',
      'sample',
      'signal',
    ]);
  });

  test('the input, and beside it one for logs', async () => {
    const { call } = await seenBy(
      { ...context, mask: new CallMask(new Mask(['run-secret'])) },
      { token: 'hunter22', note: 'hunter22 and run-secret', count: 1 },
      { secret: ['token'] },
    );
    expect(call.input).toEqual({ token: 'hunter22', note: 'hunter22 and run-secret', count: 1 });
    expect(call.shownInput).toEqual({ token: MASKED, note: `${MASKED} and ${MASKED}`, count: 1 });
  });
});

describe('secrets', () => {
  const entry = { secret: ['token'] };
  const input = { token: 'hunter22' };

  test('stay out of what a tool throws, and of the result it fails with', async () => {
    const execute = ({ token }: JsonObject) => {
      throw new Error(`no access with ${token}`);
    };
    expect(await callWith({ middleware: [], entry, execute }, input)).toMatchObject({
      failure: { message: `no access with ${MASKED}` },
    });
    const reports = ({ token }: JsonObject) => ({
      isError: true,
      content: [{ type: 'text', text: `no access with ${token}` }],
    });
    expect(await callWith({ middleware: [], entry, execute: reports }, input)).toEqual({
      ok: false,
      attempted: true,
      failure: { code: 'E_TOOL_ERROR', message: `no access with ${MASKED}` },
      callResult: { isError: true, content: [{ type: 'text', text: `no access with ${MASKED}` }] },
    });
  });

  test('stay out of what middleware throws, and of the log', async () => {
    const log: string[] = [];
    const tell = ({ input: { token } }: MiddlewareCall) => {
      throw new Error(`saw ${token}`);
    };
    const logging: Middleware = { name: 'logging', onResponse: tell };
    await callWith({ middleware: [logging], entry, log: (text) => log.push(text) }, input);
    expect(log.join()).toContain(`saw ${MASKED}`);
    expect(log.join()).not.toContain('hunter22');
    expect(await callWith({ middleware: [{ name: 'refuse', onRequest: tell }], entry }, input)).toMatchObject(
      {
        failure: { code: 'E_REFUSED', message: `saw ${MASKED}` },
      },
    );
  });

  test('that middleware puts in are secrets too', async () => {
    const vault: Middleware = { name: 'vault', onRequest: () => ({ input: { token: 'from-the-vault' } }) };
    const execute = ({ token }: JsonObject) => {
      throw new Error(`no access with ${token}`);
    };
    expect(await callWith({ middleware: [vault], entry, execute }, input)).toMatchObject({
      failure: { message: `no access with ${MASKED}` },
    });
  });

  test('stay out of what the tool reports as progress', async () => {
    const reports: unknown[] = [];
    const execute = ({ token }: JsonObject, { progress }: ToolContext) => {
      progress(1, 2, `logged in with ${token}`);
      progress(2);
    };
    const given = { ...context, progress: (...report: unknown[]) => void reports.push(report) };
    await callWith({ middleware: [], entry, execute }, input, given);
    expect(reports).toEqual([[1, 2, `logged in with ${MASKED}`], [2]]);
  });

  test('of a result stay out of what may be logged of it', async () => {
    const shown: unknown[] = [];
    const logging: Middleware = {
      name: 'logging',
      onResponse: (_call, { value, shownValue }) => void shown.push(value, shownValue),
    };
    const execute = ({ token }: JsonObject) => ({ session: `${token}-1`, count: 1 });
    await callWith({ middleware: [logging], entry, execute }, input);
    expect(shown).toEqual([
      { session: 'hunter22-1', count: 1 },
      { session: `${MASKED}-1`, count: 1 },
    ]);
  });

  test('reach the tool, and its result', async () => {
    expect(await callWith({ middleware: [], entry }, input)).toEqual({ ok: true, value: input });
  });
});

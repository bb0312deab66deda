import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ToolContext } from '../../decorators/context.js';
import { Tool } from '../../decorators/tool.js';
import type { JsonObject, JsonSchema } from '../../graph/json.js';
import { FactoriesError } from './instances.js';
import type { CallContext } from './port.js';
import type { AnyClass, Registry, ResourceEntry, ToolEntry } from './registry.js';
import { createToolset } from './toolset.js';

const context = (signal: AbortSignal = new AbortController().signal): CallContext => ({
  signal,
  requestId: 'r1',
  progress() {},
});

const tool = (cls: AnyClass, options: Partial<ToolEntry> = {}): ToolEntry => ({
  class: cls,
  description: 'A tool',
  inputSchema: { type: 'object' },
  fingerprint: '',
  ...options,
});

const resource = (cls: AnyClass, options: Partial<ResourceEntry> = {}): ResourceEntry => ({
  class: cls,
  uri: 'res://x',
  fingerprint: '',
  ...options,
});

const registryOf = (
  tools: Record<string, ToolEntry> = {},
  resources: Record<string, ResourceEntry> = {},
): Registry => ({ registryVersion: 1, checksum: '', tools, resources, workflows: {} });

/** A class whose `execute` is this function. */
const executes = (execute: (input: never, context: ToolContext) => unknown): AnyClass =>
  class {
    execute(input: never, given: ToolContext) {
      return execute(input, given);
    }
  };

const callOnce = (entry: ToolEntry, input: JsonObject = {}, signal?: AbortSignal) =>
  createToolset<Registry>(registryOf({ go: entry })).callTool('go', input, context(signal));

const titled: JsonSchema = {
  type: 'object',
  properties: { title: { type: 'string' } },
  required: ['title'],
  additionalProperties: false,
};

describe('an argument that the schema does not name', () => {
  const open = { type: 'object', properties: { title: { type: 'string' } } } satisfies JsonSchema;
  const input = { titel: 'a' };

  test('is refused where the schema says nothing of others', async () => {
    expect(
      await callOnce(
        tool(
          executes(() => 'done'),
          { inputSchema: open },
        ),
        input,
      ),
    ).toMatchObject({
      ok: false,
      attempted: false,
      failure: {
        code: 'E_INPUT_INVALID',
        message: 'invalid input: unknown argument `titel` (did you mean `title`?)',
      },
    });
  });

  test.each<JsonSchema>([
    { ...open, additionalProperties: {} },
    { ...open, additionalProperties: true },
    { ...open, patternProperties: { '^t': {} } },
    { ...open, allOf: [{ properties: { titel: {} } }] },
    { type: 'object' },
  ])('is taken where the schema may allow it: %j', async (inputSchema) => {
    expect(
      await callOnce(
        tool(
          executes(() => 'done'),
          { inputSchema },
        ),
        input,
      ),
    ).toMatchObject({ ok: true });
  });

  test('is refused once where the schema refuses it itself', async () => {
    const closed = { ...open, additionalProperties: false };
    const outcome = await callOnce(
      tool(
        executes(() => 'done'),
        { inputSchema: closed },
      ),
      input,
    );
    expect(outcome).toMatchObject({ failure: { details: { problems: [{ pointer: '' }] } } });
  });
});

describe('callTool', () => {
  test('gives the tool its input and context, and normalises the result', async () => {
    const seen: unknown[] = [];
    const entry = tool(
      executes((input, given) => {
        seen.push(input, given.requestId);
        return { a: undefined, b: 1 };
      }),
    );
    expect(await callOnce(entry, { x: 1 })).toEqual({ ok: true, value: { b: 1 } });
    expect(seen).toEqual([{ x: 1 }, 'r1']);
  });

  test('an unknown tool is refused, inherited names among them', async () => {
    const toolset = createToolset<Registry>(registryOf({ 'add-task': tool(executes(() => 1)) }));
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect(await toolset.callTool(name, {}, context())).toMatchObject({
        ok: false,
        attempted: false,
        failure: { code: 'E_TOOL_UNKNOWN' },
      });
    }
    expect(await toolset.callTool('ad-task', {}, context())).toMatchObject({
      failure: { message: 'no tool is named `ad-task` (did you mean `add-task`?)' },
    });
    expect(toolset.describeTool('constructor')).toBe(undefined);
    expect(toolset.toolSafety('constructor')).toBe('none');
  });

  test('knows what another call of a tool does', () => {
    const cls = executes(() => 1);
    const toolset = createToolset<Registry>(
      registryOf({
        look: tool(cls, { annotations: { readOnlyHint: true } }),
        put: tool(cls, { annotations: { idempotentHint: true } }),
        pay: tool(cls, { annotations: { readOnlyHint: false }, retrySafety: 'key' }),
        send: tool(cls),
      }),
    );
    const names = ['look', 'put', 'pay', 'send'];
    expect(names.map((name) => toolset.toolSafety(name))).toEqual(['readOnly', 'idempotent', 'key', 'none']);
    expect(toolset.describeTool('pay')).toEqual({ description: 'A tool', safety: 'key' });
  });

  test('refuses an input its schema refuses, before the tool runs', async () => {
    let ran = false;
    const entry = tool(
      executes(() => {
        ran = true;
      }),
      { inputSchema: titled },
    );
    expect(await callOnce(entry, { titel: 'a' })).toEqual({
      ok: false,
      attempted: false,
      failure: {
        code: 'E_INPUT_INVALID',
        message: 'invalid input: missing required `title`; unknown argument `titel` (did you mean `title`?)',
        details: {
          problems: [
            { pointer: '', message: 'missing required `title`' },
            { pointer: '', message: 'unknown argument `titel` (did you mean `title`?)' },
          ],
          missing: ['title'],
        },
      },
    });
    expect(ran).toBe(false);
  });

  test.each([
    '{"title": "a", "__proto__": {"admin": true}}',
    '{"title": "a", "constructor": {"prototype": {"admin": true}}}',
  ])('%s pollutes nothing', async (input) => {
    const strict = await callOnce(
      tool(
        executes((given) => given),
        { inputSchema: titled },
      ),
      JSON.parse(input),
    );
    expect(strict).toMatchObject({ ok: false, attempted: false, failure: { code: 'E_INPUT_INVALID' } });
    await callOnce(tool(executes((given) => Object.assign({}, given))), JSON.parse(input));
    expect(({} as { admin?: boolean }).admin).toBe(undefined);
  });

  test('a __proto__ member is refused at any depth, also by an open schema', async () => {
    expect(await callOnce(tool(executes(() => 1)), JSON.parse('{"a": [{"__proto__": 1}]}'))).toMatchObject({
      ok: false,
      failure: { message: 'invalid input: unknown argument `__proto__` in `/a/0`' },
    });
  });

  test('what a tool does to its input stays with the tool', async () => {
    const input = { list: [1] };
    const entry = tool(executes((given: { list: number[] }) => given.list.push(2)));
    expect(await callOnce(entry, input)).toEqual({ ok: true, value: 2 });
    expect(input).toEqual({ list: [1] });
  });

  test('the tool gets what its own schema makes of the input', async () => {
    @Tool({
      name: 'go',
      description: 'Go',
      input: z.object({
        day: z.string().transform((day) => new Date(day)),
        limit: z.number().default(10),
        name: z.string().refine(async (name) => name !== 'root', 'not for root'),
      }),
    })
    class Go {
      execute({ day, limit }: { day: Date; limit: number; name: string }) {
        return { year: day.getUTCFullYear(), limit };
      }
    }
    expect(await callOnce(tool(Go), { day: '2026-01-12', name: 'ada' })).toEqual({
      ok: true,
      value: { year: 2026, limit: 10 },
    });
    expect(await callOnce(tool(Go), { day: '2026-01-12', name: 'root' })).toMatchObject({
      ok: false,
      attempted: false,
      failure: { code: 'E_INPUT_INVALID', message: 'invalid input: `/name`: not for root' },
    });
  });

  test('a validator that throws refuses the input', async () => {
    @Tool({
      name: 'go',
      description: 'Go',
      input: z.unknown().transform(() => {
        throw new Error('broken check');
      }),
    })
    class Go {
      execute(_input: unknown) {
        return 1;
      }
    }
    expect(await callOnce(tool(Go))).toMatchObject({
      ok: false,
      attempted: false,
      failure: { code: 'E_INPUT_INVALID', message: expect.stringContaining('broken check') },
    });
  });

  test('a schema that cannot be used fails the call, and is logged', async () => {
    const call = async (entry: Partial<ToolEntry>) => {
      const logged: string[] = [];
      const registered = registryOf({
        go: tool(
          executes(() => 1),
          entry,
        ),
      });
      const toolset = createToolset<Registry>(registered, { log: (text) => logged.push(text) });
      return { outcome: await toolset.callTool('go', {}, context()), logged };
    };
    const schema: JsonSchema = { type: 'strnig' };
    expect(await call({ inputSchema: schema })).toMatchObject({
      outcome: { ok: false, attempted: false, failure: { code: 'E_SCHEMA_INVALID' } },
      logged: [expect.stringMatching(/^the input schema of `go` cannot be compiled: .* fails until/)],
    });
    expect(await call({ outputSchema: schema })).toMatchObject({
      outcome: { ok: false, attempted: true, failure: { code: 'E_SCHEMA_INVALID' } },
      logged: [expect.stringMatching(/^the output schema of `go` cannot be compiled: .* fails until/)],
    });
  });

  test('what the tool throws is its failure', async () => {
    const throws = (thrown: unknown) =>
      tool(
        executes(() => {
          throw thrown;
        }),
      );
    expect(await callOnce(throws(Object.assign(new Error('gone\nfor good'), { code: 'E_GONE' })))).toEqual({
      ok: false,
      attempted: true,
      failure: { code: 'E_GONE', message: 'gone for good' },
    });
    expect(await callOnce(throws(null))).toMatchObject({
      failure: { code: 'E_TOOL_ERROR', message: 'it threw null' },
    });
    expect(await callOnce(tool(executes(() => Promise.reject(new Error('later')))))).toMatchObject({
      attempted: true,
      failure: { message: 'later' },
    });
  });

  test('a result that is not JSON, or not as announced, is a failure of an attempted call', async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(await callOnce(tool(executes(() => cycle)))).toMatchObject({
      ok: false,
      attempted: true,
      failure: { code: 'E_RESULT_NOT_JSON' },
    });
    const announced = { outputSchema: titled };
    expect(
      await callOnce(
        tool(
          executes(() => ({ title: 'a' })),
          announced,
        ),
      ),
    ).toMatchObject({ ok: true });
    expect(
      await callOnce(
        tool(
          executes(() => ({ title: 1 })),
          announced,
        ),
      ),
    ).toMatchObject({
      ok: false,
      attempted: true,
      acted: true,
      failure: {
        code: 'E_OUTPUT_SCHEMA',
        message: "the result does not match the tool's output schema: `/title` must be string",
      },
    });
  });

  test('checks of the author’s own count for a result as well', async () => {
    const output = z.object({ title: z.string().refine((title) => title !== 'unknown', 'is unknown') });
    @Tool({ name: 'go', description: 'Go', input: z.object({ title: z.string() }), output })
    class Go {
      execute({ title }: { title: string }) {
        return { title };
      }
    }
    const entry = tool(Go, { outputSchema: titled });
    expect(await callOnce(entry, { title: 'ada' })).toMatchObject({ ok: true, value: { title: 'ada' } });
    expect(await callOnce(entry, { title: 'unknown' })).toMatchObject({
      ok: false,
      attempted: true,
      acted: true,
      failure: {
        code: 'E_OUTPUT_SCHEMA',
        message: "the result does not match the tool's output schema: `/title`: is unknown",
      },
    });
  });

  test('a wrapped result is checked as it was sent and bound as it is unwrapped', async () => {
    const outputSchema = {
      type: 'object',
      properties: { result: { type: 'array' } },
      required: ['result'],
      'x-fastmcp-wrap-result': true,
    };
    const sent = { content: [], structuredContent: { result: [1] } };
    expect(
      await callOnce(
        tool(
          executes(() => sent),
          { outputSchema },
        ),
      ),
    ).toEqual({
      ok: true,
      value: [1],
      callResult: sent,
    });
  });

  test('an aborted signal keeps the tool from running', async () => {
    let ran = false;
    const entry = tool(
      executes(() => {
        ran = true;
      }),
    );
    expect(await callOnce(entry, {}, AbortSignal.abort())).toMatchObject({
      ok: false,
      attempted: false,
      failure: { code: 'E_CANCELLED' },
    });
    expect(ran).toBe(false);
  });
});

describe('instances', () => {
  class Counter {
    static made = 0;
    readonly id: number;
    constructor() {
      Counter.made += 1;
      this.id = Counter.made;
    }
    execute() {
      return this.id;
    }
  }

  test('are made once, on first use', async () => {
    Counter.made = 0;
    const toolset = createToolset<Registry>(registryOf({ count: tool(Counter) }));
    expect(Counter.made).toBe(0);
    await Promise.all([toolset.callTool('count', {}, context()), toolset.callTool('count', {}, context())]);
    expect(Counter.made).toBe(1);
  });

  test('a factory that throws or gives something else fails the call, and is asked again', async () => {
    let attempts = 0;
    const toolset = createToolset(registryOf({ go: tool(Counter), odd: tool(Counter) }), {
      tools: {
        go: () => {
          attempts += 1;
          if (attempts === 1) throw new Error('no folder');
          return { execute: () => 'made' };
        },
        odd: () => ({}),
      },
    });
    expect(await toolset.callTool('go', {}, context())).toEqual({
      ok: false,
      attempted: false,
      failure: { code: 'E_TOOL_FACTORY', message: 'the factory of tool `go` failed: no folder' },
    });
    expect(await toolset.callTool('go', {}, context())).toEqual({ ok: true, value: 'made' });
    expect(await toolset.callTool('odd', {}, context())).toMatchObject({
      failure: {
        code: 'E_TOOL_FACTORY',
        message: 'the factory of tool `odd` returned an object without execute()',
      },
    });
  });

  test('every problem of classes and factories is reported at once', () => {
    class NeedsFolder {
      constructor(readonly folder: string) {}
      execute() {
        return this.folder;
      }
    }
    const registry = registryOf(
      { add: tool(NeedsFolder), useless: tool(class Useless {}) },
      { lost: resource(class Lost {}) },
    );
    const make = () => createToolset(registry, { tools: { ad: () => new NeedsFolder('x') } });
    expect(make).toThrow(FactoriesError);
    expect(make).toThrow(
      [
        'the server cannot start:',
        "  - tool `add`: the constructor of NeedsFolder takes parameters; give it a factory: 'add': () => new NeedsFolder(…)",
        '  - tool `useless`: Useless has no execute() method',
        '  - resource `lost`: it has neither embedded text, nor a file, nor a read() method on Lost',
        '  - a factory is given for tool `ad`, which the registry does not have (did you mean `add`?)',
      ].join('\n'),
    );
  });
});

describe('readResource', () => {
  const readOnce = (entry: ResourceEntry, uri = entry.uri) =>
    createToolset<Registry>(registryOf({}, { doc: entry })).readResource('doc', uri, context());
  const reads = (content: unknown): AnyClass =>
    class {
      read() {
        return content;
      }
    };

  test('gives embedded text without making an instance', async () => {
    class Never {
      constructor() {
        throw new Error('made');
      }
    }
    expect(await readOnce(resource(Never, { text: '# Hi', mimeType: 'text/markdown' }))).toEqual({
      ok: true,
      value: { uri: 'res://x', mimeType: 'text/markdown', text: '# Hi' },
    });
  });

  test.each<[string, unknown, JsonObject]>([
    ['text', 'a', { text: 'a' }],
    ['a promise of text', Promise.resolve('a'), { text: 'a' }],
    ['{ text }', { text: 'a', mimeType: 'text/html' }, { text: 'a', mimeType: 'text/html' }],
    ['bytes', new Uint8Array([1, 2, 3]), { blob: 'AQID' }],
    ['part of a buffer', new Uint8Array([9, 1, 2, 3]).subarray(1), { blob: 'AQID' }],
    ['{ blob } as base64', { blob: 'AQID' }, { blob: 'AQID' }],
    ['{ blob } as bytes', { blob: new Uint8Array([1, 2, 3]) }, { blob: 'AQID' }],
  ])('read() may give %s', async (_name, content, value) => {
    expect(await readOnce(resource(reads(content)))).toEqual({
      ok: true,
      value: { uri: 'res://x', ...value },
    });
  });

  test.each([undefined, null, 3, {}, { text: 1 }, { text: 'a', blob: 'b' }])(
    'but not %j',
    async (content) => {
      expect(await readOnce(resource(reads(content)))).toMatchObject({
        ok: false,
        failure: { code: 'E_RESOURCE_READ' },
      });
    },
  );

  test('a read that throws, an unknown name and another address are failures', async () => {
    class Throws {
      async read() {
        throw new Error('no such\nfile');
      }
    }
    expect(await readOnce(resource(Throws))).toEqual({
      ok: false,
      failure: { code: 'E_RESOURCE_READ', message: 'no such file' },
    });
    const toolset = createToolset<Registry>(registryOf());
    expect(await toolset.readResource('constructor', 'res://x', context())).toMatchObject({
      ok: false,
      failure: { code: 'E_RESOURCE_UNKNOWN' },
    });
    expect(await readOnce(resource(reads('a')), 'res://y')).toMatchObject({
      failure: { code: 'E_RESOURCE_UNKNOWN' },
    });
  });
});

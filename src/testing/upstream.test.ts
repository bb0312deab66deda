import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../decorators/context.js';
import { Tool } from '../decorators/tool.js';
import type { UpstreamCall } from '../runtime/upstream/port.js';
import { double, doublesOf, upstreamCassette, upstreamDoubles } from './index.js';

const call: UpstreamCall = { signal: new AbortController().signal, progress: () => {} };

@Tool({ name: 'files_read', description: 'Reads', upstream: { server: 'files', tool: 'read' } })
class Read {
  execute(input: { readonly path: string }, context: ToolContext): Promise<{ readonly content: string }> {
    return context.callUpstream(input);
  }
}

@Tool({
  name: 'files_list',
  description: 'Lists',
  outputSchema: { type: 'object', properties: { result: {} }, 'x-fastmcp-wrap-result': true },
  upstream: { server: 'files', tool: 'list' },
})
class List {
  execute(input: object, context: ToolContext): Promise<readonly string[]> {
    return context.callUpstream(input);
  }
}

@Tool({ name: 'own', description: 'Calls no server' })
class Own {
  async execute(_input: object): Promise<void> {}
}

describe('doubles of upstream tools', () => {
  const upstream = upstreamDoubles(
    double(Read, ({ path }) => {
      if (path === '') throw new Error('no path');
      return { content: `text of ${path}` };
    }),
    double(List, () => ['a', 'b']),
  );
  const ask = (tool: string, input = {}) => upstream.call({ server: 'files', tool }, input, call);

  test('answer in the form of the protocol', async () => {
    expect(await ask('read', { path: 'a' })).toEqual({
      content: [],
      structuredContent: { content: 'text of a' },
      isError: false,
    });
    expect(await ask('list')).toMatchObject({ structuredContent: { result: ['a', 'b'] } });
  });

  test('fail as tools do', async () => {
    expect(await ask('read', { path: '' })).toEqual({
      content: [{ type: 'text', text: 'no path' }],
      isError: true,
    });
  });

  test('are asked for nothing else', async () => {
    await expect(ask('write')).rejects.toMatchObject({
      code: 'E_UPSTREAM_REFUSED',
      message: "There is no double of 'write' of the upstream server 'files': add one with `double`",
    });
    await upstream.close();
  });

  test('have the types of their classes', () => {
    // @ts-expect-error `content` is a text
    double(Read, () => ({ content: 1 }));
    // @ts-expect-error the input has no `file`
    double(Read, ({ file }) => ({ content: file }));
  });

  test('are of classes that call an upstream server', () => {
    expect(() => double(Own, () => {})).toThrow('Own is not a tool of an upstream server');
    expect(() => double(undefined as never)).toThrow('undefined is not a tool of an upstream server');
  });
});

@Tool({
  name: 'files_count',
  description: 'Counts',
  outputSchema: {
    type: 'object',
    properties: { count: { type: 'integer', minimum: 3 } },
    required: ['count'],
  },
  upstream: { server: 'files', tool: 'count' },
})
class Count {
  execute(input: { readonly path: string }, context: ToolContext): Promise<{ readonly count: number }> {
    return context.callUpstream(input);
  }
}

@Tool({
  name: 'files_hash',
  description: 'Hashes',
  outputSchema: {
    type: 'object',
    properties: { hash: { type: 'string', pattern: '^[0-9a-f]{64}$' } },
    required: ['hash'],
  },
  upstream: { server: 'files', tool: 'hash' },
})
class Hash {
  execute(input: object, context: ToolContext): Promise<{ readonly hash: string }> {
    return context.callUpstream(input);
  }
}

describe('doubles of a server', () => {
  const tools = { count: Count, list: List, read: Read, hash: Hash };
  const ask = (tool: string, answers: Parameters<typeof doublesOf<typeof tools>>[1] = {}) =>
    upstreamDoubles(...doublesOf(tools, answers)).call({ server: 'files', tool }, { path: 'a' }, call);

  test('answer with a value that is made up from the output schema, or that the test gives', async () => {
    expect(await ask('count')).toEqual({ content: [], structuredContent: { count: 3 }, isError: false });
    expect(await ask('list')).toMatchObject({ structuredContent: { result: null } });
    const given = await ask('count', { count: ({ path }) => ({ count: path.length }) });
    expect(given).toMatchObject({ structuredContent: { count: 1 } });
  });

  test('refuse a call for which no value can be made up', async () => {
    await expect(ask('read')).rejects.toMatchObject({
      code: 'E_UPSTREAM_REFUSED',
      message:
        "The double of 'read' of the upstream server 'files' has no answer, and the tool has no output schema: give it one",
    });
    await expect(ask('hash')).rejects.toMatchObject({
      code: 'E_UPSTREAM_REFUSED',
      message: expect.stringContaining('no value can be made up from the output schema: give it one'),
    });
    expect(await ask('hash', { hash: () => ({ hash: 'x' }) })).toMatchObject({
      structuredContent: { hash: 'x' },
    });
  });

  test('have the tools and the types of the server', () => {
    // @ts-expect-error `count` is a number
    doublesOf(tools, { count: () => ({ count: '1' }) });
    // @ts-expect-error there is no such tool
    expect(() => doublesOf(tools, { counts: () => ({ count: 1 }) })).toThrow(
      new TypeError("There is no tool 'counts' to double (did you mean `count`?)"),
    );
  });
});

test('a cassette that is missing, or is another file, is named with the command that records one', () => {
  expect(() => upstreamCassette('nope.cassette.json')).toThrow(
    "There is no cassette 'nope.cassette.json': `npx stepwright pull --record`",
  );
  expect(() => upstreamCassette('package.json')).toThrow("'package.json' is not a cassette of this version");
});

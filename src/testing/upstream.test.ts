import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../decorators/context.js';
import { Tool } from '../decorators/tool.js';
import type { UpstreamCall } from '../runtime/upstream/port.js';
import { double, upstreamDoubles } from './index.js';

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
  });
});

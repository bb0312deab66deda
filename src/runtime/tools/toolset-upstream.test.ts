import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../../decorators/context.js';
import type { JsonObject } from '../../graph/json.js';
import {
  type UpstreamCall,
  UpstreamError,
  type UpstreamPort,
  type UpstreamResult,
} from '../upstream/port.js';
import type { CallContext } from './port.js';
import type { Registry, ToolEntry } from './registry.js';
import { createToolset } from './toolset.js';

class Read {
  execute(input: object, context: ToolContext): Promise<unknown> {
    return context.callUpstream(input);
  }
}

const content = { type: 'object', properties: { content: { type: 'string' } }, required: ['content'] };
const entry: ToolEntry = {
  class: Read,
  description: 'Reads',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  outputSchema: content,
  upstream: { server: 'files', tool: 'read_file' },
  fingerprint: '',
};

type Answer = (input: JsonObject, call: UpstreamCall) => UpstreamResult | Promise<UpstreamResult>;

const port = (answer: Answer): UpstreamPort => ({
  call: async ({ server, tool }, input, call) => {
    expect([server, tool]).toEqual(['files', 'read_file']);
    return answer(input, call);
  },
  close: async () => {},
});

function called(upstream: UpstreamPort | undefined, more: Partial<CallContext> = {}, tool = entry) {
  const registry: Registry = {
    registryVersion: 1,
    checksum: '',
    tools: { read: tool },
    resources: {},
    workflows: {},
  };
  const toolset = createToolset<Registry>(registry, {
    log: () => {},
    ...(upstream === undefined ? {} : { upstream }),
  });
  const context = { signal: new AbortController().signal, requestId: '1', progress() {}, ...more };
  return toolset.callTool('read', { path: 'a.txt' }, context);
}

const text = (value: string): JsonObject => ({ type: 'text', text: value });

describe('a tool that calls an upstream server', () => {
  test('gives the value of the result, and keeps the result for a direct call', async () => {
    const image = { type: 'image', data: 'AA==', mimeType: 'image/png' };
    const result = { content: [image], structuredContent: { content: 'hi' }, isError: false };
    expect(await called(port(() => result))).toEqual({
      ok: true,
      value: { content: 'hi' },
      callResult: result,
    });
  });

  test('without an output schema gives the text, the JSON in it, or the blocks', async () => {
    const { outputSchema: _, ...untyped } = entry;
    const resultOf = async (...blocks: JsonObject[]) =>
      called(
        port(() => ({ content: blocks, isError: false })),
        {},
        untyped,
      );
    expect(await resultOf(text('hi'))).toMatchObject({ value: 'hi' });
    expect(await resultOf(text('{"a":1}'))).toMatchObject({ value: { a: 1 } });
    expect(await resultOf()).toMatchObject({ value: [] });
  });

  test('fails where the result is an error, or does not fit its schema', async () => {
    expect(await called(port(() => ({ content: [text('no such file')], isError: true })))).toMatchObject({
      ok: false,
      attempted: true,
      failure: { code: 'E_TOOL_ERROR', message: 'no such file' },
    });
    const more = { content: [], structuredContent: { content: '', size: 1 }, isError: false };
    const closed = { ...entry, outputSchema: { ...content, additionalProperties: false } };
    expect(
      await called(
        port(() => more),
        {},
        closed,
      ),
    ).toMatchObject({ ok: true });
    const other = { content: [], structuredContent: { content: 1 }, isError: false };
    expect(await called(port(() => other))).toMatchObject({ failure: { code: 'E_OUTPUT_SCHEMA' } });
  });

  test('passes on the input, the key, the signal and progress', async () => {
    const reports: unknown[] = [];
    const seen: unknown[] = [];
    const { signal } = new AbortController();
    const progress = (...report: unknown[]) => void reports.push(report);
    await called(
      port((input, call) => {
        seen.push(input, call.idempotencyKey, call.signal === signal);
        call.progress(1, 2, 'half way');
        return { content: [], structuredContent: { content: '' }, isError: false };
      }),
      { signal, progress, idempotencyKey: 'k1' },
    );
    expect(seen).toEqual([{ path: 'a.txt' }, 'k1', true]);
    expect(reports).toEqual([[1, 2, 'half way']]);
  });

  test('fails with the code, the delay and the doubt of the connection', async () => {
    const lost = port(() => {
      throw new UpstreamError('E_UPSTREAM_LOST', 'it ended', { outcomeUnknown: true, retryAfterMs: 100 });
    });
    expect(await called(lost)).toEqual({
      ok: false,
      attempted: true,
      failure: { code: 'E_UPSTREAM_LOST', message: 'it ended', outcomeUnknown: true, retryAfterMs: 100 },
    });
  });

  test('fails where no server is configured, and where it names none', async () => {
    expect(await called(undefined)).toMatchObject({
      failure: { code: 'E_UPSTREAM_CONFIG', message: expect.stringContaining("'files'") },
    });
    const { upstream: _, ...plain } = entry;
    expect(
      await called(
        port(() => ({ content: [], isError: false })),
        {},
        plain,
      ),
    ).toMatchObject({
      failure: { code: 'E_UPSTREAM_CONFIG', message: expect.stringContaining('no option `upstream`') },
    });
  });
});

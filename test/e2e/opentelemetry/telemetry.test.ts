import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CallToolResultSchema, GetPromptResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { Tool, type ToolContext } from 'stepwright';
import { createServer, type ServerSettings, upstreamServers } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Recording } from '../../../src/opentelemetry/telemetry.fixture.js';
import { programWithPackage } from '../../built-package.js';
import { atDesk, callOf, clientOf, failureIn, runIn } from '../composite/client.js';
import { desk } from '../composite/fixture/registry.js';
import { ask, built, call, workflow } from '../composite/fixture/workflows.js';
import { freshCall, listening } from '../composite/http.js';
import { registryOf } from '../server/fixture/registry-of.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const _meta = { traceparent: `00-${TRACE}-${SPAN}-01` };

function calledWith(
  client: Client,
  name: string,
  args: Record<string, unknown>,
  meta: Record<string, unknown>,
) {
  const params = { name, arguments: args, _meta: meta };
  return client.request({ method: 'tools/call', params }, CallToolResultSchema);
}

async function traced(settings: ServerSettings = {}) {
  const recording = new Recording();
  const { client } = await atDesk({ telemetry: recording.telemetry, ...settings });
  return { recording, client };
}

describe('a request', () => {
  test('is a span of a server, under the span that its `_meta` names', async () => {
    const { recording, client } = await traced();
    await calledWith(client, 'search', { city: 'Rome' }, _meta);
    const span = recording.span('tools/call search');
    expect(span.kind).toBe(SpanKind.SERVER);
    expect(span.spanContext().traceId).toBe(TRACE);
    expect(span.parentSpanContext).toMatchObject({ spanId: SPAN, isRemote: true });
    expect(span.attributes).toEqual({
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
      'network.transport': 'pipe',
      'mcp.protocol.version': expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
      'jsonrpc.request.id': expect.any(String),
    });
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
  });

  test('links what surrounds it, where its `_meta` names another span; else that is its parent', async () => {
    const { recording, client } = await traced();
    const around = trace.getTracer('test');
    await around.startActiveSpan('POST', async (span) => {
      await calledWith(client, 'search', { city: 'Rome' }, _meta);
      span.end();
    });
    const { spanId } = recording.span('POST').spanContext();
    expect(recording.span('tools/call search').links.map((link) => link.context.spanId)).toEqual([spanId]);
    await around.startActiveSpan('PUT', async (span) => {
      await client.listTools();
      span.end();
    });
    expect(recording.tree).toContainEqual(['PUT', ['tools/list']]);
  });

  test.each([7, '', 'no', null, { traceparent: 1 }, `00-${'0'.repeat(32)}-${SPAN}-01`])(
    'has no parent where its `_meta` names none: %j',
    async (traceparent) => {
      const { recording, client } = await traced();
      await calledWith(client, 'search', { city: 'Rome' }, { traceparent, tracestate: [] });
      expect(recording.span('tools/call search').parentSpanContext).toBeUndefined();
    },
  );

  test('that fails says so by the code of the conventions, and holds no value and no message', async () => {
    const { recording, client } = await traced();
    const answer = await callOf(client, 'process-payment', { card: '4111-1111' });
    expect(failureIn(answer)?.code).toBe('E_DECLINED');
    expect(recording.span('tools/call process-payment').attributes).toMatchObject({
      'error.type': 'tool_error',
      'stepwright.error.code': 'E_DECLINED',
    });
    expect(recording.span('tools/call process-payment').status).toEqual({ code: SpanStatusCode.ERROR });
    await callOf(client, 'w_pay', { card: '4111-1111' });
    const all = recording.spans.map(({ name, attributes, status, events }) => [
      name,
      attributes,
      status,
      events,
    ]);
    expect(JSON.stringify(all)).not.toMatch(/4111|declined/);
  });

  test('for what is not there is no error of the server, and no name of a span or a metric', async () => {
    const { recording, client } = await traced();
    await expect(callOf(client, 'x'.repeat(500))).rejects.toMatchObject({ code: -32602 });
    await expect(client.request({ method: 'secret/steal' }, GetPromptResultSchema)).rejects.toMatchObject({
      code: -32601,
    });
    const span = recording.span('tools/call');
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    expect(span.attributes).toMatchObject({
      'rpc.response.status_code': '-32602',
      'gen_ai.tool.name': 'x'.repeat(128),
    });
    expect(recording.span('_OTHER').attributes['rpc.response.status_code']).toBe('-32601');
    const points = await recording.points('mcp.server.operation.duration');
    expect(JSON.stringify(points)).not.toMatch(/xxx|steal/);
    expect(points).toContainEqual([
      expect.objectContaining({ 'mcp.method.name': 'tools/call', 'rpc.response.status_code': '-32602' }),
      1,
    ]);
  });

  test('over HTTP says so', async () => {
    const recording = new Recording();
    const url = await listening(desk({ telemetry: recording.telemetry }).server);
    await freshCall(url, 'search', { city: 'Rome' });
    expect(recording.span('tools/call search').attributes).toMatchObject({
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'mcp.protocol.version': expect.stringMatching(/^20/),
    });
  });
});

describe('a workflow', () => {
  test('as a tool is a run in its request', async () => {
    const { recording, client } = await traced();
    await calledWith(client, 'w_book', { city: 'Rome' }, _meta);
    expect(recording.tree).toEqual([
      'tools/list',
      ['tools/call w_book', [['invoke_workflow book', ['execute_tool create-booking', 'return out']]]],
    ]);
    expect(recording.span('execute_tool create-booking').spanContext().traceId).toBe(TRACE);
  });

  test('as a prompt, too', async () => {
    const { recording, client } = await traced();
    await client.getPrompt({ name: 'book', arguments: { city: 'Rome' } });
    expect(recording.tree.slice(1)).toEqual([
      ['prompts/get book', [['invoke_workflow book', ['execute_tool create-booking', 'return out']]]],
    ]);
    expect(recording.span('prompts/get book').attributes).toMatchObject({ 'gen_ai.prompt.name': 'book' });
  });

  test('that waits goes on in a later process in a span that links the first one', async () => {
    const recording = new Recording();
    const folder = mkdtempSync(join(tmpdir(), 'stepwright-telemetry-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const city = { kind: 'literal', value: 'Rome' } as const;
    const booked = workflow('booked', [ask('sure'), call('search', 'search', { city })]);
    const open = () =>
      desk({
        telemetry: recording.telemetry,
        store: `sqlite:${join(folder, 'runs.db')}`,
        workflows: built([booked]),
      }).server;
    const first = open();
    const client = await clientOf(first);
    const workflow_id = runIn(await callOf(client, 'w_booked'));
    await client.close();
    await first.drain();
    const begun = recording.span('invoke_workflow booked');
    expect(begun.attributes['stepwright.run.status']).toBe('running');

    const second = open();
    onTestFinished(() => second.drain());
    await callOf(await clientOf(second), 'submit_result', { workflow_id, result: true });
    const later = recording.spans.filter(({ name }) => name === 'invoke_workflow booked').slice(1);
    expect(later.at(-1)?.attributes['stepwright.run.status']).toBe('succeeded');
    expect(later.map(({ links }) => links.map(({ context: { spanId } }) => spanId))).toEqual(
      later.map(() => [begun.spanContext().spanId]),
    );
    expect(recording.span('execute_tool search').parentSpanContext?.spanId).toBe(
      later.at(-1)?.spanContext().spanId,
    );
    expect(await recording.points('stepwright.workflow.runs')).toEqual([
      [{ 'gen_ai.workflow.name': 'booked', 'stepwright.run.status': 'succeeded' }, 1],
    ]);
  });
});

@Tool({ name: 'echo', description: 'Repeats', upstream: { server: 'fixture', tool: 'echo' } })
class Echo {
  execute(given: object, context: ToolContext) {
    return context.callUpstream(given);
  }
}

test('the call of an upstream tool is a span of a client, which the server is told', async () => {
  const recording = new Recording();
  const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const;
  const registry = registryOf({ tools: [{ class: Echo, input: text }] });
  const echo = workflow('repeat', [call('echo', 'echo', { text: { kind: 'literal', value: 'hi' } })]);
  const fixture = {
    command: process.execPath,
    args: [programWithPackage('test/e2e/upstream/server.fixture.ts')],
  };
  const upstream = upstreamServers({ fixture }, { log: () => {} });
  const server = createServer(registry, {
    ...{ telemetry: recording.telemetry, upstream, workflows: built([echo]), log: () => {} },
  });
  onTestFinished(() => server.stop());
  const client = await clientOf(server);
  const { structuredContent } = await callOf(client, 'echo', { text: 'hi' });
  const direct = recording.span('tools/call echo', { 'stepwright.upstream.server': 'fixture' });
  const { traceId, spanId } = direct.spanContext();
  expect(structuredContent).toEqual({ text: 'hi', traceparent: `00-${traceId}-${spanId}-01` });
  expect(direct.kind).toBe(SpanKind.CLIENT);
  await callOf(client, 'w_repeat');
  expect(recording.tree.slice(1)).toEqual([
    ['tools/call echo', ['tools/call echo']],
    ['tools/call w_repeat', [['invoke_workflow repeat', [['execute_tool echo', ['tools/call echo']]]]]],
  ]);
  expect(await recording.points('mcp.client.operation.duration')).toEqual([
    [
      {
        'mcp.method.name': 'tools/call',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'echo',
        'stepwright.upstream.server': 'fixture',
      },
      2,
    ],
  ]);
});

test('an option that is no telemetry is refused', () => {
  expect(() => desk({ telemetry: (() => {}) as never })).toThrow(
    new RangeError('telemetry must be the value that openTelemetry() returns, not a value of type function'),
  );
});

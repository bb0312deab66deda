import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryJournal } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { atDesk, callOf } from './client.js';
import { built, call, input, lit, step, trip } from './fixture/workflows.js';

interface Meta {
  readonly task_id: string;
  readonly task_status: string;
  readonly steps: readonly { readonly name: string; readonly status: string }[];
  readonly pause_reason?: Record<string, unknown>;
  readonly calls: readonly { readonly step: string; readonly tool: string }[];
  readonly next?: readonly Record<string, unknown>[];
  readonly results?: Record<string, unknown>;
  readonly task_error?: { readonly code: string };
  readonly task_warnings?: readonly { readonly code: string }[];
}

async function paused(settings: Parameters<typeof atDesk>[0] = { store: 'memory' }, graph = trip) {
  const desk = await atDesk({ ...settings, workflows: built([graph]) });
  const { messages, _meta } = await desk.client.getPrompt({ name: 'trip', arguments: { city: 'Rome' } });
  const last = messages.at(-1)?.content;
  return { ...desk, meta: _meta as unknown as Meta, text: last?.type === 'text' ? last.text : '' };
}

/** Calls a tool for a task. */
async function continues(
  client: Awaited<ReturnType<typeof paused>>['client'],
  _meta: Record<string, unknown>,
  args: Record<string, unknown> = { city: 'Rome', seats: 2 },
): Promise<Meta> {
  const result = await client.callTool({ name: 'create-booking', arguments: args, _meta });
  return result._meta as unknown as Meta;
}

describe('a prompt of a task that cannot be finished', () => {
  test('hands over, and says in `_meta` what is next', async () => {
    const { meta, text } = await paused();
    expect(meta).toMatchObject({
      task_id: expect.stringMatching(/^\S+$/),
      task_status: 'working',
      steps: [
        { name: 'search', tool: 'search', status: 'completed' },
        { name: 'booking', tool: 'create-booking', status: 'failed' },
      ],
      pause_reason: {
        type: 'schemaMismatch',
        blockedStep: 'booking',
        missingFields: ['seats'],
        suggestedTool: 'create-booking',
      },
      next: [{ step: 'booking', tool: 'create-booking' }],
    });
    expect(text).toContain("Step 'booking' has missing required fields: seats.");
    expect(text).toContain('To continue the workflow, make these tool calls:');
    expect(text).toContain(`## Workflow Progress\n\n**Task ID:** ${meta.task_id}`);
    expect(text).toContain('**Status:** paused (1/2 steps completed)');
  });

  test.each([
    ['by its step', (task: string) => ({ _task_id: task, _step: 'booking' })],
    ['by its tool', (task: string) => ({ _task_id: task })],
  ])('is continued by a call that is recorded %s, and completes by itself', async (_, meta) => {
    const { client, meta: before } = await paused();
    const after = await continues(client, meta(before.task_id));
    expect(after).toMatchObject({
      task_id: before.task_id,
      task_status: 'completed',
      results: { booking: expect.anything() },
    });
    expect(after).not.toHaveProperty('next');
    expect(after).not.toHaveProperty('task_error');
    const status = await callOf(client, 'get_workflow_status', { workflow_id: before.task_id });
    expect(status.structuredContent).toMatchObject({ status: 'completed', result: after.results?.booking });
  });

  test('does what follows once, for a client that makes all calls of its list', async () => {
    const after = [call('again', 'create-booking', { city: step('booking', 'city'), seats: lit(9) })];
    const { client, desk, meta } = await paused(
      { store: 'memory' },
      { ...trip, nodes: [...trip.nodes.slice(0, 2), ...after] },
    );
    for (const { step: made, tool } of meta.calls)
      await client.callTool({
        name: tool,
        arguments: { city: 'Rome', seats: 2 },
        _meta: { _task_id: meta.task_id, _step: made },
      });
    expect(desk.booked).toEqual(['Rome', 'Rome']);
    const { structuredContent } = await callOf(client, 'get_workflow_status', { workflow_id: meta.task_id });
    expect(structuredContent).toMatchObject({ status: 'completed' });
  });

  test('takes a request once that is sent again with its key', async () => {
    const [search, booking] = trip.nodes;
    const more = call('again', 'create-booking', { city: step('booking', 'city'), seats: input('seats') });
    const nodes = [search, booking, more].flatMap((node) => node ?? []);
    const { client, meta } = await paused({ store: 'memory' }, { ...trip, nodes });
    const [one, two] = ['k-1', 'k-2'].map((key) => ({
      _task_id: meta.task_id,
      'stepwright/idempotencyKey': key,
    }));
    for (const sent of [one, one]) {
      const after = await continues(client, sent ?? {});
      expect(after).toMatchObject({ task_status: 'working', next: [{ step: 'again' }] });
      expect(after).not.toHaveProperty('task_warnings');
    }
    expect(await continues(client, two ?? {})).toMatchObject({ task_status: 'completed' });
  });

  test('stays open after a call that failed', async () => {
    const { client, meta } = await paused();
    const after = await continues(client, { _task_id: meta.task_id, _step: 'booking' }, { city: 'Rome' });
    expect(after).toMatchObject({ task_status: 'working', next: [{ step: 'booking' }] });
  });

  test('is said to be unknown, or over, in `_meta` of a call that is answered', async () => {
    const { client, meta } = await paused();
    const unknown = await continues(client, { _task_id: 'no-such-task' });
    expect(unknown).toMatchObject({ task_id: 'no-such-task', task_error: { code: 'WORKFLOW_NOT_FOUND' } });
    await continues(client, { _task_id: meta.task_id });
    const late = await continues(client, { _task_id: meta.task_id }, { city: 'Oslo', seats: 1 });
    expect(late).toMatchObject({ task_status: 'completed', task_warnings: [{ code: 'W_NOT_USED' }] });
  });

  test('keeps a call that fits no step', async () => {
    const { client, meta } = await paused();
    const after = await continues(client, { _task_id: meta.task_id, _step: 'search' });
    expect(after).toMatchObject({ task_status: 'working', task_warnings: [{ code: 'W_EXTRA_CALL' }] });
  });

  test('is tried again by resume_workflow', async () => {
    const { client, meta } = await paused();
    const { structuredContent } = await callOf(client, 'resume_workflow', { workflow_id: meta.task_id });
    expect(structuredContent).toMatchObject({ status: 'waiting', actions: [{ step_id: 'booking' }] });
    const wrong = await callOf(client, 'resume_workflow', { workflow_id: meta.task_id, steps: ['search'] });
    expect(wrong.isError).toBe(true);
  });
});

test('a task in a file is continued after a restart of the server', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-tasks-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const store = `sqlite:${join(folder, 'runs.db')}` as const;
  const first = await paused({ store });
  await first.server.stop();
  const next = await atDesk({ store, workflows: built([trip]) });
  const after = await continues(next.client, { _task_id: first.meta.task_id, _step: 'booking' });
  expect(after).toMatchObject({
    task_status: 'completed',
    results: { search: { flights: ['to Rome'] }, booking: { city: 'Rome', seats: 2 } },
  });
  await next.server.stop();
});

test('two calls at once are recorded once', async () => {
  const { client, meta } = await paused();
  const both = await Promise.all([
    continues(client, { _task_id: meta.task_id, _step: 'booking' }, { city: 'Rome', seats: 1 }),
    continues(client, { _task_id: meta.task_id, _step: 'booking' }, { city: 'Rome', seats: 2 }),
  ]);
  const warned = both.filter(({ task_warnings }) => task_warnings !== undefined);
  expect(warned).toHaveLength(1);
  const { structuredContent } = await callOf(client, 'get_workflow_status', { workflow_id: meta.task_id });
  expect(structuredContent?.status).toBe('completed');
});

test('a store that fails leaves a plain conversation, and `_meta` says so', async () => {
  const journal = new MemoryJournal();
  journal.append = async () => {
    throw new Error('the disk is full');
  };
  const { meta, text } = await paused({ journal, log: () => {} });
  expect(meta).toMatchObject({ task_error: { code: 'E_STORE' } });
  expect(meta).not.toHaveProperty('task_id');
  expect(text).toContain("Step 'booking' has missing required fields: seats.");
  expect(text).not.toContain('## Workflow Progress');
});

import { describe, expect, test } from 'vitest';
import { atDesk, callOf, failureIn, runIn, textIn } from './client.js';
import { built, careful, lit, shell, workflow } from './fixture/workflows.js';

/** A server with work for the agent that calls. */
const atShell = () =>
  atDesk({
    workflows: built([{ ...careful, version: '1.2.0' }, workflow('sh', [shell('ls', lit('ls'))])]),
  });

test('are listed where a workflow has work for the agent that calls', async () => {
  const { client } = await atShell();
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['start_workflow', 'submit_result', 'list_runs']));
});

describe('start_workflow', () => {
  test('starts any workflow by its name, and answers with the run', async () => {
    const { client } = await atShell();
    const answer = await callOf(client, 'start_workflow', { name: 'careful', inputs: { city: 'Rome' } });
    expect(answer.structuredContent).toMatchObject({
      status: 'waiting',
      definition: { name: 'careful', version: '1.2.0' },
      action: { step_id: 'sure', type: 'prompt', parameters: { message: 'Book Rome?' } },
    });
    const { structuredContent } = await callOf(client, 'list_runs');
    expect(structuredContent).toMatchObject({ runs: [{ workflow_id: runIn(answer), name: 'careful' }] });
  });

  test('takes the inputs as text that holds them', async () => {
    const { client } = await atShell();
    const inputs = JSON.stringify({ city: 'Rome' });
    const answer = await callOf(client, 'start_workflow', { name: 'careful', inputs });
    expect(answer.structuredContent).toMatchObject({
      status: 'waiting',
      warnings: [{ code: 'W_STRINGIFIED' }],
    });
  });

  test.each([
    [{ name: 'carefull' }, "Did you mean 'careful'?"],
    [{ name: 'careful', inputs: { town: 'Rome' } }, 'town'],
    [{ name: 'careful', inputs: 'Rome' }, 'must be an object'],
    [{ name: 'careful', inputs: { city: 'Rome' }, version: '2.0.0' }, 'has version 1.2.0'],
  ])('refuses %j', async (args, text) => {
    const { client } = await atShell();
    const answer = await callOf(client, 'start_workflow', args);
    expect(failureIn(answer)).toMatchObject({
      code: 'E_INPUT_INVALID',
      message: expect.stringContaining(text),
    });
    expect(textIn(await callOf(client, 'list_runs'))).toBe('No runs.');
  });
});

test('list_runs lists runs in pages, without workflows', async () => {
  const { client } = await atShell();
  const inputs = { city: 'Rome' };
  for (const _ of [1, 2]) await callOf(client, 'start_workflow', { name: 'careful', inputs });
  const first = (await callOf(client, 'list_runs', { limit: 1 })).structuredContent;
  expect(first).toMatchObject({ runs: [expect.anything()], next_cursor: expect.any(String) });
  const second = await callOf(client, 'list_runs', { limit: 1, cursor: first?.next_cursor });
  expect(second.structuredContent).toEqual({ runs: [expect.not.objectContaining({ workflow_id: '' })] });
  const other = await callOf(client, 'list_workflows', { cursor: first?.next_cursor });
  expect(failureIn(other)).toMatchObject({ code: 'E_INPUT_INVALID' });
});

describe('get_workflow_state', () => {
  const command = {
    ...shell('ls', lit('ls')),
    join: 'none_failed',
    after: ['note'],
    writes: 'listing',
  } as const;
  const noting = built([
    {
      ...workflow('noting', [
        {
          ...{ kind: 'set', id: 'note', after: [], join: 'none_failed', executor: 'server' },
          updates: ['notes', 'token'].map((field) => ({ field, value: lit(['a']) })),
        },
        command,
        {
          ...{ kind: 'return', id: 'end', after: ['ls'], join: 'none_failed', executor: 'server' },
          value: lit('done'),
        },
      ]),
      state: [
        { name: 'notes', scope: 'workflow', schema: {} },
        { name: 'token', scope: 'workflow', schema: {}, secret: true },
        { name: 'listing', scope: 'workflow', schema: {}, secret: true },
      ],
    },
  ]);
  const fields = { notes: ['a'], token: '••••' };
  const open = async () => {
    const { client } = await atDesk({ workflows: noting, debug: true });
    const workflow_id = runIn(await callOf(client, 'start_workflow', { name: 'noting' }));
    const state = async () => (await callOf(client, 'get_workflow_state', { workflow_id })).structuredContent;
    const submit = (answer: object) => callOf(client, 'submit_result', { workflow_id, ...answer });
    return { workflow_id, state, submit };
  };

  test('shows the fields of a run, where the server has the option', async () => {
    const { workflow_id, state } = await open();
    expect(await state()).toEqual({ workflow_id, status: 'waiting', state: fields });
  });

  test('shows them as they were when the run returned', async () => {
    const { workflow_id, state, submit } = await open();
    expect((await submit({ result: { exit_code: 0 } })).structuredContent).not.toHaveProperty('state');
    const atEnd = { ...fields, listing: '••••' };
    expect(await state()).toEqual({ workflow_id, status: 'completed', state: atEnd });
  });

  test('shows them as they were when the run failed', async () => {
    const { workflow_id, state, submit } = await open();
    const { structuredContent } = await submit({ error: { message: 'no shell' } });
    expect(structuredContent).toMatchObject({ error: { partial: { note: fields } } });
    expect(await state()).toEqual({ workflow_id, status: 'failed', state: fields });
  });

  test('is unknown otherwise', async () => {
    const { client } = await atDesk({ workflows: noting });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('get_workflow_state');
  });
});

import { describe, expect, test } from 'vitest';
import { type Answer, atDesk, callOf, clientOf, failureIn, runIn, textIn } from './client.js';
import { desk } from './fixture/registry.js';

const statusOf = ({ structuredContent }: Answer) => structuredContent?.status;
const codeOf = (answer: Answer) => (answer.isError === true ? failureIn(answer)?.code : undefined);

/** A client with a careful booking that waits for its first answer. */
async function waiting() {
  const made = await atDesk();
  const answer = await callOf(made.client, 'w_careful', { city: 'Rome' });
  const workflow_id = runIn(answer);
  const submit = (args: Record<string, unknown>) =>
    callOf(made.client, 'submit_result', { workflow_id, ...args });
  return { ...made, answer, workflow_id, submit };
}

describe('a workflow that asks', () => {
  test('answers with the envelope, and in words', async () => {
    const { answer, workflow_id, desk } = await waiting();
    const action = {
      action_id: 'sure#1',
      workflow_id,
      step_id: 'sure',
      type: 'prompt',
      parameters: { message: 'Book Rome?', type: 'confirm' },
      schema: {
        type: 'object',
        properties: { confirmed: { type: 'boolean' } },
        required: ['confirmed'],
        additionalProperties: false,
      },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    };
    expect(answer.isError).toBeUndefined();
    expect(answer.structuredContent).toStrictEqual({
      workflow_id,
      definition: { name: 'careful', hash: expect.any(String) },
      status: 'waiting',
      actions: [action],
      action,
    });
    const text = textIn(answer);
    for (const part of [
      workflow_id,
      'Book Rome?',
      '"confirmed":{"type":"boolean"}',
      `submit_result { "workflow_id": "${workflow_id}", "action_id": "sure#1", "result": … }`,
      'Send true or false',
    ]) {
      expect(text).toContain(part);
    }
    expect(desk.booked).toEqual([]);
  });

  test('goes on from answer to answer to its result', async () => {
    const { client, submit, workflow_id, desk } = await waiting();
    const second = await submit({ action_id: 'sure#1', result: true });
    expect(second.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'label' } });
    expect(desk.booked).toEqual(['Rome']);
    const end = await submit({ result: 'Holiday' });
    expect(end.structuredContent).toMatchObject({ workflow_id, status: 'completed', result: 'Holiday' });
    expect(textIn(end)).toContain('Result: "Holiday"');
    const status = await callOf(client, 'get_workflow_status', { run_id: workflow_id });
    expect(status.structuredContent).toMatchObject({ status: 'completed', definition_changed: false });
    const { definition_hash, definition } = status.structuredContent ?? {};
    expect(definition).toMatchObject({ name: 'careful', hash: definition_hash });
  });

  test('may be answered with an error', async () => {
    const { submit } = await waiting();
    const end = await submit({ error: { code: 'E_AWAY', message: 'nobody is there' } });
    expect(end.isError).toBe(true);
    expect(failureIn(end)).toMatchObject({ code: 'E_AWAY', node: 'sure' });
    expect(end.structuredContent).toMatchObject({
      status: 'failed',
      error: {
        code: 'E_AWAY',
        message: 'nobody is there',
        node: 'sure',
        partial: { search: { flights: ['to Rome'] } },
      },
    });
  });

  test('takes an answer that came as text, and warns', async () => {
    const { submit } = await waiting();
    const answer = await submit({ result: '{"confirmed": false}' });
    expect(answer.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'label' } });
    expect(answer._meta?.['stepwright/warnings']).toMatchObject([{ code: 'W_STRINGIFIED' }]);
    expect(textIn(answer)).toContain('W_STRINGIFIED');
  });

  test('for a time says when it goes on, and takes no answer before', async () => {
    const { client } = await atDesk();
    const answer = await callOf(client, 'w_nap');
    expect(answer.structuredContent).toMatchObject({
      status: 'waiting',
      action: { type: 'wait', resume_at: expect.any(String) },
    });
    const early = await callOf(client, 'submit_result', { workflow_id: runIn(answer), result: {} });
    expect(codeOf(early)).toBe('TOO_EARLY');
    expect(failureIn(early)?.details).toMatchObject({ remaining_ms: expect.any(Number) });
  });
});

describe('bad input', () => {
  test('an answer of the wrong shape says what fits; the action stays open', async () => {
    const { submit, desk } = await waiting();
    for (const wrong of [
      { result: 'yes' },
      { result: { confirmed: 1 } },
      {},
      { result: true, error: { message: 'x' } },
    ]) {
      const refused = await submit({ action_id: 'sure#1', ...wrong });
      expect(codeOf(refused)).toBe('E_RESULT_SHAPE');
      expect(textIn(refused)).toContain('Send true or false, or {"confirmed": true}.');
    }
    expect(desk.booked).toEqual([]);
    expect(statusOf(await submit({ result: true }))).toBe('waiting');
    expect(desk.booked).toEqual(['Rome']);
  });

  test('an answer to the wrong run, or the wrong action, consumes nothing', async () => {
    const { client, submit, workflow_id } = await waiting();
    const other = await callOf(client, 'submit_result', { workflow_id: `${workflow_id}0`, result: true });
    expect(codeOf(other)).toBe('WORKFLOW_NOT_FOUND');
    expect(codeOf(await submit({ action_id: 'label#1', result: 'x' }))).toBe('UNKNOWN_ACTION');
    const status = await callOf(client, 'get_workflow_status', { workflow_id });
    expect(status.structuredContent).toMatchObject({ status: 'waiting', action: { action_id: 'sure#1' } });
  });

  test('without an action where two are open', async () => {
    const { client } = await atDesk();
    const workflow_id = runIn(await callOf(client, 'w_twice'));
    const refused = await callOf(client, 'submit_result', { workflow_id, result: true });
    expect(codeOf(refused)).toBe('AMBIGUOUS_ACTION');
    expect(failureIn(refused)?.details).toEqual({ open_actions: ['left#1', 'right#1'] });
    await callOf(client, 'submit_result', { workflow_id, action_id: 'right#1', result: 'blue' });
    const end = await callOf(client, 'submit_result', { workflow_id, result: false });
    expect(end.structuredContent).toMatchObject({
      status: 'completed',
      result: { left: { confirmed: false }, right: { selected: 'blue' } },
    });
  });

  test('twice at once is consumed once', async () => {
    const { submit, desk } = await waiting();
    const [first, second, third] = await Promise.all([
      submit({ action_id: 'sure#1', result: true }),
      submit({ action_id: 'sure#1', result: true }),
      submit({ action_id: 'sure#1', result: false }),
    ]);
    expect(second).toStrictEqual(first);
    expect(codeOf(third)).toBe('ALREADY_SUBMITTED');
    expect(desk.booked).toEqual(['Rome']);
  });

  test('twice without its action is not guessed to be an answer to the next one', async () => {
    const { client } = await atDesk();
    const workflow_id = runIn(await callOf(client, 'w_twice'));
    await callOf(client, 'submit_result', { workflow_id, action_id: 'right#1', result: 'blue' });
    const refused = await callOf(client, 'submit_result', { workflow_id, result: 'blue' });
    expect(codeOf(refused)).toBe('AMBIGUOUS_ACTION');
    expect(failureIn(refused)?.details).toEqual({ open_actions: ['left#1'] });
    const end = await callOf(client, 'submit_result', { workflow_id, result: false });
    expect(await callOf(client, 'submit_result', { workflow_id, result: false })).toStrictEqual(end);
  });

  test('after a cancellation', async () => {
    const { client, submit, workflow_id, desk } = await waiting();
    const cancelled = await callOf(client, 'cancel_workflow', { workflow_id, reason: 'too late' });
    expect(cancelled.structuredContent).toMatchObject({ status: 'cancelled', actions: [] });
    expect(textIn(cancelled)).toContain('too late');
    expect(codeOf(await submit({ action_id: 'sure#1', result: true }))).toBe('WORKFLOW_CANCELLED');
    expect(desk.booked).toEqual([]);
  });

  test('after the end', async () => {
    const { submit, desk } = await waiting();
    await submit({ result: true });
    const end = await submit({ result: 'Holiday' });
    for (const late of [{ result: 'again' }, { action_id: 'nonsense', result: { any: 'thing' } }]) {
      const answer = await submit(late);
      const warning = { code: 'W_NOT_USED', message: expect.stringContaining('it was not used') };
      expect(answer.structuredContent).toStrictEqual({ ...end.structuredContent, warnings: [warning] });
      expect(answer._meta?.['stepwright/warnings']).toStrictEqual([warning]);
      expect(textIn(answer)).toMatch(/^W_NOT_USED: .*not used/);
      expect(textIn(answer)).toContain(textIn(end));
    }
    expect(await submit({ action_id: 'label#1', result: 'Holiday' })).toStrictEqual(end);
    expect(desk.booked).toEqual(['Rome']);
  });

  test.each([
    [{}, 'missing required `workflow_id`'],
    [{ workflow_id: 7 }, 'send "7", not 7'],
    [{ workflow_id: 'a', run_id: 'b' }, 'name two runs'],
    [{ workflow_id: 'a', answer: 1 }, 'unknown argument `answer`'],
  ])('arguments that are none: %j', async (args, message) => {
    const { client } = await atDesk();
    const refused = await callOf(client, 'submit_result', args);
    expect(codeOf(refused)).toBe('E_INPUT_INVALID');
    expect(textIn(refused)).toContain(message);
  });

  test('more runs than one caller may have', async () => {
    const { client } = await atDesk({ runs: { maxOpenRuns: 2 } });
    await callOf(client, 'w_twice');
    await callOf(client, 'w_twice');
    expect(codeOf(await callOf(client, 'w_book', { city: 'Rome' }))).toBe('RESOURCE_EXHAUSTED');
  });
});

describe('runs', () => {
  test('are listed with the workflows there are', async () => {
    const { client, workflow_id } = await waiting();
    await callOf(client, 'w_book', { city: 'Oslo' });
    const { structuredContent } = await callOf(client, 'list_workflows');
    expect(structuredContent?.workflows).toContainEqual({
      name: 'book',
      description: 'book a flight',
      hash: expect.any(String),
      tool: 'w_book',
    });
    expect(structuredContent?.runs).toMatchObject([
      { name: 'book', status: 'completed', open_actions: [], ended_at: expect.any(String) },
      { workflow_id, name: 'careful', status: 'waiting', open_actions: ['sure#1'] },
    ]);
    const { structuredContent: open } = await callOf(client, 'list_workflows', { status: 'waiting' });
    expect(open?.runs).toHaveLength(1);
  });

  test('are listed with their times and arguments, and without secrets', async () => {
    const { client } = await waiting();
    await callOf(client, 'w_pay', { card: '4444 3333' });
    const { structuredContent, ...answer } = await callOf(client, 'list_workflows');
    expect(structuredContent?.runs).toMatchObject([
      { name: 'pay', arguments: { card: '••••' } },
      { name: 'careful', arguments: { city: 'Rome' } },
    ]);
    const text = textIn(answer);
    expect(text).toMatch(/careful {2}waiting, 1 open action\n {2}\d{4}-\S+Z {2}\{"city":"Rome"\}/);
    expect(text).not.toContain('4444');
  });

  test('name the steps that run', async () => {
    const { client, desk: tools } = await atDesk({ toolAnswerMs: 20 });
    const running = await callOf(client, 'w_slow');
    const status = await callOf(client, 'get_workflow_status', { workflow_id: runIn(running) });
    expect(status.structuredContent).toMatchObject({ status: 'running', running_steps: ['work'] });
    expect(textIn(status)).toContain('Running: work.');
    tools.finish({});
  });

  test('of anonymous callers are not listed', async () => {
    const { server } = desk();
    const client = await clientOf(server, undefined, { local: false });
    const workflow_id = runIn(await callOf(client, 'w_careful', { city: 'Rome' }));
    expect((await callOf(client, 'list_workflows')).structuredContent?.runs).toEqual([]);
    expect(statusOf(await callOf(client, 'get_workflow_status', { workflow_id }))).toBe('waiting');
  });
});

test('a run that goes on behind its request does not end with the session', async () => {
  const { server, desk: tools } = desk({ toolAnswerMs: 20 });
  const client = await clientOf(server);
  const workflow_id = runIn(await callOf(client, 'w_slow'));
  const signal = await tools.begun;
  await client.close();
  const other = await clientOf(server);
  expect(statusOf(await callOf(other, 'get_workflow_status', { workflow_id }))).toBe('running');
  expect(signal.aborted).toBe(false);
  await callOf(other, 'cancel_workflow', { workflow_id });
  expect(signal.aborted).toBe(true);
});

describe('a prompt that waits', () => {
  test('is told as far as it got, and goes on through submit_result', async () => {
    const { client, desk } = await atDesk();
    const trace = await client.getPrompt({ name: 'careful', arguments: { city: 'Rome' } });
    expect(trace._meta).toMatchObject({ actions: [{ action_id: 'sure#1' }] });
    const workflow_id = trace._meta?.workflow_id;
    const next = await callOf(client, 'submit_result', { workflow_id, result: true });
    expect(next.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'label' } });
    expect(desk.booked).toEqual(['Rome']);
    const end = await callOf(client, 'submit_result', { workflow_id, result: 'Holiday' });
    expect(statusOf(end)).toBe('completed');
  });

  test('says why where there is no room for another one', async () => {
    const { client } = await atDesk({ runs: { maxOpenRuns: 1 } });
    await callOf(client, 'w_twice');
    await expect(client.getPrompt({ name: 'careful', arguments: { city: 'Rome' } })).rejects.toMatchObject({
      code: -32005,
      message: expect.stringContaining('1 runs are open, and no more than 1 may be'),
      data: { code: 'RESOURCE_EXHAUSTED' },
    });
  });

  test('that cannot wait is kept nowhere', async () => {
    const { client } = await atDesk();
    const trace = await client.getPrompt({ name: 'book', arguments: { city: 'Rome' } });
    expect(trace._meta).not.toHaveProperty('workflow_id');
    expect((await callOf(client, 'list_workflows')).structuredContent?.runs).toEqual([]);
  });
});

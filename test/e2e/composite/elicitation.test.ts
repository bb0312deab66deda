import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { type Asked, atDesk, callOf, clientOf, failureIn, runIn, type User } from './client.js';
import { desk } from './fixture/registry.js';

const accept = (content: NonNullable<ElicitResult['content']>): ElicitResult => ({
  action: 'accept',
  content,
});

/** A user who answers one question after the other. */
function answering(...answers: readonly (ElicitResult | (() => ElicitResult))[]): {
  asked: Asked[];
  user: User;
} {
  const asked: Asked[] = [];
  const user: User = (question) => {
    const answer = answers[asked.length];
    asked.push(question);
    if (answer === undefined) throw new Error('asked too often');
    return typeof answer === 'function' ? answer() : answer;
  };
  return { asked, user };
}

describe('where the client can ask its user', () => {
  test('a workflow comes to its result in one call', async () => {
    const { asked, user } = answering(accept({ confirmed: true }), accept({ input: 'Holiday' }));
    const { client, desk } = await atDesk({}, user);
    const answer = await callOf(client, 'w_careful', { city: 'Rome' });
    expect(answer.structuredContent).toEqual({ result: 'Holiday' });
    expect(desk.booked).toEqual(['Rome']);
    expect(asked).toMatchObject([
      {
        message: 'Book Rome?',
        requestedSchema: {
          type: 'object',
          properties: { confirmed: { type: 'boolean' } },
          required: ['confirmed'],
        },
      },
      { message: 'What shall it be called?' },
    ]);
  });

  test('several questions are put one after the other', async () => {
    let open = 0;
    const one = (content: NonNullable<ElicitResult['content']>) => () => {
      open += 1;
      expect(open).toBe(1);
      queueMicrotask(() => {
        open -= 1;
      });
      return accept(content);
    };
    const { asked, user } = answering(one({ confirmed: true }), one({ selected: 'blue' }));
    const { client } = await atDesk({}, user);
    const answer = await callOf(client, 'w_twice');
    expect(answer.structuredContent).toEqual({ left: { confirmed: true }, right: { selected: 'blue' } });
    expect(asked).toHaveLength(2);
  });

  test.each([
    ['decline', 'E_ASK_DECLINED'],
    ['cancel', 'E_ASK_CANCELLED'],
  ] as const)('a user who chooses to %s fails the step', async (action, code) => {
    const { client, desk } = await atDesk({}, () => ({ action }));
    const answer = await callOf(client, 'w_careful', { city: 'Rome' });
    expect(answer.isError).toBe(true);
    expect(failureIn(answer)).toMatchObject({ code, node: 'sure' });
    expect(desk.booked).toEqual([]);
  });

  test('a client that cannot ask after all is answered with the envelope', async () => {
    let asked = 0;
    const { client } = await atDesk({}, () => {
      asked += 1;
      throw new Error('no screen');
    });
    const answer = await callOf(client, 'w_twice');
    expect(answer.structuredContent).toMatchObject({ status: 'waiting', actions: [{}, {}] });
    expect(asked).toBe(1);
  });

  test('an answer that does not fit leaves the question to the caller', async () => {
    const { client } = await atDesk({}, () => accept({ confirmed: 'maybe' }));
    const answer = await callOf(client, 'w_careful', { city: 'Rome' });
    expect(answer.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'sure' } });
  });

  test('a form that is not flat is not elicited', async () => {
    const { client } = await atDesk({}, () => expect.unreachable());
    const answer = await callOf(client, 'w_deep');
    expect(answer.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'tree' } });
    const end = await callOf(client, 'submit_result', { workflow_id: runIn(answer), result: { leaf: {} } });
    expect(end.structuredContent).toMatchObject({ status: 'completed', result: { leaf: {} } });
  });

  test('a question without an answer in time is withdrawn and stays open', async () => {
    let withdrawn = false;
    const { client } = await atDesk({ toolAnswerMs: 500 }, ({ message }, signal) => {
      // Clients of the SDK ignore the cancellation of a server's first request.
      if (message === 'Book Rome?') return accept({ confirmed: true });
      signal.addEventListener('abort', () => {
        withdrawn = true;
      });
      return new Promise(() => {});
    });
    const answer = await callOf(client, 'w_careful', { city: 'Rome' });
    expect(answer.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'label' } });
    await expect.poll(() => withdrawn).toBe(true);
  });

  test('an answer through the tool takes the question back, and each question is put once', async () => {
    let shown: () => void = () => {};
    const isShown = new Promise<void>((resolve) => {
      shown = resolve;
    });
    const asked: string[] = [];
    const { client, desk } = await atDesk({}, ({ message }) => {
      asked.push(message);
      if (message !== 'Book Rome?') return accept({ input: 'Holiday' });
      shown();
      return new Promise(() => {});
    });
    const first = callOf(client, 'w_careful', { city: 'Rome' });
    await isShown;
    const { structuredContent: listed } = await callOf(client, 'list_workflows');
    const { runs } = listed as { readonly runs: readonly { readonly workflow_id: string }[] };
    const workflow_id = runs[0]?.workflow_id;
    await callOf(client, 'submit_result', { workflow_id, action_id: 'sure#1', result: true });
    expect((await first).structuredContent).toEqual({ result: 'Holiday' });
    expect(asked).toEqual(['Book Rome?', 'What shall it be called?']);
    expect(desk.booked).toEqual(['Rome']);
  });

  test('a prompt asks nobody directly: its questions are part of the conversation', async () => {
    const { client } = await atDesk({}, () => expect.unreachable());
    const trace = await client.getPrompt({ name: 'careful', arguments: { city: 'Rome' } });
    expect(trace._meta).toMatchObject({ actions: [{ action_id: 'sure#1' }] });
  });
});

test('a client without a user for questions gets the envelope', async () => {
  const client = await clientOf(desk().server);
  const answer = await callOf(client, 'w_careful', { city: 'Rome' });
  expect(answer.structuredContent).toMatchObject({ status: 'waiting' });
});

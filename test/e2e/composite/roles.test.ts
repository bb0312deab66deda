import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { atDesk, callOf, failureIn, runIn, textIn } from './client.js';
import { desk } from './fixture/registry.js';
import { ask, returns, step, workflow } from './fixture/workflows.js';
import { freshCall, listening, sessionOf, type Visitor } from './http.js';

const NO_RUN = '0'.repeat(32);

const approval = workflow('approval', [
  ask('sure', { answerBy: [{ kind: 'role', role: 'lead', except: 'owner' }] }),
  ask('note', { mode: 'text' }),
  returns(step('note')),
]);
const settings = { workflows: [{ graph: approval }] };

/** A user whose token contains its roles. */
function user(sub: string, roles?: unknown): Visitor {
  return {
    token: Buffer.from(JSON.stringify({ clientId: 'app', extra: { sub }, roles })).toString('base64url'),
  };
}

const [ada, bob, eve, lead] = [
  user('ada'),
  user('bob', ['lead']),
  user('eve', ['clerk']),
  user('ada', ['lead']),
];

const listOf = async (url: URL, who: Visitor) =>
  (await freshCall(url, 'list_workflows', {}, who)).structuredContent ?? {};

describe('a question for a role, over HTTP', () => {
  test('is shown to callers with the role, who learn that their answer is accepted', async () => {
    const url = await listening(desk(settings).server);
    const user = () => {
      throw new Error('the owner is not asked');
    };
    const waiting = await freshCall(url, 'w_approval', {}, { ...ada, user });
    expect(waiting.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'sure' } });
    expect(textIn(waiting)).toContain('Somebody else answers: only a caller with the role');
    const workflow_id = runIn(waiting);

    expect(await listOf(url, ada)).not.toHaveProperty('to_answer');
    expect(await listOf(url, eve)).toMatchObject({ runs: [], to_answer: [] });
    const { runs, to_answer } = await listOf(url, bob);
    expect(runs).toEqual([]);
    const [question] = to_answer as [{ workflow_id: string; action_id: string }];
    expect(to_answer).toEqual([
      {
        workflow_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        action_id: 'sure#1',
        name: 'approval',
        message: 'sure?',
        schema: expect.objectContaining({ required: ['confirmed'] }),
      },
    ]);
    expect(question.workflow_id).not.toBe(workflow_id);

    for (const owner of [ada, lead]) {
      const refused = await freshCall(url, 'submit_result', { workflow_id, result: true }, owner);
      expect(failureIn(refused)?.code).toBe('NOT_PERMITTED');
    }
    const { action_id } = question;
    const accepted = await freshCall(
      url,
      'submit_result',
      { workflow_id: question.workflow_id, action_id, result: true },
      bob,
    );
    expect(accepted.structuredContent).toEqual({ workflow_id: question.workflow_id, status: 'accepted' });
    expect(accepted._meta?.['stepwright/run']).toBeUndefined();
    expect(textIn(accepted)).toBe('The answer was accepted.');
    const status = await freshCall(url, 'get_workflow_status', { workflow_id }, ada);
    expect(status.structuredContent).toMatchObject({ action: { step_id: 'note' } });
  });

  test('looks to any other caller like a run that does not exist', async () => {
    const url = await listening(desk(settings).server);
    const workflow_id = runIn(await freshCall(url, 'w_approval', {}, ada));
    const [question] = (await listOf(url, bob)).to_answer as [{ workflow_id: string }];
    for (const id of [workflow_id, question.workflow_id]) {
      for (const who of [eve, {}]) {
        for (const tool of ['submit_result', 'get_workflow_status', 'cancel_workflow']) {
          const more = tool === 'submit_result' ? { action_id: 'sure#1', result: true } : {};
          const refused = await freshCall(url, tool, { workflow_id: id, ...more }, who);
          const unknown = await freshCall(url, tool, { workflow_id: NO_RUN, ...more }, who);
          expect(JSON.stringify(refused).replaceAll(id, NO_RUN)).toBe(JSON.stringify(unknown));
        }
      }
    }
    for (const tool of ['get_workflow_status', 'cancel_workflow']) {
      const refused = await freshCall(url, tool, { workflow_id: question.workflow_id }, bob);
      expect(failureIn(refused)?.code).toBe('WORKFLOW_NOT_FOUND');
    }
  });

  test('keeps the run of an anonymous caller from its start where the owner is excepted', async () => {
    const url = await listening(desk(settings).server);
    const refused = await freshCall(url, 'w_approval');
    expect(failureIn(refused)).toMatchObject({
      code: 'E_NO_ROLES',
      message: expect.stringContaining('Send the request with a bearer token'),
    });
    expect(await listOf(url, bob)).toMatchObject({ to_answer: [] });
  });

  test('is escalated after a reminder, which the log has', async () => {
    const graph = workflow('late', [
      ask('sure', {
        answerBy: [{ kind: 'role', role: 'lead' }],
        remindAfterMs: 100,
        escalateTo: [{ kind: 'role', role: 'clerk' }],
      }),
    ]);
    const { server, log } = desk({ workflows: [{ graph }] });
    const url = await listening(server);
    // The reminder is not due while the clock stands still.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    onTestFinished(() => clock.mockRestore());
    const workflow_id = runIn(await freshCall(url, 'w_late', {}, ada));
    expect(await listOf(url, eve)).toMatchObject({ to_answer: [] });
    clock.mockRestore();
    await expect.poll(() => listOf(url, eve)).toMatchObject({ to_answer: [{ action_id: 'sure#1' }] });
    const status = await freshCall(url, 'get_workflow_status', { workflow_id }, ada);
    expect(status.structuredContent).toMatchObject({
      action: {
        answer_by: [
          { kind: 'role', role: 'lead' },
          { kind: 'role', role: 'clerk' },
        ],
        reminded_at: expect.any(String),
      },
    });
    expect(log).toContainEqual(
      expect.stringMatching(
        /^run [0-9a-f]{12} of workflow `late` waits for an answer of a caller with the role 'lead', or a caller with the role 'clerk' to its step `sure`$/,
      ),
    );
    const [question] = (await listOf(url, eve)).to_answer as [{ workflow_id: string }];
    const answer = { workflow_id: question.workflow_id, result: true };
    expect((await freshCall(url, 'submit_result', answer, eve)).structuredContent).toMatchObject({
      status: 'accepted',
    });
  });

  test('is not answered with roles that are not a list of roles', async () => {
    const { server } = desk(settings);
    const url = await listening(server);
    await expect(freshCall(url, 'list_workflows', {}, user('bob', 'lead'))).rejects.toThrow('invalid_token');
  });
});

describe('a question for a role, over stdio', () => {
  test('keeps the run from its start where no caller has the role', async () => {
    const { client } = await atDesk(settings);
    const refused = await callOf(client, 'w_approval');
    expect(failureIn(refused)).toMatchObject({ code: 'E_NO_ROLES', details: { step: 'sure' } });
    await expect(client.getPrompt({ name: 'approval' })).rejects.toMatchObject({
      code: -32_006,
      data: { code: 'E_NO_ROLES' },
    });
    expect((await callOf(client, 'list_workflows')).structuredContent?.runs).toEqual([]);
  });

  test('is answered by the local user with the role', async () => {
    const graph = workflow('local', [ask('sure', { answerBy: [{ kind: 'role', role: 'lead' }] })]);
    const { client } = await atDesk({ workflows: [{ graph }], localRoles: ['lead'] });
    const workflow_id = runIn(await callOf(client, 'w_local'));
    const end = await callOf(client, 'submit_result', { workflow_id, result: true });
    expect(end.structuredContent).toMatchObject({ status: 'completed' });
  });
});

test('a prompt tells its reader that somebody else answers', async () => {
  const url = await listening(desk(settings).server);
  const { client } = await sessionOf(url, ada);
  const { messages } = await client.getPrompt({ name: 'approval' });
  const end = messages.at(-1)?.content;
  expect(end).toMatchObject({ text: expect.stringContaining('Somebody else answers: only a caller with') });
  expect(end).toMatchObject({ text: expect.not.stringContaining('submit_result') });
});

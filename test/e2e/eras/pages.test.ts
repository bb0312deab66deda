import type { Client } from '@modelcontextprotocol/client';
import type { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { ElicitationCompleteNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test, vi } from 'vitest';
import { sentFields } from '../../../src/print/form/sent-fields.fixture.js';
import { type Asked, callOf, textIn } from '../composite/client.js';
import { desk } from '../composite/fixture/registry.js';
import { ask, returns, step, workflow } from '../composite/fixture/workflows.js';
import { listening, sessionOf } from '../composite/http.js';
import { statelessClient } from './client.js';

// Questions that are put as the addresses of their pages.

const graph = workflow('person', [
  ask('sure', { answerBy: [{ kind: 'human' }] }),
  ask('note', { mode: 'text' }),
  returns(step('note', 'input')),
]);
const URLS = { elicitation: { form: {}, url: {} } };

type Question = Partial<Asked> & {
  readonly mode?: string | undefined;
  readonly url?: string;
  readonly elicitationId?: string;
};

const started = (more: object = {}): Promise<URL> =>
  listening(desk({ workflows: [{ graph }], questions: { page: true }, ...more }).server, {
    auth: undefined as never,
  });

/** Says yes on a page. */
async function sendPage(url: string): Promise<void> {
  const fields = sentFields(await (await fetch(url)).text()).filter(([name]) => name !== 'value/confirmed');
  const body = new URLSearchParams([...fields, ['value/confirmed', '0']]);
  expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
}

/** The questions that a client has learned to be over. */
function completions(client: OldClient): readonly string[] {
  const complete: string[] = [];
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
    complete.push(params.elicitationId);
  });
  return complete;
}

test('a call of 2025-11-25 waits for the page, and the client learns when it was sent', async () => {
  const asked: Question[] = [];
  const user = (question: Question) => {
    asked.push(question);
    // The page is sent after the user has agreed to open it.
    if (question.mode === 'url') setTimeout(() => sendPage(question.url ?? ''), 20);
    return question.mode === 'url'
      ? ({ action: 'accept' } as const)
      : ({ action: 'accept', content: { input: 'fine' } } as const);
  };
  const { client } = await sessionOf(await started(), { user, capabilities: URLS });
  const complete = completions(client);
  expect((await callOf(client, 'w_person')).structuredContent).toEqual({ result: 'fine' });
  expect(asked).toMatchObject([
    { mode: 'url', message: 'sure?', url: expect.stringContaining('/questions/') },
    { mode: 'form', message: 'note?' },
  ]);
  await expect.poll(() => complete).toEqual([asked[0]?.elicitationId]);
});

test('a user of 2025-11-25 who does not open the page, or does not send it soon, leaves the question open', async () => {
  let action: 'accept' | 'decline' = 'decline';
  let asked: Question = {};
  const user = (question: Question) => {
    asked = question;
    return { action };
  };
  const { client } = await sessionOf(await started({ toolAnswerMs: 100 }), { user, capabilities: URLS });
  const complete = completions(client);
  for (action of ['decline', 'accept'] as const) {
    const waiting = await callOf(client, 'w_person');
    expect(waiting.structuredContent).toMatchObject({ status: 'waiting', action: { action_id: 'sure#1' } });
    expect(textIn(waiting)).toContain('Only a person on the page of the question may answer: http');
  }
  // The call was answered: the client learns it from the stream of its session.
  await sendPage(asked.url ?? '');
  await expect.poll(() => complete, { timeout: 10_000 }).toEqual([asked.elicitationId]);
});

/** A client of 2026-07-28 with a user, and the questions to that. */
async function asking(url: URL, user: (question: Question) => 'accept' | 'decline'): Promise<Client> {
  const client = await statelessClient(url, { capabilities: URLS });
  client.setRequestHandler('elicitation/create', ({ params }) => {
    const action = user(params);
    return params.mode === 'url' ? { action } : { action, content: { input: 'fine' } };
  });
  return client;
}

test('a call of 2026-07-28 returns with its state until the page was sent, and puts it once', async () => {
  const pages: string[] = [];
  const client = await asking(await started({ toolAnswerMs: 50 }), ({ mode, url = '' }) => {
    if (mode === 'url') pages.push(url);
    // After the first round that waits.
    if (mode === 'url') setTimeout(() => sendPage(url), 100);
    return 'accept';
  });
  const result = await client.callTool({ name: 'w_person', arguments: {} });
  expect(result.structuredContent).toEqual({ result: 'fine' });
  expect(pages).toHaveLength(1);
});

test('a call of 2026-07-28 gives the action where the user does not open the page', async () => {
  const user = vi.fn(() => 'decline' as const);
  const client = await asking(await started(), user);
  const { structuredContent } = await client.callTool({ name: 'w_person', arguments: {} });
  expect(structuredContent).toMatchObject({ status: 'waiting', action: { action_id: 'sure#1' } });
  expect(user).toHaveBeenCalledTimes(1);
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureIn, runIn } from '../composite/client.js';
import { SecureServer, type Token } from './secure-server.js';

const INVOICE = { supplier: 'Paper & Co', amount: 120 };
const PAID = { supplier: 'Paper & Co', amount: 120 };
const NO_RUN = '0'.repeat(32);

let server: SecureServer;

// Each test has runs of its own.
beforeAll(async () => {
  server = await SecureServer.start();
});
afterAll(() => server.stop());

const as = (token: Token) => ({ authorization: `Bearer ${token}` });
const toolsOf = async (token: Token) => {
  const { client } = await server.client(token);
  return (await client.listTools()).tools.map(({ name }) => name).sort();
};

interface Question {
  readonly workflow_id: string;
  readonly action_id: string;
  readonly message: string;
}

/** The open question for a caller with a message. */
async function questionFor(token: Token, message: string): Promise<Question> {
  const { structuredContent } = await server.call(token, 'list_workflows');
  const asked = (structuredContent?.to_answer as readonly Question[] | undefined)?.find(
    (each) => each.message === message,
  );
  if (asked === undefined) throw new Error(`nothing asks ${token}: ${message}`);
  return asked;
}

async function submit(token: Token, supplier: string): Promise<string> {
  const waiting = await server.call(token, 'w_pay-invoice', { ...INVOICE, supplier });
  expect(waiting.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'approved' } });
  return runIn(waiting);
}

/** The envelope of a run that is over. */
async function endOf(token: Token, workflow_id: string): Promise<unknown> {
  for (;;) {
    const { structuredContent } = await server.call(token, 'get_workflow_status', { workflow_id });
    if (structuredContent?.status !== 'waiting' && structuredContent?.status !== 'running')
      return structuredContent;
  }
}

const paymentsOf = async (token: Token) =>
  (await server.call(token, 'list-payments')).structuredContent?.payments;

describe('a request', () => {
  test.each([
    ['without a token', {}, undefined],
    ['with a token that the server does not know', as('unknown'), 'invalid_token'],
    ['with an expired token', as('expired'), 'invalid_token'],
    ['with a token for another server', as('foreign'), 'invalid_token'],
  ])('%s is refused', async (_, headers, error) => {
    const { status, challenge } = await server.send(headers, 'tools/list');
    expect(status).toBe(401);
    expect(challenge).toContain(
      'resource_metadata="https://pay.example.com/.well-known/oauth-protected-resource/mcp"',
    );
    if (error === undefined) expect(challenge).not.toContain('error=');
    else expect(challenge).toContain(`error="${error}"`);
  });

  test('whose token lacks a scope is refused with the scope, and lists what the token may call', async () => {
    const params = { name: 'w_pay-invoice', arguments: INVOICE };
    const { status, challenge } = await server.send(as('reader'), 'tools/call', params);
    expect(status).toBe(403);
    expect(challenge).toContain('error="insufficient_scope"');
    expect(challenge).toContain('scope="payments:write"');
    expect(await toolsOf('reader')).not.toContain('w_pay-invoice');
    expect(await toolsOf('ada')).toContain('w_pay-invoice');
  });

  test('does not reach the tool that pays', async () => {
    for (const token of ['ada', 'bob'] as const) {
      expect(await toolsOf(token)).not.toContain('pay-supplier');
      const { body } = await server.send(as(token), 'tools/call', { name: 'pay-supplier', arguments: PAID });
      const { body: unknown } = await server.send(as(token), 'tools/call', { name: 'pay-suppliex' });
      expect(JSON.parse(body).error.code).toBe(-32602);
      expect(body.replaceAll('pay-supplier', 'pay-suppliex')).toBe(unknown);
    }
  });
});

describe('the run of another user', () => {
  test('looks like one that does not exist, whatever is asked of it', async () => {
    const run = await submit('ada', 'Ink & Co');
    const { workflow_id: shown } = await questionFor('bob', 'Pay Ink & Co 120 EUR?');
    const answer = { action_id: 'approved#1', result: true };
    const calls = [
      ['get_workflow_status', {}],
      ['submit_result', answer],
      ['cancel_workflow', { reason: 'not mine' }],
    ] as const;
    for (const [name, more] of calls) {
      const asked = async (token: Token, workflow_id: string) =>
        server.send(as(token), 'tools/call', { name, arguments: { workflow_id, ...more } });
      const unknown = await asked('reader', NO_RUN);
      expect(unknown.body).toContain('WORKFLOW_NOT_FOUND');
      for (const id of [run, shown]) {
        const refused = await asked('reader', id);
        expect({ ...refused, body: refused.body.replaceAll(id, NO_RUN) }).toEqual(unknown);
      }
      // A lead may answer the question, under the id that it was shown, and do nothing else.
      if (name !== 'submit_result') {
        const refused = await asked('bob', shown);
        expect(refused.body.replaceAll(shown, NO_RUN)).toBe(unknown.body);
      }
    }
    const status = await server.call('ada', 'get_workflow_status', { workflow_id: run });
    expect(status.structuredContent).toMatchObject({ status: 'waiting' });
  });

  test('is in no list of others', async () => {
    const run = await submit('ada', 'Pens & Co');
    const listed = async (token: Token) => (await server.call(token, 'list_workflows')).structuredContent;
    expect(await listed('ada')).toMatchObject({
      runs: expect.arrayContaining([expect.objectContaining({ workflow_id: run })]),
    });
    const others = await listed('reader');
    expect(others).toMatchObject({ runs: [] });
    expect(others).not.toHaveProperty('to_answer');
    expect(JSON.stringify(await listed('bob'))).not.toContain(run);
  });
});

test('the session of another user does not exist', async () => {
  const { transport } = await server.client('ada', () => ({ action: 'decline' }));
  const session = transport.sessionId ?? '';
  expect(session).not.toBe('');
  const listed = (token: Token, id: string) =>
    server.send({ ...as(token), 'mcp-session-id': id }, 'tools/list');
  const foreign = await listed('bob', session);
  expect(foreign.status).toBe(404);
  expect(foreign).toEqual(await listed('bob', '00000000-0000-4000-8000-000000000000'));
  expect((await listed('ada', session)).status).toBe(200);
});

describe('an invoice', () => {
  test('is paid once a lead has approved it', async () => {
    const run = await submit('ada', 'Paper & Co');
    const { workflow_id, action_id } = await questionFor('bob', 'Pay Paper & Co 120 EUR?');
    const approval = { workflow_id, action_id, result: true };
    const accepted = await server.call('bob', 'submit_result', approval);
    expect(accepted.structuredContent).toEqual({ workflow_id, status: 'accepted' });
    expect(await endOf('ada', run)).toMatchObject({
      status: 'completed',
      result: { payment: expect.stringMatching(/^P-\d+$/) },
    });
    expect(await paymentsOf('ada')).toEqual([{ id: expect.any(String), ...PAID }]);
    for (const other of ['bob', 'reader'] as const) expect(await paymentsOf(other)).toEqual([]);
  });

  test('of a lead is not approved by that lead', async () => {
    const run = await submit('bob', 'Glue & Co');
    const { structuredContent } = await server.call('bob', 'list_workflows');
    expect(JSON.stringify(structuredContent?.to_answer)).not.toContain('Glue');
    const answer = { workflow_id: run, action_id: 'approved#1', result: true };
    const refused = await server.call('bob', 'submit_result', answer);
    expect(failureIn(refused)?.code).toBe('NOT_PERMITTED');
    const status = await server.call('bob', 'get_workflow_status', { workflow_id: run });
    expect(status.structuredContent).toMatchObject({ status: 'waiting' });
    expect(await paymentsOf('bob')).toEqual([]);
  });

  test('that a lead declines is not paid', async () => {
    const run = await submit('ada', 'Gold & Co');
    const { workflow_id, action_id } = await questionFor('bob', 'Pay Gold & Co 120 EUR?');
    await server.call('bob', 'submit_result', { workflow_id, action_id, result: false });
    expect(await endOf('ada', run)).toMatchObject({ status: 'failed', error: { code: 'DECLINED' } });
    expect(JSON.stringify(await paymentsOf('ada'))).not.toContain('Gold');
  });
});

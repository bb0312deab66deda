import { describe, expect, test } from 'vitest';
import { nightlyTest } from '../../nightly.js';
import { callOf, failureIn, runIn } from './client.js';
import { desk } from './fixture/registry.js';
import { freshCall, listening, sessionOf, tokenOf } from './http.js';

const codeOf = (answer: Parameters<typeof failureIn>[0]) => failureIn(answer)?.code ?? 'accepted';
const NO_RUN = '0'.repeat(32);

describe('a client that opens a session for every call', () => {
  test('answers, reads and cancels its runs without authentication', async () => {
    const { server, desk: tools } = desk();
    const url = await listening(server);
    const workflow_id = runIn(await freshCall(url, 'w_careful', { city: 'Rome' }));
    const next = await freshCall(url, 'submit_result', { workflow_id, result: true });
    expect(next.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'label' } });
    const status = await freshCall(url, 'get_workflow_status', { workflow_id });
    expect(status.structuredContent).toMatchObject({ status: 'waiting' });
    const end = await freshCall(url, 'submit_result', { workflow_id, result: 'Holiday' });
    expect(end.structuredContent).toMatchObject({ status: 'completed', result: 'Holiday' });
    expect(tools.booked).toEqual(['Rome']);

    const other = runIn(await freshCall(url, 'w_careful', { city: 'Oslo' }));
    const cancelled = await freshCall(url, 'cancel_workflow', { workflow_id: other });
    expect(cancelled.structuredContent).toMatchObject({ status: 'cancelled' });
  });

  test('answers its runs when it is authenticated, and lists them', async () => {
    const url = await listening(desk().server);
    const ada = { token: tokenOf('desktop', { sub: 'ada' }) };
    const workflow_id = runIn(await freshCall(url, 'w_careful', { city: 'Rome' }, ada));
    const listed = await freshCall(url, 'list_workflows', {}, ada);
    expect(listed.structuredContent?.runs).toMatchObject([{ workflow_id }]);
    const next = await freshCall(url, 'submit_result', { workflow_id, result: true }, ada);
    expect(next.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'label' } });
  });

  nightlyTest('finds a run that its call did not wait for', async () => {
    const { server, desk: tools } = desk({ toolAnswerMs: 20 });
    const url = await listening(server);
    const running = await freshCall(url, 'w_slow');
    const signal = await tools.begun;
    expect(signal.aborted).toBe(false);
    tools.finish({ done: true });
    const status = () => freshCall(url, 'get_workflow_status', { workflow_id: runIn(running) });
    await expect.poll(async () => (await status()).structuredContent?.status).toBe('completed');
    expect(signal.aborted).toBe(false);
  });

  test('finds the run of a call whose session ended before its answer', async () => {
    const { server, desk: tools } = desk();
    const url = await listening(server);
    const ada = { token: tokenOf('desktop', { sub: 'ada' }) };
    const { client, end } = await sessionOf(url, ada);
    const lost = expect(callOf(client, 'w_slow')).rejects.toThrow('Connection closed');
    const signal = await tools.begun;
    await end();
    await lost;
    const runs = async () => (await freshCall(url, 'list_workflows', {}, ada)).structuredContent?.runs;
    expect(await runs()).toMatchObject([{ name: 'slow', status: 'running' }]);
    expect(signal.aborted).toBe(false);
    tools.finish({ done: true });
    await expect.poll(runs).toMatchObject([{ name: 'slow', status: 'completed' }]);
  });
});

describe('whose a run is', () => {
  const users = [1, '1', 2, '2', '["1"]'].map((sub) => ({ sub, token: tokenOf('desktop', { sub }) }));

  nightlyTest('users whose subjects differ in type or value have runs of their own', async () => {
    const url = await listening(desk().server);
    const started = await Promise.all(
      users.map(async ({ token }) => runIn(await freshCall(url, 'w_careful', { city: 'Rome' }, { token }))),
    );
    for (const [mine, { token }] of users.entries()) {
      const { client } = await sessionOf(url, { token });
      const listed = await callOf(client, 'list_workflows');
      expect(listed.structuredContent?.runs).toMatchObject([{ workflow_id: started[mine] }]);
      for (const [run, workflow_id] of started.entries()) {
        const answer = await callOf(client, 'get_workflow_status', { workflow_id });
        expect(codeOf(answer)).toBe(run === mine ? 'accepted' : 'WORKFLOW_NOT_FOUND');
      }
    }
  });

  test.each([
    [{}, 'an object'],
    [{ id: 1 }, 'an object'],
    [['ada'], 'a list'],
    [null, 'null'],
    [true, 'a boolean'],
    ['', 'an empty text'],
    [2 ** 53, 'a number that is not kept exactly'],
  ])('a subject that is %j is refused', async (sub, what) => {
    const { server, desk: tools } = desk();
    const url = await listening(server);
    const token = tokenOf('desktop', { sub });
    await expect(sessionOf(url, { token })).rejects.toThrow(`\`sub\` is ${what}`);
    for (const [method, name] of [
      ['tools/call', 'w_book'],
      ['tools/call', 'create-booking'],
      ['prompts/get', 'careful'],
    ]) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method,
          params: { name, arguments: { city: 'Rome' } },
        }),
      });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({
        error: { code: -32003, message: expect.stringContaining(`\`sub\` is ${what}`) },
      });
    }
    expect(tools.booked).toEqual([]);
  });

  test('one issuer does not speak for another', async () => {
    const url = await listening(desk().server);
    const [here, there] = ['https://a.example', 'https://b.example'].map((iss) => ({
      token: tokenOf('desktop', { iss, sub: 'ada' }),
    }));
    const workflow_id = runIn(await freshCall(url, 'w_careful', { city: 'Rome' }, here));
    expect(codeOf(await freshCall(url, 'get_workflow_status', { workflow_id }, there))).toBe(
      'WORKFLOW_NOT_FOUND',
    );
  });

  test('a user has one set of runs in all clients, or one in each where the server says so', async () => {
    for (const [owner, code] of [
      ['subject', 'accepted'],
      ['client+subject', 'WORKFLOW_NOT_FOUND'],
    ] as const) {
      const url = await listening(desk({ owner }).server);
      const [phone, desktop] = ['phone', 'desktop'].map((id) => ({ token: tokenOf(id, { sub: 'ada' }) }));
      const workflow_id = runIn(await freshCall(url, 'w_careful', { city: 'Rome' }, phone));
      expect(codeOf(await freshCall(url, 'get_workflow_status', { workflow_id }, desktop))).toBe(code);
    }
  });

  test('the configured claim says who the user is', async () => {
    const url = await listening(desk({ subjectClaim: 'oid' }).server);
    const user = (oid: unknown) => ({ token: tokenOf('desktop', { sub: 'same for all', oid }) });
    const workflow_id = runIn(await freshCall(url, 'w_careful', { city: 'Rome' }, user('ada')));
    expect(codeOf(await freshCall(url, 'get_workflow_status', { workflow_id }, user('eve')))).toBe(
      'WORKFLOW_NOT_FOUND',
    );
    expect(codeOf(await freshCall(url, 'get_workflow_status', { workflow_id }, user('ada')))).toBe(
      'accepted',
    );
    await expect(freshCall(url, 'get_workflow_status', { workflow_id }, user([]))).rejects.toMatchObject({
      message: expect.stringContaining('`oid` is a list'),
    });
  });

  test('a run of somebody else is answered like one that never was', async () => {
    const url = await listening(desk().server);
    const ada = { token: tokenOf('ada') };
    const ofAda = runIn(await freshCall(url, 'w_careful', { city: 'Rome' }, ada));
    const ofNobody = runIn(await freshCall(url, 'w_careful', { city: 'Rome' }));
    const strangers = [
      [{ token: tokenOf('eve') }, ofAda],
      [{}, ofAda],
      // An authenticated caller does not reach a run of an anonymous one.
      [ada, ofNobody],
    ] as const;
    for (const [visitor, workflow_id] of strangers) {
      const { client } = await sessionOf(url, visitor);
      for (const [tool, args] of [
        ['submit_result', { result: true }],
        ['get_workflow_status', {}],
        ['cancel_workflow', {}],
      ] as const) {
        const refused = await callOf(client, tool, { workflow_id, ...args });
        const unknown = await callOf(client, tool, { workflow_id: NO_RUN, ...args });
        expect(JSON.stringify(refused).replaceAll(workflow_id, NO_RUN)).toBe(JSON.stringify(unknown));
        expect(codeOf(refused)).toBe('WORKFLOW_NOT_FOUND');
      }
    }
    expect((await freshCall(url, 'list_workflows')).structuredContent?.runs).toEqual([]);
    const elsewhere = await freshCall(url, 'submit_result', { workflow_id: ofAda, result: true }, ada);
    expect(elsewhere.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'label' } });
  });

  nightlyTest('runs of anonymous callers are limited, for each address and in total', async () => {
    const url = await listening(desk({ runs: { maxOpenRuns: 2, maxAnonymousRuns: 3 } }).server);
    const start = (address: string) => freshCall(url, 'w_careful', { city: 'Rome' }, { address });
    const first = runIn(await start('192.0.2.1'));
    expect(codeOf(await start('192.0.2.1'))).toBe('accepted');
    expect(codeOf(await start('192.0.2.1'))).toBe('RESOURCE_EXHAUSTED');
    expect(codeOf(await start('192.0.2.2'))).toBe('accepted');
    expect(codeOf(await start('192.0.2.3'))).toBe('RESOURCE_EXHAUSTED');
    const ada = { token: tokenOf('ada') };
    expect(codeOf(await freshCall(url, 'w_careful', { city: 'Rome' }, ada))).toBe('accepted');
    // None was cancelled to make room.
    const status = await freshCall(url, 'get_workflow_status', { workflow_id: first });
    expect(status.structuredContent).toMatchObject({ status: 'waiting' });
    await freshCall(url, 'cancel_workflow', { workflow_id: first });
    expect(codeOf(await start('192.0.2.3'))).toBe('accepted');
  });
});

describe('over HTTP', () => {
  nightlyTest('two sessions of one client answer at once: one answer is consumed', async () => {
    const url = await listening(desk().server);
    const token = tokenOf('ada');
    const [{ client: here }, { client: there }] = [
      await sessionOf(url, { token }),
      await sessionOf(url, { token }),
    ];
    const workflow_id = runIn(await callOf(here, 'w_careful', { city: 'Rome' }));
    const answers = await Promise.all([
      callOf(here, 'submit_result', { workflow_id, action_id: 'sure#1', result: true }),
      callOf(there, 'submit_result', { workflow_id, action_id: 'sure#1', result: false }),
    ]);
    expect(
      answers.filter(({ isError }) => isError === true).map((answer) => failureIn(answer)?.code),
    ).toEqual(['ALREADY_SUBMITTED']);
  });

  test('a question is put to the user of the client that called', async () => {
    const url = await listening(desk().server);
    const { client } = await sessionOf(url, {
      token: tokenOf('ada'),
      user: ({ message }) => ({
        action: 'accept',
        content: message === 'Book Rome?' ? { confirmed: true } : { input: 'Holiday' },
      }),
    });
    expect((await callOf(client, 'w_careful', { city: 'Rome' })).structuredContent).toEqual({
      result: 'Holiday',
    });
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Owner } from '../../../decorators/context.js';
import type { Answerer } from '../../../graph/answerers.js';
import { ask, body, parallel } from '../../engine/constructs.fixture.js';
import { call, chain, graph } from '../../engine/graph.fixture.js';
import type { ToAnswer } from '../actions/action.js';
import { MemoryJournal } from '../store/memory-journal.js';
import { ada, bob, codeOf, copyOf, envelopeIn, eve, ok, Store, settle } from '../store.fixture.js';
import {
  accessKey,
  answerId,
  type Caller,
  mayAnswer,
  type OwnerRule,
  ownerKey,
  ownerOf,
  unanswerable,
} from './owner.js';

const user = (extra: Record<string, unknown>, clientId = 'desktop'): Caller => ({
  auth: { clientId, extra },
});

describe('ownerOf', () => {
  test.each<[Caller, OwnerRule, object]>([
    [{}, {}, { kind: 'anonymous' }],
    [{ local: true }, {}, { kind: 'local' }],
    [{ local: true, ...user({ sub: 'ada' }) }, {}, { kind: 'principal', subject: 'ada' }],
    [user({ sub: 1 }), {}, { kind: 'principal', subject: 1 }],
    [user({ sub: '1', iss: 'i' }), {}, { kind: 'principal', issuer: 'i', subject: '1' }],
    [user({}), {}, { kind: 'principal', clientId: 'desktop' }],
    [user({ iss: 'i' }), {}, { kind: 'principal', issuer: 'i', clientId: 'desktop' }],
    [user({ subject: 'ada' }), {}, { kind: 'principal', clientId: 'desktop' }],
    [{ auth: { clientId: 'desktop' } }, {}, { kind: 'principal', clientId: 'desktop' }],
    [{ auth: { clientId: 'desktop', subject: 'ada' } }, {}, { kind: 'principal', subject: 'ada' }],
    [
      user({ sub: 'ada' }),
      { owner: 'client+subject' },
      { kind: 'principal', subject: 'ada', clientId: 'desktop' },
    ],
    [user({ sub: 'pairwise', oid: 7 }), { subjectClaim: 'oid' }, { kind: 'principal', subject: 7 }],
    [user({}), { subjectClaim: 'oid' }, { kind: 'principal', clientId: 'desktop' }],
    [user({}), { subjectClaim: 'constructor' }, { kind: 'principal', clientId: 'desktop' }],
  ])('says of %j with %j that it is %j', (caller, rule, owner) => {
    expect(ownerOf(caller, rule)).toStrictEqual(owner);
  });

  test.each<[string, Caller, OwnerRule]>([
    ['`sub` is null, and must be a text or a number', user({ sub: null }), {}],
    ['`sub` is an object', user({ sub: {} }), {}],
    ['`sub` is a list', user({ sub: [1] }), {}],
    ['`sub` is a boolean', user({ sub: false }), {}],
    ['`sub` is an empty text', user({ sub: '' }), {}],
    ['`sub` is a bigint', user({ sub: 1n }), {}],
    ['`sub` is a function', user({ sub: () => 'ada' }), {}],
    ['`sub` is a number that is not kept exactly', user({ sub: Number.NaN }), {}],
    ['`sub` is a number that is not kept exactly', user({ sub: 2 ** 53 }), {}],
    ['`sub` is an object', { auth: { clientId: 'desktop', subject: {} } }, {}],
    ['`iss` is a number, and must be a text', user({ sub: 'ada', iss: 7 }), {}],
    ['`oid` is an object', user({ sub: 'ada', oid: {} }), { subjectClaim: 'oid' }],
    ['`oid` is missing', user({ sub: 'ada' }), { subjectClaim: 'oid' }],
    ['`clientId` is an empty text', user({}, ''), {}],
    ['`clientId` is missing', { auth: {} as never }, {}],
    ['`clientId` is an empty text', user({ sub: 'ada' }, ''), { owner: 'client+subject' }],
  ])('refuses: %s', (message, caller, rule) => {
    expect(() => ownerOf(caller, rule)).toThrow(message);
    expect(() => ownerOf(caller, rule)).toThrow(expect.objectContaining({ name: 'UnidentifiedCallerError' }));
  });
});

test('no two owners have the same key', () => {
  const owners = [
    ownerOf({}),
    ownerOf({ local: true }),
    ...[1, '1', 2, '2', '[1]', 'kind'].map((sub) => ownerOf(user({ sub }))),
    ...['1', 'desktop'].map((id) => ownerOf(user({}, id))),
    ownerOf(user({ iss: '1' }, '1')),
    ownerOf(user({ iss: '1', sub: '1' })),
    ownerOf(user({ sub: '1' }, '1'), { owner: 'client+subject' }),
  ];
  expect(new Set(owners.map(ownerKey)).size).toBe(owners.length);
  // Who is not authenticated reaches runs by their ids alone.
  expect(new Set(owners.map(accessKey)).size).toBe(owners.length - 1);
});

const LEAD: readonly Answerer[] = [{ kind: 'role', role: 'lead' }];
const OTHER_LEAD: readonly Answerer[] = [{ kind: 'role', role: 'lead', except: 'owner' }];
const OWNER: readonly Answerer[] = [{ kind: 'owner' }];
const HUMAN: readonly Answerer[] = [{ kind: 'human' }];
const lead = { ...bob, roles: ['lead'] } as Owner;
const otherLead = { ...eve, roles: ['clerk', 'lead'] } as Owner;
const leadingOwner = { ...ada, roles: ['lead'] } as Owner;

const approval = graph(
  chain(ask('sure', 'confirm', { answerBy: OTHER_LEAD }), call('pay', {}), ask('note', 'text')),
);
const paid = { 'tool-pay': () => ok({}) };

async function first(store: Store, caller: Owner): Promise<ToAnswer> {
  const [question] = await store.store.toAnswer(caller);
  if (question === undefined) throw new Error('nothing to answer');
  return question;
}

describe('who may answer', () => {
  const anonymous: Owner = { kind: 'anonymous' };
  const local: Owner = { kind: 'local', roles: ['lead'] };
  const narrow = { ...ada, clientId: 'one' } as Owner;
  test.each([
    ['without a rule the owner', undefined, ada, ada, true],
    ['without a rule no other caller', undefined, lead, ada, false],
    ['the owner', OWNER, ada, ada, true],
    ['not others', OWNER, lead, ada, false],
    ['a role', LEAD, lead, ada, true],
    ['not without the role', LEAD, eve, ada, false],
    ['the owner with the role', LEAD, leadingOwner, ada, true],
    ['not the owner that is excepted', OTHER_LEAD, leadingOwner, ada, false],
    ['not the owner in another client', OTHER_LEAD, { ...leadingOwner, clientId: 'two' }, narrow, false],
    ['one of another issuer', OTHER_LEAD, { ...leadingOwner, issuer: 'https://other' }, ada, true],
    ['the user of this process', LEAD, local, { kind: 'local' }, true],
    ['not the user of this process that is excepted', OTHER_LEAD, local, { kind: 'local' }, false],
    ['a lead for an anonymous owner', LEAD, lead, anonymous, true],
    ['no caller for an anonymous owner that is excepted', OTHER_LEAD, lead, anonymous, false],
    ['not an anonymous caller', LEAD, anonymous, ada, false],
    ['the owner as a person', HUMAN, { ...ada, person: true }, ada, true],
    ['not the client of the owner', HUMAN, ada, ada, false],
    ['not another person', HUMAN, { ...lead, person: true }, ada, false],
    ['a person with a role', LEAD, { ...lead, person: true }, ada, true],
  ] as const)('%s', (_name, answerBy, caller, owner, expected) => {
    expect(mayAnswer(answerBy, caller as Owner, owner as Owner)).toBe(expected);
  });
});

describe('a question for others', () => {
  test('is shown to them without anything else of the run, and answered', async () => {
    const store = new Store(paid);
    const waiting = await store.start(approval);
    expect(waiting.action?.answer_by).toEqual(OTHER_LEAD);
    expect(await store.store.toAnswer(lead)).toStrictEqual([
      {
        workflow_id: answerId('run-1'),
        action_id: 'sure#1',
        name: 'sample',
        message: 'sure?',
        schema: waiting.action?.schema,
      },
    ]);
    const { workflow_id } = await first(store, lead);
    expect(codeOf(await store.store.get(lead, workflow_id))).toBe('WORKFLOW_NOT_FOUND');
    expect(codeOf(await store.store.get(lead, 'run-1'))).toBe('WORKFLOW_NOT_FOUND');
    const answer = await store.submit(workflow_id, { result: true }, lead);
    expect(answer).toStrictEqual({ ok: true, accepted: true });
    await settle();
    expect((await store.get('run-1')).action).toMatchObject({ action_id: 'note#1' });
    expect(await store.store.toAnswer(lead)).toEqual([]);
  });

  test('is refused to the owner, whether it names the action or not, and stays open', async () => {
    const store = new Store(paid);
    await store.start(approval);
    for (const submission of [{ result: true }, { actionId: 'sure#1', result: true }]) {
      for (const owner of [ada, leadingOwner]) {
        const answer = await store.submit('run-1', submission, owner);
        expect(answer).toMatchObject({ ok: false, failure: { code: 'NOT_PERMITTED' } });
      }
    }
    expect((await store.get('run-1')).action?.action_id).toBe('sure#1');
    await store.submit('run-1', { actionId: 'sure#1', result: true }, lead);
    // A repetition of what another caller answered is not an answer of the owner.
    expect(codeOf(await store.submit('run-1', { actionId: 'sure#1', result: true }))).toBe('NOT_PERMITTED');
  });

  test('takes the first answer, and tells the same caller so again', async () => {
    const store = new Store(paid);
    await store.start(approval);
    const { workflow_id } = await first(store, lead);
    const send = (result: boolean, caller: Owner, actionId?: string) =>
      store.submit(workflow_id, { result, ...(actionId === undefined ? {} : { actionId }) }, caller);
    expect(codeOf(await send(true, lead))).toBe('accepted');
    expect(await send(true, lead)).toStrictEqual({ ok: true, accepted: true });
    expect(await send(true, lead, 'sure#1')).toStrictEqual({ ok: true, accepted: true });
    expect(codeOf(await send(false, lead))).toBe('ALREADY_SUBMITTED');
    expect(codeOf(await send(false, otherLead, 'sure#1'))).toBe('ALREADY_SUBMITTED');
    expect(codeOf(await send(false, otherLead))).toBe('WORKFLOW_NOT_FOUND');
    // The next question is for the owner.
    expect(codeOf(await send(true, lead, 'note#1'))).toBe('WORKFLOW_NOT_FOUND');
    envelopeIn(await store.submit('run-1', { result: 'done' }));
    expect(await send(true, lead, 'sure#1')).toStrictEqual({ ok: true, accepted: true });
    expect(codeOf(await send(false, lead))).toBe('ALREADY_SUBMITTED');
  });

  test('names the open questions of this caller only', async () => {
    const store = new Store();
    const branches = {
      left: body([ask('a', 'confirm', { answerBy: LEAD })]),
      mid: body([ask('b', 'confirm', { answerBy: [...OWNER, ...LEAD] })]),
      right: body([ask('c')]),
    };
    await store.start(graph([parallel('all', branches)]));
    expect((await store.store.toAnswer(lead)).map(({ action_id }) => action_id)).toEqual(['a#1', 'b#1']);
    const unclear = await store.submit('run-1', { result: true }, lead);
    expect(unclear).toMatchObject({
      failure: { code: 'AMBIGUOUS_ACTION', details: { open_actions: ['a#1', 'b#1'] } },
    });
    const asOwner = await store.submit('run-1', { result: true });
    expect(asOwner).toMatchObject({ failure: { details: { open_actions: ['b#1', 'c#1'] } } });
    envelopeIn(await store.submit('run-1', { actionId: 'b#1', result: true }));
    expect(codeOf(await store.submit('run-1', { actionId: 'b#1', result: false }, lead))).toBe(
      'ALREADY_SUBMITTED',
    );
    // One is left that the owner may answer: it is meant.
    expect(envelopeIn(await store.submit('run-1', { result: false })).actions).toHaveLength(1);
    await store.store.cancel(ada, 'run-1', {}, store.waiter());
    const closed = await store.submit('run-1', { actionId: 'a#1', result: true }, lead);
    expect(closed).toMatchObject({ failure: { code: 'ACTION_CANCELLED', details: { open_actions: [] } } });
  });

  test('says what does not fit, and does not put other questions to the client of the answer', async () => {
    const store = new Store(paid);
    await store.start(approval);
    const put: string[] = [];
    const elicit = async ({ message }: { readonly message: string }) => {
      put.push(message);
      return { action: 'cancel' } as const;
    };
    const waiter = store.waiter({ request: { principal: lead, peer: { elicit } } });
    const { workflow_id } = await first(store, lead);
    const unfit = await store.store.submit(lead, workflow_id, { result: 7 }, waiter);
    expect(codeOf(unfit)).toBe('E_RESULT_SHAPE');
    await store.store.submit(lead, workflow_id, { result: true }, waiter);
    await settle();
    expect((await store.get('run-1')).action?.action_id).toBe('note#1');
    expect(put).toEqual([]);
  });

  test('is not put to the client of the owner', async () => {
    const store = new Store(paid);
    const put: string[] = [];
    const elicit = async ({ message }: { readonly message: string }) => {
      put.push(message);
      return { action: 'accept', content: { confirmed: true, input: 'x' } } as const;
    };
    const waiting = await store.start(approval, {}, { request: { peer: { elicit } } });
    expect(waiting.status).toBe('waiting');
    expect(put).toEqual([]);
  });

  test('is still theirs after a restart, and their answer is reported as accepted', async () => {
    const journal = new MemoryJournal();
    const before = new Store(paid, {}, journal);
    await before.start(approval, {}, { request: { principal: leadingOwner } });
    const after = new Store(paid, {}, await copyOf(journal));
    await after.store.resumeAll();
    await settle();
    const { workflow_id } = await first(after, otherLead);
    expect(codeOf(await after.submit('run-1', { actionId: 'sure#1', result: true }))).toBe('NOT_PERMITTED');
    const answer = await after.submit(workflow_id, { actionId: 'sure#1', result: true }, otherLead);
    expect(answer).toStrictEqual({ ok: true, accepted: true });
  });
});

test('the steps of a run act for its owner, with the roles it had at its start', async () => {
  const principals: unknown[] = [];
  const store = new Store({
    'tool-pay': (_input, context) => {
      principals.push(context.principal);
      return ok({});
    },
  });
  const owner = { ...ada, roles: ['clerk'] } as Owner;
  await store.store.start({ owner, graph: approval, input: {} }, store.waiter());
  const { workflow_id } = await first(store, lead);
  await store.submit(workflow_id, { result: true }, lead);
  await settle();
  // Another run of the same user, who has other roles now.
  await store.store.start({ owner: ada, graph: approval, input: {} }, store.waiter());
  const next = await first(store, lead);
  await store.submit(next.workflow_id, { result: true }, lead);
  await settle();
  expect(principals).toEqual([owner, ada]);
});

describe('a run whose question no caller could answer', () => {
  const noSources = { localRoles: [], hasAuthentication: false, hasPages: false };
  const local: Owner = { kind: 'local' };
  const of = (answerBy: readonly Answerer[]) => graph([ask('sure', 'confirm', { answerBy })]);
  test.each([
    ['no roles', of(LEAD), local, noSources, 'E_NO_ROLES'],
    ['another role', of(LEAD), local, { ...noSources, localRoles: ['clerk'] }, 'E_NO_ROLES'],
    ['the role', of(LEAD), local, { ...noSources, localRoles: ['lead'] }, undefined],
    [
      'the role of the owner alone',
      of(OTHER_LEAD),
      local,
      { ...noSources, localRoles: ['lead'] },
      'E_NO_ROLES',
    ],
    ['the owner as well', of([...OTHER_LEAD, ...OWNER]), local, noSources, undefined],
    ['authentication', of(OTHER_LEAD), local, { ...noSources, hasAuthentication: true }, undefined],
    ['an authenticated owner', of(OTHER_LEAD), ada, noSources, undefined],
    ['no rule', graph([ask('sure')]), local, noSources, undefined],
    ['no pages', of(HUMAN), local, { ...noSources, hasAuthentication: true }, 'E_NO_ROLES'],
    ['pages', of(HUMAN), local, { ...noSources, hasPages: true }, undefined],
    [
      'a role instead of pages',
      of([...HUMAN, ...LEAD]),
      local,
      { ...noSources, localRoles: ['lead'] },
      undefined,
    ],
    ['in a task', graph([], { tasks: [of(LEAD)] }), local, noSources, 'E_NO_ROLES'],
  ])('%s', (_name, workflow, owner, sources, code) => {
    expect(unanswerable(workflow, owner, sources)?.code).toBe(code);
  });
});

test('a caller that is neither the owner nor named gets what it gets for an unknown id', async () => {
  const store = new Store(paid);
  await store.start(approval);
  const answered = new Store(paid);
  await answered.start(approval);
  await answered.submit('run-1', { actionId: 'sure#1', result: true }, lead);
  const callers = fc.constantFrom<Owner>(
    eve,
    { ...eve, roles: ['clerk'] } as Owner,
    { ...eve, roles: ['Lead', 'lead '] } as Owner,
    { kind: 'anonymous' },
    { kind: 'local' },
    { kind: 'local', roles: ['clerk'] },
  );
  const submissions = fc.record(
    {
      actionId: fc.constantFrom('sure#1', 'note#1', 'pay#1', 'nowhere#1'),
      result: fc.constantFrom<true | false | string | null>(true, false, 'text', null),
    },
    { requiredKeys: [] },
  );
  const ids = fc.constantFrom('run-1', answerId('run-1'));
  await fc.assert(
    fc.asyncProperty(callers, submissions, ids, fc.boolean(), async (caller, submission, id, isAnswered) => {
      const asked = isAnswered ? answered : store;
      const unknown = (text: string) => text.replaceAll('run-9', id);
      const pairs = await Promise.all(
        [id, 'run-9'].map(async (each) => [
          await asked.submit(each, submission, caller),
          await asked.store.get(caller, each),
          await asked.store.cancel(caller, each, {}, asked.waiter()),
        ]),
      );
      expect(JSON.stringify(pairs[0])).toBe(unknown(JSON.stringify(pairs[1])));
      expect(await asked.store.toAnswer(caller)).toEqual([]);
      expect(await asked.store.list(caller)).toEqual([]);
    }),
  );
});

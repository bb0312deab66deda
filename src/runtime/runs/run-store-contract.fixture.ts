import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Owner } from '../../decorators/context.js';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { Json, JsonObject } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { ask, body, dict, field, parallel, wait } from '../engine/constructs.fixture.js';
import { again, call, chain, done, graph, input, lit, read, step } from '../engine/graph.fixture.js';
import type { CallContext } from '../tools/port.js';
import type { Submission } from './actions/action.js';
import { Agent, childrenIn, reviews } from './children.fixture.js';
import type { RunStoreOptions } from './journal-run-store.js';
import { ConnectionClosed } from './request.js';
import type { Envelope, SubmitAnswer } from './run/envelope.js';
import type { RunStore, Waiter } from './run-store.js';
import { broken, codeOf, envelopeIn, ok, type Tool } from './store.fixture.js';

const sure = graph(chain(ask('sure'), done('out', step('sure', 'confirmed'))));
const both = graph([
  parallel('both', { left: body([ask('left')]), right: body([ask('right', 'text')]) }),
  done('out', step('both'), { after: ['both'] }),
]);

/** How long a test waits for what a run does by itself, in ms. */
const PATIENCE = { timeout: 20_000, interval: 50 };

let names = 0;

/** A caller that no other test has. */
function anyone(roles?: readonly string[]): Owner {
  names += 1;
  const subject = `caller-${names}-${randomBytes(4).toString('hex')}`;
  return { kind: 'principal', subject, ...(roles === undefined ? {} : { roles: [...roles] }) };
}

/** A caller of a store. */
class Client {
  constructor(
    readonly store: RunStore,
    readonly owner: Owner = anyone(),
  ) {}

  waiter(more: Omit<Partial<Waiter>, 'request'> & { readonly request?: object } = {}): Waiter {
    const { request = {}, ...rest } = more;
    const { signal } = new AbortController();
    const own = { signal, requestId: '1', progress: () => {}, principal: this.owner };
    return { answerMs: 20_000, ...rest, request: { ...own, ...request } };
  }

  async start(of: Graph, given: JsonObject = {}, more: Parameters<Client['waiter']>[0] = {}) {
    const run = { owner: this.owner, graph: of, input: given };
    return envelopeIn(await this.store.start(run, this.waiter(more)));
  }

  async get(id: string): Promise<Envelope> {
    return envelopeIn(await this.store.get(this.owner, id));
  }

  submit(id: string, submission: Submission, more: Partial<Waiter> = {}): Promise<SubmitAnswer> {
    return this.store.submit(this.owner, id, submission, this.waiter(more));
  }

  async answer(id: string, result: Json, actionId?: string): Promise<Envelope> {
    return envelopeIn(await this.submit(id, { result, ...(actionId === undefined ? {} : { actionId }) }));
  }

  cancel(id: string, how: Parameters<RunStore['cancel']>[2] = {}) {
    return this.store.cancel(this.owner, id, how, this.waiter());
  }

  async ids(query?: Parameters<RunStore['list']>[1]): Promise<readonly string[]> {
    return (await this.store.list(this.owner, query)).map(({ workflow_id }) => workflow_id);
  }
}

/** What each store of runs does. Time is real. */
export function runStoreContract(
  name: string,
  open: (options: RunStoreOptions) => RunStore | Promise<RunStore>,
  describeHost: (name: string, tests: () => void) => void = describe,
): void {
  describeHost(`a run store ${name}`, () => {
    const contexts: CallContext[] = [];
    const tools: Record<string, Tool> = {
      'tool-a': (given) => ok(given),
      'tool-b': () => ok('b'),
      'tool-fails': () => broken('it is out of paper'),
      'tool-hangs': (_given, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(broken('aborted')))),
      'tool-seen': (_given, context) => {
        contexts.push(context);
        return ok(contexts.length);
      },
      'tool-second': (_given, context) => {
        contexts.push(context);
        return contexts.length === 1 ? broken('once') : ok('twice');
      },
    };
    let store: RunStore;

    beforeAll(async () => {
      store = await open({
        calls: {
          async callTool(tool, given, context) {
            const execute = tools[tool];
            if (execute === undefined) throw new Error(`no tool ${tool}`);
            return execute(given, context);
          },
          readResource: async (_name, uri) => ({ ok: true, value: { uri, text: uri } }),
          evaluate: async ({ name: function_ }, args) => ({ ok: true, value: [function_, ...args] }),
        },
        schemas: new SchemaCompiler(),
        secretInputs: () => [],
        toolSafety: (tool) => (tool === 'tool-second' ? 'key' : 'none'),
        resultFailure: (_, value) =>
          value === 'wrong' ? { code: 'E_OUTPUT_SCHEMA', message: 'no tool returns that' } : undefined,
        log: () => {},
        newRunId: () => randomBytes(16).toString('hex'),
        limits: { leaseMs: 1_000 },
      });
    });
    afterAll(() => store.close?.());
    const client = (owner?: Owner): Client => new Client(store, owner);

    describe('a run', () => {
      test('of calls is over in the response to its start, and remains as it was', async () => {
        const ada = client();
        const steps = chain(
          call('a', { who: input('who') }),
          read('page', lit('res://page')),
          done('out', step('a', 'who')),
        );
        const envelope = await ada.start(graph(steps), { who: 'é' });
        expect(envelope).toMatchObject({ status: 'completed', actions: [], result: 'é' });
        expect(await ada.get(envelope.workflow_id)).toStrictEqual(envelope);
      });

      test.each([
        ['of null is null', { kind: 'literal', value: null }, { result: null }],
        ['that is absent is missing', { kind: 'literal' }, {}],
      ] as const)('of which the result %s remains so', async (_what, value, shown) => {
        const ada = client();
        const { workflow_id: id, definition } = await ada.start(graph([done('out', value)]));
        const end = { workflow_id: id, definition, status: 'completed', actions: [], ...shown };
        expect(await ada.get(id)).toStrictEqual(end);
      });

      test('with the id of another one is not started, and that one remains', async () => {
        const ada = client();
        const run = { id: randomBytes(16).toString('hex'), owner: ada.owner, graph: sure, input: {} };
        const starts = [1, 2, 3].map(() => ada.store.start(run, ada.waiter()));
        const settled = await Promise.allSettled(starts);
        expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
        expect(await ada.get(run.id)).toMatchObject({ status: 'waiting', action: { action_id: 'sure#1' } });
        await expect(ada.store.start(run, ada.waiter())).rejects.toThrow();
        expect(await ada.answer(run.id, true)).toMatchObject({ status: 'completed' });
        await expect(ada.store.start(run, ada.waiter())).rejects.toThrow();
        expect(await ada.get(run.id)).toMatchObject({ status: 'completed' });
      });

      test('that fails reports the reason and what had succeeded', async () => {
        const { status, error } = await client().start(graph(chain(call('b'), call('fails'))));
        expect(status).toBe('failed');
        expect(error).toMatchObject({
          ...{ code: 'E_TOOL_ERROR', message: 'it is out of paper' },
          ...{ node: 'fails', partial: { b: 'b' } },
        });
      });

      test('repeats a failed call with the same idempotency key', async () => {
        contexts.length = 0;
        const steps = chain(call('second', {}, { retry: again(2, { delayMs: 10 }) }));
        expect(await client().start(graph(steps))).toMatchObject({ status: 'completed' });
        const keys = contexts.map(({ idempotencyKey }) => idempotencyKey);
        expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), keys[0]]);
      });

      test('fails when a call exceeds its limit', async () => {
        const envelope = await client().start(graph([call('hangs', {}, { timeoutMs: 300 })]));
        expect(envelope).toMatchObject({ status: 'failed', error: { code: 'E_TIMEOUT', node: 'hangs' } });
      });

      test('continues after the limit of the request that started it', async () => {
        let finish = (): void => {};
        tools['tool-slow'] = () => new Promise((resolve) => (finish = () => resolve(ok('late'))));
        const ada = client();
        const steps = graph(chain(call('slow'), done('out', step('slow'))));
        const { workflow_id: id, status } = await ada.start(steps, {}, { answerMs: 500 });
        expect(status).toBe('running');
        expect(codeOf(await ada.submit(id, { result: true }))).toBe('NO_OPEN_ACTION');
        finish();
        await expect.poll(() => ada.get(id), PATIENCE).toMatchObject({ status: 'completed', result: 'late' });
      });

      test.each([
        ['is cancelled', new Error('enough'), { status: 'cancelled' }],
        ['has lost its connection', new ConnectionClosed(), { status: 'running' }],
      ])('is as its waiter says when the request that started it %s', async (_what, reason, state) => {
        const ada = client();
        const id = randomBytes(16).toString('hex');
        const aborting = new AbortController();
        const waiter = ada.waiter({ cancels: true, request: { signal: aborting.signal } });
        const run = { id, owner: ada.owner, graph: graph(chain(call('hangs'))), input: {} };
        const response = ada.store.start(run, waiter);
        await expect.poll(async () => (await ada.store.get(ada.owner, id)).ok, PATIENCE).toBe(true);
        aborting.abort(reason);
        expect(await response).toMatchObject({ ok: true, envelope: state });
        expect(await ada.get(id)).toMatchObject(state);
        await ada.cancel(id);
      });

      test('is cancelled by a request that is cancelled at once', async () => {
        const ada = client();
        const aborting = new AbortController();
        const waiter = ada.waiter({ answerMs: 500, cancels: true, request: { signal: aborting.signal } });
        const run = { owner: ada.owner, graph: graph(chain(call('hangs'))), input: {} };
        const response = ada.store.start(run, waiter);
        aborting.abort(new Error('enough'));
        expect(await response).toMatchObject({ ok: true, envelope: { status: 'cancelled' } });
      });

      test('waits for a time, and continues by itself', async () => {
        const ada = client();
        const nap = graph(chain(wait('nap', { durationMs: lit(2_000) }), done('out', lit('rested'))));
        const { workflow_id: id, status, action } = await ada.start(nap, {}, { answerMs: 100 });
        expect([status, action?.type, action?.action_id]).toEqual(['waiting', 'wait', 'nap#1']);
        for (const submission of [{}, { actionId: 'nap#1', result: null }]) {
          const early = await ada.submit(id, submission);
          expect(early).toMatchObject({ failure: { code: 'TOO_EARLY', details: {} } });
        }
        await expect.poll(() => ada.get(id), PATIENCE).toMatchObject({ result: 'rested' });
        expect(await ada.answer(id, null, 'nap#1')).toMatchObject({ status: 'completed' });
      });

      test('is undone when it is cancelled', async () => {
        const undone: JsonObject[] = [];
        tools['tool-undo'] = (given) => {
          undone.push(given);
          return ok(null);
        };
        const ada = client();
        const paid = call(
          'a',
          { of: lit(7) },
          { compensate: { tool: 'tool-undo', input: dict({ of: step('a', 'of') }) } },
        );
        const { workflow_id: id } = await ada.start(graph(chain(paid, ask('sure'))));
        const cancelled = await ada.cancel(id, { reason: 'enough', compensate: true });
        await expect.poll(() => ada.get(id), PATIENCE).toMatchObject({ status: 'cancelled' });
        expect(undone).toEqual([{ of: 7 }]);
        const { actions, error } = await ada.get(id);
        expect(actions).toEqual([]);
        expect(error).toMatchObject({ code: 'E_CANCELLED', message: expect.stringContaining('enough') });
        // Cancelling it again has no effect.
        expect(await ada.cancel(id)).toStrictEqual({ ...cancelled, envelope: await ada.get(id) });
        expect(codeOf(await ada.submit(id, { actionId: 'sure#1', result: true }))).toBe('WORKFLOW_CANCELLED');
      });
    });

    describe('a question', () => {
      test('is in the response with what would answer it', async () => {
        const ada = client();
        const envelope = await ada.start(sure);
        const action = {
          ...{ action_id: 'sure#1', workflow_id: envelope.workflow_id, step_id: 'sure', type: 'prompt' },
          parameters: { message: 'sure?', type: 'confirm' },
          schema: expect.objectContaining({ required: ['confirmed'] }),
          created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        };
        expect(envelope).toStrictEqual({
          workflow_id: envelope.workflow_id,
          definition: { name: 'sample', hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
          ...{ status: 'waiting', actions: [action], action },
        });
        expect(await ada.get(envelope.workflow_id)).toStrictEqual(envelope);
      });

      test('remains open after an answer that does not fit', async () => {
        const ada = client();
        const { workflow_id: id } = await ada.start(sure);
        expect(codeOf(await ada.submit(id, { result: 'perhaps' }))).toBe('E_RESULT_SHAPE');
        expect(codeOf(await ada.submit(id, { actionId: 'sure#1', result: 7 }))).toBe('E_RESULT_SHAPE');
        expect(codeOf(await ada.submit(id, { actionId: 'other#1', result: true }))).toBe('UNKNOWN_ACTION');
        expect(await ada.get(id)).toMatchObject({ status: 'waiting', action: { action_id: 'sure#1' } });
        expect(await ada.answer(id, true)).toMatchObject({ status: 'completed', result: true });
      });

      test('has to be named where several are open', async () => {
        const ada = client();
        const { workflow_id: id, actions } = await ada.start(both);
        expect(actions.map(({ action_id }) => action_id)).toEqual(['left#1', 'right#1']);
        expect(await ada.submit(id, { result: true })).toMatchObject({
          failure: { code: 'AMBIGUOUS_ACTION', details: { open_actions: ['left#1', 'right#1'] } },
        });
        const half = await ada.answer(id, 'hello', 'right#1');
        expect(half).toMatchObject({ status: 'waiting', action: { action_id: 'left#1' } });
        expect(await ada.answer(id, false)).toMatchObject({ status: 'completed' });
      });

      test('takes the place of a result if its tool could have returned it', async () => {
        const ada = client();
        const steps = chain(call('fails'), done('out', step('fails')));
        const { workflow_id: id, action } = await ada.start(graph(steps, { task: true }));
        const submit = (result: Json) => ada.submit(id, { actionId: action?.action_id ?? '', result });
        expect(codeOf(await submit('wrong'))).toBe('E_OUTPUT_SCHEMA');
        expect(envelopeIn(await submit('right'))).toMatchObject({ status: 'completed', result: 'right' });
      });

      test('fails its step where the answer is an error', async () => {
        const ada = client();
        const { workflow_id: id } = await ada.start(sure);
        const answer = await ada.submit(id, { error: { code: 'E_NO_SUCH_USER', message: 'gone' } });
        expect(envelopeIn(answer)).toMatchObject({
          status: 'failed',
          error: { code: 'E_NO_SUCH_USER', message: 'gone', node: 'sure', partial: {} },
        });
      });

      test('expires at its limit', async () => {
        const ada = client();
        const brief = body([ask('left', 'confirm', { timeoutMs: 500 })]);
        const branches = { left: brief, right: body([ask('right')]) };
        const limited = graph([parallel('both', branches, { onPartialFailure: 'continue' })]);
        const { workflow_id: id, actions } = await ada.start(limited);
        expect(actions[0]).toMatchObject({ expires_at: expect.stringMatching(/Z$/) });
        const open = async () => (await ada.get(id)).actions.map(({ step_id }) => step_id);
        await expect.poll(open, PATIENCE).toEqual(['right']);
        expect(codeOf(await ada.submit(id, { actionId: 'left#1', result: true }))).toBe('ACTION_EXPIRED');
      });
    });

    describe('an answer that is sent again', () => {
      test('gets the first response, and changes nothing', async () => {
        const ada = client();
        const { workflow_id: id } = await ada.start(graph(chain(ask('a'), ask('b'), ask('c'))));
        const first = await ada.submit(id, { actionId: 'a#1', result: true });
        await ada.submit(id, { actionId: 'b#1', result: true });
        const again = await ada.submit(id, { actionId: 'a#1', result: { confirmed: true } });
        expect(again).toStrictEqual(first);
        for (const result of [false, 'x'])
          expect(codeOf(await ada.submit(id, { actionId: 'a#1', result }))).toBe('ALREADY_SUBMITTED');
        expect(await ada.get(id)).toMatchObject({ action: { action_id: 'c#1' } });
      });

      test('at once is consumed once', async () => {
        let paid = 0;
        tools['tool-pay'] = () => ok(++paid);
        const ada = client();
        const { workflow_id: id } = await ada.start(graph(chain(ask('sure'), call('pay'), ask('next'))));
        const send = (result: boolean) => ada.submit(id, { actionId: 'sure#1', result });
        const answers = await Promise.all([send(true), send(false), send(true), send(false)]);
        const codes = answers.map(codeOf);
        expect(codes.filter((code) => code === 'accepted')).toHaveLength(2);
        expect(codes.filter((code) => code === 'ALREADY_SUBMITTED')).toHaveLength(2);
        expect(paid).toBe(1);
      });

      test('is judged before it is answered, also for a sender that does not wait for the run', async () => {
        const ada = client();
        const { workflow_id: id } = await ada.start(graph(chain(ask('a'), ask('b'))));
        const send = (result: Json) => ada.submit(id, { actionId: 'a#1', result }, { answerMs: 0 });
        for (let n = 0; n < 5; n += 1) expect(codeOf(await send(n))).toBe('E_RESULT_SHAPE');
        expect(await send(true)).toMatchObject({ ok: true });
        expect(codeOf(await send(false))).toBe('ALREADY_SUBMITTED');
      });

      test('after the end gets the end, with a warning where it was not used', async () => {
        const ada = client();
        const { workflow_id: id } = await ada.start(sure);
        const end = await ada.submit(id, { result: true });
        expect(await ada.submit(id, { actionId: 'sure#1', result: true })).toStrictEqual(end);
        expect(codeOf(await ada.submit(id, { actionId: 'sure#1', result: false }))).toBe('ALREADY_SUBMITTED');
        for (const late of [{ result: false }, { actionId: 'x' }]) {
          const warnings = [{ code: 'W_NOT_USED', message: expect.stringContaining('not used') }];
          expect(await ada.submit(id, late)).toStrictEqual({ ...end, warnings });
        }
      });
    });

    describe('the owner of a run', () => {
      test('alone reaches it: for others it does not exist', async () => {
        const [ada, eve] = [client(), client()];
        const { workflow_id: id } = await ada.start(sure);
        const other = randomBytes(16).toString('hex');
        const unknown = await store.get(ada.owner, other);
        expect(codeOf(unknown)).toBe('WORKFLOW_NOT_FOUND');
        const same = JSON.parse(JSON.stringify(unknown).replaceAll(other, id));
        expect(await store.get(eve.owner, id)).toStrictEqual(same);
        expect(await eve.submit(id, { result: true })).toStrictEqual(same);
        expect(await eve.cancel(id)).toStrictEqual(same);
        expect(await store.inspect(eve.owner, id, () => true)).toBeUndefined();
        expect(await ada.get(id)).toMatchObject({ status: 'waiting' });
        await expect.poll(() => ada.ids(), PATIENCE).toEqual([id]);
        expect(await eve.ids()).toEqual([]);
      });

      test('without authentication is any caller that knows the id', async () => {
        const [anonymous, local] = [client({ kind: 'anonymous' }), client({ kind: 'local' })];
        for (const caller of [anonymous, local]) {
          const { workflow_id: id } = await caller.start(sure);
          expect(await anonymous.get(id)).toStrictEqual(await local.get(id));
          expect(codeOf(await store.get(anyone(), id))).toBe('WORKFLOW_NOT_FOUND');
          await caller.answer(id, true);
        }
        expect(await anonymous.ids()).toEqual([]);
      });

      test('is who its calls act for, whichever request continues it', async () => {
        contexts.length = 0;
        const ada = client();
        const auth = (token: string) => ({ clientId: 'desktop', scopes: [token], subject: token });
        const seen = (id: string) => call(id, {}, { tool: 'tool-seen' });
        const steps = graph(chain(seen('one'), ask('sure'), seen('two')));
        const { workflow_id: id } = await ada.start(steps, {}, { request: { auth: auth('one') } });
        const waiter = ada.waiter({ request: { auth: auth('two'), requestId: '2' } });
        await store.submit(ada.owner, id, { result: true }, waiter);
        const recorded = { clientId: 'desktop', scopes: ['one'] };
        expect(contexts).toMatchObject([
          { principal: ada.owner, requestId: '1', auth: recorded },
          { principal: ada.owner, auth: recorded },
        ]);
      });

      test('may leave the answer to others, who see the question alone', async () => {
        const [ada, lead] = [client(), client(anyone(['lead']))];
        const answerBy = [{ kind: 'role', role: 'lead', except: 'owner' }] as const;
        const { workflow_id: id } = await ada.start(
          graph(chain(ask('sure', 'confirm', { answerBy }), ask('note', 'text'))),
        );
        expect(codeOf(await ada.submit(id, { result: true }))).toBe('NOT_PERMITTED');
        const own = async () => (await store.toAnswer(lead.owner)).find(({ message }) => message === 'sure?');
        await expect.poll(own, PATIENCE).toMatchObject({ action_id: 'sure#1', name: 'sample' });
        const question = await own();
        const alias = question?.workflow_id ?? '';
        expect(alias).not.toBe(id);
        expect(codeOf(await store.get(lead.owner, alias))).toBe('WORKFLOW_NOT_FOUND');
        const answer = await lead.submit(alias, { result: true });
        expect(answer).toStrictEqual({ ok: true, accepted: true });
        expect(await lead.submit(alias, { result: true, actionId: 'sure#1' })).toStrictEqual(answer);
        await expect.poll(() => ada.get(id), PATIENCE).toMatchObject({ action: { action_id: 'note#1' } });
        expect(await own()).toBeUndefined();
        await ada.cancel(id);
      });

      test('is escalated after its reminder to those who may answer from then on', async () => {
        const [ada, lead] = [client(), client(anyone(['lead']))];
        const escalateTo = [{ kind: 'role', role: 'lead' }] as const;
        const { workflow_id: id } = await ada.start(
          graph(chain(ask('sure', 'confirm', { remindAfterMs: 300, escalateTo }), ask('note', 'text'))),
        );
        const own = async () => (await store.toAnswer(lead.owner)).find(({ message }) => message === 'sure?');
        expect(await own()).toBeUndefined();
        await expect.poll(own, PATIENCE).toMatchObject({ action_id: 'sure#1' });
        const { action } = await ada.get(id);
        expect(action).toMatchObject({ answer_by: [{ kind: 'owner' }, ...escalateTo] });
        expect(action).toHaveProperty('reminded_at');
        expect(action).not.toHaveProperty('expires_at');
        const question = await own();
        expect(await lead.submit(question?.workflow_id ?? '', { result: true })).toMatchObject({ ok: true });
        await expect.poll(() => ada.get(id), PATIENCE).toMatchObject({ action: { action_id: 'note#1' } });
        await ada.cancel(id);
      });

      test('permits the call that it showed, and is asked again for another one', async () => {
        const ada = client();
        const steps = chain(
          ask('sure', 'confirm', { approves: 'a' }),
          ask('note', 'text', { writes: 'note' }),
          call('a', { note: field('note') }, { when: step('sure', 'confirmed') }),
          done('out', step('a')),
        );
        const state = [{ name: 'note', schema: {}, initial: { input: 'old' }, scope: 'run' }] as const;
        const { workflow_id: id, action } = await ada.start(graph(steps, { state }));
        const shown = { tool: 'tool-a', args: { note: { input: 'old' } } };
        expect(action).toMatchObject({ parameters: { approves: shown } });
        await ada.answer(id, true);
        const again = await ada.answer(id, 'new');
        expect(again.action).toMatchObject({
          parameters: {
            approves: { args: { note: { input: 'new' } }, asked_again: "its input changed: 'note'" },
            message: expect.stringContaining('Asked again'),
          },
        });
        expect(await ada.answer(id, true)).toMatchObject({ result: { note: { input: 'new' } } });
      });

      test('has a list of its runs, the latest first', async () => {
        const ada = client();
        const ids: string[] = [];
        for (let run = 0; run < 3; run += 1) ids.unshift((await ada.start(sure)).workflow_id);
        await ada.answer(ids[1] ?? '', true);
        await expect.poll(() => ada.ids(), PATIENCE).toEqual(ids);
        await expect.poll(() => ada.ids({ status: 'completed' }), PATIENCE).toEqual([ids[1]]);
        await expect.poll(() => ada.ids({ status: 'waiting' }), PATIENCE).toEqual([ids[0], ids[2]]);
        expect(await ada.ids({ before: ids[0] ?? '', limit: 1 })).toEqual([ids[1]]);
        const [latest] = await store.list(ada.owner);
        expect(latest).toStrictEqual({
          ...{ workflow_id: ids[0], name: 'sample', status: 'waiting', open_actions: ['sure#1'] },
          ...{ arguments: {}, started_at: expect.stringMatching(/Z$/) },
        });
      });
    });

    describe('variables', () => {
      test('are set together, and are not changed by a program that knows an earlier version', async () => {
        const ada = client();
        const { workflow_id: id } = await ada.start(sure);
        const set = (values: JsonObject, expectedVersion?: number) =>
          store.setVariables(
            ada.owner,
            id,
            { set: values, ...(expectedVersion === undefined ? {} : { expectedVersion }) },
            5_000,
          );
        const seen = () => store.inspect(ada.owner, id, ({ variables, version }) => [variables, version]);
        expect(await set({ region: 'eu', gone: true })).toStrictEqual({ ok: true, accepted: true });
        const changes = await Promise.all([set({ gone: null }, 1), set({ region: 'us', gone: null }, 1)]);
        expect(changes.map(codeOf).sort()).toEqual(['E_TASK_VERSION', 'accepted']);
        expect(await seen()).toEqual([{ region: expect.any(String) }, 2]);
        expect(codeOf(await set({ text: 'x'.repeat(65_537) }))).toBe('E_TASK_VARIABLES');
        await ada.answer(id, true);
        expect(codeOf(await set({ region: 'us' }))).toBe('E_TASK_OVER');
        expect((await seen())?.[1]).toBe(2);
      });
    });

    describe('agents', () => {
      test('drive the items of a loop step by step, and settle it', async () => {
        const ada = client();
        const envelope = await ada.start(reviews(['a', 'b']));
        const id = envelope.workflow_id;
        const [one, two] = childrenIn(envelope).map((child) => new Agent(ada, ada.owner, child));
        expect(codeOf(await ada.submit(id, { result: 'A' }))).toBe('ACTION_OF_AGENTS');
        const first = await one?.next();
        expect(first).toMatchObject({
          next: { status: 'pending_step', step: { step_id: 'read', parameters: { message: 'Read a' } } },
        });
        expect(await one?.next()).toEqual(first);
        const last = { next: { status: 'complete', final_result: 'A' } };
        expect(await one?.review('A')).toMatchObject(last);
        expect(childrenIn(await ada.get(id))).toHaveLength(1);
        await two?.review('B');
        expect(await ada.get(id)).toMatchObject({ status: 'waiting', action: { step_id: 'last' } });
        expect(await ada.answer(id, true)).toMatchObject({ status: 'completed', result: ['A', 'B'] });
        expect(await one?.next()).toMatchObject(last);
      });
    });
  });
}

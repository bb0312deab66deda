import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { desk } from '../composite/fixture/registry.js';
import { ask, returns, runs, step, workflow } from '../composite/fixture/workflows.js';
import { listening, tokenOf } from '../composite/http.js';
import { envelope, post, statelessClient } from './client.js';

const two = workflow('two', [
  ask('sure'),
  ask('note', { mode: 'text', after: ['sure'] }),
  returns(step('note', 'input')),
]);
const many = workflow('many', [
  ...Array.from({ length: 7 }, (_, n) => ask(`q${n}`, n === 0 ? {} : { after: [`q${n - 1}`] })),
  returns(step('q6', 'confirmed')),
]);
const settings = { workflows: [{ graph: two }, { graph: many }] };
const careful = { name: 'w_careful', arguments: { city: 'Rome' } };

type Content = Readonly<Record<string, string | boolean>>;

/** A client with a user who answers each question by its message. */
async function asked(url: URL, answers: (message: string) => Content | 'decline'): Promise<Client> {
  const client = await statelessClient(url, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', ({ params }) => {
    const answer = answers(params.message);
    return answer === 'decline' ? { action: 'decline' } : { action: 'accept', content: { ...answer } };
  });
  return client;
}

const yes = (message: string): Content => (message === 'note?' ? { input: 'fine' } : { confirmed: true });

/** A request for the call of a tool, and what the client has from the round before. */
async function callRaw(url: URL, more: object = {}, headers: Record<string, string> = {}) {
  const _meta = envelope({ elicitation: { form: {} } });
  const response = await post(url, 'tools/call', {
    params: { name: 'w_two', arguments: {}, _meta, ...more },
    headers: { 'mcp-name': 'w_two', ...headers },
  });
  return (await response.json()) as {
    readonly result?: {
      readonly resultType?: string;
      readonly inputRequests?: Readonly<Record<string, object>>;
      readonly requestState?: string;
      readonly structuredContent?: object;
    };
    readonly error?: { readonly code: number; readonly message: string };
  };
}

const sure = { 'sure#1': { action: 'accept', content: { confirmed: true } } };
const note = { 'note#1': { action: 'accept', content: { input: 'fine' } } };
const INVALID = { error: { code: -32_602, message: 'Invalid or expired requestState' } };

describe('questions of a call', () => {
  test('are put to the user between two requests, and the call gives its result', async () => {
    const url = await listening(desk(settings).server);
    const result = await (await asked(url, yes)).callTool({ name: 'w_two', arguments: {} });
    expect(result).toMatchObject({ structuredContent: { result: 'fine' } });
    expect(result.isError).not.toBe(true);
  });

  test('that the user declines fail their step', async () => {
    const url = await listening(desk(settings).server);
    const result = await (await asked(url, () => 'decline')).callTool({ name: 'w_two', arguments: {} });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain('E_ASK_DECLINED');
  });

  test('remain open for submit_result after the last round, and for a client that asks no user', async () => {
    const url = await listening(desk(settings).server);
    const result = await (await asked(url, yes)).callTool({ name: 'w_many', arguments: {} });
    expect(result.structuredContent).toMatchObject({ status: 'waiting', action: { action_id: 'q5#1' } });
    const one = await listening(desk({ ...settings, questions: { rounds: 1 } }).server);
    const early = await (await asked(one, yes)).callTool({ name: 'w_many', arguments: {} });
    expect(early.structuredContent).toMatchObject({ status: 'waiting', action: { action_id: 'q1#1' } });
    const plain = await (await statelessClient(url)).callTool({ name: 'w_two', arguments: {} });
    expect(plain.structuredContent).toMatchObject({ status: 'waiting', action: { action_id: 'sure#1' } });
  });

  test('are asked again where the answer is missing or does not fit', async () => {
    const url = await listening(desk(settings).server);
    const first = (await callRaw(url)).result;
    const state = { requestState: first?.requestState };
    const misfit = { 'sure#1': { action: 'accept', content: { confirmed: 'perhaps' } } };
    for (const inputResponses of [{}, misfit, { 'other#1': {} }]) {
      const { result } = await callRaw(url, { ...state, inputResponses });
      expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { 'sure#1': {} } });
    }
    // What is not a response at all is refused, and the question remains open.
    const message = expect.stringContaining("'sure#1'");
    for (const response of [
      {},
      { action: 'maybe' },
      { roots: [] },
      { action: 'accept', content: 'x' },
      null,
      5,
    ])
      expect(await callRaw(url, { ...state, inputResponses: { 'sure#1': response } })).toMatchObject({
        error: { code: -32_602, message },
      });
    const last = await callRaw(url, { ...state, inputResponses: sure });
    expect(last.result).toMatchObject({ inputRequests: { 'note#1': {} } });
  });
});

test('a question is answered by the longest key that it can have', async () => {
  // As deep as workflows are nested, and identifiers as long as they may be.
  const id = 'ü'.repeat(128);
  const graphs = [workflow('level1', [ask(id), returns(step(id, 'confirmed'))])];
  for (let level = 2; level <= 5; level += 1)
    graphs.push(workflow(`level${level}`, [runs(id, `level${level - 1}`, {}), returns(step(id))]));
  const url = await listening(desk({ workflows: graphs.map((graph) => ({ graph })) }).server);
  const asked = { name: 'w_level5' };
  const { result } = await callRaw(url, asked, { 'mcp-name': 'w_level5' });
  const [key = ''] = Object.keys(result?.inputRequests ?? {});
  expect(key.split(id)).toHaveLength(6);
  const inputResponses = { [key]: sure['sure#1'] };
  const state = { requestState: result?.requestState, inputResponses };
  const last = await callRaw(url, { ...asked, ...state }, { 'mcp-name': 'w_level5' });
  expect(last.result).toMatchObject({ structuredContent: { result: true } });
});

describe('the state of a round', () => {
  test('is read by each server of one store', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-eras-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const store = `sqlite:${path.join(folder, 'runs.db')}` as const;
    const servers = [desk({ ...settings, store }).server, desk({ ...settings, store }).server];
    for (const each of servers) onTestFinished(() => each.stop());
    const [one, other] = [await listening(servers[0] as never), await listening(servers[1] as never)];
    const first = (await callRaw(one)).result;
    expect(first).toMatchObject({ resultType: 'input_required' });
    const second = (await callRaw(other, { requestState: first?.requestState, inputResponses: sure })).result;
    expect(second).toMatchObject({ inputRequests: { 'note#1': {} } });
    const last = await callRaw(one, { requestState: second?.requestState, inputResponses: note });
    expect(last.result).toMatchObject({ structuredContent: { result: 'fine' } });
  });

  test('is refused where it is forged, of another tool or caller, or expired', async () => {
    const url = await listening(desk(settings).server);
    const ada = { authorization: `Bearer ${tokenOf('ada')}` };
    const state = (await callRaw(url, {}, ada)).result?.requestState ?? '';
    const send = (requestState: string, more: object = {}, headers: Record<string, string> = ada) =>
      callRaw(url, { requestState, inputResponses: sure, ...more }, headers);
    const [payload = '', signature = ''] = state.split('.');
    const changed = Buffer.from(payload, 'base64url').toString().replace('"rounds":1', '"rounds":0');
    for (const forged of [
      ...['', 'x', `${payload}.`, `${payload}.${'A'.repeat(signature.length)}`, `${state}.${signature}`],
      `${Buffer.from(changed).toString('base64url')}.${signature}`,
    ])
      expect(await send(forged)).toMatchObject(INVALID);
    const other = { authorization: `Bearer ${tokenOf('bob')}` };
    expect(await send(state, {}, other)).toMatchObject(INVALID);
    expect(await send(state, { name: 'w_many' }, { ...ada, 'mcp-name': 'w_many' })).toMatchObject(INVALID);
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 90_000_000);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await send(state)).toMatchObject(INVALID);
  });

  test('is refused with other arguments than those of its call, and without them', async () => {
    const url = await listening(desk().server);
    const send = (more: object) => callRaw(url, { ...careful, ...more }, { 'mcp-name': careful.name });
    const { requestState, inputRequests = {} } = (await send({})).result ?? {};
    const [key = ''] = Object.keys(inputRequests);
    const round = { requestState, inputResponses: { [key]: sure['sure#1'] } };
    for (const args of [{ city: 'Oslo' }, { city: 'Rome', seats: 2 }, {}, undefined])
      expect(await send({ ...round, arguments: args })).toMatchObject(INVALID);
    expect((await send(round)).result).toMatchObject({ resultType: 'input_required' });
  });

  test('gives the same when its answers are sent again, and is refused with others', async () => {
    const url = await listening(desk(settings).server);
    const requestState = (await callRaw(url)).result?.requestState;
    const round = { requestState, inputResponses: sure };
    expect((await callRaw(url, round)).result).toMatchObject({ inputRequests: { 'note#1': {} } });
    expect((await callRaw(url, round)).result).toMatchObject({ inputRequests: { 'note#1': {} } });
    const no = { 'sure#1': { action: 'accept', content: { confirmed: false } } };
    expect(await callRaw(url, { requestState, inputResponses: no })).toMatchObject(INVALID);
    const next = (await callRaw(url, round)).result?.requestState;
    const last = { requestState: next, inputResponses: note };
    for (const again of [last, last])
      expect((await callRaw(url, again)).result).toMatchObject({ structuredContent: { result: 'fine' } });
    const decline = { 'sure#1': { action: 'decline' }, 'note#1': { action: 'decline' } };
    for (const late of [{ inputResponses: no }, { inputResponses: decline }])
      expect(await callRaw(url, { requestState, ...late })).toMatchObject(INVALID);
    expect(await callRaw(url, { requestState: next, inputResponses: decline })).toMatchObject(INVALID);
  });
});

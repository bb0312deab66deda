import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { compilePrograms } from '../../compiled-programs.js';
import { nightlyTest } from '../../nightly.js';
import { desk } from '../composite/fixture/registry.js';
import { ask, call, lit, returns, step, workflow } from '../composite/fixture/workflows.js';
import { listening, tokenOf } from '../composite/http.js';
import { envelope, post, statelessClient } from './client.js';

// Questions of a workflow during its prompt, in the era without connections.

const trip = workflow('trip', [
  call('found', 'search', { city: lit('Rome') }),
  ask('sure', { after: ['found'] }),
  call('booked', 'create-booking', { city: lit('Rome'), seats: lit(2) }, { after: ['sure'] }),
  ask('note', { mode: 'text', after: ['booked'] }),
  returns(step('note', 'input')),
]);
const settings = { workflows: [{ graph: trip }] };
const ASKS = { elicitation: { form: {} } };

interface Round {
  readonly result?: {
    readonly resultType?: string;
    readonly inputRequests?: Readonly<Record<string, object>>;
    readonly requestState?: string;
    readonly messages?: readonly { readonly content: { readonly text: string; readonly _meta: object } }[];
    readonly _meta?: object;
  };
  readonly error?: { readonly code: number; readonly message: string };
}

async function round(url: URL, more: object = {}, headers: Record<string, string> = {}): Promise<Round> {
  const response = await post(url, 'prompts/get', {
    params: { name: 'trip', _meta: envelope(ASKS), ...more },
    headers: { 'mcp-name': 'trip', ...headers },
  });
  return (await response.json()) as Round;
}

const accept = (content: object) => ({ action: 'accept', content });
const sure = { 'sure#1': accept({ confirmed: true }) };
const note = { 'note#1': accept({ input: 'fine' }) };
const INVALID = { error: { code: -32_602, message: 'Invalid or expired requestState' } };

/** The parts of a conversation: what each message is about. */
const partsOf = (messages: readonly { readonly content: object }[] = []): readonly (readonly unknown[])[] =>
  messages.map(({ content }) => {
    const { _meta } = content as { readonly _meta?: Readonly<Record<string, unknown>> };
    return [_meta?.['stepwright/part'], _meta?.['stepwright/step']].filter((part) => part !== undefined);
  });

const WHOLE = [
  ['intent'],
  ['plan'],
  ['call', 'found'],
  ['result', 'found'],
  ['question', 'sure'],
  ['answer', 'sure'],
  ['call', 'booked'],
  ['result', 'booked'],
  ['question', 'note'],
  ['answer', 'note'],
];

describe('questions of a prompt', () => {
  test('are put to the user, and the conversation is whole', async () => {
    const { server, desk: done } = desk(settings);
    const client = await statelessClient(await listening(server), { capabilities: ASKS });
    client.setRequestHandler('elicitation/create', ({ params: { message } }) => ({
      action: 'accept' as const,
      content: message === 'note?' ? { input: 'fine' } : { confirmed: true },
    }));
    const { messages, _meta } = await client.getPrompt({ name: 'trip' });
    expect(partsOf(messages)).toEqual(WHOLE);
    expect(_meta).toMatchObject({ status: 'succeeded', result: 'fine' });
    expect(done.booked).toEqual(['Rome']);
  });

  test('that the user declines end the run with its hand-off', async () => {
    const client = await statelessClient(await listening(desk(settings).server), { capabilities: ASKS });
    client.setRequestHandler('elicitation/create', () => ({ action: 'decline' as const }));
    const { messages, _meta } = await client.getPrompt({ name: 'trip' });
    expect(partsOf(messages).at(-1)).toEqual(['hand-off']);
    expect(_meta).toMatchObject({ status: 'failed', errors: [{ code: 'E_ASK_DECLINED' }] });
  });

  test('remain in the hand-off for a client that asks no user', async () => {
    const client = await statelessClient(await listening(desk(settings).server));
    const { messages, _meta } = await client.getPrompt({ name: 'trip' });
    expect(partsOf(messages).at(-1)).toEqual(['waiting']);
    expect(_meta).toMatchObject({ status: 'running', actions: [{ action_id: 'sure#1' }] });
  });

  test('are of their prompt, their arguments and their caller', async () => {
    const url = await listening(desk(settings).server);
    const ada = { authorization: `Bearer ${tokenOf('ada')}` };
    const requestState = (await round(url, {}, ada)).result?.requestState;
    const answers = { requestState, inputResponses: sure };
    expect(await round(url, answers, { authorization: `Bearer ${tokenOf('bob')}` })).toMatchObject(INVALID);
    expect(await round(url, { ...answers, arguments: { a: 'b' } }, ada)).toMatchObject(INVALID);
    expect(await round(url, { ...answers, requestState: `${requestState}x` }, ada)).toMatchObject(INVALID);
    const next = (await round(url, answers, ada)).result;
    expect(next).toMatchObject({ inputRequests: { 'note#1': {} } });
    // The same answers again, and others.
    expect((await round(url, answers, ada)).result).toMatchObject({ inputRequests: { 'note#1': {} } });
    const no = { requestState, inputResponses: { 'sure#1': accept({ confirmed: false }) } };
    expect(await round(url, no, ada)).toMatchObject(INVALID);
    const last = { requestState: next?.requestState, inputResponses: note };
    expect(partsOf((await round(url, last, ada)).result?.messages)).toEqual(WHOLE);
    // The run is over: what was said, and its result.
    const again = (await round(url, last, ada)).result;
    expect(partsOf(again?.messages).at(-1)).toEqual(['result']);
    expect(again?._meta).toMatchObject({ status: 'succeeded' });
  });
});

nightlyTest(
  'each round may be answered by another process, and the one before is killed',
  {
    timeout: 120_000,
  },
  async () => {
    const source = fileURLToPath(new URL('../composite/fixture/task-program.ts', import.meta.url));
    const programs = await compilePrograms({ program: source });
    const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-eras-'));
    onTestFinished(async () => {
      await programs.remove();
      rmSync(folder, { recursive: true });
    });
    const roundOfProcess = async (more: object): Promise<Round> => {
      const args = [programs.file('program'), path.join(folder, 'runs.db')];
      const child: ChildProcess = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
      const params = { name: 'careful', arguments: { city: 'Rome' }, _meta: envelope(ASKS), ...more };
      child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'prompts/get', params })}\n`);
      const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
      const [line] = (await once(lines, 'line')) as [string];
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
      return JSON.parse(line) as Round;
    };
    const first = (await roundOfProcess({})).result;
    const [one = ''] = Object.keys(first?.inputRequests ?? {});
    const yes = { [one]: accept({ confirmed: true }) };
    const second = (await roundOfProcess({ requestState: first?.requestState, inputResponses: yes })).result;
    const [two = ''] = Object.keys(second?.inputRequests ?? {});
    expect(two).not.toBe(one);
    const text = { [two]: accept({ input: 'Holiday' }) };
    const last = (await roundOfProcess({ requestState: second?.requestState, inputResponses: text })).result;
    expect(last?._meta).toMatchObject({ status: 'succeeded', result: 'Holiday' });
    const parts = partsOf(last?.messages).map(([part]) => part);
    expect(parts.filter((part) => part === 'question')).toHaveLength(2);
    expect(parts.filter((part) => part === 'answer')).toHaveLength(2);
  },
);

import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, test } from 'vitest';
import { refusal } from '../server/connected.js';
import { type Answer, atDesk, callOf, failureIn, runIn, textIn } from './client.js';
import { desk } from './fixture/registry.js';
import { listening, sessionOf, tokenOf } from './http.js';

const city = 'Rome 🛫🛬';
const json = JSON.stringify({ id: 'b-1', city, seats: 1 });

const book = (client: Client) => callOf(client, 'w_book', { city });
const addressIn = (answer: Answer) => `workflow://runs/${runIn(answer)}/result`;

/** The parts of a result, read one after the other. */
async function partsOf(client: Client, workflow_id: string): Promise<readonly string[]> {
  const parts: string[] = [];
  for (let from: number | undefined = 0; from !== undefined; ) {
    const answer = await callOf(client, 'get_workflow_status', { workflow_id, result_from: from });
    const part = answer.structuredContent?.result_part as { text: string; from: number; next?: number };
    expect(part.from).toBe(parts.join('').length);
    expect(answer.content[0]).toEqual({ type: 'text', text: part.text });
    parts.push(part.text);
    from = part.next;
  }
  return parts;
}

test('a result that fits is in the answer', async () => {
  const { client } = await atDesk({ maxResultChars: json.length });
  expect((await book(client)).structuredContent).toEqual(JSON.parse(json));
});

test('a longer one is linked, and read as a resource or in parts', async () => {
  const { client } = await atDesk({ maxResultChars: json.length - 1 });
  const answer = await book(client);
  const uri = addressIn(answer);
  const length = json.length;
  expect(answer.structuredContent).toMatchObject({ status: 'completed', result_omitted: { uri, length } });
  expect(answer.structuredContent).not.toHaveProperty('result');
  expect(textIn(answer)).toContain(`The result has ${length} characters`);
  expect(textIn(answer)).not.toContain(json);
  const [, begin, ...outline] = textIn(answer).split('\n');
  expect(begin).toContain('Read it in parts');
  expect(outline).toEqual(['- id: "b-1"', `- city: "${city}"`, '- seats: 1', '']);
  expect(answer.content.at(-1)).toMatchObject({ type: 'resource_link', uri, mimeType: 'application/json' });
  const status = await callOf(client, 'get_workflow_status', { workflow_id: runIn(answer) });
  expect(status.structuredContent).toMatchObject({ result_omitted: { uri, length } });
  expect(status.content.at(-1)).toMatchObject({ type: 'resource_link', uri });
  expect((await client.readResource({ uri })).contents).toEqual([
    { uri, mimeType: 'application/json', text: json },
  ]);
});

test.each([1, 7, 20])('parts of %i characters make up the result, and cut none in two', async (limit) => {
  const { client } = await atDesk({ maxResultChars: limit });
  const parts = await partsOf(client, runIn(await book(client)));
  expect(parts.join('')).toBe(json);
  expect(parts.every((part) => Buffer.from(part).toString() === part)).toBe(true);
});

test('a part beyond the end is refused, as is one of a run without a result', async () => {
  const { client } = await atDesk();
  const done = await callOf(client, 'get_workflow_status', {
    workflow_id: runIn(await book(client)),
    result_from: 1_000,
  });
  expect(failureIn(done)).toMatchObject({ code: 'E_INPUT_INVALID' });
  expect(textIn(done)).toContain('the run has no result of more than 1000 characters');
  const waiting = await callOf(client, 'w_careful', { city });
  const answer = await callOf(client, 'get_workflow_status', { workflow_id: runIn(waiting), result_from: 0 });
  expect(answer.isError).toBe(true);
});

test('the result of another caller has no address', async () => {
  const url = await listening(desk({ maxResultChars: 10 }).server);
  const { client: ada } = await sessionOf(url, { token: tokenOf('ada') });
  const { client: bob } = await sessionOf(url, { token: tokenOf('bob') });
  const uri = addressIn(await book(ada));
  expect((await ada.readResource({ uri })).contents).toHaveLength(1);
  const unknown = uri.replace(/[0-9a-f]{32}/, '0'.repeat(32));
  const refusals = await Promise.all([uri, unknown].map((each) => refusal(bob.readResource({ uri: each }))));
  expect(refusals[0]).toMatchObject({ code: -32002, data: { uri } });
  expect(refusals[0]?.message.replace(uri, '')).toBe(refusals[1]?.message.replace(unknown, ''));
});

test('a run is a resource, of its owner alone', async () => {
  const url = await listening(desk({ maxResultChars: 10 }).server);
  const { client: ada } = await sessionOf(url, { token: tokenOf('ada') });
  const { client: bob } = await sessionOf(url, { token: tokenOf('bob') });
  for (const tool of ['w_book', 'w_careful']) {
    const answer = await callOf(ada, tool, { city });
    const uri = `workflow://runs/${runIn(answer)}`;
    const status = await callOf(ada, 'get_workflow_status', { workflow_id: runIn(answer) });
    const { definition_changed, definition_hash, ...run } = status.structuredContent ?? {};
    const [contents] = (await ada.readResource({ uri })).contents;
    expect(contents).toMatchObject({ uri, mimeType: 'application/json' });
    expect(JSON.parse((contents as { text: string }).text)).toEqual(run);
    expect(await refusal(bob.readResource({ uri }))).toMatchObject({ code: -32002, data: { uri } });
  }
});

test('a cursor of `list_workflows` is refused with another status', async () => {
  const { client } = await atDesk({ pageSize: 2 });
  const list = async (more: Record<string, unknown>) => callOf(client, 'list_workflows', more);
  const cursor = (await list({ status: 'completed' })).structuredContent?.next_cursor;
  expect(typeof cursor).toBe('string');
  expect((await list({ status: 'completed', cursor })).isError).toBeUndefined();
  for (const other of [{}, { status: 'failed' }]) {
    const refused = await list({ ...other, cursor });
    expect(failureIn(refused)).toMatchObject({ code: 'E_INPUT_INVALID' });
    expect(textIn(refused)).toContain('`cursor` is not one that list_workflows returned for this `status`');
  }
});

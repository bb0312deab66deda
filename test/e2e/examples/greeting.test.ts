import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openServer, printTrace } from './example-client.js';

const greeting = (args: Record<string, string>) => ({ name: 'personalized-greeting', arguments: args });

describe('the greeting example, over stdio', () => {
  let client: Client;

  // Nothing it does is kept, so that one server is enough.
  beforeAll(async () => {
    client = await openServer('greeting');
  });
  afterAll(() => client.close());

  test('greets by the guide', async () => {
    const trace = await client.getPrompt(greeting({ name: 'Ada', style: 'formal' }));
    await expect(printTrace(trace)).toMatchFileSnapshot('./golden/greeting.txt');
    expect(trace._meta).toMatchObject({ status: 'succeeded', result: 'Good day, Ada.' });
  });

  test('is casual unless it is told otherwise, by its caller or a blank field', async () => {
    for (const args of [{ name: 'Ada' }, { name: 'Ada', style: ' ' }, { name: 'Ada', style: 'casual' }]) {
      const { _meta } = await client.getPrompt(greeting(args));
      expect(_meta).toMatchObject({ result: 'Hi Ada!' });
    }
  });

  test('lists its argument with the styles there are, and refuses others', async () => {
    const [listed] = (await client.listPrompts()).prompts;
    expect(listed?.arguments).toEqual([
      { name: 'name', description: "Person's name", required: true },
      { name: 'style', description: expect.stringContaining('formal, casual'), required: false },
    ]);
    await expect(client.getPrompt(greeting({ name: 'Ada', style: 'rude' }))).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('formal, casual'),
    });
  });

  test('serves its tool and its guide on their own', async () => {
    expect(await client.callTool({ name: 'greet', arguments: { name: 'Ada' } })).toMatchObject({
      structuredContent: { greeting: 'Hi Ada!' },
    });
    const { contents } = await client.readResource({ uri: 'resource://greetings/guide' });
    expect(contents).toMatchObject([
      { mimeType: 'text/markdown', text: expect.stringContaining('# How we greet') },
    ]);
  });

  test('ends where there is nobody to greet', async () => {
    const trace = await client.getPrompt(greeting({ name: ' ' }));
    await expect(printTrace(trace)).toMatchFileSnapshot('./golden/greeting-nobody.txt');
    expect(trace._meta).toMatchObject({ status: 'failed' });
  });
});

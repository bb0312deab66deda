import { fileURLToPath } from 'node:url';
import { createServer } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { expectGolden } from '../../golden/golden.js';
import { refusal, speaking, textsOf } from './connected.js';
import { registry } from './fixture/language.js';

const golden = (name: string) => fileURLToPath(new URL(`./golden/${name}.txt`, import.meta.url));

describe('a prompt class', () => {
  test('is listed beside workflows and plain prompts', async () => {
    const { client } = await speaking();
    const { prompts } = await client.listPrompts();
    const names = prompts.map(({ name }) => name);
    expect(names).toStrictEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(['bare', 'code-review', 'deploy-page', 'explain']));
    expect(prompts.find(({ name }) => name === 'code-review')).toStrictEqual({
      name: 'code-review',
      title: 'Review',
      icons: [{ src: 'https://example.org/icon.svg', mimeType: 'image/svg+xml', sizes: ['any'] }],
      description: 'Review code',
      arguments: [
        { name: 'language', description: 'Language (one of: ts, TypeScript, rust)', required: false },
        { name: 'strictness', description: 'How strict (a whole number; default: 3)', required: false },
        { name: 'aloud', description: 'Aloud (true or false)', required: false },
        { name: 'place', description: 'Where', required: false },
      ],
    });
  });

  test('gives its messages, with no handle left in them', async () => {
    const { client } = await speaking();
    const result = await client.getPrompt({
      name: 'code-review',
      arguments: { language: 'ts', strictness: '5', aloud: 'yes' },
    });
    expectGolden(golden('code-review'), `${JSON.stringify(result, null, 2)}\n`);
  });

  test('is given defaults, and nothing for what is absent', async () => {
    const { client } = await speaking();
    const texts = textsOf(await client.getPrompt({ name: 'code-review' }));
    expect(texts[1]).toContain('Review this unknown code');
    expect(texts.at(-1)).toBe('Strictness 3.');
  });

  test('has its arguments checked as a workflow has', async () => {
    const { client } = await speaking();
    const given = { strictness: 'very', languag: 'ts' };
    expect(await refusal(client.getPrompt({ name: 'code-review', arguments: given }))).toMatchObject({
      code: -32602,
      message:
        "MCP error -32602: Unknown argument 'languag'. Did you mean 'language'?; " +
        "Invalid value for argument 'strictness': 'very' is not a valid integer",
    });
  });

  test('with parameters in its constructor needs a factory', () => {
    expect(() => createServer(registry)).toThrow(
      "prompt `code-review`: the constructor of CodeReview takes parameters; give it a factory: 'code-review': () => new CodeReview(…)",
    );
  });

  test('a system message is sent as the user’s, and the operator told once', async () => {
    const { client, log } = await speaking();
    await client.getPrompt({ name: 'code-review' });
    const { messages } = await client.getPrompt({ name: 'code-review' });
    expect(messages[0]).toStrictEqual({ role: 'user', content: { type: 'text', text: 'You review code.' } });
    expect(log).toStrictEqual([
      "prompt `code-review` has a system message, which MCP does not know: it is sent as the user's. " +
        'Write `user(...)`, or keep such text in the description of a tool or in a resource.',
    ]);
  });
});

describe('a plain prompt', () => {
  test('is listed with its arguments', async () => {
    const { client } = await speaking();
    const { prompts } = await client.listPrompts();
    expect(prompts.find(({ name }) => name === 'explain')).toStrictEqual({
      name: 'explain',
      description: 'Explains code',
      arguments: [
        { name: 'code', description: 'The code', required: true },
        { name: 'language', description: 'Its language', required: false },
      ],
    });
    expect(prompts.find(({ name }) => name === 'bare')).toStrictEqual({ name: 'bare', arguments: [] });
  });

  test('gives what its function makes of the arguments, and knows who asks', async () => {
    const { client } = await speaking({ auth: { token: 't', clientId: 'desk', scopes: [] } });
    expect(await client.getPrompt({ name: 'explain', arguments: { code: 'x = {y}' } })).toStrictEqual({
      description: 'Explains code',
      messages: [
        { role: 'user', content: { type: 'text', text: 'Explain this unknown code:\n\nx = {y}' } },
        { role: 'assistant', content: { type: 'text', text: 'For desk.' } },
      ],
    });
  });

  test('may describe what it made', async () => {
    const { client } = await speaking();
    expect(await client.getPrompt({ name: 'bare' })).toStrictEqual({
      description: 'made for you',
      messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
    });
  });

  test('may write content as MCP has it, with handles in its texts', async () => {
    const { client } = await speaking();
    expect(await client.getPrompt({ name: 'texts' })).toStrictEqual({
      description: 'about analyze-code',
      messages: [
        { role: 'user', content: { type: 'text', text: 'Use analyze-code' } },
        { role: 'user', content: { type: 'resource', resource: { uri: 'a:b', blob: 'AAAA' } } },
      ],
    });
  });

  test('has its required arguments demanded', async () => {
    const { client } = await speaking();
    expect((await refusal(client.getPrompt({ name: 'explain' }))).message).toBe(
      "MCP error -32602: Missing required argument 'code'",
    );
  });
});

describe('a prompt that cannot be sent is an error with a code', () => {
  test.each([
    ['tool', 'E_MISSING_TOOL', "it names the tool 'stranger', which this server does not have"],
    ['tool-text', 'E_MISSING_TOOL', "it names the tool 'stranger', which this server does not have"],
    ['tool-content', 'E_MISSING_TOOL', "it names the tool 'stranger', which this server does not have"],
    [
      'resource',
      'E_MISSING_RESOURCE',
      "it names the resource 'resource://guides/lost', which this server does not have",
    ],
    [
      'template',
      'E_PROMPT_HANDLE',
      'it names the class Page, which has no address of its own: write a link to one of its addresses',
    ],
    ['class', 'E_PROMPT_HANDLE', 'it names the class Plain, which is not a tool, resource or workflow'],
    ['prompt', 'E_PROMPT_HANDLE', 'it names the class CodeReview, which is not a tool, resource or workflow'],
    ['number', 'E_PROMPT_CONTENT', 'message 2 holds a number'],
    ['nothing', 'E_PROMPT_CONTENT', 'message 1 is not an object { role, content }'],
    [
      'shape',
      'E_PROMPT_CONTENT',
      'message 1 holds an object that is not content of MCP: text, image, audio, resource or resource_link',
    ],
    ['handle', 'E_PROMPT_CONTENT', "message 1 holds what is not JSON: '/more' is a function"],
    ['base64', 'E_PROMPT_CONTENT', 'message 1 holds an object that is not content of MCP'],
    ['link', 'E_PROMPT_CONTENT', 'message 1 holds an object that is not content of MCP'],
    ['role', 'E_PROMPT_CONTENT', "message 1 has the role 'tool': write 'user' or 'assistant'"],
    ['messages', 'E_PROMPT_CONTENT', 'render returned no messages: return a list of them, or { messages }'],
    ['throw', 'E_NO_CODE', 'code required'],
    ['reject', 'E_PROMPT', 'no database'],
    ['hang', 'E_TIMEOUT', 'there was no answer within 50 ms'],
  ])('%s', async (name, code, why) => {
    const { client } = await speaking({ promptTimeoutMs: 50 });
    const answer = await refusal(client.getPrompt({ name: `wrong-${name}` }));
    expect(answer).toStrictEqual({
      code: -32603,
      message: expect.stringContaining(`Prompt 'wrong-${name}' failed: ${why}`),
      data: { code },
    });
    expect((await client.getPrompt({ name: 'bare' })).messages).toHaveLength(1);
  });
});

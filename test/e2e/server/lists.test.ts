import { describe, expect, test } from 'vitest';
import { connected, refusal } from './connected.js';
import { registry } from './fixture/registry.js';

/** The tools of the registry, those of its workflows, and those that manage runs. */
const ALL_TOOLS = [
  ...Object.keys(registry.tools).sort(),
  ...Object.keys(registry.workflows)
    .sort()
    .map((name) => `w_${name}`),
  ...['get_workflow_status', 'cancel_workflow'],
];

describe('lists', () => {
  test('tools are in the order of their names, those of workflows after them, with their schemas as codegen wrote them', async () => {
    const { client } = await connected();
    const { tools } = await client.listTools();
    const names = tools.map((tool) => tool.name);
    expect(names).toStrictEqual(ALL_TOOLS);
    const echo = tools.find((tool) => tool.name === 'echo');
    expect(echo).toStrictEqual({
      name: 'echo',
      title: 'Echo',
      description: 'Says a text again',
      inputSchema: registry.tools.echo?.inputSchema,
      outputSchema: registry.tools.echo?.outputSchema,
      annotations: { readOnlyHint: true },
    });
  });

  test('prompts say in words what their arguments take', async () => {
    const { client } = await connected();
    const { prompts } = await client.listPrompts();
    expect(prompts.map((prompt) => prompt.name)).toStrictEqual(Object.keys(registry.workflows).sort());
    expect(prompts.find((prompt) => prompt.name === 'greet')).toStrictEqual({
      name: 'greet',
      title: 'Greet',
      description: 'greet somebody',
      arguments: [
        { name: 'name', description: 'Whom', required: true },
        {
          name: 'times',
          description: 'How often (a whole number; from 1 to 3; default: 1)',
          required: false,
        },
        { name: 'loud', description: 'Aloud (true or false)', required: false },
        { name: 'mood', description: 'In which mood (one of: glad, sad)', required: false },
      ],
    });
  });

  test('resources, and no templates', async () => {
    const { client } = await connected();
    expect(await client.listResources()).toStrictEqual({
      resources: [
        { name: 'broken-guide', uri: 'resource://fixture/broken-guide', description: 'Cannot be read' },
        {
          name: 'guide',
          uri: 'resource://fixture/guide',
          title: 'Guide',
          description: 'How to greet',
          mimeType: 'text/markdown',
        },
      ],
    });
    expect(await client.listResourceTemplates()).toStrictEqual({ resourceTemplates: [] });
  });

  test('come in pages', async () => {
    const { client } = await connected({ pageSize: 4 });
    const names: string[] = [];
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      names.push(...page.tools.map((tool) => tool.name));
      sizes.push(page.tools.length);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(names).toStrictEqual(ALL_TOOLS);
    expect(Math.max(...sizes)).toBe(4);
  });

  test('refuse a cursor that is not theirs', async () => {
    const { client } = await connected({ pageSize: 1 });
    const { nextCursor = '' } = await client.listTools();
    const badCursor = {
      code: -32602,
      message:
        'MCP error -32602: Invalid cursor: this list did not return it. Leave it out to get the first page',
    };
    expect(await refusal(client.listTools({ cursor: 'nonsense' }))).toStrictEqual(badCursor);
    expect(await refusal(client.listPrompts({ cursor: nextCursor }))).toStrictEqual(badCursor);
    expect(await refusal(client.listResources({ cursor: nextCursor }))).toStrictEqual(badCursor);
    expect(await refusal(client.listResourceTemplates({ cursor: nextCursor }))).toStrictEqual(badCursor);
    expect((await client.listTools({ cursor: nextCursor })).tools).toHaveLength(1);
  });
});

describe('resources/read', () => {
  test('gives the content', async () => {
    const { client } = await connected();
    expect(await client.readResource({ uri: 'resource://fixture/guide' })).toStrictEqual({
      contents: [{ uri: 'resource://fixture/guide', mimeType: 'text/markdown', text: '# Greet warmly' }],
    });
  });

  test('names a resource that is not there', async () => {
    const { client } = await connected();
    expect(await refusal(client.readResource({ uri: 'resource://fixture/gide' }))).toStrictEqual({
      code: -32002,
      message: 'MCP error -32002: Resource not found: resource://fixture/gide',
      data: { uri: 'resource://fixture/gide' },
    });
  });

  test('says why a resource cannot be read', async () => {
    const { client } = await connected();
    expect(await refusal(client.readResource({ uri: 'resource://fixture/broken-guide' }))).toStrictEqual({
      code: -32603,
      message:
        'MCP error -32603: Resource resource://fixture/broken-guide cannot be read: the shelf is empty',
      data: { uri: 'resource://fixture/broken-guide' },
    });
  });
});

test('a client sees what the server says about itself', async () => {
  const about = {
    title: 'The shop',
    description: 'Sells pens',
    websiteUrl: 'https://shop.example',
    icons: [{ src: 'https://shop.example/i.png', mimeType: 'image/png', sizes: ['48x48'] }],
  };
  const { client } = await connected({ name: 'shop', version: '1.2.3', ...about });
  expect(client.getServerVersion()).toEqual({ name: 'shop', version: '1.2.3', ...about });
});

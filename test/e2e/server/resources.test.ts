import { describe, expect, test } from 'vitest';
import { refusal, speaking } from './connected.js';

describe('lists', () => {
  test('keep icons and _meta; templates are in a list of their own', async () => {
    const { client } = await speaking();
    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name)).toStrictEqual(['dot', 'picture', 'style-guide']);
    expect(resources[2]).toStrictEqual({
      name: 'style-guide',
      title: 'Style',
      icons: [{ src: 'https://example.org/icon.svg', mimeType: 'image/svg+xml', sizes: ['any'] }],
      _meta: { 'example/owner': 'ada' },
      description: 'How code should look',
      mimeType: 'text/markdown',
      uri: 'resource://guides/code-style',
    });
    expect(await client.listResourceTemplates()).toStrictEqual({
      resourceTemplates: [
        { name: 'disk', uriTemplate: 'disk:///{+path}' },
        {
          name: 'page',
          description: 'A page',
          mimeType: 'text/markdown',
          uriTemplate: 'notes://pages/{name}',
        },
      ],
    });
  });

  test('of tools have icons, and hints in _meta', async () => {
    const { client } = await speaking();
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'analyze-code')).toMatchObject({
      icons: [{ src: 'https://example.org/icon.svg', mimeType: 'image/svg+xml', sizes: ['any'] }],
      _meta: { 'stepwright/hints': { category: 'analysis', next: ['deploy'] } },
    });
    expect(tools.find(({ name }) => name === 'deploy')).not.toHaveProperty('_meta');
  });

  test('of templates come in pages', async () => {
    const { client } = await speaking({ pageSize: 1 });
    const { nextCursor = '', resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ name }) => name)).toStrictEqual(['disk']);
    const second = await client.listResourceTemplates({ cursor: nextCursor });
    expect(second.resourceTemplates.map(({ name }) => name)).toStrictEqual(['page']);
    expect(second.nextCursor).toBe(undefined);
  });
});

describe('an address with variables', () => {
  test('is read with its variables decoded', async () => {
    const { client } = await speaking();
    const uri = 'notes://pages/caf%C3%A9%2Fmenu';
    expect(await client.readResource({ uri })).toStrictEqual({
      contents: [{ uri, mimeType: 'text/markdown', text: '# café/menu' }],
    });
  });

  test('that climbs is refused', async () => {
    const { client } = await speaking();
    const uri = 'notes://pages/..%2F..%2Fsecret';
    expect(await refusal(client.readResource({ uri }))).toStrictEqual({
      code: -32602,
      message:
        `MCP error -32602: Resource ${uri} cannot be read: ` +
        'variable `name` must not leave its folder: `../../secret`. `dotSegments: ["name"]` of its @Resource allows such values',
      data: { uri, code: 'E_RESOURCE_URI' },
    });
  });

  test('may climb where that is declared', async () => {
    const { client } = await speaking();
    const uri = 'disk:///a/%2e%2e/b';
    expect(await client.readResource({ uri })).toStrictEqual({ contents: [{ uri, text: 'a/../b' }] });
  });

  test('that no template has is not found', async () => {
    const { client } = await speaking();
    expect((await refusal(client.readResource({ uri: 'notes://pages/a/b' }))).code).toBe(-32002);
    expect((await refusal(client.readResource({ uri: 'notes://pages/{name}' }))).code).toBe(-32002);
  });

  test('whose content fails says why', async () => {
    const { client } = await speaking();
    expect((await refusal(client.readResource({ uri: 'notes://pages/nothing' }))).message).toContain(
      'Resource notes://pages/nothing cannot be read: there is no such page',
    );
  });
});

describe('binary content', () => {
  test.each([
    ['from read()', 'resource://pictures/dot', [0x89, 0x50, 0x4e, 0x47]],
    [
      'from a file of the package',
      'resource://pictures/dot-in-a-file',
      [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, ...Buffer.from('dot')],
    ],
  ])('is base64: %s', async (_, uri, bytes) => {
    const { client } = await speaking();
    expect(await client.readResource({ uri })).toStrictEqual({
      contents: [{ uri, mimeType: 'image/png', blob: Buffer.from(bytes).toString('base64') }],
    });
  });
});

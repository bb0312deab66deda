import { call, done, Resource, type ResourceItem, read, Step, Workflow } from 'stepwright';
import { createServer } from 'stepwright/runtime';
import { expect, test } from 'vitest';
import { connectedTo, refusal, textsOf } from './connected.js';
import { dict, node, ref } from './fixture/graph.js';
import { type GraphParts, registryOf } from './fixture/registry-of.js';
import * as tools from './fixture/tools.js';

const dot = Uint8Array.of(0x89, 0x50);

@Resource({ name: 'folder', description: 'All notes', mimeType: 'text/markdown' })
class Folder {
  static readonly uri = 'notes://folder';
  read(): ResourceItem[] {
    return [
      { uri: 'notes://folder/a', text: '# A' },
      { uri: 'notes://folder/dot', blob: dot, mimeType: 'image/png' },
      '# B',
    ];
  }
}

@Resource({ name: 'broken', description: 'A list that cannot be sent' })
class Broken {
  static readonly uri = 'notes://broken';
  read(): ResourceItem[] {
    return ['# A', { uri: 'folder/b', text: '# B' }];
  }
}

@Workflow({ name: 'file', description: 'file all notes', instructions: [Folder] })
class File {
  @Step() notes = read(Folder);
  @Step({ resources: [Folder] }) said = call(tools.Echo, { text: this.notes });
  output = done(this.said.text);
}

const here = { resource: 'folder', uri: Folder.uri };

const fileGraph: GraphParts = {
  inputs: [],
  instructions: [here],
  nodes: [
    {
      ...node('notes'),
      kind: 'resource',
      resource: 'folder',
      uri: { kind: 'literal', value: Folder.uri },
    },
    {
      ...node('said', 'notes'),
      kind: 'call',
      tool: 'echo',
      resources: [here],
      input: dict({ text: ref('steps', 'notes', 'text') }),
    },
    { ...node('output', 'said'), kind: 'return', value: ref('steps', 'said', 'text') },
  ],
};

const registry = registryOf({
  tools: [{ class: tools.Echo, input: { type: 'object' } }],
  resources: [{ class: Folder }, { class: Broken }],
  workflows: [{ class: File, graph: fileGraph }],
});

const asText = `# A\n[Resource: notes://folder/dot]\n# B`;

test('resources/read sends each content, with its own address and type', async () => {
  const { client } = await connectedTo(createServer(registry));
  expect(await client.readResource({ uri: 'notes://folder' })).toStrictEqual({
    contents: [
      { uri: 'notes://folder/a', mimeType: 'text/markdown', text: '# A' },
      { uri: 'notes://folder/dot', mimeType: 'image/png', blob: 'iVA=' },
      { uri: 'notes://folder', mimeType: 'text/markdown', text: '# B' },
    ],
  });
});

test('an item that cannot be sent is named', async () => {
  const { client } = await connectedTo(createServer(registry));
  expect(await refusal(client.readResource({ uri: 'notes://broken' }))).toMatchObject({
    code: -32603,
    message: expect.stringContaining(
      'read() gave a list, and item 1 of it is an object whose uri `folder/b` is not an absolute URI (it has no scheme)',
    ),
  });
});

test('a workflow reads all of them as one text, and shows that', async () => {
  const { client } = await connectedTo(createServer(registry));
  const trace = await client.getPrompt({ name: 'file' });
  expect(trace._meta).toMatchObject({ result: asText });
  expect(trace.messages[0]?.content).toMatchObject({
    type: 'resource',
    resource: { uri: 'notes://folder', mimeType: 'text/plain', text: asText },
  });
  const shown = textsOf(trace).filter((text) => text.startsWith('Resource content from notes://folder'));
  const block = `Resource content from notes://folder (38 characters):\n\`\`\`\n${asText}\n\`\`\``;
  expect(shown).toStrictEqual([block, block]);
});

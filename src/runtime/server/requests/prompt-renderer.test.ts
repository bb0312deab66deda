import { describe, expect, test } from 'vitest';
import { assistant, prompt, user } from '../../../decorators/prompt.js';
import { Resource } from '../../../decorators/resource.js';
import { Tool } from '../../../decorators/tool.js';
import { toolHandle } from '../../../formats/builder/index.js';
import type { Registry } from '../../tools/registry.js';
import { convertPrompt } from './prompt-renderer.js';

@Tool({ name: 'greet', description: 'Greets' })
class Greet {
  execute() {}
}

@Tool({ name: 'stranger', description: 'Is not registered' })
class Stranger {
  execute() {}
}

@Resource({ name: 'guide', title: 'Guide', description: 'How we greet', mimeType: 'text/markdown' })
class Guide {
  static readonly uri = 'resource://guide';
  read() {
    return '';
  }
}

const inputSchema = { type: 'object', properties: { name: { type: 'string' } } };
const registry: Registry = {
  registryVersion: 1,
  checksum: '',
  tools: { greet: { class: Greet, description: 'Greets', inputSchema, fingerprint: '' } },
  resources: {
    guide: {
      class: Guide,
      uri: Guide.uri,
      title: 'Guide',
      description: 'How we greet',
      mimeType: 'text/markdown',
      fingerprint: '',
    },
  },
  workflows: {},
};

describe('what the author wrote, as MCP has it', () => {
  test('text, in which handles are names and addresses', () => {
    const { messages } = convertPrompt(
      [user('plain'), assistant(prompt`Use ${Greet} as ${Guide} says`)],
      registry,
    );
    expect(messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'plain' } },
      { role: 'assistant', content: { type: 'text', text: 'Use greet as resource://guide says' } },
    ]);
  });

  test('a tool is its name, description and schema', () => {
    expect(convertPrompt([user(Greet)], registry).messages).toEqual([
      {
        role: 'user',
        content: {
          type: 'text',
          text: `Tool: greet\nDescription: Greets\nSchema: ${JSON.stringify(inputSchema, null, 2)}`,
        },
      },
    ]);
  });

  test('a handle of a step is refused: classes are written', () => {
    expect(() => convertPrompt([{ role: 'user', content: toolHandle('greet') }], registry)).toThrow(
      "message 1 holds a handle of 'greet', which is for steps of workflows: write the class of the tool",
    );
  });

  test('a resource is a link', () => {
    expect(convertPrompt([user(Guide)], registry).messages).toEqual([
      {
        role: 'user',
        content: {
          type: 'resource_link',
          uri: 'resource://guide',
          name: 'guide',
          title: 'Guide',
          description: 'How we greet',
          mimeType: 'text/markdown',
        },
      },
    ]);
  });

  test('several contents are one message each, of the same role and in their order', () => {
    const image = { type: 'image', data: Uint8Array.of(1, 2, 3), mimeType: 'image/png' } as const;
    const { messages } = convertPrompt([assistant('a', [Greet, image], Guide)], registry);
    expect(messages.map(({ role, content }) => [role, content.type])).toEqual([
      ['assistant', 'text'],
      ['assistant', 'text'],
      ['assistant', 'image'],
      ['assistant', 'resource_link'],
    ]);
    expect(messages[2]?.content).toEqual({ type: 'image', data: 'AQID', mimeType: 'image/png' });
  });
});

describe('a handle that this server does not know is not a text either', () => {
  test.each([
    ['a content', [user(Stranger)]],
    ['a part of a list', [user('a', Stranger)]],
    ['a part of a text', [user(prompt`Use ${Stranger}`)]],
    ['a part of the description', { messages: [user('a')], description: prompt`with ${Stranger}` }],
  ])('as %s', (_where, rendered) => {
    expect(() => convertPrompt(rendered, registry)).toThrow(
      expect.objectContaining({ code: 'E_MISSING_TOOL' }),
    );
  });
});

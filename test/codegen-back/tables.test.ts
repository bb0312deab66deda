import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatDiagnostics } from '../../src/graph/diagnostics/format.js';
import { runCodegen } from '../built-package.js';
import { createProject, type Project, runModule, tsc } from './project.fixture.js';

const sources = {
  'src/text.ts': `export function slugify(text: string): string {
  return text.toLowerCase().replaceAll(' ', '-');
}
`,
  'src/language.ts': `import { Arg, type ArgsOf, call, done, Prompt, type PromptMessages, prompt, Resource, Step, Tool, user, Workflow } from 'stepwright';
import { slugify } from './text.js';

@Tool({
  name: 'find-page',
  description: 'Finds a page',
  icons: [{ src: 'https://example.test/find.png', sizes: ['48x48'] }],
  hints: { category: 'search', next: [() => FindPage], examples: ['ideas'] },
  secret: ['token'],
  meta: { 'example.test/owner': 'ada' },
})
export class FindPage {
  execute({ name }: { name: string; token?: string }): { path: string } {
    return { path: name };
  }
}

@Resource({ name: 'page', description: 'A page', mimeType: 'text/markdown', dotSegments: ['name'], icons: [{ src: 'https://example.test/page.png' }], meta: { 'example.test/owner': { team: 'page' } } })
export class Page {
  static readonly uriTemplate = 'notes://pages/{+name}';
  read({ name }: { name: string }): string {
    return name;
  }
}

@Resource({ name: 'dot', description: 'A picture', file: './dot.png' })
export class Dot {
  static readonly uri = 'notes://dot';
}

@Prompt({ name: 'review', title: 'Review', description: 'Reviews a page', icons: [{ src: 'https://example.test/review.png' }], meta: { 'example.test/owner': { team: 'review' } } })
export class Review {
  @Arg({ description: 'Page' }) page!: Arg<string>;
  @Arg({ description: 'How much', min: 1, max: 9 }) depth?: Arg<number>;
  render({ page }: ArgsOf<Review>): PromptMessages {
    return [user(prompt\`Review \${page} with \${FindPage}\`)];
  }
}

@Workflow({ name: 'find', description: 'Finds a page', icons: [{ src: 'https://example.test/find.png' }], meta: { 'example.test/owner': { team: 'find' } } })
export class Find {
  @Arg({ description: 'Page' }) page!: Arg<string>;
  @Step() slug = slugify(this.page);
  @Step() found = call(FindPage, { name: this.slug });
  output = done({ path: this.found.path });
}
`,
};

const use = `import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { connect, createServer } from 'stepwright/runtime';
import { type PromptName, registry } from '../generated/registry.js';

export const name: PromptName = 'review';
const server = createServer(registry);
const { tools, resources, prompts, functions, module } = registry;
console.log(JSON.stringify({ tools, resources, prompts, functions, module: typeof module }));
console.log(functions.slugify.function('Two words'));
const [transport, own] = InMemoryTransport.createLinkedPair();
await connect(server, own);
const client = new Client({ name: 'test', version: '1.0.0' });
await client.connect(transport);
console.log(JSON.stringify({
  tools: (await client.listTools()).tools,
  prompts: (await client.listPrompts()).prompts,
  templates: (await client.listResourceTemplates()).resourceTemplates,
}));
await client.close();
`;

// It starts Node processes with a compiler in them.
describe('the tables of a registry', { timeout: 240_000 }, () => {
  let project: Project;
  let text: string;
  let output: string;
  beforeAll(async () => {
    project = await createProject({ ...sources, 'src/use.ts': use });
    await writeFile(path.join(project.root, 'src/dot.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]));
    const result = await runCodegen({ root: project.root });
    text = formatDiagnostics(result.diagnostics, result.readSource);
    output = (await runModule(project, 'src/use.ts')).stdout;
  }, 240_000);
  afterAll(() => project.remove());

  test('are written without faults, compile, and agree with their classes', async () => {
    expect(text).toBe('');
    expect(await tsc(project)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(output).toContain('\ntwo-words\n');
  });

  const listed = (name: string) => ({
    icons: [{ src: `https://example.test/${name}.png` }],
    meta: { 'example.test/owner': { team: name } },
  });

  test('contain the options of the decorators', () => {
    const [line = ''] = output.split('\n');
    expect(JSON.parse(line)).toEqual({
      tools: {
        'find-page': expect.objectContaining({
          icons: [{ src: 'https://example.test/find.png', sizes: ['48x48'] }],
          meta: { 'example.test/owner': 'ada' },
          hints: { category: 'search', next: ['find-page'], examples: ['ideas'] },
          secret: ['token'],
          inputSchema: expect.objectContaining({ required: ['name'] }),
          outputSchema: expect.objectContaining({ required: ['path'] }),
        }),
      },
      resources: {
        dot: expect.objectContaining({ uri: 'notes://dot', mimeType: 'image/png', file: 'src/dot.png' }),
        page: expect.objectContaining({
          uri: 'notes://pages/{+name}',
          dotSegments: ['name'],
          ...listed('page'),
        }),
      },
      prompts: {
        review: {
          title: 'Review',
          description: 'Reviews a page',
          ...listed('review'),
          arguments: [
            { name: 'page', description: 'Page', schema: { type: 'string' }, required: true },
            {
              name: 'depth',
              description: 'How much',
              schema: { type: 'number', minimum: 1, maximum: 9 },
              required: false,
            },
          ],
          fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      },
      functions: { slugify: { hash: expect.stringMatching(/^[0-9a-f]{64}$/) } },
      module: 'string',
    });
  });

  test('reach the lists of a client', () => {
    const lists = JSON.parse(output.trim().split('\n').at(-1) ?? '');
    const shown = (name: string) => {
      const { icons, meta } = listed(name);
      return expect.objectContaining({ icons, _meta: meta });
    };
    const named = (list: readonly { name: string }[], name: string) =>
      list.find((each) => each.name === name);
    expect(named(lists.tools, 'find-page')).toMatchObject({
      _meta: { 'example.test/owner': 'ada', 'stepwright/hints': { category: 'search' } },
    });
    expect(named(lists.tools, 'w_find')).toEqual(shown('find'));
    expect(lists.prompts).toEqual([shown('find'), shown('review')]);
    expect(lists.templates).toEqual([shown('page')]);
  });
});

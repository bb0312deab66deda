import { z } from 'zod';
import type { CheckEnvironment } from '../../check/check-graph.js';
import { Resource } from '../../decorators/resource.js';
import { Tool } from '../../decorators/tool.js';
import type { JsonSchema } from '../../graph/json.js';

@Resource({ name: 'intro', description: 'How pages are laid out' })
export class Intro {
  static readonly uri = 'resource://logseq/intro';
  read(): string {
    return 'Pages hold blocks.';
  }
}

@Resource({ name: 'guide', description: 'How tasks are written' })
export class Guide {
  static readonly uri = 'resource://logseq/guide';
  read(): string {
    return 'A task starts with TODO.';
  }
}

@Tool({ name: 'list-pages', description: 'Lists pages', input: z.object({}) })
export class ListPages {
  async execute(): Promise<{ pages: { title: string; score: number }[] }> {
    return { pages: [] };
  }
}

@Tool({
  name: 'add-task',
  description: 'Adds a task',
  input: z.object({
    project: z.string(),
    task: z.string(),
    date: z.string().optional(),
    how: z.string().optional(),
    labels: z.object({ names: z.array(z.string()) }).optional(),
  }),
})
export class AddTask {
  async execute({
    task,
  }: {
    project: string;
    task: string;
    date?: string;
    how?: string;
    labels?: { names: string[] };
  }): Promise<{ id: string }> {
    return { id: task };
  }
}

const closed = (properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const text: JsonSchema = { type: 'string' };

/** The same tools and resources as codegen or a server knows them. */
export const environment: CheckEnvironment = {
  tools: new Map([
    [
      'list-pages',
      {
        inputSchema: closed({}, []),
        outputSchema: closed(
          { pages: { type: 'array', items: closed({ title: text, score: { type: 'number' } }, ['title']) } },
          ['pages'],
        ),
      },
    ],
    [
      'add-task',
      {
        inputSchema: closed(
          { project: text, task: text, date: text, how: text, labels: { type: 'object' } },
          ['project', 'task'],
        ),
        outputSchema: closed({ id: text }, ['id']),
      },
    ],
  ]),
  resources: new Map([
    ['intro', { uri: Intro.uri }],
    ['guide', { uri: Guide.uri }],
  ]),
};

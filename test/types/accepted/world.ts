/** Tools and a resource that every case may use. */
import { Resource, Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';

@Tool({ name: 'list-pages', description: 'Lists the pages', annotations: { readOnlyHint: true } })
export class ListPages {
  execute(): { pages: string[] } {
    return { pages: [] };
  }
}

@Tool({
  name: 'normalize-project',
  description: 'Finds the project that is meant',
  input: z.object({ input: z.string() }),
})
export class NormalizeProject {
  async execute({ input }: { input: string }): Promise<{ name: string; score: number; alias?: string }> {
    return { name: input, score: 1 };
  }
}

@Tool({
  name: 'add-task',
  description: 'Adds a task',
  input: z.object({ project: z.string(), task: z.string(), priority: z.number().optional() }),
  output: z.object({ id: z.string() }),
})
export class AddTask {
  async execute(
    input: { project: string; task: string; priority?: number | undefined },
    context: ToolContext,
  ): Promise<{ id: string }> {
    context.signal.throwIfAborted();
    return { id: input.project };
  }
}

@Tool({ name: 'search', description: 'Searches', input: z.object({ limit: z.number().default(10) }) })
export class Search {
  constructor(readonly folder: string) {}
  async execute({ limit = 10 }: { limit?: number }): Promise<{ lines: { text: string }[] }> {
    return { lines: [{ text: `${this.folder}${limit}` }] };
  }
}

@Resource({ name: 'logseq-intro', description: 'How pages are laid out', file: './intro.md' })
export class LogseqIntro {
  static readonly uri = 'resource://logseq/intro';
}

import { Tool } from 'stepwright';
import { z } from 'zod';
import type { LogseqGraph } from '../graph.js';

@Tool({
  name: 'verify-project',
  description: 'Check if project exists',
  input: z.object({
    project: z.string().min(1).describe('Name or alias of the project page; case does not matter'),
    available_pages: z.array(z.string()).describe('Pages to choose from, as list-pages returns them'),
  }),
  output: z.object({ exists: z.literal(true), path: z.string().describe('File of the page in the graph') }),
  annotations: { readOnlyHint: true, openWorldHint: false },
})
export class VerifyProject {
  readonly #graph: LogseqGraph;

  constructor(graph: LogseqGraph) {
    this.#graph = graph;
  }

  async execute(input: {
    project: string;
    available_pages: string[];
  }): Promise<{ exists: true; path: string }> {
    const page = await this.#graph.findPage(input.project);
    if (page === undefined || !input.available_pages.includes(page.name)) {
      throw new Error(`Project '${input.project}' not found in available pages`);
    }
    return { exists: true, path: page.path };
  }
}

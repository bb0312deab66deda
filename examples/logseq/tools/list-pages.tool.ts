import { Tool } from 'stepwright';
import { z } from 'zod';
import type { LogseqGraph } from '../graph.js';

@Tool({
  name: 'list-pages',
  description: 'Get all available pages',
  input: z.object({}),
  output: z.object({ pages: z.array(z.string()) }),
  annotations: { readOnlyHint: true, openWorldHint: false },
})
export class ListPages {
  readonly #graph: LogseqGraph;

  constructor(graph: LogseqGraph) {
    this.#graph = graph;
  }

  async execute(): Promise<{ pages: string[] }> {
    return { pages: (await this.#graph.pages()).map((page) => page.name) };
  }
}

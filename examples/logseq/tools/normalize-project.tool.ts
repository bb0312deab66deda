import { Tool } from 'stepwright';
import { z } from 'zod';
import { oneLine } from '../block.js';
import type { LogseqGraph } from '../graph.js';
import { fileOfPage } from '../page.js';

@Tool({
  name: 'normalize-project',
  description: 'Turn what the user typed into the name of a project page',
  input: z.object({
    input: z.string().min(1).max(200).describe('As typed: with brackets, a hash, any case'),
  }),
  output: z.object({
    name: z.string().describe('Name of the page, as links write it'),
    exists: z.boolean().describe('False for a new page: Logseq makes it when it is first opened'),
  }),
  annotations: { readOnlyHint: true, openWorldHint: false },
})
export class NormalizeProject {
  readonly #graph: LogseqGraph;

  constructor(graph: LogseqGraph) {
    this.#graph = graph;
  }

  async execute({ input }: { input: string }): Promise<{ name: string; exists: boolean }> {
    const typed = withoutMarkup(input);
    if (typed === '') throw new Error('project_name cannot be empty');
    const page = await this.#graph.findPage(typed);
    if (page !== undefined) return { name: page.name, exists: true };
    if (fileOfPage(typed) === undefined) throw new Error(`'${typed}' cannot be the name of a page`);
    return { name: typed, exists: false };
  }
}

/** `[[Website]]`, `#Website` and `#[[Website]]` are ways to write a link to `Website`. */
function withoutMarkup(input: string): string {
  const text = oneLine(input).replace(/^#/, '');
  return text.replace(/^\[\[(.*)\]\]$/, '$1').trim();
}

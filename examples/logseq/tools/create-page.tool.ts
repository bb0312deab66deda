import { Tool, type ToolContext } from 'stepwright';
import { printPage } from '../block.js';
import type { LogseqGraph } from '../graph.js';

/** A page to be made. */
interface NewPage {
  /**
   * Name of the page; a slash makes it a page under another one
   * @minLength 1
   * @maxLength 100
   */
  name: string;
  /** The lines `key:: value` at its top */
  properties: { type: string; week: string };
  /**
   * Its bullets
   * @maxItems 20
   */
  blocks: Section[];
}

interface Section {
  /** @minLength 1 */
  text: string;
  /**
   * The bullets under it
   * @maxItems 200
   */
  children: string[];
}

@Tool({
  name: 'create-page',
  description: 'Add a page to the graph; one that exists is left as it is',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
})
export class CreatePage {
  readonly #graph: LogseqGraph;

  constructor(graph: LogseqGraph) {
    this.#graph = graph;
  }

  async execute(
    { name, properties, blocks }: NewPage,
    { signal }: ToolContext,
  ): Promise<{ name: string; path: string }> {
    const page = await this.#graph.createPage(name, printPage(properties, blocks), signal);
    return { name: page.name, path: page.path };
  }
}

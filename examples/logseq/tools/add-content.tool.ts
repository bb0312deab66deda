import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import { oneLine } from '../block.js';
import { blockId } from '../block-id.js';
import { dayOf, localToday } from '../day.js';
import type { LogseqGraph } from '../graph.js';

@Tool({
  name: 'add-content',
  description: 'Add a block to the journal of a day',
  input: z.object({
    content: z.string().max(4000).describe('One line of Logseq Markdown, without the bullet'),
    date: z.string().optional().describe("YYYY-MM-DD or 'today', which it is when left out"),
  }),
  output: z.object({
    entry_id: z.string().describe('Id of the new block'),
    page: z.string().describe('File of the journal it was added to'),
    block_ref: z.string().describe('How other blocks refer to it: ((id))'),
  }),
  // The same content may be wanted twice; a repeated attempt of one step is told by its key.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
})
export class AddContent {
  readonly #graph: LogseqGraph;
  readonly #today: () => string;

  /** @param today The day that `today` means, `yyyy-mm-dd`. Default: the local calendar's. */
  constructor(graph: LogseqGraph, today: () => string = localToday) {
    this.#graph = graph;
    this.#today = today;
  }

  async execute(
    { content, date = 'today' }: { content: string; date?: string },
    { idempotencyKey, signal }: ToolContext,
  ): Promise<{ entry_id: string; page: string; block_ref: string }> {
    const text = oneLine(content);
    if (text === '') throw new Error('content cannot be empty');
    const id = blockId(idempotencyKey);
    const place = await this.#graph.appendToJournal(dayOf(date, this.#today), { id, text }, signal);
    return { entry_id: id, page: place.file, block_ref: `((${id}))` };
  }
}

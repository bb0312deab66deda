import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import { oneLine, taskBlock } from '../block.js';
import { blockId } from '../block-id.js';
import { localToday } from '../day.js';
import type { LogseqGraph } from '../graph.js';

@Tool({
  name: 'add-journal-task',
  description: 'Add the task to the project',
  input: z.object({
    project: z.string().min(1).describe('Name of the project, as the user gave it'),
    task: z.string().min(1).max(2000).describe('What needs doing; line breaks become spaces'),
    project_path: z.string().describe('File of the project page, as verify-project returns it'),
    date: z.iso.date().optional().describe('Day of the journal, yyyy-mm-dd; today when left out'),
  }),
  output: z.object({
    success: z.literal(true),
    task_id: z.string().describe('Id of the new block, for ((block references))'),
    journal: z.string().describe('File the task was written to'),
    line: z.int().describe('Line of the task in that file'),
  }),
  // Not idempotent for callers: the same task may be wanted twice. A repeated attempt is told by its key.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
})
export class AddJournalTask {
  readonly #graph: LogseqGraph;
  readonly #today: () => string;

  /** @param today The day a task goes to when the caller names none, `yyyy-mm-dd`. Default: the local calendar's. */
  constructor(graph: LogseqGraph, today: () => string = localToday) {
    this.#graph = graph;
    this.#today = today;
  }

  async execute(
    input: { project: string; task: string; project_path: string; date?: string | undefined },
    context: ToolContext,
  ): Promise<{ success: true; task_id: string; journal: string; line: number }> {
    if (oneLine(input.task) === '') throw new Error('The task has no text');
    const page = await this.#graph.pageAt(input.project_path);
    if (page === undefined || (await this.#graph.findPage(input.project))?.path !== page.path) {
      throw new Error(`'${input.project_path}' is not the page of project '${input.project}'`);
    }
    const id = blockId(context.idempotencyKey);
    const day = input.date ?? this.#today();
    const place = await this.#graph.appendToJournal(
      day,
      taskBlock(id, page.name, input.task),
      context.signal,
    );
    return { success: true, task_id: id, journal: place.file, line: place.line };
  }
}

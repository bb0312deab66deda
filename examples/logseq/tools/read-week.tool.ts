import { Tool } from 'stepwright';
import { dayOf, localToday, weekOf } from '../day.js';
import type { LogseqGraph } from '../graph.js';
import { type Task, tasksIn } from '../task.js';

/** What to read. */
interface WeekInput {
  /** A day of the week, YYYY-MM-DD or 'today', which it is when left out */
  day?: string;
}

/** The tasks of a week's journals. */
interface WeekTasks {
  /** As ISO 8601 names it: 2026-W03 */
  week: string;
  /** Days that have a journal */
  journals: string[];
  /** In the order of the days, and of the blocks of each */
  tasks: Task[];
}

// No schemas: they are derived from the types of `execute`, descriptions from the comments.
@Tool({
  name: 'read-week',
  description: 'Collect the tasks in the journals of a week',
  annotations: { readOnlyHint: true, openWorldHint: false },
})
export class ReadWeek {
  readonly #graph: LogseqGraph;
  readonly #today: () => string;

  /** @param today The day that `today` means, `yyyy-mm-dd`. Default: the local calendar's. */
  constructor(graph: LogseqGraph, today: () => string = localToday) {
    this.#graph = graph;
    this.#today = today;
  }

  async execute({ day = 'today' }: WeekInput): Promise<WeekTasks> {
    const { name, days } = weekOf(dayOf(day, this.#today));
    const journals: string[] = [];
    const tasks: Task[] = [];
    for (const each of days) {
      const text = await this.#graph.journal(each);
      if (text === undefined) continue;
      journals.push(each);
      tasks.push(...tasksIn(text, each));
    }
    return { week: name, journals, tasks };
  }
}

/** A task of a journal, and where it stands. */
export interface Task {
  /** As Logseq writes it. */
  readonly state: TaskState;
  /** The block without its state, links as they are. */
  readonly text: string;
  /** The first page it links to. */
  readonly project?: string;
  /** Day of the journal it stands in, `yyyy-mm-dd`. */
  readonly day: string;
}

export type TaskState = 'TODO' | 'DOING' | 'NOW' | 'LATER' | 'WAITING' | 'DONE' | 'CANCELED';

const TASK = /^\s*- (TODO|DOING|NOW|LATER|WAITING|DONE|CANCELED) +(\S.*)$/;
const LINK = /\[\[([^[\]]+)\]\]/;

/** The tasks of a journal, in written order. @param day Whose journal it is, `yyyy-mm-dd`. */
export function tasksIn(journal: string, day: string): Task[] {
  return journal.split(/\r?\n/).flatMap((line) => {
    const [, state, text] = TASK.exec(line) ?? [];
    if (state === undefined || text === undefined) return [];
    const project = LINK.exec(text)?.[1];
    return [
      { state: state as TaskState, text: text.trim(), day, ...(project === undefined ? {} : { project }) },
    ];
  });
}

/** The pages that tasks link to, each once, in the order of the first mention. */
export function projectsOf(tasks: readonly Task[]): string[] {
  return [...new Set(tasks.flatMap(({ project }) => project ?? []))];
}

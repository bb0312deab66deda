/** All of the language that is there: accepted by every compiler, with either kind of decorators. */
import { Arg, call, done, fail, Resource, read, Step, Tool, Workflow } from 'stepwright';
import { AddTask, ListPages, LogseqIntro, NormalizeProject, Search } from './world.js';

@Resource({ name: 'today', title: 'Today', description: 'What is due', mimeType: 'text/markdown' })
export class Today {
  static readonly uri = 'resource://logseq/today';
  constructor(readonly folder: string) {}
  async read(): Promise<string> {
    return this.folder;
  }
}

@Tool({ name: 'ping', description: 'Answers' })
export class Ping {
  execute(_input: Record<string, never>): void {}
}

@Tool({ name: 'sort', description: 'Sorts', annotations: { idempotentHint: true } })
export class Sort {
  execute(input: { by: 'name'; order?: number } | { by?: 'date' }): { by: string } {
    return { by: input.by ?? 'date' };
  }
}

@Workflow({
  name: 'add-task',
  title: 'Add a task',
  description: 'add a task to a project',
  version: '1.0.0',
  domain: 'logseq',
  instructions: [LogseqIntro, Today],
  expose: ['prompt'],
  failFast: true,
})
export class AddTaskToProject {
  @Arg({ description: 'What needs doing', title: 'Task' }) task!: Arg<string>;
  @Arg({ description: 'Date', secret: true }) date?: Arg<string>;
  @Arg({ description: 'At most', default: 10 }) limit!: Arg<number, 'default'>;
  @Arg({ description: 'Where', default: 'top' }) where!: Arg<'top' | 'bottom', 'default'>;
  @Arg({ description: 'Labels', default: ['a', 'b'] }) labels!: Arg<string[], 'default'>;
  @Arg({ description: 'Filter', default: { tags: ['a'], mode: 'all' } }) filter!: Arg<
    { tags: string[]; mode: 'all' | 'any' },
    'default'
  >;
  @Arg({ description: 'Parent', default: null }) parent!: Arg<string | null, 'default'>;
  @Arg({ description: 'Quiet', default: false }) quiet!: Arg<boolean, 'default'>;

  @Step() pages = call(ListPages);
  @Step({ id: 'pong', after: [], title: 'Ping', guidance: 'For {task}', timeoutMs: 5_000 }) ping = call(
    Ping,
    {},
  );
  @Step() pinged = call(Ping);
  @Step() listed = call(ListPages, {}, { id: 'listed-again', timeoutMs: 1_000 });
  @Step() found = call(NormalizeProject, { input: `${this.task} in ${this.pages.pages[0] ?? ''}` });
  @Step() everything = call(Search);
  @Step() some = call(Search, { limit: this.limit + 1 });
  @Step() sorted = call(Sort, { by: 'name', order: this.limit });
  @Step() intro = read(LogseqIntro);
  @Step() today = read(Today);
  @Step() stop =
    this.found.score > 0.5 && this.where === 'top' ? undefined : fail(`unsure about ${this.task}`);
  @Step() alias = this.found.alias ?? fail('no alias');
  @Step() dated = this.date !== undefined ? call(NormalizeProject, { input: this.date }) : undefined;
  @Step() added = call(AddTask, {
    project: this.alias,
    task: `${this.task}: ${this.intro} ${this.dated?.name ?? 'someday'} ${this.labels[0]} ${this.filter.tags.length}`,
    priority: this.some.lines.length,
  });
  early = this.quiet ? done({ id: 'none', text: null }) : undefined;
  output = done({ id: this.added.id, text: this.some.lines[0]?.text });
}

/** Its inferred types can be named in a declaration file. */
@Workflow({ name: 'echo', description: 'hand back what was given' })
export class Echo {
  @Arg({ description: 'Text' }) text!: Arg<string>;
  @Arg({ description: 'Date' }) date?: Arg<string>;
  @Arg({ description: 'Where', default: 'top' }) where!: Arg<'top' | 'bottom', 'default'>;
  @Step() dated: string = this.date ?? fail('no date');
  @Step() private hidden = this.where === 'top' ? call(ListPages) : undefined;
  output = done({
    text: this.text,
    where: this.where,
    date: this.date,
    dated: this.dated,
    pages: this.hidden?.pages,
  });
}

import { Arg, attempt, call, done, fail, link, Step, Workflow } from 'stepwright';
import { ErrorHandling, ProjectTags, WorkflowIntro } from './instructions.js';
import { projectsOf } from './task.js';
import { AddContent } from './tools/add-content.tool.js';
import { CreatePage } from './tools/create-page.tool.js';
import { ListPages } from './tools/list-pages.tool.js';
import { ReadWeek } from './tools/read-week.tool.js';

@Workflow({
  name: 'weekly-review',
  description: 'write the review of a week',
  instructions: [WorkflowIntro, ErrorHandling, ProjectTags],
})
export class WeeklyReview {
  @Arg({ description: 'A day of the week, YYYY-MM-DD or today', default: 'today' })
  day!: Arg<string, 'default'>;
  @Arg({ description: 'Open tasks to list at most', type: 'integer', min: 1, max: 200, default: 20 })
  limit!: Arg<number, 'default'>;

  @Step({ retry: { attempts: 2, delayMs: 100 } }) week = call(ReadWeek, { day: this.day });

  @Step()
  empty = this.week.tasks.length === 0 ? fail(`No tasks in the journals of ${this.week.week}`) : undefined;

  @Step() finished = this.week.tasks.filter((task) => task.state === 'DONE');
  @Step() open = this.week.tasks.filter((task) => !['DONE', 'CANCELED'].includes(task.state));
  @Step() left = this.open.length > this.limit ? this.open.length - this.limit : 0;

  @Step() projects = projectsOf(this.week.tasks);
  @Step({ summary: '{pages.length} pages' })
  pages = call(ListPages, {}, { transform: (out) => out.pages.map((page) => page.toLowerCase()) });
  @Step() unknown = this.projects.filter((project) => !this.pages.includes(project.toLowerCase()));

  @Step({ guidance: 'The review of {week.week} counts {finished.length} done and {open.length} open tasks.' })
  review = call(CreatePage, {
    name: `Review/${this.week.week}`,
    properties: { type: 'review', week: this.week.week },
    blocks: [
      {
        text: `## Done (${this.finished.length})`,
        children: this.finished.map((task) => `${task.text} (${task.day})`),
      },
      {
        text: `## Open (${this.open.length})`,
        children: [
          ...this.open
            .slice(0, this.limit)
            .map((task) => `${task.text} (${task.state.toLowerCase()}, ${task.day})`),
          ...(this.left > 0 ? [`and ${this.left} more`] : []),
        ],
      },
      { text: '## Projects', children: this.projects.map((project) => `[[${project}]]`) },
    ],
  });

  // The review is kept, whether or not the journal has an entry for it.
  @Step()
  note = attempt(call(AddContent, { date: this.day, content: `Wrote [[${this.review.name}]]` }), (error) => ({
    entry_id: null,
    page: null,
    block_ref: `not noted in the journal: ${error.message}`,
  }));

  output = done({
    page: this.review.path,
    done: this.finished.length,
    open: this.open.length,
    unknown_projects: this.unknown.join(', '),
    noted: this.note.page ?? this.note.block_ref,
    tags: link(ProjectTags),
  });
}

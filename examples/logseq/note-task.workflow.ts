import { Arg, ask, call, done, Step, Workflow } from 'stepwright';
import { TodoFormat } from './instructions.js';
import { AddContent } from './tools/add-content.tool.js';
import { ListPages } from './tools/list-pages.tool.js';

/** The server finds the pages and writes the block; which page is meant, and how to put the task, takes a model. */
@Workflow({ name: 'note-task', description: 'note a task for the project that fits it best' })
export class NoteTask {
  @Arg({ description: 'Project, as the user calls it' }) project!: Arg<string>;
  @Arg({ description: 'What needs doing' }) task!: Arg<string>;

  @Step() pages = call(ListPages);

  @Step({ guidance: "Link the page of the list that '{project}' means.", resources: [TodoFormat] })
  added = call(AddContent, {
    content: ask.model(
      `Write '${this.task}' as one TODO for the page '${this.project}' of: ${this.pages.pages.join(', ')}`,
    ),
  });

  output = done({ entry_id: this.added.entry_id, page: this.added.page });
}

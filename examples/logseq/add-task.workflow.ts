import { Arg, call, done, Step, Workflow } from 'stepwright';
import { LogseqIntro } from './logseq-intro.resource.js';
import { AddJournalTask } from './tools/add-journal-task.tool.js';
import { ListPages } from './tools/list-pages.tool.js';
import { VerifyProject } from './tools/verify-project.tool.js';

@Workflow({ name: 'add-task', description: 'add a task to a project', instructions: [LogseqIntro] })
export class AddTask {
  @Arg({ description: 'Project page, by name or alias' }) project!: Arg<string>;
  @Arg({ description: 'What needs doing' }) task!: Arg<string>;
  @Arg({ description: 'Day of the journal, yyyy-mm-dd; today when left out' }) date?: Arg<string>;

  @Step() list = call(ListPages);

  @Step({ guidance: "Find the page that '{project}' means, by its name or an alias." })
  verify = call(VerifyProject, { project: this.project, available_pages: this.list.pages });

  @Step()
  add = call(AddJournalTask, {
    project: this.project,
    task: this.task,
    project_path: this.verify.path,
    date: this.date,
  });

  output = done({ task_id: this.add.task_id, journal: this.add.journal, line: this.add.line });
}

import { Arg, call, done, Step, Workflow } from 'stepwright';
import { ErrorHandling, TodoFormat, WorkflowIntro } from './instructions.js';
import { AddContent } from './tools/add-content.tool.js';
import { BuildTodoContent } from './tools/build-todo-content.tool.js';
import { NormalizeProject } from './tools/normalize-project.tool.js';

@Workflow({
  name: 'add-todo-to-project',
  description: 'add a TODO item to a Logseq project',
  instructions: [WorkflowIntro, ErrorHandling, TodoFormat],
})
export class AddTodoToProject {
  @Arg({ description: 'What needs doing' }) task_description!: Arg<string>;
  @Arg({ description: 'Project name (without brackets)' }) project_name!: Arg<string>;
  @Arg({ description: 'Date, YYYY-MM-DD or today (default)', pattern: '^(today|\\d{4}-\\d{2}-\\d{2})$' })
  date?: Arg<string>;

  @Step() normalized = call(NormalizeProject, { input: this.project_name });

  @Step()
  content = call(BuildTodoContent, { task: this.task_description, project: this.normalized.name });

  @Step() result = call(AddContent, { date: this.date, content: this.content.text });

  output = done({
    status: 'success',
    message: this.normalized.exists
      ? `Added to ${this.normalized.name}`
      : `Added to ${this.normalized.name}, which has no page yet`,
    entry_id: this.result.entry_id,
    page: this.result.page,
    block_ref: this.result.block_ref,
  });
}

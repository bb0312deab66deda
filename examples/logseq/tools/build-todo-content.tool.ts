import { Tool } from 'stepwright';
import { z } from 'zod';
import { oneLine, taskText } from '../block.js';

@Tool({
  name: 'build-todo-content',
  description: 'Write a task the way Logseq keeps it',
  input: z.object({
    task: z.string().max(2000).describe('What needs doing; line breaks become spaces'),
    project: z.string().min(1).describe('Name of the project page, as normalize-project returns it'),
  }),
  output: z.object({ text: z.string().describe('One line: TODO, the project as a link, the task') }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
})
export class BuildTodoContent {
  execute({ task, project }: { task: string; project: string }): { text: string } {
    if (oneLine(task) === '') throw new Error('task_description cannot be empty');
    return { text: taskText(project, task) };
  }
}

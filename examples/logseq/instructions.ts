import { Resource } from 'stepwright';

// What the workflows of this graph have in common is said once, and shared by their decorators.

@Resource({
  name: 'workflow-intro',
  description: 'What every workflow on this graph keeps to',
  file: './instructions/workflow-intro.md',
})
export class WorkflowIntro {
  static readonly uri = 'resource://logseq/workflow-intro';
}

@Resource({
  name: 'error-handling',
  description: 'What to do when a step fails',
  file: './instructions/error-handling.md',
})
export class ErrorHandling {
  static readonly uri = 'resource://logseq/error-handling';
}

@Resource({
  name: 'todo-format',
  description: 'How a TODO is written',
  file: './instructions/todo-format.md',
})
export class TodoFormat {
  static readonly uri = 'resource://logseq/todo-format';
}

@Resource({
  name: 'project-tags',
  description: 'How projects are tagged',
  file: './instructions/project-tags.md',
})
export class ProjectTags {
  static readonly uri = 'resource://logseq/project-tags';
}

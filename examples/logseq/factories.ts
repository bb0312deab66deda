import type { LogseqGraph } from './graph.js';
import { AddContent } from './tools/add-content.tool.js';
import { AddJournalTask } from './tools/add-journal-task.tool.js';
import { CreatePage } from './tools/create-page.tool.js';
import { ListPages } from './tools/list-pages.tool.js';
import { NormalizeProject } from './tools/normalize-project.tool.js';
import { ReadWeek } from './tools/read-week.tool.js';
import { VerifyProject } from './tools/verify-project.tool.js';

/** Makes the tools of a graph, by name. */
export function toolsOf(graph: LogseqGraph) {
  return {
    'list-pages': () => new ListPages(graph),
    'verify-project': () => new VerifyProject(graph),
    'add-journal-task': () => new AddJournalTask(graph),
    'normalize-project': () => new NormalizeProject(graph),
    'add-content': () => new AddContent(graph),
    'read-week': () => new ReadWeek(graph),
    'create-page': () => new CreatePage(graph),
  };
}

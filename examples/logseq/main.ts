import { serve } from 'stepwright/runtime';
import { registry } from '../../generated/registry.js';
import { LogseqGraph } from './graph.js';
import { AddContent } from './tools/add-content.tool.js';
import { AddJournalTask } from './tools/add-journal-task.tool.js';
import { CreatePage } from './tools/create-page.tool.js';
import { ListPages } from './tools/list-pages.tool.js';
import { NormalizeProject } from './tools/normalize-project.tool.js';
import { ReadWeek } from './tools/read-week.tool.js';
import { VerifyProject } from './tools/verify-project.tool.js';

const folder = process.argv[2] ?? process.env.LOGSEQ_GRAPH;
if (folder === undefined) {
  console.error('Which graph? Give its folder as an argument, or set LOGSEQ_GRAPH.');
  process.exit(2);
}

const graph = new LogseqGraph(folder);

await serve(registry, {
  name: 'stepwright-logseq',
  version: '0.1.0',
  tools: {
    'list-pages': () => new ListPages(graph),
    'verify-project': () => new VerifyProject(graph),
    'add-journal-task': () => new AddJournalTask(graph),
    'normalize-project': () => new NormalizeProject(graph),
    'add-content': () => new AddContent(graph),
    'read-week': () => new ReadWeek(graph),
    'create-page': () => new CreatePage(graph),
  },
});

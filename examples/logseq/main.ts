import { serve } from 'stepwright/runtime';
import { registry } from '../../generated/registry.js';
import { toolsOf } from './factories.js';
import { LogseqGraph } from './graph.js';

const folder = process.argv[2] ?? process.env.LOGSEQ_GRAPH;
if (folder === undefined) {
  console.error('Which graph? Give its folder as an argument, or set LOGSEQ_GRAPH.');
  process.exit(2);
}

await serve(registry, {
  name: 'stepwright-logseq',
  version: '0.1.0',
  tools: toolsOf(new LogseqGraph(folder)),
});

import { join } from 'node:path';
import { serve } from 'stepwright/runtime';
import { Cluster } from './cluster.js';
import { registry } from './generated/deploy.registry.js';
import { deployTools } from './tools.js';

// Argument: the folder of the runs and the cluster.
const [folder = '.'] = process.argv.slice(2);

await serve(registry, {
  name: 'stepwright-deploy',
  version: '0.1.0',
  store: `sqlite:${join(folder, 'runs.db')}`,
  tools: deployTools(new Cluster(join(folder, 'cluster.jsonl'))),
});

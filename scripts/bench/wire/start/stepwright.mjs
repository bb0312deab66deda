import { tellCosts, tools } from './tools.mjs';

// The server of stepwright. Its second argument is the URL of the built package. What codegen would have written is made
// here, which costs a little more.
tellCosts();
const load = (file) => import(`${process.argv[3]}/dist/${file}`);
const [{ Tool }, { serve }, { fingerprint, fromMetadata, readMetadata, REGISTRY_VERSION, registryChecksum }] =
  await Promise.all([load('index.js'), load('runtime/index.js'), load('decorators/metadata.js')]);
const entries = tools.map(({ name, description, ...schemas }) => {
  class Task {
    execute() {
      return { id: name, sizes: [] };
    }
  }
  Tool({ name, description })(Task, { kind: 'class', name: 'Task', metadata: {}, addInitializer() {} });
  const print = fingerprint(fromMetadata(readMetadata(Task)));
  return [name, { class: Task, description, ...schemas, fingerprint: print }];
});
const tables = { tools: Object.fromEntries(entries), resources: {}, workflows: {} };
await serve({ registryVersion: REGISTRY_VERSION, checksum: registryChecksum(tables), ...tables });

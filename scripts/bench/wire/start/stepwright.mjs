import { checksum, fingerprints, tellCosts, tools } from './tools.mjs';

// The server of stepwright. Its second argument is the URL of the built package, its third one a store, if it has one.
tellCosts();
const load = (file) => import(`${process.argv[3]}/dist/${file}`);
const [{ Tool }, { REGISTRY_VERSION, serve }] = await Promise.all([
  load('index.js'),
  load('runtime/index.js'),
]);
const entries = tools.map(({ name, description, ...schemas }, index) => {
  class Task {
    execute() {
      return { id: name, sizes: [] };
    }
  }
  Tool({ name, description })(Task, { kind: 'class', name: 'Task', metadata: {}, addInitializer() {} });
  return [name, { class: Task, description, ...schemas, fingerprint: fingerprints[index] }];
});
const tables = { tools: Object.fromEntries(entries), resources: {}, workflows: {} };
const store = process.argv[4];
await serve({ registryVersion: REGISTRY_VERSION, checksum, ...tables }, store === undefined ? {} : { store });

import { join } from 'node:path';
import { emptyRegistry, serve, serveHttp } from 'stepwright/runtime';

// Arguments: the folder of the runs; the port, without one over stdio. Several servers may use one folder.
const [folder = '.', port] = process.argv.slice(2);

const options = {
  name: 'stepwright-durable',
  version: '0.1.0',
  store: (process.env.STEPWRIGHT_STORE ?? `sqlite:${join(folder, 'runs.db')}`) as `sqlite:${string}`,
  // For so long the next server waits for one that was killed.
  runs: { leaseMs: 1_000 },
  // `npm run planning` shows the state of its runs at their end.
  debug: true,
  specs: { files: ['examples/durable/workflows/*.yaml'], watch: false },
} as const;

if (port === undefined) await serve(emptyRegistry, options);
else await serveHttp(emptyRegistry, { ...options, port: Number(port) });

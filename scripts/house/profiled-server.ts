import { Session } from 'node:inspector';
import { join } from 'node:path';
import { serve } from 'stepwright/runtime';
import { Books } from '../../examples/approval/books.js';
import { serveApproval } from '../../examples/approval/server.js';
import { registry } from '../../examples/greeting/generated/greeting.registry.js';
import { greetings } from '../bench/wire/greetings.js';

// A server that counts what its functions do. Arguments: `greetings` for a prompt of three steps over stdio, or
// `approval` and a folder for examples/approval over HTTP. Each message from the parent process is answered with the
// files whose functions ran since the one before, and how many of them.

const SOURCES = new URL('../../src/', import.meta.url).href;

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('message', () => {
  session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
    const files = result
      .filter(({ url }) => url.startsWith(SOURCES))
      .map(({ url, functions }) => ({
        file: `src/${url.slice(SOURCES.length)}`,
        functions: functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length,
      }));
    process.send?.(files.filter(({ functions }) => functions > 0));
  });
});

const [example, folder = '.'] = process.argv.slice(2);
if (example === 'greetings') await serve(registry, { workflows: [greetings(3).build()] });
else await serveApproval(folder, new Books(join(folder, 'books.jsonl')), 0);

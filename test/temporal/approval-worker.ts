import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { Books, type Entry } from '../../examples/approval/books.js';
import { registry } from '../../examples/approval/generated/approval.registry.js';
import { PayExpense, ReleaseBudget, ReserveBudget } from '../../examples/approval/tools.js';
import { openTelemetry } from '../../src/opentelemetry/index.js';
import { startWorker, temporal } from '../../src/temporal/index.js';

// A worker of examples/approval that crashes. Arguments: its folder; address, task queue and bundle; the kind of entry
// after which its process is killed, before the run learns of it. Its spans go to a file of the folder.

const [folder = '.', address = '', taskQueue = '', bundlePath = '', fatal = ''] = process.argv.slice(2);

class FatalBooks extends Books {
  override enter(key: string, kind: Entry['kind'], purpose: string, amount: number): Entry {
    const entry = super.enter(key, kind, purpose, amount);
    if (kind === fatal) process.kill(process.pid, 'SIGKILL');
    return entry;
  }
}

const books = new FatalBooks(join(folder, 'books.jsonl'));

new NodeTracerProvider({
  spanProcessors: [
    new SimpleSpanProcessor({
      export(spans, done) {
        for (const span of spans) {
          const { name, attributes, parentSpanContext: parent } = span;
          const { traceId: trace } = span.spanContext();
          const line = { name, attributes, trace, parent: parent?.spanId };
          appendFileSync(join(folder, 'spans.jsonl'), `${JSON.stringify(line)}\n`);
        }
        done({ code: 0 });
      },
      shutdown: async () => {},
    }),
  ],
}).register();

await startWorker(registry, {
  telemetry: openTelemetry(),
  // So long the server waits for a worker that is gone before it tries another one.
  store: temporal({ address, taskQueue, bundlePath, worker: { stickyQueueScheduleToStartTimeout: 1_000 } }),
  tools: {
    'reserve-budget': () => new ReserveBudget(books),
    'release-budget': () => new ReleaseBudget(books),
    'pay-expense': () => new PayExpense(books),
  },
});
process.stdout.write('ready\n');

// Serves workflows whose steps write to a ledger outside of the store: over HTTP, where it prints its address and a line
// for each effect, or over stdio. Arguments: path of the store, path of the ledger, `http` or `stdio`, and `hangs` for a
// server whose calls of `slow` do not return, `edited` for one without `slow` and with another `gate`, `stateless` for one
// without sessions, or `tasks` for such a one with calls that are tasks. The events of its log are written to stderr.
import { appendFileSync } from 'node:fs';
import { Tool, type ToolContext } from 'stepwright';
import { type LogRecord, serve, serveHttp } from 'stepwright/runtime';
import { ask, call, lit, returns, step, wait, workflow } from '../e2e/composite/fixture/workflows.js';
import { registryOf } from '../e2e/server/fixture/registry-of.js';

/** The limit of the slow call of `limited`. */
const LIMIT_MS = 2_000;

const [path = '', ledger = '', transport = 'http', how] = process.argv.slice(2);

function note(name: string, key: string | undefined): void {
  appendFileSync(ledger, `${name} ${key}\n`);
  if (transport === 'http') process.stdout.write(`${name}\n`);
}

const task = how === 'tasks' ? ({ task: 'optional' } as const) : {};

@Tool({ name: 'record', description: 'Writes to the ledger', retrySafety: 'key', ...task })
class RecordEffect {
  execute({ name }: { name: string }, { idempotencyKey }: ToolContext) {
    note(name, idempotencyKey);
    return { name };
  }
}

@Tool({ name: 'charge', description: 'Takes effect, and answers never', retrySafety: 'none' })
class Charge {
  execute(_: object, { idempotencyKey }: ToolContext) {
    note('charge', idempotencyKey);
    return new Promise(() => {});
  }
}

@Tool({ name: 'slow', description: 'Writes to the ledger', retrySafety: 'key' })
class Slow {
  execute(_: object, { idempotencyKey }: ToolContext) {
    note('slow', idempotencyKey);
    return how === 'hangs' ? new Promise(() => {}) : { name: 'slow' };
  }
}

const text = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const registry = registryOf({
  tools: [
    { class: RecordEffect, input: text },
    { class: Charge, input: { type: 'object', properties: {} } },
    ...(how === 'edited' ? [] : [{ class: Slow, input: { type: 'object', properties: {} } } as const]),
  ],
});

const effect = (name: string) => call(name, 'record', { name: lit(name) });
const workflows = [
  workflow('line', [
    ask('go'),
    ...['a', 'b', 'c', 'd', 'e', 'f'].map(effect),
    ask('sure'),
    effect('g'),
    returns(step('g', 'name')),
  ]),
  ...(how === 'edited'
    ? [workflow('gate', [ask('go'), effect('b'), returns(step('b', 'name'))])]
    : [
        workflow('gate', [ask('go'), effect('a'), call('slow', 'slow'), returns(step('a', 'name'))]),
        workflow('limited', [
          ask('go'),
          call('slow', 'slow', {}, { timeoutMs: LIMIT_MS }),
          ask('sure'),
          returns(lit(true)),
        ]),
        workflow('long', [
          effect('a'),
          call('slow', 'slow'),
          effect('b'),
          ask('sure'),
          returns(step('b', 'name')),
        ]),
        workflow('nap', [
          ask('go'),
          wait('rest', 2_000),
          call('slow', 'slow'),
          returns(step('slow', 'name')),
        ]),
      ]),
  workflow('bill', [ask('go'), call('charge', 'charge'), returns(lit(true))]),
].map((graph) => ({ graph: how === 'tasks' ? { ...graph, taskSupport: 'optional' as const } : graph }));

const options = {
  store: `sqlite:${path}`,
  runs: {
    // A live server beside much other work may not get to its lease for a second.
    ...{ leaseMs: transport === 'stdio' ? 3_000 : 1_000, capabilityMs: 3_000 },
    ...{ maxOpenRuns: 100_000, maxPendingActions: 100_000, maxAnonymousRuns: 100_000 },
  },
  ...(how === 'edited' ? { toolAnswerMs: 1_000 } : {}),
  drainTimeoutMs: 500,
  workflows,
  log: (_text: string, { event }: LogRecord) => void process.stderr.write(`${event}\n`),
} as const;
if (transport === 'stdio') await serve(registry, options);
else {
  const { url } = await serveHttp(registry, {
    port: 0,
    sessions: how === 'stateless' || how === 'tasks' ? 'never' : 'always',
    ...options,
  });
  process.stdout.write(`${url.href}\n`);
}

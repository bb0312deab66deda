import { Tool } from 'stepwright';
import { createServer, type LogRecord } from 'stepwright/runtime';
import { expect, test } from 'vitest';
import { call, runs, workflow } from '../e2e/composite/fixture/workflows.js';
import { registryOf } from '../e2e/server/fixture/registry-of.js';

class Answering {
  execute() {
    return {};
  }
}

@Tool({ name: 'reads', description: 'Reads', annotations: { readOnlyHint: true } })
class Reads extends Answering {}

@Tool({ name: 'unsafe', description: 'Pays', retrySafety: 'none' })
class Unsafe extends Answering {}

@Tool({ name: 'adds', description: 'Adds', annotations: { idempotentHint: false } })
class Adds extends Answering {}

@Tool({ name: 'pays', description: 'Pays' })
class Pays extends Answering {}

@Tool({ name: 'ships', description: 'Ships' })
class Ships extends Answering {}

@Tool({ name: 'idle', description: 'Is called by no step' })
class Idle extends Answering {}

const input = { type: 'object', properties: {} } as const;
const registry = registryOf({
  tools: [Reads, Unsafe, Adds, Pays, Ships, Idle].map((each) => ({ class: each, input })),
});
const inner = { graph: workflow('inner', [call('s', 'ships')]) };
const outer = {
  graph: workflow('outer', [
    ...['reads', 'unsafe', 'adds', 'pays'].map((tool) => call(tool, tool)),
    runs('inner', 'inner', {}),
  ]),
};

function loggedBy(options: {
  readonly store?: `sqlite:${string}`;
}): readonly (readonly [string, LogRecord])[] {
  const records: (readonly [string, LogRecord])[] = [];
  createServer(registry, {
    ...options,
    workflows: [outer, inner],
    log: (text, record) => void records.push([text, record]),
  });
  return records;
}

test('a server with its store in a file names the tools that do not say what another call does', () => {
  const text =
    "a run in the store pauses when the server is stopped in a call of `pays`, `ships`: say what another call does, `retrySafety: 'idempotent'`, `'key'` or `'none'` of @Tool";
  expect(loggedBy({ store: 'sqlite:runs.db' })).toMatchObject([
    [text, { event: 'store.retry_safety', level: 'warning' }],
  ]);
  expect(loggedBy({})).toEqual([]);
});

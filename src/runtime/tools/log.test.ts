import { describe, expect, test } from 'vitest';
import { MASKED } from '../../graph/printable-text.js';
import { CallMask } from '../secrets/call-mask.js';
import { Mask } from '../secrets/mask.js';
import { encodedLog, type LogRecord } from './log.js';
import type { Middleware } from './middleware.js';
import type { CallContext, CallOrigin } from './port.js';
import type { Registry, ResourceEntry, ToolEntry } from './registry.js';
import { createToolset } from './toolset.js';

const cause = new TypeError('socket hunter22 closed');
const broken = new Error('could not save\nrow 7', { cause });
const origin: CallOrigin = { source: 'workflow', workflow: 'book', run: '3fa9c01b22de', node: 'pay' };

function throws(): never {
  throw broken;
}
class Throws {
  execute() {
    throws();
  }

  read() {
    throws();
  }
}
const tool: ToolEntry = { class: Throws, description: 'Throws', inputSchema: {}, fingerprint: '' };
const resource: ResourceEntry = { class: Throws, uri: 'res://x', fingerprint: '' };
const registry: Registry = {
  registryVersion: 1,
  checksum: '',
  tools: { pay: tool },
  resources: { doc: resource },
  workflows: {},
  functions: { sum: { hash: 'h', function: throws } },
};

function toolsetWith(middleware: readonly Middleware[] = []) {
  const log: string[] = [];
  const toolset = createToolset<Registry>(registry, { middleware, log: (text) => log.push(text) });
  const calls = {
    tool: (given: CallContext) => toolset.callTool('pay', {}, given),
    resource: (given: CallContext) => toolset.readResource('doc', 'res://x', given),
    function: (given: CallContext) => toolset.evaluate({ name: 'sum', hash: 'h' }, [], given),
  };
  return { calls, log };
}

const contextWith = (more: Partial<CallContext> = {}): CallContext => ({
  signal: new AbortController().signal,
  requestId: 'r1',
  progress() {},
  ...more,
});

describe.each([
  ['tool', 'pay'],
  ['resource', 'doc'],
  ['function', 'sum'],
] as const)('a %s that throws', (kind, name) => {
  test('gives the caller one line, and the operator the stack, the causes and the run', async () => {
    const { calls, log } = toolsetWith();
    const outcome = await calls[kind](contextWith({ origin, mask: new CallMask(new Mask(['hunter22'])) }));
    expect(outcome).toMatchObject({ ok: false, failure: { message: 'could not save row 7' } });
    expect(log).toHaveLength(1);
    const [entry = ''] = log;
    expect(entry.split('\n')[0]).toBe(
      `${kind} \`${name}\` threw (run 3fa9c01b22de of workflow \`book\`, step \`pay\`): Error: could not save`,
    );
    expect(entry).toMatch(/\n {2}row 7\n {4}at /);
    expect(entry).toContain(`\n  caused by: TypeError: socket ${MASKED} closed\n    at `);
    expect(entry).not.toContain('hunter22');
  });

  test('is named with the client that called it', async () => {
    const { calls, log } = toolsetWith();
    await calls[kind](contextWith());
    expect(log[0]).toContain(`${kind} \`${name}\` threw (called by a client): Error: could not save`);
  });
});

test('middleware is given the original error, and nothing where none was thrown', async () => {
  const seen: unknown[] = [];
  const watching: Middleware = { name: 'watching', onError: (...[, , , error]) => void seen.push(error) };
  const refusal = new Error('not now');
  const refusing: Middleware = {
    name: 'refusing',
    onRequest() {
      throw refusal;
    },
  };
  await toolsetWith([watching]).calls.tool(contextWith());
  await toolsetWith([watching, refusing]).calls.tool(contextWith());
  await toolsetWith([watching]).calls.tool(contextWith({ signal: AbortSignal.abort() }));
  expect(seen).toHaveLength(3);
  expect(seen[0]).toBe(broken);
  expect(seen[1]).toBe(refusal);
  expect(seen[2]).toBeUndefined();
});

test('what a tool throws because it was aborted is not logged', async () => {
  const controller = new AbortController();
  class Waits {
    execute() {
      controller.abort();
      controller.signal.throwIfAborted();
    }
  }
  const log: string[] = [];
  const toolset = createToolset<Registry>(
    { ...registry, tools: { wait: { ...tool, class: Waits } } },
    { log: (text) => log.push(text) },
  );
  await toolset.callTool('wait', {}, contextWith({ signal: controller.signal }));
  expect(log).toEqual([]);
});

describe('a record', () => {
  test('says what threw, in which run and at which step', async () => {
    const records: LogRecord[] = [];
    const toolset = createToolset<Registry>(registry, { log: (_text, record) => records.push(record) });
    await toolset.callTool('pay', {}, contextWith({ origin }));
    await toolset.readResource('doc', 'res://x', contextWith());
    await toolset.evaluate({ name: 'sum', hash: 'h' }, [], contextWith({ origin }));
    const run = { run: '3fa9c01b22de', workflow: 'book', node: 'pay' };
    expect(records.map(({ message: _, ...record }) => record)).toEqual([
      { level: 'error', event: 'tool.threw', tool: 'pay', ...run },
      { level: 'error', event: 'resource.threw', resource: 'doc' },
      { level: 'error', event: 'function.threw', function: 'sum', ...run },
    ]);
    expect(records[0]?.message).toMatch(/^tool `pay` threw \(run 3fa9c01b22de of workflow `book`/);
  });

  test('has the text of its entry, encoded, and is left out below the level', () => {
    const entries: [string, LogRecord][] = [];
    const log = encodedLog((...entry) => entries.push(entry), 'warning');
    log('one\ntwo', { event: 'server.stop' });
    log('less', { event: 'server.listening', level: 'info' });
    const message = 'one\n  two';
    expect(entries).toEqual([[message, { event: 'server.stop', level: 'error', message }]]);
  });
});

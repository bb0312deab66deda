import { describe, expect, test } from 'vitest';
import { dict, literal, ref } from '../expression/build.fixture.js';
import { parseGraph } from './parse-graph.js';

const base = { after: [], join: 'none_failed', executor: 'server' };
const yes = literal(true);
const body = { nodes: [{ kind: 'compute', id: 'inner', ...base, value: yes }], value: ref('steps', 'inner') };
const undo = { tool: 'undo', input: dict({ id: ref('steps', 'c') }), ignoreError: true };

function graphOf(nodes: readonly unknown[], more: object = {}): unknown {
  return { graphVersion: 1, name: 'a', description: 'b', inputs: [], instructions: [], nodes, ...more };
}

function faults(...nodes: unknown[]): string[] {
  const result = parseGraph(graphOf(nodes));
  return result.ok
    ? []
    : result.diagnostics.map(({ message }) => message.replace('the graph is malformed: ', ''));
}

const branch = { kind: 'branch', id: 'b', ...base, cases: [{ id: 'yes', when: yes, body }] };
const parallel = {
  kind: 'parallel',
  id: 'p',
  ...base,
  branches: [{ id: 'one', body }],
  onPartialFailure: 'abort',
};
const foreach = {
  kind: 'foreach',
  id: 'f',
  ...base,
  items: literal([]),
  as: 'x',
  body,
  concurrency: 1,
  max: 10,
  onItemError: 'fail',
};
const ask = { kind: 'ask', id: 'a', ...base, mode: 'confirm', message: literal('Sure?') };
const goto = { kind: 'goto', id: 'g', ...base, target: 'b', max: 3, onLimit: 'fail' };

describe('the kinds of steps', () => {
  test('are read as they are', () => {
    const nodes = [
      { kind: 'call', id: 'c', ...base, tool: 't', input: dict({}), compensate: undo, reads: ['n'] },
      { ...branch, else: { id: 'no', goto: 'c' }, onError: { fallbackNode: 'c' } },
      { ...parallel, concurrency: 2, onPartialFailure: 'rollback', compensateNode: 'u' },
      { ...foreach, indexAs: 'i', onError: { value: ref('error', 'code') } },
      { kind: 'workflow', id: 'w', ...base, workflow: 'other', input: dict({}) },
      ask,
      { ...ask, id: 'd', mode: 'choice', options: literal(['a']) },
      { ...ask, id: 'e', mode: 'yield', expects: { type: 'object' } },
      {
        ...{ ...ask, id: 'm', mode: 'model', expects: {} },
        feeds: { node: 'b', path: ['lines', 0] },
      },
      { kind: 'wait', id: 'h', ...base, durationMs: literal(5) },
      { kind: 'wait', id: 'i', ...base, until: ref('item', 'x') },
      { kind: 'set', id: 's', ...base, updates: [{ field: 'n', value: ref('state', 'n') }] },
      goto,
      { kind: 'compensate', id: 'u', ...base, steps: [undo] },
    ];
    const state = [{ name: 'n', scope: 'run', schema: { type: 'number' }, initial: 1 }];
    const tasks = [graphOf([], { name: 'other', state })];
    const data = graphOf(nodes, { state, tasks });
    expect(parseGraph(data)).toEqual({ ok: true, graph: data });
  });

  test('an arm has either a body or a way', () => {
    const cases = [
      { id: 'none', when: yes },
      { id: 'both', when: yes, body, goto: 'c' },
    ];
    expect(faults({ ...branch, cases, else: { id: 'no' } })).toEqual([
      '`/nodes/0/cases/0`: an arm has either a `body` or a `goto`',
      '`/nodes/0/cases/1`: an arm has either a `body` or a `goto`',
      '`/nodes/0/else`: an arm has either a `body` or a `goto`',
    ]);
    expect(faults({ ...branch, cases: [] })).toHaveLength(1);
  });

  test('a failure has either a successor or a value', () => {
    const message = '`/nodes/0/onError`: either a `fallbackNode` runs or a `value` is used';
    expect(faults({ ...branch, onError: {} })).toEqual([message]);
    expect(faults({ ...branch, onError: { fallbackNode: 'c', value: yes } })).toEqual([message]);
  });

  test('only a rollback has a step that undoes', () => {
    expect(faults({ ...parallel, compensateNode: 'u' })).toEqual([
      '`/nodes/0/compensateNode`: nothing but `rollback` undoes',
    ]);
    expect(faults({ ...parallel, branches: [] })).toHaveLength(1);
  });

  test('a question has what its mode takes', () => {
    expect(faults({ ...ask, options: literal(['a']) }, { ...ask, mode: 'choice' })).toEqual([
      '`/nodes/0/options`: a `choice` has options, and nothing else has',
      '`/nodes/1/options`: a `choice` has options, and nothing else has',
    ]);
    const feeds = { node: 'b', path: [] };
    expect(faults({ ...ask, mode: 'yield', expects: {}, feeds })).toEqual([
      '`/nodes/0/feeds`: only the value of a `model` feeds the input of a call',
    ]);
    expect(faults({ ...ask, expects: {} }, { ...ask, mode: 'yield' })).toEqual([
      '`/nodes/0/expects`: a `yield` and a `model` say what they expect, and a `text` may',
      '`/nodes/1/expects`: a `yield` and a `model` say what they expect, and a `text` may',
    ]);
  });

  test('a wait has one time', () => {
    const message = (index: number): string =>
      `\`/nodes/${index}\`: a wait has either \`durationMs\` or \`until\``;
    const wait = { kind: 'wait', id: 'h', ...base };
    expect(faults(wait, { ...wait, durationMs: yes, until: yes })).toEqual([message(0), message(1)]);
  });

  test('numbers are whole, and one or more', () => {
    for (const node of [
      { ...foreach, concurrency: 0 },
      { ...foreach, max: 1.5 },
      { ...goto, max: 0 },
      { ...parallel, concurrency: -1 },
    ]) {
      expect(faults(node)).toHaveLength(1);
    }
  });

  test('faults in a body have a pointer to where they are', () => {
    const inner = { nodes: [{ ...goto, target: 5 }] };
    expect(
      faults({ ...foreach, body: { nodes: [{ ...parallel, branches: [{ id: 'x', body: inner }] }] } }),
    ).toEqual([
      '`/nodes/0/body/nodes/0/branches/0/body/nodes/0/target`: invalid input: expected string, received number',
    ]);
  });

  test('tasks have none of their own', () => {
    const result = parseGraph(graphOf([], { tasks: [graphOf([], { tasks: [] })] }));
    expect(result.ok ? [] : result.diagnostics.map(({ message }) => message)).toEqual([
      'the graph is malformed: `/tasks/0/tasks`: this version knows no such property',
    ]);
  });
});

import { describe, expect, test } from 'vitest';
import type { Expr } from '../../graph/expression/tree.js';
import type { Node } from '../../graph/kinds/node.js';
import type { Graph } from '../../graph/model.js';
import { call, compute, graph, lit } from '../engine/graph.fixture.js';
import { capabilityText, missingIn } from './capabilities.js';
import type { Registry } from './registry.js';

const schema = {
  type: 'object',
  properties: { n: { type: 'number' }, kind: { enum: ['a', 'b'] }, size: { type: 'integer' } },
  required: ['n'],
  additionalProperties: false,
};

const registry = {
  tools: { 'tool-a': { inputSchema: schema }, 'tool-any': { inputSchema: { type: 'object' } } },
  resources: { note: {} },
  functions: { total: { hash: 'f'.repeat(64) } },
} as unknown as Registry;

const missing = missingIn(registry);
const of = (...nodes: Node[]): Graph => graph(nodes);
const node = (fields: object): Node => ({ ...compute('c', lit(1)), ...fields }) as unknown as Node;
const unknown: Expr = { kind: 'ref', root: 'inputs', path: ['n'] };

describe('a registry', () => {
  test('with all needs of a graph has them', () => {
    expect(missing(of(call('a', { n: unknown }), compute('c', lit(1)), call('any', { x: lit(1) })))).toEqual(
      [],
    );
    expect(missing(of(node({ function: { name: 'total', hash: 'f'.repeat(64) } })))).toEqual([]);
    expect(missing(of(node({ kind: 'resource', resource: 'note', uri: lit('u') })))).toEqual([]);
  });

  test('lacks tools of calls, of compensations and of tasks, each once', () => {
    const undo = { tool: 'tool-undo', input: { kind: 'dict', entries: [] } };
    const task = of(call('task'));
    const whole = {
      ...of(call('x'), call('x'), node({ compensate: undo })),
      tasks: [{ ...task, name: 'task' }],
    };
    expect(missing(whole)).toEqual(
      ['tool-task', 'tool-undo', 'tool-x'].map((name) => ({ kind: 'tool', name })),
    );
    expect(missing(whole)).toBe(missing(whole));
  });

  test.each<[string, Node, string]>([
    ['a key that a tool refuses', call('a', { n: unknown, m: lit(1) }), "it does not take 'm' any more"],
    ['a key that a tool requires', call('a', {}), "it requires 'n' now"],
    ['a type', call('a', { n: lit('1') }), "it does not take the value of 'n' any more"],
    ['a value', call('a', { n: unknown, kind: lit('c') }), "it does not take the value of 'kind' any more"],
  ])('lacks the contract of %s', (_what, step, problem) => {
    expect(missing(of(step))).toEqual([
      { kind: 'contract', name: 'tool-a', problem: expect.stringContaining(problem) },
    ]);
  });

  test.each<[string, Node, string]>([
    ['a function', node({ function: { name: 'none', hash: 'f'.repeat(64) } }), "function 'none'"],
    ['the source', node({ function: { name: 'total', hash: 'e'.repeat(64) } }), 'another source here'],
    ['a resource', node({ kind: 'resource', resource: 'gone', uri: lit('u') }), "resource 'gone'"],
    ['an own resource', node({ resources: [{ resource: 'gone', uri: 'u' }] }), "resource 'gone'"],
    ['an expression function', compute('c', { kind: 'call', fn: 'later', args: [] }), "function 'later'"],
    ['a kind of node', node({ kind: 'later' }), 'a version of Stepwright that knows the workflow'],
  ])('lacks %s', (_what, step, text) => {
    expect(missing(of(step)).map(capabilityText).join()).toContain(text);
  });
});

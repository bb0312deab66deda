import { describe, expect, test } from 'vitest';
import { hashGraph } from './canonical.js';
import type { Node } from './kinds/node.js';
import type { Graph } from './model.js';
import { bundle } from './nodes.js';

const common = { after: [], join: 'none_failed', executor: 'server' } as const;

function runs(...names: string[]): Node[] {
  return names.map((workflow, index) => ({
    kind: 'workflow',
    id: `run${index}`,
    workflow,
    input: { kind: 'dict', entries: [] },
    ...common,
  }));
}

function graph(name: string, nodes: readonly Node[], more: Partial<Graph> = {}): Graph {
  return { graphVersion: 1, name, description: name, inputs: [], instructions: [], nodes, ...more };
}

function known(...graphs: Graph[]): (name: string) => Graph | undefined {
  return (name) => graphs.find((each) => each.name === name);
}

describe('bundle', () => {
  test('gives back a graph that runs no other', () => {
    const alone = graph('alone', []);
    expect(bundle(alone, known())).toBe(alone);
  });

  test('includes all workflows, sorted by name and without tasks', () => {
    const zoo = graph('zoo', runs('ant'));
    const ant = graph('ant', [], { tasks: [zoo] });
    const bee = graph('bee', runs('zoo', 'ant'));
    const main = graph('main', runs('zoo', 'bee', 'zoo'));
    const { tasks: _, ...plainAnt } = ant;
    expect(bundle(main, known(zoo, ant, bee))).toEqual({ ...main, tasks: [plainAnt, bee, zoo] });
  });

  test('finds workflows in every kind of body', () => {
    const inner = ['a', 'b', 'c', 'd'].map((name) => graph(name, []));
    const body = (name: string) => ({ nodes: runs(name) });
    const value = { kind: 'literal', value: [] } as const;
    const loop: Node = {
      kind: 'foreach',
      id: 'loop',
      items: value,
      as: 'x',
      body: body('d'),
      concurrency: 1,
      max: 10,
      onItemError: 'fail',
      ...common,
    };
    const nodes: Node[] = [
      {
        kind: 'branch',
        id: 'branch',
        cases: [{ id: 'yes', when: value, body: body('a') }],
        else: { id: 'no', body: body('b') },
        ...common,
      },
      {
        kind: 'parallel',
        id: 'parallel',
        branches: [
          { id: 'one', body: body('c') },
          { id: 'two', body: { nodes: [loop] } },
        ],
        onPartialFailure: 'abort',
        ...common,
      },
    ];
    expect(bundle(graph('main', nodes), known(...inner)).tasks).toEqual(inner);
  });

  test('takes workflows that run themselves or each other', () => {
    const even = graph('even', runs('odd'));
    const odd = graph('odd', runs('even'));
    expect(bundle(even, known(even, odd))).toEqual({ ...even, tasks: [even, odd] });
  });

  test('is stable: what was bundled already is bundled as before', () => {
    const inner = graph('inner', runs('inner'));
    const main = graph('main', runs('inner'));
    const bundled = bundle(main, known(inner));
    expect(hashGraph(bundle(bundled, known()))).toBe(hashGraph(bundled));
    expect(hashGraph(bundle(bundled, known(inner)))).toBe(hashGraph(bundled));
  });

  test('names every workflow that is missing', () => {
    const main = graph('main', runs('there', 'gone'));
    const there = graph('there', runs('lost', 'gone'));
    expect(() => bundle(main, known(there))).toThrow(
      'workflow main runs workflows that are not there: gone, lost',
    );
  });
});

import { describe, expect, test } from 'vitest';
import { body, foreach } from '../runtime/engine/constructs.fixture.js';
import { call, graph, lit, step } from '../runtime/engine/graph.fixture.js';
import { planOf } from './compile.js';
import type { PlannedNode } from './plan.js';
import { readersOf } from './visibility.js';

function ids(nodes: Iterable<PlannedNode>): string[] {
  return [...nodes].map(({ node: { id } }) => id);
}

describe('the readers of a value', () => {
  const inside = foreach('loop', lit([]), body([call('in', { v: step('a') })]));
  const nodes = [call('a'), inside, call('b', { v: step('a') }), call('c', { v: step('b') })];
  const { byId } = planOf(graph(nodes, { returns: step('c') })).main;
  const node = (id: string) => byId.get(id) as PlannedNode;

  test('are the nodes that name it, in any scope', () => {
    expect(ids(readersOf(node('a')).nodes)).toEqual(['in', 'b']);
    expect(ids(readersOf(node('a')).users)).toEqual(['loop', 'b']);
    expect(readersOf(node('a')).isHandedOut).toBe(false);
  });

  test('are none if only the result reads it', () => {
    const { nodes: readers, isHandedOut } = readersOf(node('c'));
    expect({ readers: ids(readers), isHandedOut }).toEqual({ readers: [], isHandedOut: true });
  });
});

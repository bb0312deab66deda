import { describe, expect, test } from 'vitest';
import { back, body, foreach } from '../runtime/engine/constructs.fixture.js';
import { call, chain, graph, lit, step } from '../runtime/engine/graph.fixture.js';
import { type PlannedNode, planOf } from './plan.js';
import { lastReadersOf, readersOf } from './readers.js';

function ids(nodes: Iterable<PlannedNode>): string[] {
  return [...nodes].map(({ node: { id } }) => id);
}

describe('the readers of a value', () => {
  const inside = foreach('loop', lit([]), body([call('in', { v: step('a') })]));
  const nodes = [call('a'), inside, call('b', { v: step('a') }), call('c', { v: step('b') })];
  const { byId } = planOf(graph(nodes, { returns: step('c') })).main;
  const node = (id: string) => byId.get(id) as PlannedNode;

  test('are the nodes that name it, wherever they stand', () => {
    expect(ids(readersOf(node('a')).nodes)).toEqual(['in', 'b']);
    expect(ids(readersOf(node('a')).users)).toEqual(['loop', 'b']);
    expect(readersOf(node('a')).isHandedOut).toBe(false);
  });

  test('are none where only the result is made of it', () => {
    const { nodes: readers, isHandedOut } = readersOf(node('c'));
    expect({ readers: ids(readers), isHandedOut }).toEqual({ readers: [], isHandedOut: true });
  });
});

describe('the last readers of a value', () => {
  test('are those that no other reader waits for', () => {
    const nodes = [call('a'), ...chain(call('b', { v: step('a') }), call('c', { v: step('a') }))];
    const { byId } = planOf(graph([...nodes, call('d', { v: step('a') })])).main;
    expect(ids(lastReadersOf(byId.get('a') as PlannedNode))).toEqual(['c', 'd']);
  });

  test('are the jumps that may start a reader over', () => {
    const nodes = chain(call('a'), call('b', { v: step('a') }), back('again', 'b', 2), call('c'));
    const { byId } = planOf(graph(nodes)).main;
    expect(ids(lastReadersOf(byId.get('a') as PlannedNode))).toEqual(['again']);
    expect(ids(lastReadersOf(byId.get('c') as PlannedNode))).toEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import { body, branch, foreach } from '../runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, lit, step } from '../runtime/engine/graph.fixture.js';
import { planOf } from './compile.js';
import type { PlannedNode } from './plan.js';
import {
  endOf,
  followersOf,
  nodesBefore,
  nodesBehind,
  reachabilityOf,
  runsAfterSkip,
} from './reachability.js';

function ids(nodes: Iterable<PlannedNode>): string[] {
  return [...nodes].map(({ node: { id } }) => id);
}

describe('the reachability of a workflow', () => {
  test('lists the nodes that never start, with the node that ends their scope', () => {
    const { main } = planOf(graph(chain(call('a'), done('end', lit(1)), call('b'), call('c'))));
    const { endedBy } = reachabilityOf(main);
    expect([...endedBy].map(([node, end]) => `${node.node.id}: ${end.node.id}`)).toEqual([
      'b: end',
      'c: end',
    ]);
  });

  test('lists the nodes whose selectors never run', () => {
    const nodes = [
      call('a', {}, { onError: { fallbackNode: 'b' } }),
      call('b'),
      call('c', {}, { onError: { fallbackNode: 'd' } }),
      call('d', {}, { onError: { fallbackNode: 'c' } }),
    ];
    expect(ids(reachabilityOf(planOf(graph(nodes)).main).unselectable)).toEqual(['c', 'd']);
  });

  test('lists the nodes that may be skipped', () => {
    const nodes = [
      call('a', {}, { when: lit(true) }),
      call('b', { v: step('a') }, { join: 'all_success' }),
      call('c', { v: step('a') }),
    ];
    const { main } = planOf(graph(nodes));
    expect(ids(reachabilityOf(main).skippable)).toEqual(['a', 'b']);
    expect(reachabilityOf(main)).toBe(reachabilityOf(main));
  });
});

describe('the order of nodes', () => {
  const { byId } = planOf(
    graph([...chain(call('a'), call('b', {}, { join: 'all_success' }), call('c')), call('d')]),
  ).main;
  const node = (id: string) => byId.get(id) as PlannedNode;

  test('lists what waits for a node, and what it waits for', () => {
    expect(ids(nodesBehind(node('b')))).toEqual(['b', 'c']);
    expect(ids(nodesBefore([node('c')]))).toEqual(['b', 'a']);
  });

  test('lists what only runs after the success of a node', () => {
    expect(ids(followersOf(node('a')))).toEqual(['a', 'b']);
    expect(runsAfterSkip(node('b'), node('a'))).toBe(false);
    expect(runsAfterSkip(node('c'), node('b'))).toBe(true);
  });
});

test('a branch ends its scope where each of its arms does', () => {
  const ends = body([done('x', lit(1))]);
  const { byId } = planOf(
    graph([
      branch('all', [
        [lit(true), ends],
        [undefined, body([done('y', lit(2))])],
      ]),
      branch('one', [
        [lit(true), body([done('z', lit(1))])],
        [undefined, body([foreach('loop', lit([]), body([]))])],
      ]),
    ]),
  ).main;
  expect(endOf(byId.get('all') as PlannedNode)).toBe('return');
  expect(endOf(byId.get('one') as PlannedNode)).toBeUndefined();
});

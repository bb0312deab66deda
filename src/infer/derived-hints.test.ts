import { describe, expect, test } from 'vitest';
import { registry as travel } from '../../examples/travel/generated/travel.registry.js';
import type { Graph, Node } from '../graph/model.js';
import { body, branch, foreach, parallel } from '../runtime/engine/constructs.fixture.js';
import { call, chain, graph, input, step } from '../runtime/engine/graph.fixture.js';
import { toolUses, withUse } from './derived-hints.js';

const graphOf = (name: string): Graph => {
  const entry = Object.entries(travel.workflows).find(([each]) => each === name);
  if (entry === undefined) throw new Error(`no workflow ${name}`);
  return entry[1].graph;
};

test('alternatives of a branch follow the tool before it, and what takes a result requires it', () => {
  const uses = toolUses([graphOf('book_flight')]);
  expect(uses.get('search_flights')).toEqual({ next: ['check_availability'], requires: [] });
  expect(uses.get('check_availability')).toEqual({
    next: ['add_to_waitlist', 'create_booking'],
    requires: ['search_flights'],
  });
});

const requiresOf = (nodes: readonly Node[], tool: string): readonly string[] | undefined =>
  toolUses([graph([...nodes])]).get(`tool-${tool}`)?.requires;

describe('a tool requires what is surely called before it', () => {
  const either = branch('which', [
    [step('check', 'free'), 'book'],
    [undefined, 'wait'],
  ]);

  test('because its step waits for that', () => {
    expect(requiresOf(chain(call('open'), call('b'), call('c')), 'c')).toEqual(['tool-b']);
    expect(requiresOf([call('open'), call('b'), call('c', {}, { after: ['open', 'b'] })], 'c')).toEqual([
      'tool-b',
      'tool-open',
    ]);
  });

  test('because the result decides whether it is called', () => {
    const nodes = [call('check'), either, call('book'), call('wait')];
    expect(requiresOf(nodes, 'book')).toEqual(['tool-check']);
    expect(requiresOf(nodes, 'wait')).toEqual(['tool-check']);
    expect(requiresOf([call('check'), call('b', {}, { when: step('check', 'ok') })], 'b')).toEqual([
      'tool-check',
    ]);
    const inside = branch('which', [[step('check', 'free'), body([call('book')])]]);
    expect(requiresOf([call('check'), inside], 'book')).toEqual(['tool-check']);
  });

  test('in branches that all run', () => {
    const both = parallel('both', { a: body([call('flight')]), b: body([call('hotel')]) });
    expect(requiresOf(chain(both, call('confirm')), 'confirm')).toEqual(['tool-flight', 'tool-hotel']);
  });

  test.each<[string, readonly Node[]]>([
    ['it may be skipped', chain(call('a', {}, { when: input('x') }), call('z'))],
    ['it is in a branch', chain(branch('x', [[input('x'), body([call('a')])]]), call('z'))],
    ['it is in a loop', chain(foreach('x', input('x'), body([call('a')])), call('z'))],
    [
      'one may fail of several',
      chain(parallel('x', { a: body([call('a')]) }, { onPartialFailure: 'continue' }), call('z')),
    ],
    ['it may have failed', [call('a'), call('z', {}, { after: ['a'], join: 'all_done' })]],
    ['it failed', [call('a', {}, { onError: { fallbackNode: 'z' } }), call('z')]],
    [
      'several branches may select it',
      [
        call('a'),
        branch('first', [[input('x'), 'z']], { after: ['a'] }),
        branch('second', [[input('y'), 'z']]),
        call('z'),
      ],
    ],
    ['other steps call it as well', chain(call('a'), call('b', {}, { tool: 'tool-a' }), call('z'))],
  ])('and not where %s', (_, nodes) => {
    expect(requiresOf(nodes, 'z')).toEqual([]);
  });
});

test('only what all workflows agree on is required', () => {
  const [booking, other] = [graphOf('book_flight'), graphOf('book_flight')];
  const without: Graph = {
    ...other,
    nodes: other.nodes
      .filter(({ kind }) => kind === 'call')
      .map((node) =>
        node.kind === 'call' ? { ...node, after: [], input: { kind: 'dict', entries: [] } } : node,
      ),
  };
  expect(toolUses([booking, without]).get('check_availability')?.requires).toEqual([]);
});

test('declared hints replace derived ones of the same kind', () => {
  const use = { next: ['b'], requires: ['c'] };
  expect(withUse({ next: ['d'], category: 'search' }, use)).toEqual({
    category: 'search',
    next: ['d'],
    requires: ['c'],
  });
  expect(withUse(undefined, { next: [], requires: [] })).toBeUndefined();
});

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

test('what takes a result requires the tool that gives it, and comes often after the others', () => {
  const uses = toolUses([graphOf('book_flight')]);
  expect(uses.get('search_flights')).toEqual({ oftenAfter: [], requires: [] });
  expect(uses.get('check_availability')).toEqual({ oftenAfter: [], requires: ['search_flights'] });
  expect(uses.get('add_to_waitlist')).toEqual({
    oftenAfter: ['check_availability'],
    requires: ['search_flights'],
  });
});

const usesIn = (...workflows: (readonly Node[])[]) =>
  toolUses(workflows.map((nodes, index) => graph([...nodes], { name: `w${index}` })));

describe('the order of a workflow is a habit and no law', () => {
  const either = branch('which', [
    [step('check', 'free'), 'book'],
    [undefined, 'wait'],
  ]);

  test.each<[string, readonly Node[], readonly string[]]>([
    ['a step waits for another one', chain(call('a'), call('z')), ['tool-a']],
    [
      'a result decides',
      [call('check'), either, call('z', {}, { after: ['check'] }), call('book'), call('wait')],
      ['tool-check'],
    ],
    [
      'branches all run',
      chain(parallel('both', { a: body([call('a')]), b: body([call('b')]) }), call('z')),
      ['tool-a', 'tool-b'],
    ],
    ['a loop is before it', chain(foreach('x', input('x'), body([call('a')])), call('z')), ['tool-a']],
  ])('where %s', (_, nodes, before) => {
    expect(usesIn(nodes).get('tool-z')).toEqual({ oftenAfter: before, requires: [] });
  });

  test('also where a generic tool gives the value, whose results depend on its input', () => {
    const nodes = chain(
      call('post', {}, { tool: 'rest_call' }),
      call('fetch', {}, { tool: 'rest_call' }),
      call('query', { sql: step('fetch', 'text') }, { tool: 'sql_query' }),
    );
    expect(usesIn(nodes).get('sql_query')).toEqual({ oftenAfter: ['rest_call'], requires: [] });
  });

  test('also where each of two tools gives the other one a value', () => {
    const one = chain(
      call('a', {}, { tool: 'rest_call' }),
      call('b', { sql: step('a', 'text') }, { tool: 'sql_query' }),
    );
    const other = chain(
      call('a', {}, { tool: 'sql_query' }),
      call('b', { body: step('a', 'rows') }, { tool: 'rest_call' }),
    );
    const uses = usesIn(one, other);
    expect(uses.get('sql_query')).toEqual({ oftenAfter: ['rest_call'], requires: [] });
    expect(uses.get('rest_call')).toEqual({ oftenAfter: ['sql_query'], requires: [] });
  });
});

test('few workflows do not make a habit', () => {
  const after = (before: string): Node[] => chain(call(before), call('z'));
  expect(usesIn(after('a'), after('b'), after('b'), after('c')).get('tool-z')?.oftenAfter).toEqual([
    'tool-b',
  ]);
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
  const use = { oftenAfter: ['b'], requires: ['c'] };
  expect(withUse({ next: ['d'], category: 'search' }, use)).toEqual({
    category: 'search',
    next: ['d'],
    requires: ['c'],
    oftenAfter: ['b'],
  });
  expect(withUse({ requires: ['d'] }, use)?.requires).toEqual(['d']);
  expect(withUse(undefined, { oftenAfter: [], requires: [] })).toBeUndefined();
});

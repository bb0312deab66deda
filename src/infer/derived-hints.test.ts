import { expect, test } from 'vitest';
import { registry as travel } from '../../generated/travel.registry.js';
import type { Graph } from '../graph/model.js';
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
